// Every file of tests/cases/verdict/good passes `check` (with the note that a line `// expect-note: RULE`
// names); every file of bad fails at a stage that its `// expect:` line names (and at the line and
// kernel of `// expect-line:` and `// expect-kernel:`). A new case is a new file; its
// task is the page of that name beside the cases, or else the shipped one.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/e2e/program.h"

namespace kernelwright::e2e {
namespace {

const std::filesystem::path cases = source_dir() / "tests/cases/verdict";

std::filesystem::path task_of(const std::filesystem::path& candidate) {
    const std::string stem = candidate.stem().string();
    const std::string page = stem.substr(0, stem.find("__")) + ".md";
    const std::filesystem::path own = cases / "tasks" / page;
    return std::filesystem::exists(own) ? own : source_dir() / "tasks" / page;
}

// The word after `label` in the candidate's source; empty where the label does not occur.
std::string word_after(const std::string& source, const std::string& label) {
    const std::size_t at = source.find(label);
    if (at == std::string::npos) return {};
    std::istringstream line(source.substr(at + label.size()));
    std::string word;
    line >> word;
    return word;
}

class Good : public testing::TestWithParam<std::filesystem::path> {};
class Bad : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Good, Passes) {
    const Ran ran = run_program({"check", task_of(GetParam()).string(), GetParam().string(), "--json"});
    const Json json = ran.json();
    ASSERT_FALSE(json.is_discarded()) << ran.out << ran.err;
    EXPECT_EQ(ran.exit, 0) << ran.out;
    EXPECT_EQ(json.value("verdict", ""), "pass") << ran.out;
    EXPECT_TRUE(json["stage"].is_null());
    EXPECT_GT(json.value("cases_checked", 0), json.value("shapes_checked", 0));
    const std::string note = word_after(slurp(GetParam()), "// expect-note:");
    if (note.empty()) return;
    const bool noted =
        std::any_of(json["diagnostics"].begin(), json["diagnostics"].end(), [&](const Json& d) {
            return d.value("rule", "") == note && d.value("severity", "") == "note" &&
                   (d.contains("shape") || !note.starts_with("shape-"));
        });
    EXPECT_TRUE(noted) << ran.out;
}

TEST_P(Bad, FailsWhereItShould) {
    const std::string stages = word_after(slurp(GetParam()), "// expect:");
    ASSERT_FALSE(stages.empty()) << "a bad case needs a line `// expect: STAGE|STAGE rule`";
    std::set<std::string> allowed;
    std::istringstream parts(stages);
    for (std::string stage; std::getline(parts, stage, '|');) allowed.insert(stage);

    const Ran ran = run_program({"check", task_of(GetParam()).string(), GetParam().string(), "--json"});
    const Json json = ran.json();
    ASSERT_FALSE(json.is_discarded()) << ran.out << ran.err;
    EXPECT_EQ(ran.exit, 1) << ran.out;
    EXPECT_EQ(json.value("verdict", ""), "fail") << ran.out;
    ASSERT_TRUE(json["stage"].is_string()) << ran.out;
    EXPECT_TRUE(allowed.contains(json["stage"].get<std::string>()))
        << "stage " << json["stage"] << ", expected " << stages << "\n"
        << ran.out;
    ASSERT_FALSE(json["diagnostics"].empty());
    EXPECT_EQ(json["diagnostics"][0].value("severity", ""), "error");
    EXPECT_GT(json["diagnostics"][0].value("line", 0), 0) << ran.out;
    const std::string source = slurp(GetParam());
    if (const std::string line = word_after(source, "// expect-line:"); !line.empty()) {
        EXPECT_EQ(json["diagnostics"][0].value("line", 0), std::stoi(line)) << ran.out;
    }
    if (const std::string kernel = word_after(source, "// expect-kernel:"); !kernel.empty()) {
        EXPECT_EQ(json["diagnostics"][0].value("kernel", ""), kernel) << ran.out;
    }
}

// A failure is met again with the shape, the draw and the seed that its diagnostic names; one that was
// decided before anything was run names no draw.
TEST_P(Bad, ReplaysFromTheDiagnostic) {
    const std::vector<std::string> call{"check", task_of(GetParam()).string(), GetParam().string(), "--json"};
    const Json first = run_program(call).json();
    ASSERT_FALSE(first.is_discarded());
    ASSERT_FALSE(first["diagnostics"].empty());
    const Json& d = first["diagnostics"][0];
    std::vector<std::string> again = call;
    if (d.contains("shape")) {
        std::string shape;
        for (const auto& [name, value] : d["shape"].items()) {
            shape += (shape.empty() ? "" : ",") + name + "=" + std::to_string(value.get<std::int64_t>());
        }
        again.insert(again.end(), {"--shape", shape});
    }
    if (d.contains("case")) again.insert(again.end(), {"--case", d["case"].get<std::string>()});
    if (d.contains("seed"))
        again.insert(again.end(), {"--seed", std::to_string(d["seed"].get<std::uint64_t>())});
    const Json second = run_program(again).json();
    ASSERT_FALSE(second.is_discarded());
    EXPECT_EQ(second["verdict"], "fail");
    EXPECT_EQ(second["stage"], first["stage"]);
    EXPECT_EQ(second["diagnostics"][0].value("rule", ""), d.value("rule", "-"));
}

// `--case` runs that draw alone, and a pass replays as it was called.
TEST(Verdict, ACaseIsRunAlone) {
    const Ran ran = run_program({"check", (cases / "tasks/vector_add.md").string(),
                                 (cases / "good/vector_add__naive.cu").string(), "--shape", "N=5", "--case",
                                 "huge", "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.out;
    EXPECT_EQ(ran.json().value("cases_checked", 0), 1) << ran.out;
    EXPECT_EQ(ran.err.find("normal"), std::string::npos) << ran.err;
    const std::string replay = ran.json().value("replay", "");
    EXPECT_NE(replay.find("--shape N=5 --case huge --seed 1"), std::string::npos) << replay;
}

// A maximum that starts too high: the draw's two ends are told apart, and the hint names the cause.
TEST(Verdict, AStartAboveTheLowestNumberIsNamed) {
    const Ran ran =
        run_program({"check", task_of(cases / "bad/argmax_rows__maximum_from_minus_3e38.cu").string(),
                     (cases / "bad/argmax_rows__maximum_from_minus_3e38.cu").string(), "--json"});
    const Json d = ran.json()["diagnostics"][0];
    EXPECT_EQ(d.value("case", ""), "lowest") << ran.out;
    EXPECT_NE(d.value("hint", "").find("starts from a value above the lowest number"), std::string::npos)
        << ran.out;
    const std::string message = d.value("message", "");
    EXPECT_EQ(message.find("from -3.403e+38 to -3.403e+38"), std::string::npos) << message;
}

std::string name(const testing::TestParamInfo<std::filesystem::path>& info) { return test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Verdict, Good, testing::ValuesIn(files_in(cases / "good", ".cu")), name);
INSTANTIATE_TEST_SUITE_P(Verdict, Bad, testing::ValuesIn(files_in(cases / "bad", ".cu")), name);

}  // namespace
}  // namespace kernelwright::e2e

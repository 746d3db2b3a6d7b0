// Broken pages and candidates (tests/cases/bad_input): one clear line or diagnostic, the right exit code, no
// crash. Faults too large to keep as files are made here.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/e2e/program.h"

namespace kernelwright::e2e {
namespace {

const std::filesystem::path cases = source_dir() / "tests/cases/bad_input";

// "key: value" lines, with a leading "//" left out.
std::map<std::string, std::string> expectations(const std::string& text) {
    std::map<std::string, std::string> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::size_t start = 0;
        if (line.rfind("//", 0) == 0) start = 2;
        start = line.find_first_not_of(' ', start);
        const std::size_t colon = line.find(':');
        if (start == std::string::npos || colon == std::string::npos || colon < start) continue;
        const std::size_t value = line.find_first_not_of(' ', colon + 1);
        out.emplace(line.substr(start, colon - start), value == std::string::npos ? "" : line.substr(value));
    }
    return out;
}

bool crashed(const Ran& ran) { return ran.exit >= 124 || ran.exit == 70; }

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class BrokenPage : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenPage, OneClearLine) {
    auto expect_file = GetParam();
    expect_file.replace_extension(".expect");
    const auto expected = expectations(slurp(expect_file));
    const Ran ran = run_program({"tasks", "check", GetParam().string()});
    ASSERT_FALSE(crashed(ran)) << ran.exit << ran.err;
    EXPECT_EQ(ran.exit, std::stoi(expected.at("exit"))) << ran.err;
    EXPECT_NE(ran.err.find(expected.at("text")), std::string::npos) << ran.err;
    EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    EXPECT_NE(ran.err.find(GetParam().filename().string()), std::string::npos)
        << "the line names the file: " << ran.err;
    const Ran check = run_program(
        {"check", GetParam().string(), (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string()});
    EXPECT_EQ(check.exit, 2) << check.out << check.err;
}

class BrokenCandidate : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenCandidate, OneDiagnostic) {
    const std::filesystem::path sidecar = GetParam().string() + ".expect";
    const bool beside = std::filesystem::exists(sidecar);
    const auto read = expectations(slurp(beside ? sidecar : GetParam()));
    const auto expected = [&](const std::string& key) {
        const auto it = read.find(beside ? key : key == "text" ? "expect" : "expect-" + key);
        return it == read.end() ? std::string() : it->second;
    };
    ASSERT_NE(expected("exit"), "") << "the case says no exit code";
    const std::string stem = GetParam().stem().string();
    const std::string task = (source_dir() / "tasks" / (stem.substr(0, stem.find("__")) + ".md")).string();
    const Ran ran = run_program({"check", task, GetParam().string(), "--json"});
    ASSERT_FALSE(crashed(ran)) << ran.exit << ran.err;
    EXPECT_EQ(ran.exit, std::stoi(expected("exit"))) << ran.out << ran.err;
    const Json json = ran.json();
    ASSERT_FALSE(json.is_discarded()) << ran.out;
    std::string said = ran.err;
    if (json.contains("diagnostics")) {
        for (const Json& d : json["diagnostics"])
            said += d.value("message", "") + " " + d.value("hint", "") + "\n";
    }
    EXPECT_NE(said.find(expected("text")), std::string::npos) << said;
    if (ran.exit == 1) {
        ASSERT_FALSE(json["diagnostics"].empty());
        EXPECT_EQ(json["diagnostics"][0]["severity"], "error");
        if (!expected("stage").empty()) {
            EXPECT_EQ(json["stage"], expected("stage")) << ran.out;
        }
        if (!expected("rule").empty()) {
            EXPECT_EQ(json["diagnostics"][0]["rule"], expected("rule")) << ran.out;
        }
    } else {
        EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    }
}

std::string name(const testing::TestParamInfo<std::filesystem::path>& info) { return test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(BadInput, BrokenPage, testing::ValuesIn(files_in(cases / "pages", ".md")), name);
INSTANTIATE_TEST_SUITE_P(BadInput, BrokenCandidate, testing::ValuesIn(files_in(cases / "candidates", ".cu")),
                         name);

TEST(BadInput, HundredMegabytes) {
    const Scratch scratch;
    const auto file = scratch.path() / "huge.cu";
    std::ofstream(file) << "x";
    std::filesystem::resize_file(file, 100U << 20);
    const Ran candidate = run_program({"check", "vector_add", file.string()});
    EXPECT_EQ(candidate.exit, 2);
    EXPECT_EQ(lines_in(candidate.err), 1U) << candidate.err;
    const Ran page = run_program({"tasks", "check", file.string()});
    EXPECT_EQ(page.exit, 2);
    EXPECT_EQ(lines_in(page.err), 1U) << page.err;
}

TEST(BadInput, FilesThatAreNoFiles) {
    const Scratch scratch;
    const std::string pipe = (scratch.path() / "pipe").string(), loop = (scratch.path() / "loop").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_symlink(loop, loop);
    const std::string replay = "replay:" + (source_dir() / "share/replays/softmax_rows.jsonl").string();
    const std::string results = (scratch.path() / "results").string();
    for (const std::string& path : {(scratch.path() / "missing/k.cu").string(), std::string("/dev/zero"),
                                    std::string("/"), scratch.path().string(), pipe, loop}) {
        for (const std::vector<std::string>& call :
             {std::vector<std::string>{"check", "vector_add", path},
              {"tasks", "check", path},
              {"run", "vector_add", "--author", "replay:" + path, "--results", results},
              {"run", "softmax_rows", "--author", replay, "--record", path, "--results", results},
              {"report", path, "--results", results}}) {
            const Ran ran = run_program(call);
            EXPECT_EQ(ran.exit, 2) << Json(call).dump() << ran.out << ran.err;
            EXPECT_EQ(lines_in(ran.err), 1U) << Json(call).dump() << ran.err;
        }
    }
}

TEST(BadInput, StreamsThatAreClosedOrFull) {
    const std::string program = quoted(std::string(KW_BINARY_DIR) + "/bin/kernelwright");
    const Scratch scratch;
    const std::string err = (scratch.path() / "err").string();
    const auto exit_of = [&](const std::string& command) {  // the limit is for a hang: sanitizers are slow
        return WEXITSTATUS(std::system(("timeout 600 " + command).c_str()));
    };
    EXPECT_EQ(exit_of(program + " tasks --json >/dev/full 2>" + err), 3);
    EXPECT_EQ(lines_in(slurp(err)), 1U) << slurp(err);
    EXPECT_EQ(exit_of(program + " tasks >/dev/full 2>" + err), 3);
    EXPECT_EQ(exit_of(program + " tasks >&- 2>&- <&-"), 0);
    EXPECT_EQ(exit_of("bash -c 'set -o pipefail; " + program + " tasks --json | head -c 0'"), 141)
        << "as other programs end when nobody reads";
    // What is printed must not go into a file of the run, whose number it would have.
    const std::string results = (scratch.path() / "results").string();
    const std::string page = (source_dir() / "tasks/softmax_rows.md").string();
    const std::string replay = (source_dir() / "share/replays/softmax_rows.jsonl").string();
    EXPECT_EQ(exit_of(program + " run " + page + " --author replay:" + replay + " --results " + results +
                      " >&- 2>&- <&-"),
              0);
    EXPECT_EQ(run_program({"report", "last", "--results", results}).exit, 0);
}

// What the machine lacks is no verdict on a candidate.
TEST(BadInput, MachinesThatAreTooSmall) {
    const std::string check = quoted(std::string(KW_BINARY_DIR) + "/bin/kernelwright") +
                              " check vector_add " +
                              quoted((source_dir() / "tests/cases/tasks/vector_add/naive.cu").string());
    const Scratch scratch;
    const std::string err = (scratch.path() / "err").string();
    for (const char* limit : {"ulimit -n 10", "ulimit -n 12", "ulimit -n 14"}) {
        const int status = std::system(
            ("(" + std::string(limit) + "; timeout 600 " + check + ") >/dev/null 2>" + err).c_str());
        EXPECT_EQ(WEXITSTATUS(status), 3) << limit << slurp(err);
        EXPECT_NE(slurp(err).find("kernelwright: "), std::string::npos) << slurp(err);
    }
}

TEST(BadInput, NamesThatAreNearlyRight) {
    const std::string naive = (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string();
    const struct {
        std::vector<std::string> call;
        const char* says;
    } cases[] = {
        {{"check", "vector_ad", naive}, "did you mean `vector_add`?"},
        {{"profile", "softmax_row", naive}, "did you mean `softmax_rows`?"},
        {{"check", "tasks/vector_ad.md", naive}, "there is no such task page"},
        {{"check", naive, "vector_add"}, "the task comes first"},
        {{"check", "vector_add", naive, "--shape", "n=3"}, "did you mean `N`?"},
        {{"chekc"}, "did you mean `check`?"},
        {{"check", "--bogus"}, "no option `--bogus` of check"},
        {{"check", "vector_add", naive, "--shap", "N=3"}, "did you mean `--shape`?"},
        {{"check", "vector_add", naive, "--target", "foo"}, "or an architecture such as sm_80"},
        {{"skills", "show", "tensor.use-mmma"}, "did you mean `tensor.use-mma`?"},
        {{"skills", "show", "nosuch"}, "skills list"},
        {{"tasks", "show", "sofmax_rows"}, "did you mean `softmax_rows`?"},
        {{"check", "vector_add", naive, "--shape", "N=400000000"}, "elements"},
    };
    for (const auto& c : cases) {
        const Ran ran = run_program(c.call);
        EXPECT_EQ(ran.exit, 2) << ran.err;
        EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
        EXPECT_NE(ran.err.find(c.says), std::string::npos) << ran.err;
    }
}

TEST(BadInput, CallsThatAreWrong) {
    const std::string naive = (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string();
    const std::vector<std::vector<std::string>> calls{
        {},
        {"chekc"},
        {"check"},
        {"check", "vector_add"},
        {"check", "vector_ad", naive},
        {"check", "vector_add", naive, "--shape", "N=0"},
        {"check", "vector_add", naive, "--shape", "M=3"},
        {"check", "vector_add", naive, "--shape", "N=99999999999"},
        {"check", "vector_add", naive, "--case", "nomral"},
        {"check", "vector_add", naive, "--seed", "minus"},
        {"check", "vector_add", naive, "--seed", "-1"},
        {"check", "vector_add", naive, "--seed", "99999999999999999999999"},
        {"check", "vector_add", naive, "--shape", ","},
        {"check", "vector_add", naive, "--shape", "N=3,N=4"},
        {"check", "\x1b[31mred\a\n", naive},
        {"tasks", "check", "vector_ad"},
        {"check", "vector_add", naive, "--target", "sm_12"},
        {"check", "vector_add", naive, "--sandbox", "perhaps"},
        {"check", "vector_add", naive, "--device", "toaster"},
        {"run"},
        {"run", "vector_add", "--author", "nobody"},
        {"run", "vector_add", "--author", "replay:/nonexistent.jsonl"},
        {"run", "vector_add", "--budget", "evals=many", "--author", "replay:/nonexistent.jsonl"},
        {"run", "--resume", "no-such-run"},
        {"report", "no-such-run"},
        {"skills", "show", "no.such-skill"},
        {"skills", "dance"},
        {"tasks", "dance"},
        {"tasks", "show"},
        {"report"},
        {"report", "--html", "r.html"},
    };
    const Scratch scratch;
    for (std::vector<std::string> call : calls) {
        if (!call.empty() && (call[0] == "run" || call[0] == "report")) {
            call.push_back("--results");
            call.push_back((scratch.path() / "results").string());
        }
        const Ran ran = run_program(call);
        EXPECT_EQ(ran.exit, 2) << Json(call).dump() << "\n" << ran.out << ran.err;
        EXPECT_EQ(lines_in(ran.err), 1U) << Json(call).dump() << "\n" << ran.err;
        EXPECT_EQ(ran.out, "") << Json(call).dump();
    }
}

// A profile of a wrong candidate says all that a check says.
TEST(BadInput, ProfilesOfWrongCandidatesCanBeFollowedUp) {
    const std::string bad = (source_dir() / "tests/cases/verdict/bad/vector_add__no_guard.cu").string();
    const Ran profile = run_program({"profile", "vector_add", bad});
    EXPECT_EQ(profile.exit, 1);
    for (const char* part : {"    at N=", ", seed ", "again: ", " --shape N="})
        EXPECT_NE(profile.out.find(part), std::string::npos) << part << "\n" << profile.out;
}

TEST(Shown, PagesAndRulesWithWhatTheySay) {
    const Ran page = run_program({"tasks", "show", "softmax_rows"});
    EXPECT_EQ(page.exit, 0);
    EXPECT_EQ(page.out, slurp(source_dir() / "tasks/softmax_rows.md"));
    const Ran rule = run_program({"skills", "show", "tensor.use-mma"});
    EXPECT_EQ(rule.exit, 0);
    EXPECT_NE(rule.out.find("no-tensor-cores"), std::string::npos) << "the cause";
    EXPECT_NE(rule.out.find("padded by 16 bytes"), std::string::npos) << "the advice";
}

TEST(BadInput, WhatIsNotBuiltSaysSo) {
    for (const char* command : {"calibrate", "new", "ir", "mcp", "nightly"}) {
        const Ran ran = run_program({command, "x"});
        EXPECT_EQ(ran.exit, 3) << command;
        EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    }
}

TEST(BadInput, NoCompiler) {
    const std::string naive = (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string();
    const Ran ran = run_program({"check", "vector_add", naive}, "KERNELWRIGHT_NVRTC=/nonexistent");
    EXPECT_EQ(ran.exit, 3) << ran.out << ran.err;
    EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    EXPECT_NE(ran.err.find("NVRTC"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace kernelwright::e2e

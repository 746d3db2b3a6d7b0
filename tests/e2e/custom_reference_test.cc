// Pages that carry their own reference: a ```cuda reference block, and an outside command (python3 with
// numpy).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/e2e/program.h"

namespace kernelwright::e2e {
namespace {

const std::filesystem::path cases = source_dir() / "tests/cases/custom_reference";

// The system's python3 comes first: it is the one that has the numpy package.
const std::string path = "PATH=/usr/bin:\"$PATH\"";

bool has_numpy() { return std::system("PATH=/usr/bin:\"$PATH\" python3 -c 'import numpy' 2>/dev/null") == 0; }

class CustomReference : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(CustomReference, Judges) {
    const std::string stem = GetParam().stem().string();
    const std::string task = stem.substr(0, stem.find("__"));
    const bool command = slurp(cases / (task + ".md")).find("python3") != std::string::npos;
    if (command && !has_numpy()) GTEST_SKIP() << "python3 has no numpy here";
    const bool good = stem.find("__good") != std::string::npos;
    for (const char* seed : {"1", "2", "3"}) {
        if (command && seed != std::string("1")) continue;  // each call of a program takes its time
        const Ran ran = run_program(
            {"check", (cases / (task + ".md")).string(), GetParam().string(), "--json", "--seed", seed},
            path);
        EXPECT_EQ(ran.exit, good ? 0 : 1) << ran.out << ran.err;
        EXPECT_EQ(ran.out.find("tune-shape-unverified"), std::string::npos) << ran.out;
        if (!good) {
            EXPECT_EQ(ran.json().value("stage", ""), "numerics") << ran.out;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Pages, CustomReference, testing::ValuesIn(files_in(cases, ".cu")),
                         [](const auto& info) { return test_name(info.param); });

// The page of row_norm with another command.
std::filesystem::path page_with(const Scratch& scratch, const std::string& command) {
    const auto page = scratch.path() / "row_norm.md";
    std::string text = slurp(cases / "row_norm.md");
    const std::string old = "python3 row_norm.py";
    text.replace(text.find(old), old.size(), command);
    std::ofstream(page) << text;
    return page;
}

const std::string good = (cases / "row_norm__good.cu").string();

TEST(CustomReferenceErrors, AFailingCommandIsOneLine) {
    const Scratch scratch;
    const auto page = page_with(scratch, "echo in line 7 >&2; echo no such luck >&2; exit 3");
    const Ran ran = run_program({"check", page.string(), good});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("exit status 3: in line 7 | no such luck"), std::string::npos) << ran.err;
    const std::string message = ran.err.substr(ran.err.find("kernelwright: "));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << ran.err;
}

// What the sandbox keeps from the command must not come in by a link that the program then follows.
TEST(CustomReferenceErrors, AnOutputThatIsALinkIsRefused) {
    const Scratch scratch;
    std::ofstream(scratch.path() / "secret") << slurp(cases / "row_norm.md");
    const auto page = page_with(scratch, "ln -s " + (scratch.path() / "secret").string() + " y.npy");
    const Ran ran = run_program({"check", page.string(), good});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("made y.npy a link"), std::string::npos) << ran.err;
}

TEST(CustomReferenceErrors, AnEndlessCommandIsGivenUp) {
    const Scratch scratch;
    const auto page = page_with(scratch, "while true; do sleep 1; done");
    const Ran ran = run_program({"check", page.string(), good}, "KERNELWRIGHT_REFERENCE_SECONDS=1");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("did not end within 1 s"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("KERNELWRIGHT_REFERENCE_SECONDS"), std::string::npos) << ran.err;
    EXPECT_LT(ran.seconds, 20);
    const Ran wrong = run_program({"check", page.string(), good}, "KERNELWRIGHT_REFERENCE_SECONDS=soon");
    EXPECT_EQ(wrong.exit, 2);
    EXPECT_NE(wrong.err.find("number of seconds"), std::string::npos) << wrong.err;
}

// A block that cannot be had in another precision is said to be so, with the reason; never silently.
TEST(CustomReferenceErrors, OnePrecisionIsAWarning) {
    const Scratch scratch;
    std::string text = slurp(cases / "scaled_square.md");
    const auto put = [&](const std::string& old, const std::string& now) {
        text.replace(text.find(old), old.size(), now);
    };
    put("const float* x, float* y", "const int* x, float* y");
    put("alpha * x[i] * x[i] + x[i]",
        "alpha * __int_as_float(x[i]) * __int_as_float(x[i]) + __int_as_float(x[i])");
    const auto page = scratch.path() / "scaled_square.md";
    std::ofstream(page) << text;
    const Ran ran =
        run_program({"check", page.string(), (cases / "scaled_square__good.cu").string(), "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("reference-in-one-precision"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("`const int* x` for the f32 tensor `x` is of another type"), std::string::npos)
        << ran.out;
    const Ran checked = run_program({"tasks", "check", page.string()});
    EXPECT_NE(checked.err.find("warning: the page's reference"), std::string::npos) << checked.err;
}

TEST(CustomReferenceErrors, SaysWhichProgramRanAndWhatIsCopied) {
    const Scratch scratch;
    const auto page = page_with(scratch, "python3 sub/gone.py");
    const Ran ran = run_program({"check", page.string(), good});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("/python3)"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("plain name"), std::string::npos) << ran.err;
}

// The page's params come under their names.
TEST(CustomReferenceErrors, ACommandFindsTheParams) {
    const Scratch scratch;
    const auto page = page_with(scratch, "cat params.json >&2; exit 3");
    const Ran ran = run_program({"check", page.string(), good});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find('{'), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace kernelwright::e2e

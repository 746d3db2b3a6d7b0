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
    if (slurp(cases / (task + ".md")).find("python3") != std::string::npos && !has_numpy()) {
        GTEST_SKIP() << "python3 has no numpy here";
    }
    const Ran ran =
        run_program({"check", (cases / (task + ".md")).string(), GetParam().string(), "--json"}, path);
    const bool good = stem.find("__good") != std::string::npos;
    EXPECT_EQ(ran.exit, good ? 0 : 1) << ran.out << ran.err;
    if (!good) {
        EXPECT_EQ(ran.json().value("stage", ""), "numerics") << ran.out;
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

}  // namespace
}  // namespace kernelwright::e2e

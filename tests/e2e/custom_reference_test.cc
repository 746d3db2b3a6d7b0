// Pages that carry their own reference: a ```cuda reference block, and an outside command (python3 with
// numpy).
#include <gtest/gtest.h>

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

TEST(CustomReferenceErrors, AFailingCommandIsOneLine) {
    const Scratch scratch;
    const auto page = scratch.path() / "row_norm.md";
    std::string text = slurp(cases / "row_norm.md");
    const std::string command = "python3 row_norm.py";
    text.replace(text.find(command), command.size(), "echo no such luck >&2; exit 3");
    std::ofstream(page) << text;
    const Ran ran = run_program({"check", page.string(), (cases / "row_norm__good.cu").string()});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("no such luck"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace kernelwright::e2e

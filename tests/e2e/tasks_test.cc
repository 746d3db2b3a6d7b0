// For every shipped task: a plain right kernel passes `check`; one that writes zeros and one that passes an
// input through fail it.
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace kernelwright::e2e {
namespace {

class ShippedTask : public testing::TestWithParam<std::filesystem::path> {
  protected:
    static Ran check(const std::string& kernel) {
        const auto candidate = source_dir() / "tests/cases/tasks" / GetParam().stem() / kernel;
        return run_program({"check", GetParam().string(), candidate.string(), "--json"});
    }
};

TEST_P(ShippedTask, NaivePasses) {
    const Ran ran = check("naive.cu");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST_P(ShippedTask, ZerosFail) {
    const Ran ran = check("zeros.cu");
    EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
    EXPECT_EQ(ran.json().value("stage", Json()), "numerics") << ran.out;
}

TEST_P(ShippedTask, PassThroughFails) {
    const Ran ran = check("passthrough.cu");
    EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
    EXPECT_EQ(ran.json().value("stage", Json()), "numerics") << ran.out;
}

TEST_P(ShippedTask, PageIsSound) {
    const Ran ran = run_program({"tasks", "check", GetParam().string(), "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

INSTANTIATE_TEST_SUITE_P(Tasks, ShippedTask, testing::ValuesIn(files_in(source_dir() / "tasks", ".md")),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace kernelwright::e2e

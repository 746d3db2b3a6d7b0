#include "verifiers/gate/policy.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

std::vector<Diagnostic> policy(const std::string& source) {
    Candidate candidate;
    candidate.file = "k.cu";
    candidate.source = source;
    Task task;
    task.check_shapes = {{{"N", 1031}}, {{"N", 1024}}};
    return check_policy(candidate, task);
}

TEST(Policy, WhatIsAlwaysWrongIsAnError) {
    const auto launch = policy("__global__ void a() {}\n__global__ void b() { a<<<1, 1>>>(); }\n");
    ASSERT_EQ(launch.size(), 1U);
    EXPECT_EQ(launch[0].rule, "dynamic-parallelism");
    EXPECT_EQ(launch[0].severity, Severity::error);
    EXPECT_EQ(launch[0].line, 2);
    EXPECT_EQ(policy("int main() { return 0; }").at(0).rule, "host-code");
}

TEST(Policy, WhatIsSuspiciousIsAWarning) {
    const auto clock = policy("__device__ long long t() { return clock64(); }");
    ASSERT_EQ(clock.size(), 1U);
    EXPECT_EQ(clock[0].severity, Severity::warning);
    EXPECT_EQ(policy("if (N == 1031) return;").at(0).rule, "hard-coded-size");
    EXPECT_TRUE(policy("if (N == 1024) return;").empty()) << "a power of two is a tile size";
}

TEST(Policy, ASizeIsSuspiciousWhereItIsComparedWithASymbol) {
    for (const char* source : {"if (N == 1031) return;", "if (1031 <= n) return;", "N!=1031", "1031 > N"}) {
        const auto found = policy(source);
        ASSERT_EQ(found.size(), 1U) << source;
        EXPECT_EQ(found[0].severity, Severity::warning) << source;
    }
    for (const char* source :
         {"if (launches < 1031) return;", "float t[1031];", "N = 1031;", "1031", "== 1031", "1031 =="}) {
        const auto found = policy(source);
        ASSERT_EQ(found.size(), 1U) << source;
        EXPECT_EQ(found[0].severity, Severity::note) << source;
    }
}

TEST(Policy, ASymbolIsKnownUnderItsParametersName) {
    Candidate candidate;
    candidate.source = "void k(float* y, int rows) { if (rows == 1031) return; }";
    candidate.plans.resize(1);
    candidate.plans[0].kernels.resize(1);
    KernelPlan& kernel = candidate.plans[0].kernels[0];
    kernel.arguments.resize(2);
    kernel.arguments[0].text = "y";
    kernel.arguments[1].text = "N";
    kernel.parameters = {"float* y", "int rows"};
    Task task;
    task.check_shapes = {{{"N", 1031}}};
    const auto found = check_policy(candidate, task);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::warning);
}

TEST(Policy, CommentsAndStringsAreProse) {
    EXPECT_TRUE(
        policy(
            "// a<<<1, 1>>>() and int main()\n/* clock() */ const char* s = \"int main() <<< \\\" clock\";\n")
            .empty());
    EXPECT_TRUE(policy("int n = 1'000'000; // a digit separator opens no literal\n").empty());
}

}  // namespace
}  // namespace kernelwright

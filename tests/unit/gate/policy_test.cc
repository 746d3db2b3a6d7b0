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

TEST(Policy, CommentsAndStringsAreProse) {
    EXPECT_TRUE(
        policy(
            "// a<<<1, 1>>>() and int main()\n/* clock() */ const char* s = \"int main() <<< \\\" clock\";\n")
            .empty());
    EXPECT_TRUE(policy("int n = 1'000'000; // a digit separator opens no literal\n").empty());
}

}  // namespace
}  // namespace kernelwright

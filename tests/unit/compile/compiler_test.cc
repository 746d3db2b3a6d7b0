// The whole way: request, worker, NVRTC, findings, cache.
#include <gtest/gtest.h>

#include "harness/compile/nvrtc_compiler.h"

namespace kernelwright {
namespace {

CompilerConfig uncached() {
    CompilerConfig config;
    config.cache_folder = std::filesystem::path();
    return config;
}

std::string describe(const CompileOutcome& outcome) {
    std::string out;
    if (outcome.environment) out += outcome.environment->str() + "\n";
    for (const Diagnostic& d : outcome.diagnostics) out += to_line(d) + "\n";
    return out;
}

TEST(Compiler, MakesPtxMachineCodeAndFacts) {
    const auto compiler = make_compiler(uncached());
    CompileRequest request;
    request.file = "dir/plain.cu";
    request.source =
        "extern \"C\" __global__ void k(float* x, int n) {\n"
        "    __shared__ float s[64];\n"
        "    s[threadIdx.x] = x[threadIdx.x]; __syncthreads();\n"
        "    if (threadIdx.x < n) x[threadIdx.x] = s[63 - threadIdx.x];\n"
        "}\n";
    const CompileOutcome outcome = compiler->compile(request);
    ASSERT_TRUE(outcome.build) << describe(outcome);
    const Build& build = *outcome.build;
    EXPECT_NE(build.ptx.find(".visible .entry k("), std::string::npos);
    EXPECT_NE(build.ptx.find("\"plain.cu\""), std::string::npos);
    EXPECT_GT(build.cubin.size(), 1000U);
    ASSERT_EQ(build.kernels.count("k"), 1U);
    const KernelResources& facts = build.kernels.at("k");
    EXPECT_EQ(facts.static_shared, 256U);
    EXPECT_GT(facts.registers, 3);
    EXPECT_EQ(facts.barriers, 1);
    EXPECT_GE(facts.code_bytes, 128U);
    EXPECT_FALSE(build.cached);
}

}  // namespace
}  // namespace kernelwright

// What of a source is code, and how a kernel's parameters are found in it.
#include "harness/candidate/comments.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

TEST(CodeOnly, BlanksCommentsAndLiteralsAndKeepsLines) {
    EXPECT_EQ(code_only("a // b\nc /* d\ne */ f"), "a     \nc     \n     f");
    EXPECT_EQ(code_only("s = \"/* x \\\" */\"; c = '\"'; n = 1'000;"),
              "s = \"          \"; c = ' '; n = 1'000;");
    EXPECT_EQ(code_only("R\"(\nmain())\" k"), "R\" \n       \" k");
    EXPECT_EQ(code_only("// a \\\nstill\nb"), "      \n     \nb");
    for (const char* odd : {"", "\"", "'", "/*", "//", "R\"", "R\"(", "\"\\"})
        EXPECT_EQ(code_only(odd).size(), std::string(odd).size()) << odd;
}

TEST(KernelParameters, AreThoseOfTheDeclaration) {
    using List = std::vector<std::string>;
    const std::string code = code_only(
        "__device__ void scale(float* nothing);\n"
        "extern \"C\" __global__ void __launch_bounds__(256) scale(const float* __restrict__ x,  // in\n"
        "        float *y, int n, cuda::std::array<int, 2> a) { other(x, y); }\n"
        "template <int N> __global__ void tile(float (*t)[4], int) {}\n"
        "__global__ void none() {}\n"
        "__global__ void torn(int a, ");
    EXPECT_EQ(kernel_parameters(code, "scale"),
              (List{"const float* __restrict__ x", "float *y", "int n", "cuda::std::array<int, 2> a"}));
    EXPECT_EQ(kernel_parameters(code, "ns::tile<4>"), (List{"float (*t)[4]", "int"}));
    for (const char* name : {"none", "torn", "missing", "", "other", "<", "::"})
        EXPECT_EQ(kernel_parameters(code, name), List{}) << name;
}

}  // namespace
}  // namespace kernelwright

#include "harness/core/text.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

TEST(Text, NearestFindsTyposOnly) {
    EXPECT_EQ(nearest("shpae", {"shape", "dtype"}), "shape");
    EXPECT_EQ(nearest("completely", {"shape", "dtype"}), "");
    EXPECT_EQ(nearest("A", {"k", "a"}), "a");
    EXPECT_EQ(nearest("z", {"M", "N"}), "");
    EXPECT_EQ(did_you_mean("dtyp", {"shape", "dtype"}), "; did you mean `dtype`?");
}

TEST(Text, TrimAndSplit) {
    EXPECT_EQ(trim("  a b \n"), "a b");
    EXPECT_EQ(trim(" \t"), "");
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(line_of("a\nb\nc", 4), 3);
}

}  // namespace
}  // namespace kernelwright

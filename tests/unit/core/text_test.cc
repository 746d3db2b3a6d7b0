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

TEST(Text, PrintableSteersNoTerminal) {
    EXPECT_EQ(printable("a\x1b[31m\tb\x7f\n"), "a [31m b  ");
    EXPECT_EQ(printable("caf\xc3\xa9 \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xf0\x9f\x98\x80");
    EXPECT_EQ(printable("\xff\xc3(\xe2\x80"), "\?\?(\?\?");
    EXPECT_EQ(printable("x\xe2\x80\xaey\xe2\x81\xa6z\xc2\x9b"
                        "1"),
              "x?y?z?1");
    EXPECT_EQ(printable("\xe2\x80\xa6 \xc2\xa0"), "\xe2\x80\xa6 \xc2\xa0") << "an ellipsis, a no-break space";
}

}  // namespace
}  // namespace kernelwright

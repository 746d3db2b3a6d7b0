#include "harness/core/diagnostic.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

TEST(Diagnostic, JsonRoundTrip) {
    Diagnostic d;
    d.rule = "shared-race";
    d.stage = Stage::sanitize;
    d.kernel = "row_max";
    d.file = "k.cu";
    d.line = 21;
    d.column = 5;
    d.related = {{"", 18, "the write it races with"}};
    d.message = "two threads";
    d.hint = "add __syncthreads()";
    d.shape = {{"M", 3}, {"N", 17}};
    d.case_name = "normal";
    d.seed = 7;
    d.block = {{0, 0, 0}};
    d.thread = {{33, 0, 0}};
    const auto back = diagnostic_from_json(to_json(d));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, d);
    EXPECT_EQ(to_json(d)["case"], "normal");
    EXPECT_EQ(to_json(d)["related"][0]["line"], 18);
}

TEST(Diagnostic, UnknownStageIsRefused) {
    EXPECT_FALSE(diagnostic_from_json(Json{{"rule", "x"}, {"stage", "nowhere"}}).ok());
    EXPECT_FALSE(diagnostic_from_json(Json::array()).ok());
}

}  // namespace
}  // namespace kernelwright

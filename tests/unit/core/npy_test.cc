#include "harness/core/npy.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

TEST(Npy, RoundTripsEveryDtype) {
    for (const DType dtype : all_dtypes()) {
        Tensor t = Tensor::zeros(dtype, {2, 3});
        for (std::int64_t i = 0; i < 6; ++i) t.set(i, static_cast<double>(i % 2));
        for (const bool widen : {false, true}) {
            const auto back = from_npy(to_npy(t, widen), "t.npy");
            ASSERT_TRUE(back.ok()) << back.error().str();
            EXPECT_EQ(back->shape, t.shape);
            EXPECT_EQ(back->values(), t.values()) << to_string(dtype);
        }
    }
}

TEST(Npy, TornFilesAreOneClearLine) {
    const std::string whole = to_npy(Tensor::from(DType::f32, {4}, {1, 2, 3, 4}), false);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        EXPECT_FALSE(from_npy(std::string_view(whole).substr(0, cut), "t.npy").ok());
    }
    EXPECT_FALSE(from_npy("not numpy at all", "t.npy").ok());
}

}  // namespace
}  // namespace kernelwright

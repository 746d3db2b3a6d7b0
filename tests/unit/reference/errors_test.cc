// Bad calls: one clear line each, and never a crash.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verifiers/numerics/random.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

using testing::HasSubstr;

std::string error(const std::string& op, const Json& params, const std::vector<OutputSpec>& inputs,
                  const std::vector<DType>& outputs, const std::vector<std::string>& operands = {},
                  const DeclaredShapes& declared = {}) {
    const auto got = reference_outputs(op, params, inputs, operands, outputs, declared);
    return got.ok() ? "" : got.error().message;
}

const OutputSpec matrix{DType::f32, {3, 4}};
const std::vector<DType> f32{DType::f32};

TEST(Errors, NameWhatIsWrongAndTheNearestRightName) {
    EXPECT_THAT(error("sofmax", {}, {matrix}, f32), HasSubstr("did you mean `softmax`?"));
    EXPECT_THAT(error("softmax", {{"axs", 1}}, {matrix}, f32), HasSubstr("did you mean `axis`?"));
    EXPECT_THAT(error("relu", {{"axis", 1}}, {matrix}, f32),
                HasSubstr("has no parameter `axis`; it has none"));
    EXPECT_THAT(error("softmax", {}, {matrix}, f32), HasSubstr("needs the parameter `axis`"));
    EXPECT_THAT(error("softmax", {{"axis", 2}}, {matrix}, f32), HasSubstr("is 2, outside -2 .. 1"));
    EXPECT_THAT(error("softmax", {{"axis", "last"}}, {matrix}, f32),
                HasSubstr("must be an axis number, not \"last\""));
    EXPECT_THAT(error("sum", {{"axis", Json::array({0, 0})}}, {matrix}, f32), HasSubstr("twice"));
    EXPECT_THAT(error("gelu", {{"approximate", "tahn"}}, {matrix}, f32), HasSubstr("did you mean `tanh`?"));
    EXPECT_THAT(error("quantize", {{"dtype", "e4m4"}}, {matrix}, {DType::e4m3, DType::f32}),
                HasSubstr("did you mean `e4m3`?"));
    EXPECT_THAT(error("add", {}, {matrix}, f32), HasSubstr("no input is `b`"));
    EXPECT_THAT(error("add", {}, {matrix, matrix, matrix}, f32),
                HasSubstr("takes a, b; the task has 3 inputs"));
    EXPECT_THAT(error("add", {}, {matrix, {DType::f32, {5}}}, f32), HasSubstr("do not broadcast"));
    EXPECT_THAT(error("layernorm", {}, {matrix, matrix}, f32, {"", "gama"}),
                HasSubstr("did you mean `gamma`?"));
    EXPECT_THAT(error("layernorm", {}, {matrix, {DType::f32, {3}}}, f32), HasSubstr("gamma has 3 elements"));
    EXPECT_THAT(error("matmul", {}, {matrix, matrix}, f32), HasSubstr("inner extents"));
    EXPECT_THAT(error("argmax", {{"axis", 1}}, {matrix}, f32), HasSubstr("holds integers"));
    EXPECT_THAT(error("softmax", {{"axis", 1}}, {matrix}, {DType::i32}), HasSubstr("holds fractions"));
    EXPECT_THAT(error("softmax", {{"axis", 1}}, {matrix}, {DType::f32, DType::f32}),
                HasSubstr("the task has 2 outputs"));
    EXPECT_THAT(error("sum", {{"axis", 1}}, {matrix}, f32, {}, {{4}}),
                HasSubstr("has the shape [3]; the task declares [4]"));
    EXPECT_EQ(error("sum", {{"axis", 1}}, {matrix}, f32, {}, {{3, 1}}), "");
    EXPECT_THAT(error("topk", {{"axis", 1}, {"k", 9}}, {matrix}, f32), HasSubstr("the axis has 4"));
    EXPECT_THAT(error("max", {{"axis", 1}}, {{DType::f32, {3, 0}}}, f32), HasSubstr("no elements"));
    EXPECT_THAT(
        error("conv2d", {{"stride", 0}}, {{DType::f32, {1, 1, 4, 4}}, {DType::f32, {1, 1, 3, 3}}}, f32),
        HasSubstr("at least 1"));
    EXPECT_THAT(error("embedding", {}, {matrix, {DType::f32, {2}}}, f32), HasSubstr("must hold integers"));
}

TEST(Errors, ValuesOutOfRange) {
    const Tensor table = Tensor::zeros(DType::f32, {4, 2}), bad = Tensor::from(DType::i32, {2}, {0, 4});
    const auto e = compute_reference("embedding", {}, {table, bad}, {}, f32);
    ASSERT_FALSE(e.ok());
    EXPECT_THAT(e.error().message, HasSubstr("index 4 is outside 0 .. 3"));
    const auto h = compute_reference("histogram", {}, {bad}, {}, {DType::i32}, {{3}});
    EXPECT_FALSE(h.ok());
}

TEST(Errors, DefaultsAreWhatTheyAreCalled) {
    const auto p = effective_params(
        "attention", {}, {{DType::f32, {5, 64}}, {DType::f32, {5, 64}}, {DType::f32, {5, 64}}}, {});
    ASSERT_TRUE(p.ok());
    EXPECT_EQ((*p)["scale"], 0.125);
    EXPECT_EQ((*p)["causal"], false);
    EXPECT_EQ(parameter_names("layernorm")[1], (std::pair<std::string, std::string>{"eps", "1e-05"}));
    EXPECT_EQ(operand_names("layernorm"), (std::vector<std::string>{"x", "gamma?", "beta?"}));
    EXPECT_EQ(operand_names("concat").back(), "...");
}

// Random calls of every op: whatever comes, there is an answer or an error.
TEST(Errors, RandomCallsDoNotCrash) {
    const RandomStream random(1, "calls");
    const std::vector<Json> values{0,
                                   1,
                                   -1,
                                   2,
                                   100,
                                   0.5,
                                   true,
                                   "all",
                                   "tanh",
                                   "i8",
                                   nullptr,
                                   Json::array({0, 1}),
                                   Json::array({}),
                                   Json::object(),
                                   -5,
                                   "x"};
    std::int64_t step = 0;
    const auto pick = [&](std::int64_t n) { return random.integer(step++, 0, n - 1); };
    int answers = 0;
    for (int round = 0; round < 200; ++round) {
        for (const std::string& op : reference_ops()) {
            Json params = Json::object();
            for (const auto& [name, text] : parameter_names(op)) {
                if (pick(3) != 0)
                    params[name] =
                        values[static_cast<std::size_t>(pick(static_cast<std::int64_t>(values.size())))];
            }
            std::vector<Tensor> inputs;
            const auto count = pick(8) == 0 ? pick(6) : static_cast<std::int64_t>(operand_names(op).size());
            const std::int64_t rank = pick(5);
            for (std::int64_t i = 0; i < count; ++i) {
                Shape shape;
                for (std::int64_t d = 0; d < (pick(4) == 0 ? pick(5) : rank); ++d) shape.push_back(pick(4));
                const DType dtype = all_dtypes()[static_cast<std::size_t>(
                    pick(static_cast<std::int64_t>(all_dtypes().size())))];
                Tensor t = Tensor::zeros(pick(2) == 0 ? DType::f32 : dtype, shape);
                const bool special = pick(6) == 0;
                for (std::int64_t k = 0; k < t.count(); ++k) {
                    const std::int64_t value = pick(9) - 3;
                    t.set(k, special && value == 5   ? std::numeric_limits<double>::infinity()
                             : special && value == 4 ? -std::numeric_limits<double>::infinity()
                             : special && value == 3 ? std::nan("")
                                                     : static_cast<double>(value));
                }
                inputs.push_back(std::move(t));
            }
            std::vector<DType> outputs;
            for (std::int64_t i = 0; i < 1 + pick(2); ++i)
                outputs.push_back(pick(2) == 0 ? DType::f32 : DType::i32);
            const auto got = compute_reference(op, params, inputs, {}, outputs);
            if (!got.ok()) {
                EXPECT_FALSE(got.error().message.empty());
                EXPECT_EQ(got.error().message.find('\n'), std::string::npos);
                continue;
            }
            ++answers;
            for (const Expected& e : *got) {
                ASSERT_EQ(static_cast<std::int64_t>(e.value.size()), element_count(e.shape)) << op;
                ASSERT_EQ(e.tolerance.size(), e.value.size()) << op;
                for (const double t : e.tolerance) EXPECT_GE(t, 0) << op;
            }
        }
    }
    EXPECT_GT(answers, 100);
}

}  // namespace
}  // namespace kernelwright

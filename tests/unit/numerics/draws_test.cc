// Draws: the same bits for the same name and seed, inside what the page and the op allow, and never outside
// what the reference can bear. The pages used are the verdict cases' own.
#include "verifiers/numerics/draws.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/unit/numerics/pages.h"
#include "verifiers/numerics/compare.h"

namespace kernelwright {
namespace {

Task page(const std::string& header) {
    auto task = parse_task("---\n" + header + "---\nText.\n", "page.md");
    EXPECT_TRUE(task.ok()) << (task.ok() ? "" : task.error().str());
    return std::move(*task);
}

// The kernel that rounds the exact answer once is right; what it gives must pass on every draw.
TEST(Draws, EveryCaseOfEveryPageHasAnAnswer) {
    const std::vector<Task> tasks = pages();
    ASSERT_GE(tasks.size(), 14U);
    for (const Task& task : tasks) {
        const std::vector<std::string> cases = cases_for(task);
        ASSERT_FALSE(cases.empty());
        EXPECT_EQ(cases.front(), "normal");
        EXPECT_EQ(std::set<std::string>(cases.begin(), cases.end()).size(), cases.size()) << task.name;
        for (const SymbolValues& symbols : task.check_shapes) {
            if (input_elements(task, symbols) > 20000) continue;
            for (const std::string& name : cases) {
                SCOPED_TRACE(fmt::format("{} {} {}", task.name, name, symbols.begin()->second));
                const auto inputs = draw_inputs(task, symbols, name, 1);
                ASSERT_TRUE(inputs.ok()) << inputs.error().str();
                const auto expected = expected_outputs(task, symbols, *inputs);
                ASSERT_TRUE(expected.ok()) << expected.error().str();
                ASSERT_EQ(expected->size(), task.outputs.size());
                for (const Expected& e : *expected) {
                    EXPECT_FALSE(e.bound.empty());
                    Tensor got = Tensor::zeros(e.dtype, e.shape);
                    for (std::int64_t i = 0; i < got.count(); ++i) {
                        const auto k = static_cast<std::size_t>(i);
                        if (e.integer.empty()) {
                            got.set(i, e.value[k]);
                            EXPECT_TRUE(std::isfinite(got.at(i))) << "element " << i;
                        } else {
                            got.set_integer(i, e.integer[k]);
                        }
                    }
                    const Comparison c = compare(e, got);
                    EXPECT_TRUE(c.ok()) << c.message;
                }
            }
        }
    }
}

// `lowest` and `highest` lie next to the end of the type or of the page's range, for every op that looks for
// an extreme element, and the reference has a finite answer there.
TEST(Draws, ExtremesAreNextToTheEnd) {
    struct Row {
        const char *op, *params, *dtype, *result, *range;
        const char* draw;
        double low, high;
    };
    const std::vector<Row> rows{
        {"max", "{axis: 1}", "f32", "f32", "", "lowest", -3.4028235e38, -3.4028225e38},
        {"min", "{axis: 1}", "f16", "f16", "", "highest", 65408, 65504},
        {"argmax", "{axis: 1}", "bf16", "i32", "", "lowest", -3.39e38, -3.32e38},
        {"argmin", "{axis: 1}", "i8", "i32", "", "highest", 124, 127},
        {"max", "{axis: 1}", "i32", "i32", "", "lowest", -2147483648.0, -2147483645.0},
        {"min", "{axis: 1}", "i64", "i64", "", "highest", 9.2e18, 9.3e18},
        {"max", "{axis: 1}", "f32", "f32", ", range: [-2, 2]", "lowest", -2, -2},
        {"softmax", "{axis: 1}", "f16", "f16", "", "lowest", -65504, -65408},
        {"log_softmax", "{axis: 1}", "f32", "f32", "", "lowest", -3.4028235e38, -3.4028225e38},
        {"logsumexp", "{axis: 1}", "f32", "f16", "", "lowest", -65504, -65503},
        {"sort", "{axis: 1}", "f32", "f32", "", "highest", 3.4028225e38, 3.4028235e38},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.op) + " " + row.dtype + " " + row.draw);
        const bool keeps =
            std::string(row.op).find("soft") != std::string::npos || row.op == std::string("sort");
        const Task task =
            page(fmt::format("name: page\nsummary: s\nop: {}\nparams: {}\nsymbols: [M, N]\ninputs:\n  x: "
                             "{{dtype: {}, shape: [M, N]{}}}\n"
                             "outputs:\n  y: {{dtype: {}, shape: [{}]}}\ncheck_shapes: [{{M: 3, N: 40}}]\n",
                             row.op, row.params, row.dtype, row.range, row.result, keeps ? "M, N" : "M"));
        const std::vector<std::string> cases = cases_for(task);
        EXPECT_EQ(std::count(cases.begin(), cases.end(), row.draw), 1);
        const auto inputs = draw_inputs(task, {{"M", 3}, {"N", 40}}, row.draw, 1);
        ASSERT_TRUE(inputs.ok());
        for (const double x : inputs->front().values()) {
            EXPECT_GE(x, row.low);
            EXPECT_LE(x, row.high);
        }
        const auto expected = expected_outputs(task, {{"M", 3}, {"N", 40}}, *inputs);
        ASSERT_TRUE(expected.ok()) << expected.error().str();
        for (const double y : expected->front().value) EXPECT_TRUE(std::isfinite(y));
    }
}

// Where an op selects, a zero is what it must select: the largest of a row, or the smallest.
TEST(Draws, SignedZerosAreSelected) {
    for (const char* op : {"argmax", "argmin"}) {
        const Task task = page(
            fmt::format("name: page\nsummary: s\nop: {}\nparams: {{axis: 1}}\nsymbols: [M, N]\ninputs:\n  x: "
                        "{{dtype: f32, shape: [M, "
                        "N]}}\noutputs:\n  y: {{dtype: i32, shape: [M]}}\ncheck_shapes: [{{M: 1, N: 64}}]\n",
                        op));
        const auto inputs = draw_inputs(task, {{"M", 1}, {"N", 64}}, "signed_zeros", 1);
        ASSERT_TRUE(inputs.ok());
        const std::vector<double> x = inputs->front().values();
        const bool largest = std::string(op) == "argmax";
        EXPECT_EQ(largest ? *std::max_element(x.begin(), x.end()) : *std::min_element(x.begin(), x.end()), 0);
        const auto negative = [](double v) { return v == 0 && std::signbit(v); };
        const auto positive = [](double v) { return v == 0 && !std::signbit(v); };
        EXPECT_TRUE(std::any_of(x.begin(), x.end(), negative) && std::any_of(x.begin(), x.end(), positive));
        EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double v) { return v != 0; }));
    }
}

TEST(Draws, SameNameAndSeedSameBits) {
    const Task task = page(
        "name: page\nsummary: s\nop: add\nsymbols: [N]\ninputs:\n  a: {dtype: f32, shape: [N]}\n  b: {dtype: "
        "f32, shape: "
        "[N]}\noutputs:\n  y: {dtype: f32, shape: [N]}\ncheck_shapes: [{N: 5}]\ntune_shapes: [{N: 5}]\n");
    const auto one = draw_inputs(task, {{"N", 100}}, "normal", 7);
    const auto two = draw_inputs(task, {{"N", 100}}, "normal", 7);
    const auto three = draw_inputs(task, {{"N", 100}}, "normal", 8);
    ASSERT_TRUE(one.ok() && two.ok() && three.ok());
    EXPECT_EQ((*one)[0], (*two)[0]);
    EXPECT_FALSE((*one)[0] == (*three)[0]);
    EXPECT_FALSE((*one)[0] == (*one)[1]);
    EXPECT_FALSE(draw_inputs(task, {{"N", 100}}, "nromal", 7).ok());
}

}  // namespace
}  // namespace kernelwright

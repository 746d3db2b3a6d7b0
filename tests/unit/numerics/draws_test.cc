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

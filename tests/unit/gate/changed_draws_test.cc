#include "verifiers/gate/changed_draws.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "verifiers/gate/gate.h"

namespace kernelwright {
namespace {

Task page(const std::string& inputs) {
    auto task =
        parse_task("---\nname: page\nsummary: s\nsymbols:\n  M: {min: 1}\n  N: {min: 1}\ninputs:\n" + inputs +
                       "outputs:\n  y: {dtype: f32, shape: [M, N]}\n"
                       "check_shapes: [{M: 4, N: 25}]\n"
                       "reference: {command: \"true\"}\n---\nText.\n",
                   "page.md");
    EXPECT_TRUE(task.ok()) << (task.ok() ? "" : task.error().str());
    return std::move(*task);
}

const SymbolValues shape{{"M", 4}, {"N", 25}};

std::vector<Tensor> drawn(const Task& task, const std::string& case_name, std::uint64_t seed = 1) {
    auto inputs = draw_case(task, shape, case_name, seed);
    EXPECT_TRUE(inputs.ok()) << (inputs.ok() ? "" : inputs.error().str());
    return std::move(*inputs);
}

std::vector<std::int64_t> differing(const Tensor& a, const Tensor& b) {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < a.count(); ++i) {
        if (a.at(i) != b.at(i)) out.push_back(i);
    }
    return out;
}

const std::string two = "  a: {dtype: f32, shape: [M, N]}\n  b: {dtype: f32, shape: [M, N]}\n";

TEST(ChangedDraws, ChangeWhatTheirNamesSay) {
    const Task task = page(two);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto before = drawn(task, unchanged_case, seed);
        const auto changes = [&](const std::string& case_name) {
            const auto after = drawn(task, case_name, seed);
            return std::pair{differing(before[0], after[0]), differing(before[1], after[1])};
        };
        const auto one = changes("changed_one");
        EXPECT_EQ(one.first.size() + one.second.size(), 1U);
        const auto between = changes("changed_between");
        EXPECT_EQ(between.first.size(), 96U);  // not 0, 49, 50 and 99
        for (const std::int64_t kept : {0, 49, 50, 99})
            EXPECT_EQ(std::count(between.first.begin(), between.first.end(), kept), 0);
        const auto half = changes("changed_half");
        EXPECT_GT(half.first.size(), 25U);
        EXPECT_LT(half.first.size(), 75U);
        EXPECT_NE(half.first, half.second);
        EXPECT_EQ(changes("changed_all").second.size(), 100U);
        EXPECT_EQ(changes("changed_input_1").first.size(), 100U);
        EXPECT_TRUE(changes("changed_input_1").second.empty());
        EXPECT_EQ(changes("changed_input_2").second.size(), 100U);
    }
}

TEST(ChangedDraws, AreKnownAndTheSameEachTime) {
    const Task task = page(two);
    const auto names = changed_cases_for(task);
    EXPECT_EQ(names.size(), 6U);
    for (const std::string& name : names) {
        EXPECT_TRUE(is_changed_case(name));
        EXPECT_TRUE(known_case(task, name).ok());
        EXPECT_EQ(drawn(task, name), drawn(task, name));
    }
    EXPECT_FALSE(is_changed_case(unchanged_case));
    EXPECT_TRUE(changed_cases_for(page("  a: {dtype: f32, shape: [M, N], values: const(1)}\n")).empty());
}

TEST(ChangedDraws, RowsKeepWhatThePagePromises) {
    const Task task = page(
        "  a: {dtype: f32, shape: [M, N], values: sorted}\n"
        "  b: {dtype: f32, shape: [M, N], values: probabilities}\n");
    for (const std::string& name : changed_cases_for(task)) {
        const auto inputs = drawn(task, name);
        for (std::int64_t row = 0; row < 4; ++row) {
            double sum = 0;
            for (std::int64_t i = row * 25; i < row * 25 + 25; ++i) {
                sum += inputs[1].at(i);
                if (i > row * 25) {
                    EXPECT_LE(inputs[0].at(i - 1), inputs[0].at(i)) << name;
                }
            }
            EXPECT_NEAR(sum, 1, 1e-5) << name;
        }
    }
}

}  // namespace
}  // namespace kernelwright

#include "verifiers/gate/unlisted_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "verifiers/gate/gate.h"

namespace kernelwright {
namespace {

Task page(const std::string& symbols, const std::string& rest) {
    auto task = parse_task("---\nname: page\nsummary: s\nsymbols: " + symbols + "\n" + rest + "---\nText.\n",
                           "page.md");
    EXPECT_TRUE(task.ok()) << (task.ok() ? "" : task.error().str());
    return std::move(*task);
}

const std::string matrix =
    "op: relu\ninputs:\n  x: {dtype: f32, shape: [M, N]}\noutputs:\n  y: {dtype: f32, shape: [M, N]}\n"
    "check_shapes: [{M: 1, N: 8}, {M: 64, N: 1024}]\n";

TEST(UnlistedShapes, EveryShippedPageHasSomeInItsRanges) {
    int pages = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(KW_SOURCE_DIR) + "/tasks")) {
        const auto task = load_task(entry.path());
        ASSERT_TRUE(task.ok()) << task.error().str();
        SCOPED_TRACE(task->name);
        ++pages;
        std::set<SymbolValues> seen;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const auto shapes = unlisted_shapes(*task, seed, 12);
            EXPECT_GE(shapes.size(), 6U);
            EXPECT_LE(shapes.size(), 12U);
            EXPECT_EQ(shapes, unlisted_shapes(*task, seed, 12));
            EXPECT_EQ(std::set<SymbolValues>(shapes.begin(), shapes.end()).size(), shapes.size());
            seen.insert(shapes.begin(), shapes.end());
            for (const SymbolValues& shape : shapes) {
                const Status inside = check_shape(*task, shape, TaskLimits::check_elements);
                EXPECT_TRUE(inside.ok()) << (inside.ok() ? "" : inside.error().str());
                EXPECT_TRUE(op_takes_shape(*task, shape).ok());
                EXPECT_TRUE(parse_shape(*task, shape_text(*task, shape)).ok())
                    << "it must replay with --shape";
                for (const auto* list : {&task->check_shapes, &task->tune_shapes}) {
                    EXPECT_EQ(std::count(list->begin(), list->end(), shape), 0);
                }
            }
        }
        EXPECT_GT(seen.size(), 30U) << "other seeds find other shapes";
    }
    EXPECT_GE(pages, 24);
}

TEST(UnlistedShapes, RangesBind) {
    const Task task = page("{M: {min: 3, max: 5}, N: {min: 16, max: 512, multiple_of: 8}}",
                           "op: relu\ninputs:\n  x: {dtype: f32, shape: [M, N]}\noutputs:\n  y: {dtype: f32, "
                           "shape: [M, N]}\ncheck_shapes: [{M: 3, N: 16}]\n");
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        for (const SymbolValues& shape : unlisted_shapes(task, seed, 8)) {
            EXPECT_GE(shape.at("M"), 3);
            EXPECT_LE(shape.at("M"), 5);
            EXPECT_EQ(shape.at("N") % 8, 0);
            EXPECT_GE(shape.at("N"), 16);
            EXPECT_LE(shape.at("N"), 512);
        }
    }
}

TEST(UnlistedShapes, WithoutMaximumTheLargestListedSizeIsTheEnd) {
    const Task task = page("[M, N]", matrix + "tune_shapes: [{M: 64, N: 4000}]\n");
    std::int64_t widest = 0, tallest = 0;
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        for (const SymbolValues& shape : unlisted_shapes(task, seed, 8)) {
            widest = std::max(widest, shape.at("N"));
            tallest = std::max(tallest, shape.at("M"));
        }
    }
    EXPECT_LE(widest, 4000);
    EXPECT_GT(widest, 2000);
    EXPECT_LE(tallest, 64);
    EXPECT_GT(tallest, 40);
}

// The kinds by which sizes go wrong, all of them in one check.
TEST(UnlistedShapes, OneCheckMeetsEachKindOfSize) {
    const Task task = page("[M, N]", matrix);
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
        bool odd = false, four = false, single_column = false, large = false;
        for (const SymbolValues& shape : unlisted_shapes(task, seed, 8)) {
            const std::int64_t n = shape.at("N");
            odd = odd || n % 2 == 1;
            four = four || n % 4 == 0;
            single_column = single_column || n <= 9;
            large = large || n > 300;
        }
        EXPECT_TRUE(odd && four && single_column && large) << seed;
    }
}

// What the op asks of its operands together is kept: heads divide among those of the cache.
TEST(UnlistedShapes, RelationsOfTheOpAreKept) {
    const Task task = page(
        "[H, G, S]",
        "op: attention\ninputs:\n  q: {dtype: f32, shape: [1, H, S, 8]}\n  k: {dtype: f32, shape: [1, G, S, "
        "8]}\n  v: {dtype: f32, shape: [1, G, S, 8]}\noutputs:\n  o: {dtype: f32, shape: [1, H, S, 8]}\n"
        "check_shapes: [{H: 4, G: 2, S: 9}, {H: 8, G: 8, S: 33}]\n");
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        for (const SymbolValues& shape : unlisted_shapes(task, seed, 8)) {
            EXPECT_EQ(shape.at("H") % shape.at("G"), 0);
            ++found;
        }
    }
    EXPECT_GT(found, 40U);
}

TEST(UnlistedShapes, NothingWhereThePageLeavesNoChoice) {
    EXPECT_TRUE(unlisted_shapes(page("{M: {max: 1}, N: {min: 8, max: 8}}",
                                     "op: relu\ninputs:\n  x: {dtype: f32, shape: [M, N]}\noutputs:\n  y: "
                                     "{dtype: f32, shape: [M, N]}\ncheck_shapes: [{M: 1, N: 8}]\n"),
                                1, 8)
                    .empty());
}

TEST(UnlistedShapes, TheEndsOfDeclaredRangesAreTried) {
    const Task task = page("{M: {max: 65536}, N: {min: 8, max: 2001, multiple_of: 8}}", matrix);
    const auto ends = range_ends(task);
    ASSERT_EQ(ends.size(), 3U);
    EXPECT_EQ(ends[0].symbols, (SymbolValues{{"M", 65536}, {"N", 8}}));
    EXPECT_FALSE(ends[0].cheap);
    EXPECT_EQ(ends[1].symbols, (SymbolValues{{"M", 1}, {"N", 2000}}));
    EXPECT_TRUE(ends[1].cheap);
    EXPECT_EQ(ends[2].symbols, (SymbolValues{{"M", 65536}, {"N", 2000}}));
    EXPECT_FALSE(ends[2].cheap);
    EXPECT_TRUE(ends[0].bearable);
    EXPECT_FALSE(ends[2].bearable);
    EXPECT_TRUE(range_ends(page("{M: {}, N: {min: 8}}", matrix)).empty());
}

}  // namespace
}  // namespace kernelwright

#include <gtest/gtest.h>

#include <cstring>

#include "harness/candidate/candidate.h"

namespace kernelwright {
namespace {

const ParameterType pointer{"u64", 8, false}, u64{"u64", 8, false}, u32{"u32", 4, false},
    u16{"u16", 2, false}, u8{"u8", 1, false}, f32{"f32", 4, false}, f64{"f64", 8, false}, half{"b8", 2, true},
    map_type{"b64", 128, true}, pair{"b8", 8, true};

Task task() {
    auto task = parse_task(
        "---\nname: t\nsummary: s\nop: softmax\nparams: {axis: 1, alpha: 2.5, big: 1e300, count: 7, causal: "
        "true}\nsymbols: [M, N]\n"
        "inputs: {x: {dtype: f32, shape: [M, N]}}\n"
        "outputs: {y: {dtype: f32, shape: [M, N], inplace_of: x}}\ncheck_shapes: [{M: 3, N: "
        "17}]\n---\nprose\n",
        "t.md");
    EXPECT_TRUE(task.ok());
    return *task;
}

Candidate candidate(const std::string& yaml) {
    auto parsed = parse_candidate(task(), "/* kernelwright\n" + yaml + "*/", "c.cu");
    std::string all;
    for (const Diagnostic& d : parsed.diagnostics) all += to_line(d) + "\n";
    EXPECT_TRUE(parsed.ok()) << all;
    return parsed.candidate;
}

Candidate with_args(const std::string& args) {
    return candidate("kernels: [{name: k, grid: 1, block: 32, args: [" + args + "]}]\n");
}

std::variant<BoundPlan, std::vector<Diagnostic>> bound_to(const Candidate& c,
                                                          const KernelSignature& signature,
                                                          const SymbolValues& symbols = {{"M", 3},
                                                                                         {"N", 17}}) {
    return bind_plan(c, task(), 0, symbols, Environment{{{"sm_count", 108}}, {}, {{"k", 2}}},
                     {{"k", signature}});
}

template <class T>
T value(const BoundArgument& argument) {
    T out{};
    EXPECT_EQ(argument.bytes.size(), sizeof(T));
    std::memcpy(&out, argument.bytes.data(), std::min(sizeof(T), argument.bytes.size()));
    return out;
}

std::string failure(const std::variant<BoundPlan, std::vector<Diagnostic>>& bound) {
    const auto* diagnostics = std::get_if<std::vector<Diagnostic>>(&bound);
    if (!diagnostics) return "bound";
    std::string out;
    for (const Diagnostic& d : *diagnostics) {
        EXPECT_EQ(d.stage, Stage::plan);
        EXPECT_GT(d.line, 0);
        EXPECT_EQ(d.shape.size(), 2U);
        out += to_line(d) + "\n";
    }
    return out;
}

TEST(Bind, WidthsAndKindsComeFromTheKernel) {
    const auto bound = bound_to(
        with_args("x, N, N, N, N, alpha, alpha, N, -1, count, causal, null, 1.5, alpha * 2, sm_count, N * M"),
        {pointer, u64, u32, u16, u8, f32, f64, f32, u32, u32, u8, pointer, f32, f32, u32, u32});
    ASSERT_TRUE(std::holds_alternative<BoundPlan>(bound)) << failure(bound);
    const auto& args = std::get<BoundPlan>(bound).kernels.at(0).arguments;
    EXPECT_EQ(args[0].buffer, "x");
    EXPECT_EQ(value<std::int64_t>(args[1]), 17);
    EXPECT_EQ(value<std::int32_t>(args[2]), 17);
    EXPECT_EQ(value<std::int16_t>(args[3]), 17);
    EXPECT_EQ(value<std::int8_t>(args[4]), 17);
    EXPECT_EQ(value<float>(args[5]), 2.5F);
    EXPECT_EQ(value<double>(args[6]), 2.5);
    EXPECT_EQ(value<float>(args[7]), 17.0F);
    EXPECT_EQ(value<std::int32_t>(args[8]), -1);
    EXPECT_EQ(value<std::int32_t>(args[9]), 7);
    EXPECT_EQ(value<std::uint8_t>(args[10]), 1);
    EXPECT_EQ(value<std::int64_t>(args[11]), 0);
    EXPECT_EQ(value<float>(args[12]), 1.5F);
    EXPECT_EQ(value<float>(args[13]), 5.0F);
    EXPECT_EQ(value<std::int32_t>(args[14]), 108);
    EXPECT_EQ(value<std::int32_t>(args[15]), 51);
}

TEST(Bind, ExplicitDtypes) {
    const auto bound = bound_to(
        with_args("{value: alpha, dtype: f16}, {value: alpha, dtype: bf16}, {value: 1.0 / N, dtype: f64}, "
                  "{value: -3, dtype: i16}, {value: 200, dtype: u8}, {value: alpha, dtype: e4m3}"),
        {half, half, f64, u16, u8, u8}, {{"M", 3}, {"N", 16}});
    ASSERT_TRUE(std::holds_alternative<BoundPlan>(bound)) << failure(bound);
    const auto& args = std::get<BoundPlan>(bound).kernels.at(0).arguments;
    EXPECT_EQ(value<std::uint16_t>(args[0]), 0x4100);  // 2.5 in f16
    EXPECT_EQ(value<std::uint16_t>(args[1]), 0x4020);  // 2.5 in bf16
    EXPECT_EQ(value<double>(args[2]), 1.0 / 16);
    EXPECT_EQ(value<std::int16_t>(args[3]), -3);
    EXPECT_EQ(value<std::uint8_t>(args[4]), 200);
    EXPECT_EQ(value<std::uint8_t>(args[5]), 0x42);  // 2.5 in e4m3: 1.25 * 2^1
}

TEST(Bind, WhatDoesNotFitIsRefused) {
    struct Case {
        const char* args;
        KernelSignature signature;
        const char* error;
    };
    const Case cases[] = {
        {"x, N", {pointer}, "the kernel `k` has 1 parameter, and the plan passes 2 arguments"},
        {"x", {pointer, u32}, "the kernel `k` has 2 parameters, and the plan passes 1 argument"},
        {"x", {u32}, "argument 1 of the kernel `k` (`x`) is a buffer, and the kernel takes a 32-bit integer"},
        {"x", {f32}, "is a buffer, and the kernel takes a float"},
        {"x", {pair}, "is a buffer, and the kernel takes a struct of 8 bytes"},
        {"null", {u32}, "is a null pointer, and the kernel takes a 32-bit integer"},
        {"alpha",
         {u32},
         "argument 1 of the kernel `k` (`alpha`) is the real number 2.5, and the kernel takes a 32-bit "
         "integer"},
        {"alpha", {pointer}, "is the real number 2.5, and the kernel takes a 64-bit integer or pointer"},
        {"alpha", {half}, "write {value: alpha, dtype: f16} (or bf16)"},
        {"big", {f32}, "is 1e+300, which does not fit f32"},
        {"4294967296", {u32}, "is 4294967296, which does not fit the kernel's 32-bit parameter"},
        {"-2147483649", {u32}, "does not fit the kernel's 32-bit parameter"},
        {"256", {u8}, "does not fit the kernel's 8-bit parameter"},
        {"{value: alpha, dtype: f16}", {f32}, "is written as f16, and the kernel takes a float"},
        {"{value: 3, dtype: i32}", {f32}, "is written as i32, and the kernel takes a float"},
        {"{value: 3, dtype: f32}", {u32}, "is written as f32, and the kernel takes a 32-bit integer"},
        {"{value: 40000, dtype: i16}", {u16}, "is 40000, which does not fit i16"},
        {"{value: -1, dtype: u8}", {u8}, "is -1, which does not fit u8"},
        {"{value: 2, dtype: bool}", {u8}, "is 2, which is no bool"},
        {"{value: 70000.0, dtype: f16}", {half}, "is 70000, which does not fit f16"},
        {"N / (M - 3)", {u32}, "division by zero"},
        {"N * 9223372036854775807", {u64}, "does not fit 64 bits"},
    };
    for (const Case& c : cases) {
        const std::string got = failure(bound_to(with_args(c.args), c.signature));
        EXPECT_NE(got.find(c.error), std::string::npos)
            << c.args << "\ngot: " << got << "wanted: " << c.error;
    }
}

TEST(Bind, GridsAndScratch) {
    const std::string plan =
        "scratch: {part: {dtype: f16, shape: [M, \"ceil_div(N, 16)\"]}}\n"
        "kernels:\n  - {name: k, grid: [ceil_div(N, 16), M], block: [32, 2], shared: N * 4, args: [part]}\n"
        "  - {name: k, grid: resident_blocks(k), block: 32, args: [y], when: N > 100}\n";
    const auto bound = bound_to(candidate(plan), {pointer});
    ASSERT_TRUE(std::holds_alternative<BoundPlan>(bound)) << failure(bound);
    const BoundPlan& p = std::get<BoundPlan>(bound);
    ASSERT_EQ(p.kernels.size(), 1U);
    EXPECT_EQ(p.kernels[0].grid, (std::array<std::uint32_t, 3>{2, 3, 1}));
    EXPECT_EQ(p.kernels[0].block, (std::array<std::uint32_t, 3>{32, 2, 1}));
    EXPECT_EQ(p.kernels[0].cluster, (std::array<std::uint32_t, 3>{0, 0, 0}));
    EXPECT_EQ(p.kernels[0].dynamic_shared, 68U);
    ASSERT_EQ(p.buffers.size(), 3U);
    EXPECT_EQ(p.buffers[1].shares, "x");
    EXPECT_EQ(p.buffers[2].name, "part");
    EXPECT_EQ(p.buffers[2].shape, (Shape{3, 2}));
    EXPECT_EQ(std::get<BoundPlan>(bound_to(candidate(plan), {pointer}, {{"M", 3}, {"N", 101}}))
                  .kernels.at(1)
                  .grid[0],
              2U);

    const auto fails = [](const std::string& yaml, const std::string& error,
                          SymbolValues symbols = {{"M", 3}, {"N", 17}}) {
        const std::string got = failure(bound_to(candidate(yaml), {}, symbols));
        EXPECT_NE(got.find(error), std::string::npos) << got;
    };
    fails("kernels: [{name: k, grid: N / 32, block: 32}]\n",
          "entry 1 of the grid of `k` is 0: `N / 32` [plan/bad-grid] (every entry is at least 1");
    fails("kernels: [{name: k, grid: [1, 1 - N], block: 32}]\n", "entry 2 of the grid of `k` is -16");
    fails("kernels: [{name: k, grid: 1, block: [0]}]\n", "[plan/bad-block]");
    fails("kernels: [{name: k, grid: 2147483648, block: 32}]\n", "every entry is below 2^31");
    fails("kernels: [{name: k, grid: 1, block: 32, shared: 0 - N}]\n", "[plan/bad-shared]");
    fails("kernels: [{name: k, grid: 1, block: 32, when: smem_optin > 3}]\n",
          "the device fact `smem_optin` is not known here");
    fails("kernels: [{name: q, grid: 1, block: 32}]\n", "the compiled code has no kernel `q`");
    fails("scratch: {p: {dtype: f32, shape: [N - 18]}}\nkernels: [{name: k, grid: 1, block: 32}]\n",
          "holds `N - 18`, which is -1");
    fails(
        "scratch: {p: {dtype: f32, shape: [N * 1000000000000]}}\nkernels: [{name: k, grid: 1, block: 32}]\n",
        "scratch of more than 4 GiB");
    fails(
        "scratch: {p: {dtype: f32, shape: [N * 4000000000, N * 4000000000]}}\nkernels: [{name: k, grid: 1, "
        "block: 32}]\n",
        "scratch of more than 4 GiB");
}

TEST(Bind, MangledKernelsAreRecognised) {
    const auto bound = bind_plan(candidate("kernels: [{name: vadd, grid: 1, block: 32}]\n"), task(), 0,
                                 {{"M", 3}, {"N", 17}}, {}, {{"_Z4vaddPf", {pointer}}});
    EXPECT_NE(failure(bound).find("it was compiled as `_Z4vaddPf`: write extern \"C\" before __global__"),
              std::string::npos);
}

TEST(Bind, TensorMaps) {
    const auto c = candidate(
        "tensormaps: {ta: {tensor: x, box: [8, 8]}}\nkernels: [{name: k, grid: 1, block: 32, args: [ta]}]\n");
    const auto bound = bound_to(c, {map_type});
    ASSERT_TRUE(std::holds_alternative<BoundPlan>(bound)) << failure(bound);
    const BoundArgument& argument = std::get<BoundPlan>(bound).kernels[0].arguments[0];
    EXPECT_EQ(argument.tensormap, "ta");
    ASSERT_TRUE(argument.map);
    EXPECT_EQ(argument.map->tensor, "x");
    EXPECT_EQ(argument.map->dims, (std::vector<std::int64_t>{17, 3}));  // innermost first
    EXPECT_EQ(argument.map->strides, (std::vector<std::int64_t>{68}));
    EXPECT_EQ(argument.map->box, (std::vector<std::int64_t>{8, 8}));
    const auto written = candidate(
        "tensormaps: {ta: {tensor: x, box: [4, 1, 2], dims: [N, 1, M], strides: [128, \"4 * N\"], swizzle: "
        "32, oob: nan}}\nkernels: [{name: k, grid: 1, block: 32, args: [ta]}]\n");
    const auto again = bound_to(written, {map_type});
    ASSERT_TRUE(std::holds_alternative<BoundPlan>(again)) << failure(again);
    const auto& map = std::get<BoundPlan>(again).kernels[0].arguments[0].map;
    EXPECT_EQ(map->dims, (std::vector<std::int64_t>{17, 1, 3}));
    EXPECT_EQ(map->strides, (std::vector<std::int64_t>{128, 68}));
    EXPECT_EQ(map->swizzle, 32);
    EXPECT_TRUE(map->oob_nan);
    const auto flat = candidate(
        "tensormaps: {ta: {tensor: x, box: [8]}}\nkernels: [{name: k, grid: 1, block: 32, args: [ta]}]\n");
    EXPECT_NE(failure(bound_to(flat, {map_type})).find("has a box of 1 dimensions, and `x` has 2"),
              std::string::npos);
    EXPECT_NE(failure(bound_to(c, {pointer}))
                  .find("is a tensor map, and the kernel takes a 64-bit integer or pointer"),
              std::string::npos);
}

TEST(Plans, TheFirstThatHoldsIsChosen) {
    const std::string kernels = "kernels: [{name: k, grid: 1, block: 32}]\n";
    const auto c = [&](const std::vector<std::string>& guards) {
        std::string source;
        for (const std::string& g : guards)
            source += "/* kernelwright\n" + (g.empty() ? "" : "when: " + g + "\n") + kernels + "*/\n";
        return parse_candidate(task(), source, "c.cu").candidate;
    };
    const SymbolValues odd{{"M", 1}, {"N", 17}}, even{{"M", 1}, {"N", 16}};
    const Candidate two = c({"N % 4 == 0", ""}), one = c({"N % 4 == 0"});
    EXPECT_EQ(choose_plan(two, task(), even, {}).value(), 0);
    EXPECT_EQ(choose_plan(two, task(), odd, {}).value(), 1);
    EXPECT_EQ(choose_plan(one, task(), odd, {}).value(), std::nullopt);
    const auto device =
        choose_plan(c({"cc >= 90", "causal && count == 7"}), task(), odd, Environment{{{"cc", 80}}, {}, {}});
    EXPECT_EQ(device.value(), 1);
    const auto broken = choose_plan(c({"N / (M - 1) > 2"}), task(), odd, {});
    ASSERT_FALSE(broken.ok());
    EXPECT_NE(broken.error().str().find(
                  "c.cu:1: the guard `N / (M - 1) > 2` cannot be evaluated at M=1,N=17: division by zero"),
              std::string::npos)
        << broken.error().str();
}

TEST(Plans, PageParamsReplaceDefaults) {
    const Environment e = plan_environment(task(), {{"N", 4}}, {}, Json{{"alpha", 1}, {"eps", 0.5}});
    EXPECT_EQ(e.reals.at("alpha"), 2.5);
    EXPECT_EQ(e.integers.count("alpha"), 0U);
    EXPECT_EQ(e.reals.at("eps"), 0.5);
    EXPECT_EQ(e.integers.at("N"), 4);
    EXPECT_EQ(e.integers.at("causal"), 1);
}

}  // namespace
}  // namespace kernelwright

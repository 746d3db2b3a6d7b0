// The model must order kernels as a CUDA engineer would; how long they take is not tested, since nothing here
// was measured, save that the result lies between the device's bounds.
#include "harness/profile/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "harness/profile/roofline.h"
#include "harness/profile/scale.h"
#include "tests/unit/profile/kernels.h"

namespace kernelwright {
namespace {

using testing::Described;
using testing::execute;

const DeviceFacts& device(const std::string& name) {
    static const DeviceTable table = [] {
        auto loaded = DeviceTable::load(KW_SOURCE_DIR "/devices");
        EXPECT_TRUE(loaded.ok());
        return *loaded;
    }();
    static std::map<std::string, DeviceFacts> found;
    if (!found.contains(name)) found[name] = *table.find(name);
    return found[name];
}

double us(const ExecutedKernel& kernel, const std::string& target = "a100") {
    return estimate_kernel(kernel, device(target)).us;
}

class OnEveryDevice : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, OnEveryDevice,
                         ::testing::Values("a100", "h100", "h200", "l4", "l40s", "rtx3090", "rtx4090",
                                           "a6000", "b200", "rtx5090"));

TEST_P(OnEveryDevice, AStreamRunsAtMostAtDramSpeedAndNotFarBelow) {
    Described d;  // 16 loads and 16 stores of 4 bytes
    d.blocks = 65536;
    const ExecutedKernel kernel = execute(d);
    const double bytes =
        32.0 * double(kernel.counters.unique_load_sectors + kernel.counters.unique_store_sectors);
    const double bound = bytes / device(GetParam()).dram_bytes_per_s() * 1e6;
    const KernelEstimate e = estimate_kernel(kernel, device(GetParam()));
    EXPECT_GT(e.us, bound);
    EXPECT_LT(e.us, 1.6 * bound);
    EXPECT_EQ(e.bound, "dram");
}

TEST_P(OnEveryDevice, CoalescedBeatsUncoalesced) {
    Described d;
    d.blocks = 8192;
    double before = us(execute(d), GetParam());
    for (double stride : {2.0, 4.0, 8.0}) {  // the other elements are used later, while they are in L1
        d.stride = stride;
        const double now = us(execute(d), GetParam());
        EXPECT_GT(now, before) << stride;
        before = now;
    }
    // A gather: each lane's sector is used once.
    ExecutedKernel gather = execute(d);
    gather.counters.unique_load_sectors = gather.counters.global_load_sectors;
    EXPECT_GT(us(gather, GetParam()), 2.5 * us(execute({.blocks = 8192}), GetParam()));
}

TEST_P(OnEveryDevice, WideLoadsAreALittleBetter) {
    const double narrow = us(testing::softmax_warp_per_row(16384, 4096, 4), GetParam());
    const double wide = us(testing::softmax_warp_per_row(16384, 4096, 16), GetParam());
    EXPECT_LT(wide, narrow);
    EXPECT_GT(wide, 0.5 * narrow);
}

TEST_P(OnEveryDevice, AThreadPerRowIsMuchWorse) {
    const double thread = us(testing::softmax_thread_per_row(4096, 4096), GetParam());
    const double warp = us(testing::softmax_warp_per_row(4096, 4096), GetParam());
    const double block = us(testing::softmax_block_per_row(4096, 4096), GetParam());
    EXPECT_GT(thread, 3 * warp);
    EXPECT_GT(thread, 3 * block);
}

TEST_P(OnEveryDevice, FewerPassesAreNotSlower) {
    // Rows that no cache holds: each pass comes from DRAM.
    const double three = us(testing::softmax_block_per_row(8192, 262144, 3), GetParam());
    const double two = us(testing::softmax_block_per_row(8192, 262144, 2), GetParam());
    const double one = us(testing::softmax_block_per_row(8192, 262144, 1), GetParam());
    EXPECT_GT(three, 1.15 * two);
    EXPECT_GT(two, 1.15 * one);
}

TEST_P(OnEveryDevice, BankConflictsCost) {
    Described d;
    d.blocks = 8192;
    d.shared = 64;
    d.shared_bytes = 8192;
    double before = us(execute(d), GetParam());
    for (double conflicts : {2.0, 8.0, 32.0}) {
        d.conflicts = conflicts;
        const double now = us(execute(d), GetParam());
        EXPECT_GT(now, before);
        before = now;
    }
    EXPECT_EQ(estimate_kernel(execute(d), device(GetParam())).bound, "shared");
}

TEST_P(OnEveryDevice, ATinyGridLeavesSmsIdle) {
    Described many;
    many.blocks = device(GetParam()).sm_count * 8;
    Described few = many;
    few.blocks = 4;  // the same work in four blocks
    few.loads = many.loads * many.blocks / 4;
    few.stores = few.loads;
    EXPECT_GT(us(execute(few), GetParam()), 2.5 * us(execute(many), GetParam()));
    EXPECT_LT(estimate_kernel(execute(few), device(GetParam())).sms_used, 0.1);
}

TEST_P(OnEveryDevice, LowOccupancyWithDependentLoadsCosts) {
    Described d;
    d.blocks = 8192;
    d.loads = 64;
    d.stores = 1;
    d.bytes_per_lane = 2;
    d.registers = 32;
    const double full = us(execute(d), GetParam());
    d.registers = 255;
    const KernelEstimate low = estimate_kernel(execute(d), device(GetParam()));
    EXPECT_EQ(low.occupancy.limiter, "registers");
    EXPECT_GT(low.us, 1.05 * full);
}

TEST_P(OnEveryDevice, AtomicsOnOneAddressCost) {
    Described d;
    d.blocks = 2048;
    const double none = us(execute(d), GetParam());
    d.atomics = 16;
    d.atomic_targets = 100000;
    const double spread = us(execute(d), GetParam());
    d.atomic_targets = 1;
    const KernelEstimate contended = estimate_kernel(execute(d), device(GetParam()));
    EXPECT_GE(spread, none);
    EXPECT_GT(contended.us, 1.5 * spread);
    EXPECT_EQ(contended.bound, "atomic");
}

TEST_P(OnEveryDevice, SpecialFunctionsAndDoublesCost) {
    Described d;
    d.blocks = 4096;
    d.special = 200;
    EXPECT_EQ(estimate_kernel(execute(d), device(GetParam())).bound, "xu");
    d.special = 0;
    d.arithmetic = 400;
    ExecutedKernel single = execute(d), twice = execute(d);
    twice.counters.inst_fp64 = twice.counters.inst_fma;
    twice.counters.inst_fma = 0;
    EXPECT_GT(us(twice, GetParam()), us(single, GetParam()));
}

TEST_P(OnEveryDevice, OneLongWarpHoldsUpTheGrid) {
    ExecutedKernel even = execute({});
    ExecutedKernel uneven = even;
    uneven.counters.max_warp_instructions_of_one_warp *= 5000;
    EXPECT_GT(us(uneven, GetParam()), 2 * us(even, GetParam()));
}

TEST_P(OnEveryDevice, TensorCoresBeatTheFmaLanes) {
    Described d;
    d.blocks = 2048;
    d.arithmetic = 2000;
    const ExecutedKernel lanes = execute(d);
    ExecutedKernel tensor = lanes;
    tensor.counters.tensor_flops = tensor.counters.inst_fma * 64;
    tensor.counters.inst_tensor = tensor.counters.tensor_flops / 4096;
    tensor.counters.warp_instructions += tensor.counters.inst_tensor;
    tensor.counters.warp_instructions -= tensor.counters.inst_fma;
    tensor.counters.max_warp_instructions_of_one_warp =
        tensor.counters.warp_instructions / tensor.counters.warps_launched;
    tensor.counters.inst_fma = 0;
    EXPECT_LT(us(tensor, GetParam()), 0.7 * us(lanes, GetParam()));
}

TEST_P(OnEveryDevice, APartWaveCosts) {
    const DeviceFacts& facts = device(GetParam());
    Described d;
    d.threads = 1024;
    d.arithmetic = 2000;
    d.blocks = facts.sm_count * 4;
    const double whole = us(execute(d), GetParam()) / d.blocks;
    d.blocks = facts.sm_count * 4 + 1;
    const double part = us(execute(d), GetParam()) / d.blocks;
    EXPECT_GT(part, 1.1 * whole);
}

TEST(Model, MoreOfAnyWorkIsNeverFaster) {
    const ExecutedKernel base = execute({});
    using C = emulator::Counters;
    for (auto member : {&C::warp_instructions,
                        &C::inst_fma,
                        &C::inst_alu,
                        &C::inst_xu,
                        &C::inst_fp64,
                        &C::inst_lsu,
                        &C::tensor_flops,
                        &C::global_load_sectors,
                        &C::global_store_sectors,
                        &C::global_atomic_requests,
                        &C::local_load_requests,
                        &C::local_load_sectors,
                        &C::shared_load_wavefronts,
                        &C::shared_store_wavefronts,
                        &C::hottest_atomic_operations,
                        &C::shared_atomic_wavefronts,
                        &C::shuffles,
                        &C::barriers,
                        &C::max_warp_instructions_of_one_warp,
                        &C::max_global_loads_of_one_warp}) {
        double before = us(base);
        for (double factor : {2.0, 10.0, 1000.0}) {
            ExecutedKernel more = base;
            more.counters.*member = static_cast<std::uint64_t>(factor * double(base.counters.*member + 1000));
            const double now = us(more);
            EXPECT_GE(now, before * 0.999999);
            before = now;
        }
    }
}

TEST(Model, LaunchesAddUpAndTheSlowestKernelGivesTheBound) {
    Described small;
    small.blocks = 108;
    Described large;
    large.blocks = 65536;
    const Estimate e = estimate({execute(small), execute(large)}, device("a100"));
    ASSERT_EQ(e.kernels.size(), 2u);
    EXPECT_NEAR(e.us, e.kernels[0].us + e.kernels[1].us + 6, 1e-9);
    EXPECT_EQ(e.bound, "dram");
    EXPECT_EQ(e.kernels[0].bound, "launch");
    EXPECT_NEAR(e.low_us, 0.6 * e.us, 1e-9);
    EXPECT_NEAR(e.high_us, 1.4 * e.us, 1e-9);
}

TEST(Model, NothingExecutedIsALaunch) {
    const Estimate none = estimate({}, device("a100"));
    EXPECT_EQ(none.us, 0);
    ExecutedKernel empty;
    const KernelEstimate e = estimate_kernel(empty, device("a100"));
    EXPECT_EQ(e.us, 0);
    EXPECT_EQ(e.bound, "launch");
    EXPECT_EQ(slack_text(e), "nothing else of note");
}

TEST(Model, SurvivesCountersThatContradictEachOther) {
    // Whatever the counters say, the result is a number.
    using C = emulator::Counters;
    for (auto member : {&C::global_load_sectors, &C::unique_load_sectors, &C::ideal_global_load_sectors,
                        &C::global_load_requests, &C::warps_launched, &C::global_atomic_sectors}) {
        for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX}) {
            ExecutedKernel kernel = execute({});
            kernel.counters.*member = value;
            kernel.grid = {value == 0 ? 0U : 4U, 1, 1};
            const KernelEstimate e = estimate_kernel(kernel, device("a100"));
            EXPECT_TRUE(std::isfinite(e.us));
            EXPECT_GE(e.us, 0);
        }
    }
}

TEST(Model, SlackNamesTheNextResources) {
    const KernelEstimate e = estimate_kernel(testing::softmax_block_per_row(32768, 4096), device("a100"));
    ASSERT_GE(e.times.size(), 4u);
    for (std::size_t i = 1; i < e.times.size(); ++i) EXPECT_GE(e.times[i - 1].us, e.times[i].us);
    const std::string text = slack_text(e);
    EXPECT_NE(text.find(e.times[1].name), std::string::npos) << text;
    EXPECT_NE(text.find("of the bound"), std::string::npos) << text;
}

TEST(Model, GoesThroughJson) {
    const Estimate e = estimate({execute({}), testing::softmax_thread_per_row(4096, 4096)}, device("a100"));
    const Json json = to_json(e);
    EXPECT_EQ(json.at("how"), "modelled");
    auto back = estimate_from_json(Json::parse(json.dump()));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, e);
    EXPECT_FALSE(estimate_from_json(Json::parse("{\"us\": 3}")).ok());
    EXPECT_FALSE(estimate_from_json(Json::parse("[]")).ok());
}

TEST(Scale, EverySumGrowsAndTheLongestWarpStays) {
    emulator::Counters counted;
    // Every counter before `lines` is a number of 64 bits: set all of them through their places, so that a
    // counter added later and forgotten by scale_to_grid fails here.
    const std::size_t bytes =
        std::size_t(reinterpret_cast<char*>(&counted.lines) - reinterpret_cast<char*>(&counted));
    auto* numbers = reinterpret_cast<std::uint64_t*>(&counted);
    for (std::size_t i = 0; i < bytes / 8; ++i) numbers[i] = 10;
    auto& counted_line = counted.lines[{"a.cu", 3}];
    numbers = reinterpret_cast<std::uint64_t*>(&counted_line);
    for (std::size_t i = 0; i < sizeof(counted_line) / 8; ++i) numbers[i] = 10;
    emulator::Counters scaled = scale_to_grid(counted, 4, 12);
    EXPECT_EQ(scaled.hottest_atomic_operations, 30u) << "ten of the counted blocks want the address";
    EXPECT_EQ(scaled.max_warp_instructions_of_one_warp, 10u);
    EXPECT_EQ(scaled.max_global_loads_of_one_warp, 10u);
    EXPECT_EQ(scaled.blocks_launched, 12u);
    scaled.max_warp_instructions_of_one_warp = scaled.max_global_loads_of_one_warp = 30;
    scaled.blocks_launched = 30;
    numbers = reinterpret_cast<std::uint64_t*>(&scaled);
    for (std::size_t i = 0; i < bytes / 8; ++i) EXPECT_EQ(numbers[i], 30u) << "counter number " << i;
    const auto& line = scaled.lines.at({"a.cu", 3});
    numbers = reinterpret_cast<std::uint64_t*>(&scaled.lines.at({"a.cu", 3}));
    for (std::size_t i = 0; i < sizeof(line) / 8; ++i) EXPECT_EQ(numbers[i], 30u) << "line counter " << i;
}

TEST(Scale, RoundingGivesNoWarpMoreThanItsLanes) {
    emulator::Counters counted;
    counted.warp_instructions = 5;
    counted.thread_instructions = counted.thread_instructions_pred_on = 160;
    const emulator::Counters scaled = scale_to_grid(counted, 11, 30);  // 13.6 and 436.4
    EXPECT_EQ(scaled.warp_instructions, 14u);
    EXPECT_LE(scaled.thread_instructions, 32 * scaled.warp_instructions);
    const emulator::Counters other = scale_to_grid(counted, 7, 10);  // 7.14 and 228.6
    EXPECT_EQ(other.warp_instructions, 7u);
    EXPECT_EQ(other.thread_instructions, 224u);
    EXPECT_EQ(other.thread_instructions_pred_on, 224u);
}

TEST(Scale, AnAddressThatOneBlockWantsIsItsOwn) {
    emulator::Counters counted;
    counted.hottest_atomic_operations = 7;
    counted.hottest_atomic_blocks = 1;
    EXPECT_EQ(scale_to_grid(counted, 4, 100).hottest_atomic_operations, 7u);
    counted.hottest_atomic_blocks = 2;
    EXPECT_EQ(scale_to_grid(counted, 4, 100).hottest_atomic_operations, 175u);
}

TEST(Scale, DistinctSectorsStayWithinTheBuffers) {
    emulator::Counters counted;
    counted.unique_load_sectors = 100;
    counted.unique_store_sectors = 10;
    EXPECT_EQ(scale_to_grid(counted, 1, 100).unique_load_sectors, 10000u);
    EXPECT_EQ(scale_to_grid(counted, 1, 100, {32 * 500}).unique_load_sectors, 500u);
    EXPECT_EQ(scale_to_grid(counted, 1, 100, {0, 32 * 500}).unique_store_sectors, 500u);
    EXPECT_EQ(scale_to_grid(counted, 1, 100, {32}).unique_load_sectors, 100u);
    EXPECT_EQ(scale_to_grid(counted, 1, 100, {32 * 500, 32 * 20}).unique_store_sectors, 20u);
    EXPECT_EQ(scale_to_grid(counted, 20, 100).unique_store_sectors, 10u) << "twenty blocks share ten sectors";
    EXPECT_EQ(scale_to_grid(counted, 100, 100).unique_load_sectors, 100u);
    EXPECT_EQ(scale_to_grid(counted, 0, 100).unique_load_sectors, 100u);
}

TEST(Scale, ScalingAnEvenKernelGivesTheWhole) {
    Described d;
    d.blocks = 1000;
    const ExecutedKernel whole = execute(d);
    d.blocks = 10;
    ExecutedKernel part = execute(d);
    part.counters = scale_to_grid(part.counters, 10, 1000);
    part.grid = {1000, 1, 1};
    EXPECT_NEAR(us(part), us(whole), 1e-6 * us(whole));
}

TEST(Roofline, BoundsByTheNearerRoof) {
    const DeviceFacts& a100 = device("a100");
    const double elements = 4096.0 * 4096;
    Work w{4 * elements, 4 * elements, 5 * elements, false, DType::f32};
    Roofline r = roofline(w, a100);
    EXPECT_EQ(r.bound, "memory");
    EXPECT_NEAR(r.bound_us, 8.0 * 4096 * 4096 / 2039e9 * 1e6, 1e-6);
    w = {4 * elements, 2 * elements, 2 * 4096 * elements, true, DType::f16};
    r = roofline(w, a100);
    EXPECT_EQ(r.bound, "compute");
    EXPECT_EQ(r.peak, "tensor f16");
    EXPECT_NEAR(r.bound_us, 2 * 4096.0 * 4096 * 4096 / 311.87e12 * 1e6, 0.5);
    w.dtype = DType::f32;
    EXPECT_EQ(roofline(w, a100).peak, "fp32");
    // No tensor cores for the type itself, but its values are f16 values.
    w.dtype = DType::e4m3;
    EXPECT_EQ(roofline(w, a100).peak, "tensor f16");
    EXPECT_EQ(roofline(w, device("h100")).peak, "tensor e4m3");
    auto back = roofline_from_json(Json::parse(to_json(r).dump()));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, r);
}

}  // namespace
}  // namespace kernelwright

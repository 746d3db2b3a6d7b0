#include "harness/device/wire.h"

#include <gtest/gtest.h>

namespace kernelwright::wire {
namespace {

Job sample_job() {
    Job job;
    job.buffers.push_back(
        {"x", 8, emulator::BufferKind::input, std::vector<std::byte>(8, std::byte{7}), false});
    job.buffers.push_back({"y", 8, emulator::BufferKind::output, {}, true});
    BoundKernel kernel;
    kernel.name = "k";
    kernel.grid = {2, 3, 4};
    kernel.dynamic_shared = 1024;
    kernel.arguments.push_back({"x", "", {}});
    kernel.arguments.push_back({"", "", {std::byte{1}, std::byte{255}}});
    BoundArgument map;
    map.tensormap = "tx";
    map.map = BoundTensorMap{"x", DType::f16, {8, 3}, {16}, {8, 1}, 64, true};
    kernel.arguments.push_back(map);
    kernel.constants = {{"c_w", "x"}};
    kernel.cooperative = true;
    kernel.line = 5;
    job.kernels.push_back(kernel);
    job.lowered_names = {{"k<1>", "_Z1k"}};
    job.limits.max_shared_optin = 12345;
    job.schedule_seed = ~std::uint64_t{0};
    job.sample_blocks = 9;
    return job;
}

TEST(Wire, JobsSurvive) {
    const Job job = sample_job();
    const auto back = unpack_job(pack(job));
    ASSERT_TRUE(back.ok()) << back.error().str();
    EXPECT_EQ(back->buffers.size(), 2U);
    EXPECT_EQ(back->buffers[0].content, job.buffers[0].content);
    EXPECT_EQ(back->buffers[1].kind, emulator::BufferKind::output);
    EXPECT_TRUE(back->buffers[1].fetch);
    EXPECT_EQ(back->kernels[0].grid, job.kernels[0].grid);
    EXPECT_EQ(back->kernels[0].arguments[1].bytes, job.kernels[0].arguments[1].bytes);
    EXPECT_FALSE(back->kernels[0].arguments[1].map);
    const auto& map = back->kernels[0].arguments.at(2).map;
    ASSERT_TRUE(map);
    EXPECT_EQ(map->tensor, "x");
    EXPECT_EQ(map->dtype, DType::f16);
    EXPECT_EQ(map->dims, (std::vector<std::int64_t>{8, 3}));
    EXPECT_EQ(map->strides, (std::vector<std::int64_t>{16}));
    EXPECT_EQ(map->box, (std::vector<std::int64_t>{8, 1}));
    EXPECT_EQ(map->swizzle, 64);
    EXPECT_TRUE(map->oob_nan);
    EXPECT_EQ(back->kernels[0].constants, job.kernels[0].constants);
    EXPECT_TRUE(back->kernels[0].cooperative);
    EXPECT_EQ(back->lowered_names, job.lowered_names);
    EXPECT_EQ(back->limits.max_shared_optin, 12345U);
    EXPECT_EQ(back->schedule_seed, job.schedule_seed);
    EXPECT_EQ(back->sample_blocks, 9U);
}

JobOutcome sample_outcome() {
    JobOutcome outcome;
    KernelRun run;
    run.name = "k";
    emulator::Fault fault;
    fault.rule = "shared-race";
    fault.place = {"k.cu", 21, 5, 100, "st.shared.f32 [%r1], %f2", {{"k.cu", 40, 3}, {"k.cu", 52, 9}}};
    fault.other = emulator::Fault::Party{
        {"k.cu", 18, 0, 90, "ld"}, "the read", emulator::Dim3{0, 0, 0}, emulator::Dim3{33, 0, 0}};
    fault.message = "two threads";
    fault.block = emulator::Dim3{1, 2, 3};
    fault.occurrences = 7;
    run.faults.push_back(fault);
    run.counters.warp_instructions = 11;
    run.counters.max_global_loads_of_one_warp = 3;
    run.counters.lines[{"k.cu", 21}].shared_conflicts = 5;
    run.blocks_total = 100;
    run.blocks_run = 10;
    run.printed = "hello\xff";
    outcome.kernels.push_back(run);
    outcome.fetched["y"] = {std::vector<std::byte>(11, std::byte{3}),
                            {true, false, true, true, false, true, true, true, true, false, true}};
    return outcome;
}

TEST(Wire, OutcomesSurvive) {
    const JobOutcome outcome = sample_outcome();
    const auto back = unpack_outcome(pack(outcome));
    ASSERT_TRUE(back.ok()) << back.error().str();
    const KernelRun& run = back->kernels.at(0);
    EXPECT_EQ(run.faults.at(0).message, "two threads");
    EXPECT_EQ(to_string(run.faults[0].place), "k.cu:21, inlined at k.cu:40, inlined at k.cu:52");
    EXPECT_EQ(run.faults[0].place.inlined_at.at(1).column, 9);
    EXPECT_EQ(run.faults[0].other->place.line, 18);
    EXPECT_EQ(run.faults[0].other->thread, (emulator::Dim3{33, 0, 0}));
    EXPECT_FALSE(run.faults[0].thread.has_value());
    EXPECT_EQ(run.faults[0].occurrences, 7U);
    EXPECT_EQ(run.counters, outcome.kernels[0].counters);
    EXPECT_EQ(run.printed, outcome.kernels[0].printed);
    EXPECT_EQ(back->fetched.at("y").bytes, outcome.fetched.at("y").bytes);
    EXPECT_EQ(back->fetched.at("y").written, outcome.fetched.at("y").written);
}

// A worker that a candidate broke can say anything: whatever it is, the driver gets an error, never an
// exception.
TEST(Wire, AnythingElseIsAnError) {
    for (const Json& header :
         {Json(), Json::array(), Json{{"kernels", 3}},
          Json{{"kernels", Json::array({Json::array()})}, {"fetched", Json::array()}},
          Json{{"kernels", Json::array()}, {"fetched", Json::array({{{"name", "y"}, {"written", 8}}})}}}) {
        EXPECT_FALSE(unpack_outcome({header, {}}).ok()) << header.dump();
        EXPECT_FALSE(unpack_job({header, {}}).ok()) << header.dump();
        EXPECT_FALSE(kernel_info_from_json(header).ok());
        EXPECT_FALSE(global_info_from_json(header).ok());
        EXPECT_FALSE(load_error_from_json(header).ok());
    }
}

}  // namespace
}  // namespace kernelwright::wire

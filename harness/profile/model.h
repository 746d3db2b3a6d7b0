// How long a launch sequence should take on a device: a model, not a measurement. From exact counters, the
// compiler's resources and the device's facts; see model.cc for the idea and docs/profile.md for the
// formulas.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/counters.h"
#include "harness/compile/compiler.h"
#include "harness/core/dtype.h"
#include "harness/profile/device_facts.h"
#include "harness/profile/occupancy.h"

namespace kernelwright {

// One kernel of a launch sequence, as it was executed.
struct ExecutedKernel {
    std::string name;
    emulator::Counters counters;  // of the whole grid (scale_to_grid when only some blocks were executed)
    std::uint64_t counted_blocks = 0;  // blocks that were executed; 0: all of them
    KernelResources resources;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared = 0;
    DType tensor_dtype = DType::f16;  // of the mma operands, where there are any

    std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
    bool sampled() const { return counted_blocks != 0 && counted_blocks < blocks(); }
};

// The time for which one resource alone would keep the kernel busy. Names: issue fma alu xu fp64 fp16 tensor
// lsu l1 shared l2 dram atomic latency.
struct ResourceTime {
    std::string name;
    double us = 0;
    bool operator==(const ResourceTime&) const = default;
};

// Where the loads are expected to be served from.
struct Traffic {
    double l1_lines = 0;            // 128-byte lines looked up in L1, loads and stores
    double l2_bytes = 0;            // between L1 and L2, both ways
    double dram_bytes = 0;          // both ways
    double l1_hit = 0, l2_hit = 0;  // fractions of load sectors, and of those that left L1
    bool operator==(const Traffic&) const = default;
};

struct KernelEstimate {
    std::string name;
    double us = 0;  // without the launch
    double launch_us = 0;
    std::string bound;                // the name of the longest resource; "launch" where that is longer
    std::vector<ResourceTime> times;  // longest first, those that are zero left out
    Occupancy occupancy;
    Traffic traffic;
    double sms_used = 0;         // fraction of the SMs that get a block
    double bytes_in_flight = 0;  // per SM, by the loads of the resident warps
    double bytes_needed = 0;     // per SM, to keep DRAM busy (Little's law)
    double time_of(const std::string& resource) const;
    bool operator==(const KernelEstimate&) const = default;
};

// Uncalibrated, the model is taken to be right within this fraction.
inline constexpr double uncalibrated_uncertainty = 0.4;

struct Estimate {
    double us = 0, low_us = 0, high_us = 0;
    std::string bound;   // of the kernel that takes longest
    std::string device;  // facts.name
    std::vector<KernelEstimate> kernels;
    bool operator==(const Estimate&) const = default;
};

// What an estimate takes for granted; the what-if answers change it.
struct Assumptions {
    bool even_spread = false;  // every SM gets the same work, no part wave at the end
};

KernelEstimate estimate_kernel(const ExecutedKernel& run, const DeviceFacts& facts,
                               const Assumptions& assumptions = {});
Estimate estimate(const std::vector<ExecutedKernel>& runs, const DeviceFacts& facts);

// "dram 0.93, latency 0.61 of the bound": the other resources against the longest, the nearest first.
std::string slack_text(const KernelEstimate& kernel, std::size_t most = 3);

Json to_json(const KernelEstimate& kernel);
Json to_json(const Estimate& estimate);
Result<Estimate> estimate_from_json(const Json& json);

}  // namespace kernelwright

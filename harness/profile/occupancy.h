// How many blocks of a kernel are resident on an SM, and what keeps it from being more. The rules are those
// of NVIDIA's occupancy calculator (cuda_occupancy.h), against which a test compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "harness/compile/compiler.h"
#include "harness/core/json.h"
#include "harness/profile/device_facts.h"

namespace kernelwright {

struct Occupancy {
    int warps_per_block = 0;
    int blocks_per_sm = 0;  // 0: the kernel cannot be launched with this block on this device
    int warps_per_sm = 0;
    double fraction = 0;  // of the SM's warps
    // "warps", "blocks", "registers", "shared", "barriers"; where several are equal, the first of
    // registers, shared, barriers, warps, blocks (the ones that a change of the kernel can move come first).
    std::string limiter;
    // blocks that each resource alone would allow; -1: not used
    int by_warps = 0, by_blocks = 0, by_registers = -1, by_shared = -1, by_barriers = -1;
    // of a grid, where one is given
    std::uint64_t blocks = 0;
    double waves = 0;  // blocks / (SMs x blocks_per_sm)

    bool operator==(const Occupancy&) const = default;
};

Occupancy theoretical_occupancy(const DeviceFacts& facts, const KernelResources& resources,
                                std::uint32_t threads_per_block, std::uint32_t dynamic_shared,
                                std::uint64_t grid_blocks = 0);

Json to_json(const Occupancy& occupancy);
Result<Occupancy> occupancy_from_json(const Json& json);

}  // namespace kernelwright

// Kernels described by what they do, with the counters that executing them would give.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "harness/profile/model.h"

namespace kernelwright::testing {

struct Described {
    std::uint32_t blocks = 864, threads = 256;
    double loads = 16, stores = 16;     // per warp
    double bytes_per_lane = 4;          // of a load or store
    double stride = 1;                  // lanes are this many elements apart; 8 and more: a sector each
    double passes = 1;                  // how often the input is read
    double arithmetic = 4;              // fma per load
    double integer = 2;                 // alu per load
    double special = 0;                 // xu per load
    double shared = 0;                  // shared loads per warp
    double conflicts = 1;               // wavefronts of a shared load
    double atomics = 0;                 // per warp, of 32 lanes each
    double atomic_targets = 1;          // distinct addresses of all of them
    double barriers = 0, shuffles = 0;  // per warp
    int registers = 32;
    std::uint32_t shared_bytes = 0;
};

inline ExecutedKernel execute(const Described& d) {
    ExecutedKernel k;
    k.name = "kernel";
    k.grid = {d.blocks, 1, 1};
    k.block = {d.threads, 1, 1};
    k.resources.registers = d.registers;
    k.resources.static_shared = d.shared_bytes;
    k.resources.barriers = d.barriers > 0 ? 1 : 0;
    auto& c = k.counters;
    const double warps = double(d.blocks) * ((d.threads + 31) / 32);
    const auto n = [&](double per_warp) { return static_cast<std::uint64_t>(per_warp * warps + 0.5); };
    c.warps_launched = n(1);
    c.blocks_launched = d.blocks;
    const double ideal = d.bytes_per_lane;  // sectors of 32 lanes: 32 b / 32
    const double touched = std::min(32.0 * std::max(1.0, d.bytes_per_lane / 32), ideal * d.stride);
    c.global_load_requests = n(d.loads);
    c.global_load_bytes = n(d.loads * 32 * d.bytes_per_lane);
    c.ideal_global_load_sectors = n(d.loads * ideal);
    c.global_load_sectors = n(d.loads * std::max(ideal, touched));
    c.unique_load_sectors = n(d.loads * ideal / d.passes);
    c.global_store_requests = n(d.stores);
    c.global_store_bytes = n(d.stores * 32 * d.bytes_per_lane);
    c.ideal_global_store_sectors = c.global_store_sectors = c.unique_store_sectors = n(d.stores * ideal);
    c.inst_fma = n(d.loads * d.arithmetic);
    c.inst_alu = n(d.loads * d.integer);
    c.inst_xu = n(d.loads * d.special);
    c.thread_ffma = c.inst_fma * 32;
    c.shared_load_requests = n(d.shared);
    c.shared_load_wavefronts = n(d.shared * d.conflicts);
    c.shared_load_conflicts = n(d.shared * (d.conflicts - 1));
    c.global_atomic_requests = c.global_atomic_sectors = n(d.atomics);
    c.global_atomic_operations = 32 * c.global_atomic_requests;
    c.hottest_atomic_operations =
        static_cast<std::uint64_t>(std::ceil(double(c.global_atomic_operations) / d.atomic_targets));
    if (d.atomics > 0) c.unique_store_sectors += static_cast<std::uint64_t>(d.atomic_targets);
    c.barriers = n(d.barriers);
    c.shuffles = n(d.shuffles);
    c.inst_lsu = n(d.loads + d.stores + d.shared + d.atomics + d.shuffles);
    c.inst_control = n(d.loads / 4 + d.barriers);
    c.warp_instructions = c.inst_fma + c.inst_alu + c.inst_xu + c.inst_lsu + c.inst_control;
    c.thread_instructions = 32 * c.warp_instructions;
    c.max_warp_instructions_of_one_warp = c.warp_instructions / c.warps_launched;
    c.max_global_loads_of_one_warp = static_cast<std::uint64_t>(d.loads + 0.5);
    return k;
}

// Softmax over rows of N floats in three passes over the input, the ways that people write it.
// One thread a row: lanes are N elements apart.
inline ExecutedKernel softmax_thread_per_row(double rows, double n, std::uint32_t threads = 256) {
    Described d;
    d.threads = threads;
    d.blocks = static_cast<std::uint32_t>((rows + threads - 1) / threads);
    d.loads = 3 * n;
    d.passes = 3;
    d.stores = n;
    d.stride = n;
    d.special = 2.0 / 3;
    ExecutedKernel k = execute(d);
    k.counters.global_store_sectors = 8 * k.counters.ideal_global_store_sectors;
    return k;
}
// A warp a row: lanes are neighbours.
inline ExecutedKernel softmax_warp_per_row(double rows, double n, double bytes = 4) {
    Described d;
    d.threads = 128;
    d.blocks = static_cast<std::uint32_t>(rows / 4);
    d.bytes_per_lane = bytes;
    d.loads = 3 * n / 32 * 4 / bytes;
    d.passes = 3;
    d.stores = d.loads / 3;
    d.arithmetic = 4 * bytes / 4;
    d.integer = 2;
    d.special = 2.0 / 3 * bytes / 4;
    d.shuffles = 10;
    return execute(d);
}
// A block a row.
inline ExecutedKernel softmax_block_per_row(double rows, double n, double passes = 3) {
    Described d;
    d.threads = 256;
    d.blocks = static_cast<std::uint32_t>(rows);
    d.loads = passes * n / 256;
    d.passes = passes;
    d.stores = n / 256;
    d.special = 2.0 / passes;
    d.shuffles = 10;
    d.barriers = 4;
    d.shared_bytes = 64;
    return execute(d);
}

}  // namespace kernelwright::testing

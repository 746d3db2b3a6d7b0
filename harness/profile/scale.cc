#include "harness/profile/scale.h"

#include <algorithm>
#include <cmath>

namespace kernelwright {
namespace {

using C = emulator::Counters;

// Every counter that is a sum over blocks.
constexpr std::uint64_t C::*sums[] = {
    &C::warp_instructions,
    &C::thread_instructions,
    &C::thread_instructions_pred_on,
    &C::warps_launched,
    &C::blocks_launched,
    &C::inst_fma,
    &C::inst_alu,
    &C::inst_xu,
    &C::inst_fp64,
    &C::inst_fp16,
    &C::inst_tensor,
    &C::inst_lsu,
    &C::inst_control,
    &C::inst_uniform,
    &C::thread_fadd,
    &C::thread_fmul,
    &C::thread_ffma,
    &C::thread_dadd,
    &C::thread_dmul,
    &C::thread_dfma,
    &C::thread_hadd,
    &C::thread_hmul,
    &C::thread_hfma,
    &C::tensor_flops,
    &C::tensor_fp16_fp16,
    &C::tensor_fp16_fp32,
    &C::tensor_bf16_fp32,
    &C::tensor_tf32_fp32,
    &C::tensor_fp8_fp16,
    &C::tensor_fp8_fp32,
    &C::tensor_fp64,
    &C::tensor_int8,
    &C::tensor_int4,
    &C::tensor_int1,
    &C::wgmma_shared_bytes,
    &C::thread_integer,
    &C::branches,
    &C::divergent_branches,
    &C::global_load_requests,
    &C::global_load_sectors,
    &C::global_load_bytes,
    &C::global_store_requests,
    &C::global_store_sectors,
    &C::global_store_bytes,
    &C::global_atomic_requests,
    &C::global_atomic_sectors,
    &C::global_atomic_operations,
    &C::ideal_global_load_sectors,
    &C::ideal_global_store_sectors,
    &C::unique_load_sectors,
    &C::unique_store_sectors,
    &C::local_load_requests,
    &C::local_load_sectors,
    &C::local_store_requests,
    &C::local_store_sectors,
    &C::constant_requests,
    &C::shared_load_requests,
    &C::shared_load_wavefronts,
    &C::shared_load_conflicts,
    &C::shared_store_requests,
    &C::shared_store_wavefronts,
    &C::shared_store_conflicts,
    &C::shared_atomic_requests,
    &C::shared_atomic_wavefronts,
    &C::shared_bytes,
    &C::barriers,
    &C::shuffles,
    &C::votes,
    &C::cp_async_requests,
    &C::cp_async_bytes,
    &C::bulk_requests,
    &C::bulk_load_bytes,
    &C::bulk_store_bytes,
    &C::bulk_load_sectors,
    &C::bulk_store_sectors,
};

using L = emulator::LineCounters;
constexpr std::uint64_t L::*line_sums[] = {
    &L::warp_instructions,
    &L::thread_instructions,
    &L::global_sectors,
    &L::global_requests,
    &L::ideal_global_sectors,
    &L::shared_wavefronts,
    &L::shared_requests,
    &L::shared_conflicts,
    &L::divergent_branches,
    &L::global_store_sectors,
    &L::global_store_requests,
    &L::ideal_global_store_sectors,
    &L::global_atomic_operations,
    &L::local_requests,
    &L::inst_fma,
    &L::inst_xu,
    &L::inst_fp64,
    &L::bulk_bytes,
    &L::tensor_flops,
};

}  // namespace

emulator::Counters scale_to_grid(const emulator::Counters& counted, std::uint64_t counted_blocks,
                                 std::uint64_t total_blocks, BufferBytes buffers) {
    emulator::Counters scaled = counted;
    if (counted_blocks == 0 || counted_blocks >= total_blocks) return scaled;
    const double factor = double(total_blocks) / double(counted_blocks);
    const auto scale = [factor](std::uint64_t value) {
        return static_cast<std::uint64_t>(std::llround(double(value) * factor));
    };
    for (auto member : sums) scaled.*member = scale(counted.*member);
    for (auto& [place, line] : scaled.lines)
        for (auto member : line_sums) line.*member = scale(line.*member);
    scaled.blocks_launched = total_blocks;
    // Each sum is rounded by itself; no warp has more than its 32 lanes for that.
    scaled.thread_instructions = std::min(scaled.thread_instructions, 32 * scaled.warp_instructions);
    scaled.thread_instructions_pred_on =
        std::min(scaled.thread_instructions_pred_on, scaled.thread_instructions);
    // An address that several of the counted blocks want is wanted by the others too; one that a single block
    // wants is its own.
    if (counted.hottest_atomic_blocks > 1) {
        scaled.hottest_atomic_operations = scale(counted.hottest_atomic_operations);
        scaled.hottest_atomic_blocks = scale(counted.hottest_atomic_blocks);
    }
    const auto distinct = [&](std::uint64_t seen, std::uint64_t bytes) {
        if (seen < counted_blocks) return seen;
        const std::uint64_t most = bytes == 0 ? UINT64_MAX : (bytes + 31) / 32;
        // At least what was seen stays, whatever the caller says about its buffers.
        return std::max(seen, std::min(scale(seen), most));
    };
    scaled.unique_load_sectors = distinct(counted.unique_load_sectors, buffers.readable);
    scaled.unique_store_sectors = distinct(counted.unique_store_sectors, buffers.writable);
    return scaled;
}

}  // namespace kernelwright

// What the emulated GPU counts while it executes: structural facts of the instruction stream, exact by
// construction. Each field names the Nsight Compute metric that a GPU would report (metric_table()); times
// and cycles are not counted here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace emulator {

// Per source line, for "hot lines".
struct LineCounters {
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
    std::uint64_t global_sectors = 0;
    std::uint64_t global_requests = 0;
    std::uint64_t ideal_global_sectors =
        0;  // bytes asked for by active lanes, without duplicates, / 32 rounded up
    // the part of the three above that stores have
    std::uint64_t global_store_sectors = 0, global_store_requests = 0, ideal_global_store_sectors = 0;
    std::uint64_t global_atomic_operations = 0;  // as in Counters
    std::uint64_t local_requests = 0;
    std::uint64_t shared_wavefronts = 0;
    std::uint64_t shared_requests = 0;
    std::uint64_t shared_conflicts = 0;  // wavefronts beyond the ideal
    std::uint64_t divergent_branches = 0;
    std::uint64_t bulk_bytes = 0;                            // of global memory, by bulk copies
    std::uint64_t inst_fma = 0, inst_xu = 0, inst_fp64 = 0;  // fma: f32 and half arithmetic
    std::uint64_t tensor_flops = 0;
};

struct Counters {
    // warp-level instructions executed, and the lanes that took part
    std::uint64_t warp_instructions = 0;            // smsp__inst_executed.sum
    std::uint64_t thread_instructions = 0;          // smsp__thread_inst_executed.sum (active lanes)
    std::uint64_t thread_instructions_pred_on = 0;  // smsp__thread_inst_executed_pred_on.sum
    std::uint64_t warps_launched = 0;               // smsp__warps_launched.sum
    std::uint64_t blocks_launched = 0;              // sm__ctas_launched.sum

    // instruction mix, warp-level, by the pipe that a GPU would use
    std::uint64_t inst_fma = 0;      // f32 add/mul/fma: smsp__inst_executed_pipe_fma.sum
    std::uint64_t inst_alu = 0;      // integer, logic, compare, select, min/max: ..._pipe_alu.sum
    std::uint64_t inst_xu = 0;       // ex2, lg2, sin, cos, rcp, rsqrt, sqrt, some cvt: ..._pipe_xu.sum
    std::uint64_t inst_fp64 = 0;     // ..._pipe_fp64.sum
    std::uint64_t inst_fp16 = 0;     // packed and scalar half arithmetic: ..._pipe_fp16.sum
    std::uint64_t inst_tensor = 0;   // mma: ..._pipe_tensor.sum
    std::uint64_t inst_lsu = 0;      // loads, stores, atomics, shuffles: ..._pipe_lsu.sum
    std::uint64_t inst_control = 0;  // branches, calls, barriers: ..._pipe_cbu.sum
    std::uint64_t inst_uniform = 0;  // everything else (mov, special registers)

    // floating-point work done by active lanes with a true predicate (an fma counts as 1 ffma)
    std::uint64_t thread_fadd = 0, thread_fmul = 0,
                  thread_ffma = 0;  // smsp__sass_thread_inst_executed_op_fadd_pred_on.sum ...
    std::uint64_t thread_dadd = 0, thread_dmul = 0, thread_dfma = 0;
    std::uint64_t thread_hadd = 0, thread_hmul = 0, thread_hfma = 0;  // per half element
    std::uint64_t tensor_flops = 0;                                   // 2 m n k per warp-level mma
    // The same by type: sm__ops_path_tensor_src_fp16_dst_fp16.sum, ..._src_bf16_dst_fp32.sum,
    // ..._src_int8.sum ...
    std::uint64_t tensor_fp16_fp16 = 0, tensor_fp16_fp32 = 0, tensor_bf16_fp32 = 0, tensor_tf32_fp32 = 0;
    std::uint64_t tensor_fp8_fp16 = 0, tensor_fp8_fp32 = 0, tensor_fp64 = 0;
    std::uint64_t tensor_int8 = 0, tensor_int4 = 0, tensor_int1 = 0;
    // Bytes of shared memory that wgmma reads by descriptors (each warp its rows of A, a warpgroup B once),
    // and tcgen05.mma and cp.
    std::uint64_t wgmma_shared_bytes = 0;
    std::uint64_t thread_integer = 0;  // smsp__sass_thread_inst_executed_op_integer_pred_on.sum

    // branches
    std::uint64_t branches = 0;            // smsp__sass_branch_targets.sum (warp-level branch instructions)
    std::uint64_t divergent_branches = 0;  // smsp__sass_branch_targets_threads_divergent.sum

    // global memory, per warp request; a sector is 32 bytes
    std::uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;
    std::uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;
    std::uint64_t global_atomic_requests = 0, global_atomic_sectors = 0;
    // Read-modify-writes that global memory has to do, one after the other where they want one address. Each
    // active lane is one, save that the lanes of an integer operation on a single address are one together:
    // ptxas combines them in the warp.
    std::uint64_t global_atomic_operations = 0;
    std::uint64_t hottest_atomic_operations = 0;  // on the address that has most of them
    std::uint64_t hottest_atomic_blocks = 0;      // blocks that want this address
    std::uint64_t ideal_global_load_sectors = 0, ideal_global_store_sectors = 0;
    std::uint64_t unique_load_sectors =
        0;  // distinct sectors of global memory that the launch read: the compulsory traffic
    std::uint64_t unique_store_sectors = 0;
    std::uint64_t local_load_requests = 0, local_load_sectors = 0, local_store_requests = 0,
                  local_store_sectors = 0;
    std::uint64_t constant_requests = 0;

    // shared memory: 32 banks of 4 bytes; a wavefront is one pass
    std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_conflicts = 0;
    std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_conflicts = 0;
    // An atomic's wavefronts: the lanes of the fullest bank, since lanes on one word wait for each other.
    std::uint64_t shared_atomic_requests = 0, shared_atomic_wavefronts = 0;
    std::uint64_t shared_bytes = 0;  // bytes asked for by active lanes

    std::uint64_t barriers = 0;  // warp-level arrivals at block barriers
    std::uint64_t shuffles = 0, votes = 0;
    std::uint64_t cp_async_requests = 0, cp_async_bytes = 0;
    // Bulk copies (cp.async.bulk, TMA, st.async), one request per instruction and lane; bytes into shared
    // memory (each block of a multicast, the whole box) and out of it; sectors of global memory. They do not
    // pass through the load-store unit and are in none of its counters.
    std::uint64_t bulk_requests = 0, bulk_load_bytes = 0, bulk_store_bytes = 0;
    std::uint64_t bulk_load_sectors = 0, bulk_store_sectors = 0;

    // the longest chain, for latency estimates: warp instructions of the warp that executed most
    std::uint64_t max_warp_instructions_of_one_warp = 0;
    std::uint64_t max_global_loads_of_one_warp = 0;

    std::map<std::pair<std::string, int>, LineCounters> lines;  // (file, line) -> counters

    Counters& operator+=(const Counters& other);
    bool operator==(const Counters&) const;
};

// One row of the published table: Nsight Compute's name, its unit, and the value.
struct Metric {
    std::string name;  // e.g. "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    std::string unit;  // "inst", "sector", "request", "byte", "thread", "warp", ""
    double value = 0;
};

// Every counter that a GPU also has, under its Nsight Compute name, ratios included
// (l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio,
// smsp__thread_inst_executed_per_inst_executed.ratio ...).
std::vector<Metric> metrics(const Counters& counters);

}  // namespace emulator

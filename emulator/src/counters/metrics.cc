#include "emulator/counters.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace emulator {

namespace {

// Every field that adds up, so that sums and comparisons cannot forget one.
constexpr std::uint64_t Counters::*kSums[] = {&Counters::warp_instructions,
                                              &Counters::thread_instructions,
                                              &Counters::thread_instructions_pred_on,
                                              &Counters::warps_launched,
                                              &Counters::blocks_launched,
                                              &Counters::inst_fma,
                                              &Counters::inst_alu,
                                              &Counters::inst_xu,
                                              &Counters::inst_fp64,
                                              &Counters::inst_fp16,
                                              &Counters::inst_tensor,
                                              &Counters::inst_lsu,
                                              &Counters::inst_control,
                                              &Counters::inst_uniform,
                                              &Counters::thread_fadd,
                                              &Counters::thread_fmul,
                                              &Counters::thread_ffma,
                                              &Counters::thread_dadd,
                                              &Counters::thread_dmul,
                                              &Counters::thread_dfma,
                                              &Counters::thread_hadd,
                                              &Counters::thread_hmul,
                                              &Counters::thread_hfma,
                                              &Counters::tensor_flops,
                                              &Counters::tensor_fp16_fp16,
                                              &Counters::tensor_fp16_fp32,
                                              &Counters::tensor_bf16_fp32,
                                              &Counters::tensor_tf32_fp32,
                                              &Counters::tensor_fp8_fp16,
                                              &Counters::tensor_fp8_fp32,
                                              &Counters::tensor_fp64,
                                              &Counters::tensor_int8,
                                              &Counters::tensor_int4,
                                              &Counters::tensor_int1,
                                              &Counters::wgmma_shared_bytes,
                                              &Counters::thread_integer,
                                              &Counters::branches,
                                              &Counters::divergent_branches,
                                              &Counters::global_load_requests,
                                              &Counters::global_load_sectors,
                                              &Counters::global_load_bytes,
                                              &Counters::global_store_requests,
                                              &Counters::global_store_sectors,
                                              &Counters::global_store_bytes,
                                              &Counters::global_atomic_requests,
                                              &Counters::global_atomic_sectors,
                                              &Counters::global_atomic_operations,
                                              &Counters::ideal_global_load_sectors,
                                              &Counters::ideal_global_store_sectors,
                                              &Counters::unique_load_sectors,
                                              &Counters::unique_store_sectors,
                                              &Counters::local_load_requests,
                                              &Counters::local_load_sectors,
                                              &Counters::local_store_requests,
                                              &Counters::local_store_sectors,
                                              &Counters::constant_requests,
                                              &Counters::shared_load_requests,
                                              &Counters::shared_load_wavefronts,
                                              &Counters::shared_load_conflicts,
                                              &Counters::shared_store_requests,
                                              &Counters::shared_store_wavefronts,
                                              &Counters::shared_store_conflicts,
                                              &Counters::shared_atomic_requests,
                                              &Counters::shared_atomic_wavefronts,
                                              &Counters::shared_bytes,
                                              &Counters::barriers,
                                              &Counters::shuffles,
                                              &Counters::votes,
                                              &Counters::cp_async_requests,
                                              &Counters::cp_async_bytes,
                                              &Counters::bulk_requests,
                                              &Counters::bulk_load_bytes,
                                              &Counters::bulk_store_bytes,
                                              &Counters::bulk_load_sectors,
                                              &Counters::bulk_store_sectors};
constexpr std::uint64_t Counters::*kMaxima[] = {
    &Counters::max_warp_instructions_of_one_warp, &Counters::max_global_loads_of_one_warp,
    &Counters::hottest_atomic_operations, &Counters::hottest_atomic_blocks};
constexpr std::uint64_t LineCounters::*kLineSums[] = {&LineCounters::warp_instructions,
                                                      &LineCounters::thread_instructions,
                                                      &LineCounters::global_sectors,
                                                      &LineCounters::global_requests,
                                                      &LineCounters::ideal_global_sectors,
                                                      &LineCounters::shared_wavefronts,
                                                      &LineCounters::shared_requests,
                                                      &LineCounters::shared_conflicts,
                                                      &LineCounters::divergent_branches,
                                                      &LineCounters::bulk_bytes,
                                                      &LineCounters::global_store_sectors,
                                                      &LineCounters::global_store_requests,
                                                      &LineCounters::ideal_global_store_sectors,
                                                      &LineCounters::global_atomic_operations,
                                                      &LineCounters::local_requests,
                                                      &LineCounters::inst_fma,
                                                      &LineCounters::inst_xu,
                                                      &LineCounters::inst_fp64,
                                                      &LineCounters::tensor_flops};

double ratio(std::uint64_t a, std::uint64_t b) {
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
    for (const auto field : kSums) this->*field += other.*field;
    for (const auto field : kMaxima) this->*field = std::max(this->*field, other.*field);
    for (const auto& [place, theirs] : other.lines) {
        LineCounters& mine = lines[place];
        for (const auto field : kLineSums) mine.*field += theirs.*field;
    }
    return *this;
}

bool Counters::operator==(const Counters& other) const {
    for (const auto field : kSums)
        if (this->*field != other.*field) return false;
    for (const auto field : kMaxima)
        if (this->*field != other.*field) return false;
    return lines.size() == other.lines.size() &&
           std::equal(lines.begin(), lines.end(), other.lines.begin(), [](const auto& a, const auto& b) {
               if (a.first != b.first) return false;
               for (const auto field : kLineSums)
                   if (a.second.*field != b.second.*field) return false;
               return true;
           });
}

std::vector<Metric> metrics(const Counters& c) {
    std::vector<Metric> out;
    const auto add = [&](const char* name, const char* unit, std::uint64_t value) {
        out.push_back({name, unit, static_cast<double>(value)});
    };
    const auto add_ratio = [&](const char* name, std::uint64_t a, std::uint64_t b) {
        out.push_back({name, "", ratio(a, b)});
    };
    add("smsp__inst_executed.sum", "inst", c.warp_instructions);
    add("smsp__thread_inst_executed.sum", "inst", c.thread_instructions);
    add("smsp__thread_inst_executed_pred_on.sum", "inst", c.thread_instructions_pred_on);
    add_ratio("smsp__thread_inst_executed_per_inst_executed.ratio", c.thread_instructions,
              c.warp_instructions);
    add_ratio("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", c.thread_instructions_pred_on,
              c.warp_instructions);
    add("smsp__warps_launched.sum", "warp", c.warps_launched);
    add("sm__ctas_launched.sum", "block", c.blocks_launched);
    add("smsp__inst_executed_pipe_fma.sum", "inst", c.inst_fma);
    add("smsp__inst_executed_pipe_alu.sum", "inst", c.inst_alu);
    add("smsp__inst_executed_pipe_xu.sum", "inst", c.inst_xu);
    add("smsp__inst_executed_pipe_fp64.sum", "inst", c.inst_fp64);
    add("smsp__inst_executed_pipe_fp16.sum", "inst", c.inst_fp16);
    add("smsp__inst_executed_pipe_tensor.sum", "inst", c.inst_tensor);
    for (const auto& [name, value] :
         std::initializer_list<std::pair<const char*, std::uint64_t>>{{"fp16_dst_fp16", c.tensor_fp16_fp16},
                                                                      {"fp16_dst_fp32", c.tensor_fp16_fp32},
                                                                      {"bf16_dst_fp32", c.tensor_bf16_fp32},
                                                                      {"tf32_dst_fp32", c.tensor_tf32_fp32},
                                                                      {"fp8_dst_fp16", c.tensor_fp8_fp16},
                                                                      {"fp8_dst_fp32", c.tensor_fp8_fp32},
                                                                      {"fp64", c.tensor_fp64},
                                                                      {"int8", c.tensor_int8},
                                                                      {"int4", c.tensor_int4},
                                                                      {"int1", c.tensor_int1}}) {
        if (value) add(("sm__ops_path_tensor_src_" + std::string(name) + ".sum").c_str(), "", value);
    }
    add("smsp__inst_executed_pipe_lsu.sum", "inst", c.inst_lsu);
    add("smsp__inst_executed_pipe_cbu.sum", "inst", c.inst_control);
    add("smsp__inst_executed_pipe_uniform.sum", "inst", c.inst_uniform);
    add("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", c.thread_fadd);
    add("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", c.thread_fmul);
    add("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", c.thread_ffma);
    add("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst", c.thread_dadd);
    add("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "inst", c.thread_dmul);
    add("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst", c.thread_dfma);
    add("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "inst", c.thread_hadd);
    add("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "inst", c.thread_hmul);
    add("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "inst", c.thread_hfma);
    add("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "inst", c.thread_integer);
    add("smsp__sass_branch_targets.sum", "", c.branches);
    add("smsp__sass_branch_targets_threads_divergent.sum", "", c.divergent_branches);
    add("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", c.global_load_requests);
    add("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", c.global_load_sectors);
    add("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", c.global_store_requests);
    add("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", c.global_store_sectors);
    add("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request", c.global_atomic_requests);
    add("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", c.global_atomic_sectors);
    add_ratio("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", c.global_load_sectors,
              c.global_load_requests);
    add_ratio("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", c.global_store_sectors,
              c.global_store_requests);
    add("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request", c.local_load_requests);
    add("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", c.local_load_sectors);
    add("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request", c.local_store_requests);
    add("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", c.local_store_sectors);
    add("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", c.shared_load_wavefronts);
    add("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", c.shared_store_wavefronts);
    add("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "",
        c.shared_load_wavefronts + c.shared_store_wavefronts);
    add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", c.shared_load_conflicts);
    add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", c.shared_store_conflicts);
    add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "",
        c.shared_load_conflicts + c.shared_store_conflicts);
    add("smsp__inst_executed_op_shared_ld.sum", "inst", c.shared_load_requests);
    add("smsp__inst_executed_op_shared_st.sum", "inst", c.shared_store_requests);
    add("smsp__inst_executed_op_shared_atom.sum", "inst", c.shared_atomic_requests);
    add("l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", "request", c.cp_async_requests);
    return out;
}

}  // namespace emulator

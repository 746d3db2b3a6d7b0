#include "emulator/src/counters/collect.h"

#include <bit>
#include <string>
#include <vector>

#include "emulator/src/exec/report.h"

namespace emulator::counters {

using exec::Pipe;
using exec::Work;

namespace {

enum class Access { none, load, store, atomic };

Access access_of(const ptx::Instruction& text) {
    const std::string& op = text.opcode;
    if (op == "ld" || op == "ldu" || op == "ldmatrix" || op == "cp") return Access::load;
    if (op == "st" || op == "stmatrix") return Access::store;
    if (op == "atom" || op == "red") return Access::atomic;
    if (op == "wmma")
        return text.has("store") ? Access::store : text.has("load") ? Access::load : Access::none;
    return Access::none;
}

void add_work(const exec::Instr& in, std::uint64_t threads, Counters& c) {
    const std::uint64_t n = threads * in.work_amount;
    switch (in.work) {
        case Work::fadd:
            c.thread_fadd += n;
            break;
        case Work::fmul:
            c.thread_fmul += n;
            break;
        case Work::ffma:
            c.thread_ffma += n;
            break;
        case Work::dadd:
            c.thread_dadd += n;
            break;
        case Work::dmul:
            c.thread_dmul += n;
            break;
        case Work::dfma:
            c.thread_dfma += n;
            break;
        case Work::hadd:
            c.thread_hadd += n;
            break;
        case Work::hmul:
            c.thread_hmul += n;
            break;
        case Work::hfma:
            c.thread_hfma += n;
            break;
        case Work::integer:
            c.thread_integer += n;
            break;
        case Work::none:
            break;
    }
}
void add_pipe(const exec::Instr& in, std::uint64_t n, Counters& c) {
    switch (in.pipe) {
        case Pipe::fma:
            c.inst_fma += n;
            break;
        case Pipe::alu:
            c.inst_alu += n;
            break;
        case Pipe::xu:
            c.inst_xu += n;
            break;
        case Pipe::fp64:
            c.inst_fp64 += n;
            break;
        case Pipe::fp16:
            c.inst_fp16 += n;
            break;
        case Pipe::tensor:
            c.inst_tensor += n;
            break;
        case Pipe::lsu:
            c.inst_lsu += n;
            break;
        case Pipe::control:
            c.inst_control += n;
            break;
        case Pipe::uniform:
            c.inst_uniform += n;
            break;
    }
}

// Where the operations of a matrix product count: by the types of A and D, which are named in the order D, A
// ... (wmma with f16 names D and C alone).
std::uint64_t Counters::*tensor_field(const ptx::Instruction& text) {
    if (text.opcode == "tcgen05") {  // kind::f16 takes bf16, too: the descriptor says which, at run time
        for (const std::string& modifier : text.modifiers) {
            if (modifier == "kind::f16") return &Counters::tensor_fp16_fp32;
            if (modifier == "kind::tf32") return &Counters::tensor_tf32_fp32;
            if (modifier == "kind::f8f6f4" || modifier == "kind::mxf8f6f4") return &Counters::tensor_fp8_fp32;
            if (modifier == "kind::i8") return &Counters::tensor_int8;
        }
        return nullptr;
    }
    std::vector<ptx::Type> types;
    for (const std::string& modifier : text.modifiers)
        if (const auto type = ptx::parse_type(modifier)) types.push_back(*type);
    if (types.size() < 2) return nullptr;
    using enum ptx::Type;
    const bool half = types[0] == f16;
    switch (types.size() == 2 ? f16 : types[1]) {
        case f16:
            return half ? &Counters::tensor_fp16_fp16 : &Counters::tensor_fp16_fp32;
        case bf16:
            return &Counters::tensor_bf16_fp32;
        case tf32:
            return &Counters::tensor_tf32_fp32;
        case e4m3:
        case e5m2:
            return half ? &Counters::tensor_fp8_fp16 : &Counters::tensor_fp8_fp32;
        case f64:
            return &Counters::tensor_fp64;
        case s8:
        case u8:
            return &Counters::tensor_int8;
        case s4:
        case u4:
            return &Counters::tensor_int4;
        case b1:
            return &Counters::tensor_int1;
        default:
            return nullptr;
    }
}

}  // namespace

void collect(const exec::Launch& launch, Counters& c) {
    c.warps_launched = launch.warps_launched;
    c.blocks_launched = launch.blocks_launched;
    c.max_warp_instructions_of_one_warp = launch.max_warp_instructions;
    c.max_global_loads_of_one_warp = launch.max_global_loads;
    c.barriers = launch.barrier_arrivals;
    c.cp_async_requests = launch.async_requests;
    c.cp_async_bytes = launch.async_bytes;
    c.bulk_requests = launch.bulk_requests;
    c.bulk_load_bytes = launch.bulk_load_bytes;
    c.bulk_store_bytes = launch.bulk_store_bytes;
    for (std::size_t id = 0; id < launch.executed.size(); ++id) {
        const exec::InstrCounters& e = launch.executed[id];
        if (e.warp == 0) continue;
        const exec::Instr& in = *launch.program->instructions[id];
        const ptx::Instruction* text = launch.program->text[id];
        const exec::AccessCounters& a = launch.accesses[id];
        c.warp_instructions += e.warp;
        c.thread_instructions += e.threads;
        c.thread_instructions_pred_on += e.on;
        add_pipe(in, e.warp, c);
        add_work(in, e.on, c);
        c.tensor_flops += a.flops;
        c.wgmma_shared_bytes += a.operand_bytes;
        if (a.flops && text)
            if (const auto field = tensor_field(*text)) c.*field += a.flops;
        if (in.control == exec::Control::branch || in.control == exec::Control::indexed) {
            c.branches += e.warp;
            c.divergent_branches += a.divergent;
        }
        c.constant_requests += a.constants;
        if (text) {
            if (text->opcode == "shfl") c.shuffles += e.warp;
            if (text->opcode == "vote" || text->opcode == "match" || text->opcode == "redux")
                c.votes += e.warp;
            switch (access_of(*text)) {
                case Access::load:
                    c.global_load_requests += a.requests;
                    c.global_load_sectors += a.sectors;
                    c.global_load_bytes += a.bytes;
                    c.ideal_global_load_sectors += a.ideal;
                    c.local_load_requests += a.local_requests;
                    c.local_load_sectors += a.local_sectors;
                    c.shared_load_requests += a.shared_requests;
                    c.shared_load_wavefronts += a.wavefronts;
                    c.shared_load_conflicts += a.conflicts;
                    break;
                case Access::store:
                    c.global_store_requests += a.requests;
                    c.global_store_sectors += a.sectors;
                    c.global_store_bytes += a.bytes;
                    c.ideal_global_store_sectors += a.ideal;
                    c.local_store_requests += a.local_requests;
                    c.local_store_sectors += a.local_sectors;
                    c.shared_store_requests += a.shared_requests;
                    c.shared_store_wavefronts += a.wavefronts;
                    c.shared_store_conflicts += a.conflicts;
                    break;
                case Access::atomic:
                    c.global_atomic_requests += a.requests;
                    c.global_atomic_sectors += a.sectors;
                    c.global_atomic_operations += a.operations;
                    c.shared_atomic_requests += a.shared_requests;
                    c.shared_atomic_wavefronts += a.wavefronts;
                    break;
                case Access::none:
                    break;
            }
        }
        c.shared_bytes += a.shared_bytes;
        if (a.bulk_sectors)
            (text && text->has("bulk_group") ? c.bulk_store_sectors : c.bulk_load_sectors) += a.bulk_sectors;
        const Place place = exec::place_of_id(launch, static_cast<std::uint32_t>(id));
        LineCounters& line = c.lines[{place.file, place.line}];
        line.warp_instructions += e.warp;
        line.thread_instructions += e.threads;
        line.global_sectors += a.sectors;
        line.global_requests += a.requests;
        line.ideal_global_sectors += a.ideal;
        line.shared_wavefronts += a.wavefronts;
        line.shared_requests += a.shared_requests;
        line.shared_conflicts += a.conflicts;
        line.divergent_branches += a.divergent;
        line.global_atomic_operations += a.operations;
        line.local_requests += a.local_requests;
        line.bulk_bytes += a.bulk_bytes;
        if (text && access_of(*text) == Access::store) {
            line.global_store_sectors += a.sectors;
            line.global_store_requests += a.requests;
            line.ideal_global_store_sectors += a.ideal;
        }
        if (in.pipe == Pipe::fma || in.pipe == Pipe::fp16) line.inst_fma += e.warp;
        if (in.pipe == Pipe::xu) line.inst_xu += e.warp;
        if (in.pipe == Pipe::fp64) line.inst_fp64 += e.warp;
        line.tensor_flops += a.flops;
    }
    for (const auto& [address, record] : launch.atomic_addresses)
        if (record.operations > c.hottest_atomic_operations ||
            (record.operations == c.hottest_atomic_operations && record.blocks > c.hottest_atomic_blocks)) {
            c.hottest_atomic_operations = record.operations;
            c.hottest_atomic_blocks = record.blocks;
        }
    for (const auto& buffer : launch.memory->buffers) {
        c.unique_load_sectors += buffer->sectors_read.touched();
        c.unique_store_sectors += buffer->sectors_written.touched();
    }
}

}  // namespace emulator::counters

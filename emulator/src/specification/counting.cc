// Counters, from lists of what each instruction touched.
#include <algorithm>

#include "emulator/src/specification/machine.h"

namespace emulator::specification {

using ptx::Space;
using ptx::Type;

namespace {

struct Kind {
    std::uint64_t Counters::*pipe = &Counters::inst_uniform;
    std::uint64_t Counters::*work = nullptr;  // of threads
    std::uint64_t amount = 1;
};

bool is_one_of(const std::string& s, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return s == name; });
}

// Which pipe of a GPU takes it, and what it counts for a thread.
Kind kind_of(const ptx::Instruction& in) {
    const std::string& op = in.opcode;
    std::vector<Type> types;
    for (const std::string& m : in.modifiers)
        if (const auto t = ptx::parse_type(m)) types.push_back(*t);
    const Type type = types.empty() ? Type::none : op == "set" && types.size() > 1 ? types[1] : types.front();
    const bool words = type == Type::f32x2, pair = words || type == Type::f16x2 || type == Type::bf16x2;
    const bool half = (pair && !words) || type == Type::f16 || type == Type::bf16;
    const bool f64 = type == Type::f64, real = half || f64 || words || type == Type::f32;
    Kind kind;
    if (op == "mma") {
        kind.pipe = &Counters::inst_tensor;
    } else if (is_one_of(op, {"bra", "brx", "call", "ret", "exit", "trap", "bar", "barrier", "nanosleep",
                              "pmevent", "griddepcontrol"})) {
        kind.pipe = &Counters::inst_control;
    } else if (is_one_of(op, {"ld",      "ldu",      "st",       "atom",      "red",
                              "membar",  "fence",    "prefetch", "prefetchu", "applypriority",
                              "discard", "elect",    "ldmatrix", "stmatrix",  "movmatrix",
                              "cp",      "mbarrier", "shfl",     "match",     "redux"})) {
        kind.pipe = &Counters::inst_lsu;
    } else if (is_one_of(op, {"mov", "cvta", "isspacep", "createpolicy"})) {
        kind.pipe = &Counters::inst_uniform;
    } else if (is_one_of(op, {"vote", "activemask", "selp", "slct", "testp", "copysign"})) {
        kind.pipe = &Counters::inst_alu;
    } else if (op == "cvt") {
        const auto is_float = [](Type t) {
            return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
        };
        const bool scalar = types.size() == 2 && (is_float(types[0]) || is_integer(types[0])) &&
                            (is_float(types[1]) || is_integer(types[1]));
        const bool slow = scalar && (is_float(types[0]) != is_float(types[1]) || types[0] == Type::f64 ||
                                     types[1] == Type::f64);
        kind.pipe = slow ? &Counters::inst_xu : &Counters::inst_alu;
    } else if (real && is_one_of(op, {"add", "sub", "mul", "fma", "mad"})) {
        kind.pipe = half ? &Counters::inst_fp16 : f64 ? &Counters::inst_fp64 : &Counters::inst_fma;
        kind.amount = pair ? 2 : 1;
        if (op == "add" || op == "sub")
            kind.work = half ? &Counters::thread_hadd : f64 ? &Counters::thread_dadd : &Counters::thread_fadd;
        else if (op == "mul")
            kind.work = half ? &Counters::thread_hmul : f64 ? &Counters::thread_dmul : &Counters::thread_fmul;
        else
            kind.work = half ? &Counters::thread_hfma : f64 ? &Counters::thread_dfma : &Counters::thread_ffma;
    } else if (is_one_of(op, {"rcp", "sqrt"}) || (op == "div" && real)) {
        kind.pipe = f64 ? &Counters::inst_fp64 : &Counters::inst_xu;
    } else if (is_one_of(op, {"min", "max", "abs", "neg", "setp", "set"})) {
        kind.pipe = half ? &Counters::inst_fp16 : f64 ? &Counters::inst_fp64 : &Counters::inst_alu;
        if (is_integer(type)) kind.work = &Counters::thread_integer;
    } else {
        kind.pipe = &Counters::inst_alu;
        kind.work = &Counters::thread_integer;
    }
    return kind;
}

}  // namespace

LineCounters& Machine::line(const ptx::Instruction& in) {
    const Place place = ptx::place_of(module_, in);
    return outcome_.counters.lines[{place.file, place.line}];
}

void Machine::count_instruction(const ptx::Instruction& in, LaneMask lanes, LaneMask exec, bool unknown) {
    Counters& c = outcome_.counters;
    const auto n = static_cast<std::uint64_t>(population(lanes)),
               on = static_cast<std::uint64_t>(population(exec));
    c.warp_instructions += 1;
    c.thread_instructions += n;
    c.thread_instructions_pred_on += on;
    LineCounters& l = line(in);
    l.warp_instructions += 1;
    l.thread_instructions += n;
    Kind kind = kind_of(in);
    if (unknown) kind = {&Counters::inst_control, nullptr, 1};
    // A kernel's own parameters come with the instruction.
    if (in.opcode == "ld" && std::any_of(in.modifiers.begin(), in.modifiers.end(),
                                         [](const std::string& m) { return m.starts_with("param"); }))
        if (const auto* address =
                in.operands.size() > 1 ? std::get_if<ptx::Address>(&in.operands[1].value) : nullptr)
            if (const auto* s = std::get_if<ptx::Symbol>(&address->base))
                if (s->variable && is_kernel_parameter(*function_of_.at(&in), *s->variable) && !unknown)
                    kind.pipe = &Counters::inst_uniform;
    c.*kind.pipe += 1;
    if (kind.work) c.*kind.work += on * kind.amount;
    if (kind.pipe == &Counters::inst_fma || kind.pipe == &Counters::inst_fp16) l.inst_fma += 1;
    if (kind.pipe == &Counters::inst_xu) l.inst_xu += 1;
    if (kind.pipe == &Counters::inst_fp64) l.inst_fp64 += 1;
    if (!unknown && (in.opcode == "bra" || in.opcode == "brx")) c.branches += 1;
    if (in.opcode == "shfl") c.shuffles += 1;
    if (in.opcode == "vote" || in.opcode == "match" || in.opcode == "redux") c.votes += 1;
}

void Machine::count_access(Warp& w, const ptx::Instruction& in, const MemoryForm& form,
                           const std::vector<LaneAccess>& lanes, Space space) {
    Counters& c = outcome_.counters;
    LineCounters& l = line(in);
    const bool updates = form.load && form.store, loads = form.load && !updates,
               stores = form.store && !updates;
    const std::uint64_t asked = lanes.size() * form.bytes();
    if (space == Space::constant) {
        c.constant_requests += 1;
        return;
    }
    if (space == Space::local) {
        if (form.is_parameter_of_function) return;
        // Word k of 32 lanes lies in 128 consecutive bytes.
        std::set<std::pair<std::uint64_t, int>> sectors;
        for (const LaneAccess& at : lanes)
            for (unsigned b = 0; b < form.bytes(); ++b) sectors.insert({(at.address + b) / 4, at.lane / 8});
        (loads ? c.local_load_requests : c.local_store_requests) += 1;
        (loads ? c.local_load_sectors : c.local_store_sectors) += sectors.size();
        l.local_requests += 1;
        return;
    }
    if (space == Space::shared) {
        std::uint64_t wavefronts = 0, conflicts = 0;
        if (updates) {
            // Lanes of one bank are served one after the other, on the same word too.
            std::map<std::uint64_t, std::uint64_t> bank;
            for (const LaneAccess& at : lanes) bank[at.address / 4 % 32] += 1;
            for (const auto& [number, n] : bank) wavefronts = std::max(wavefronts, n);
            conflicts = wavefronts - 1;
        } else {
            // 8 and 16 bytes per lane go in half and quarter warps; a bank gives one word at a time.
            const int together = form.bytes() <= 4 ? 32 : form.bytes() == 8 ? 16 : 8;
            for (int begin = 0; begin < kWarpSize; begin += together) {
                std::map<std::uint64_t, std::set<std::uint64_t>> words;
                for (const LaneAccess& at : lanes)
                    if (at.lane >= begin && at.lane < begin + together)
                        for (unsigned b = 0; b < form.bytes(); ++b) {
                            const std::uint64_t word = (at.address + b) / 4;
                            words[word % 32].insert(word);
                        }
                std::uint64_t worst = 0;
                for (const auto& [bank, set] : words) worst = std::max<std::uint64_t>(worst, set.size());
                wavefronts += worst;
                conflicts += worst > 0 ? worst - 1 : 0;
            }
        }
        c.shared_bytes += asked;
        if (updates) {
            c.shared_atomic_requests += 1;
            c.shared_atomic_wavefronts += wavefronts;
        } else {
            (loads ? c.shared_load_requests : c.shared_store_requests) += 1;
            (loads ? c.shared_load_wavefronts : c.shared_store_wavefronts) += wavefronts;
            (loads ? c.shared_load_conflicts : c.shared_store_conflicts) += conflicts;
        }
        l.shared_requests += 1;
        l.shared_wavefronts += wavefronts;
        l.shared_conflicts += conflicts;
        return;
    }
    std::set<std::uint64_t> sectors, bytes;
    for (const LaneAccess& at : lanes)
        for (unsigned b = 0; b < form.bytes(); ++b) {
            bytes.insert(at.address + b);
            sectors.insert((at.address + b) / 32);
        }
    const std::uint64_t ideal = (bytes.size() + 31) / 32;
    for (const std::uint64_t sector : sectors) (loads ? sectors_read_ : sectors_written_).insert(sector);
    if (loads) {
        c.global_load_requests += 1;
        c.global_load_sectors += sectors.size();
        c.global_load_bytes += asked;
        c.ideal_global_load_sectors += ideal;
        w.global_loads += 1;
    } else if (stores) {
        c.global_store_requests += 1;
        c.global_store_sectors += sectors.size();
        c.global_store_bytes += asked;
        c.ideal_global_store_sectors += ideal;
        l.global_store_sectors += sectors.size();
        l.global_store_requests += 1;
        l.ideal_global_store_sectors += ideal;
    } else {
        c.global_atomic_requests += 1;
        c.global_atomic_sectors += sectors.size();
        std::map<std::uint64_t, std::uint64_t> lanes_at;
        for (const LaneAccess& at : lanes) lanes_at[at.address] += 1;
        const bool combines = lanes_at.size() == 1 && is_integer(form.type) &&
                              is_one_of(form.operation, {"add", "min", "max", "and", "or", "xor"});
        for (const auto& [address, n] : lanes_at) {
            const std::uint64_t operations = combines ? 1 : n;
            c.global_atomic_operations += operations;
            l.global_atomic_operations += operations;
            contended_[address].operations += operations;
            contended_[address].blocks.insert(block_->linear);
        }
    }
    l.global_requests += 1;
    l.global_sectors += sectors.size();
    l.ideal_global_sectors += ideal;
}

void Machine::finish_counters() {
    Counters& c = outcome_.counters;
    c.unique_load_sectors = sectors_read_.size();
    c.unique_store_sectors = sectors_written_.size();
    for (const auto& [address, record] : contended_)
        if (record.operations > c.hottest_atomic_operations ||
            (record.operations == c.hottest_atomic_operations &&
             record.blocks.size() > c.hottest_atomic_blocks)) {
            c.hottest_atomic_operations = record.operations;
            c.hottest_atomic_blocks = record.blocks.size();
        }
}

}  // namespace emulator::specification

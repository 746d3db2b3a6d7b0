#include "emulator/src/exec/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/cluster.h"
#include "emulator/src/launch/local_access.h"
#include "emulator/src/launch/origins.h"
#include "emulator/src/races/races.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {

constexpr std::uint32_t kMaxDepth = 512;
constexpr int kLocalPoison = 0xd5;

// Local memory of a frame that begins: nobody has written it, and no lucky zeros are left there.
static void unwrite_local(Warp& w, Mask lanes, std::uint32_t base, std::uint32_t bytes) {
    if (!w.launch->check_initialised || bytes == 0) return;
    for (Mask m = lanes; m; m &= m - 1) {
        const std::uint64_t at = std::uint64_t(std::countr_zero(m)) * w.launch->local_stride + base;
        clear_bits(w.local_written, at, bytes);
        forget_stored_undefined(w, w.local_written, at, bytes);
        std::memset(w.local + at, kLocalPoison, bytes);
    }
}

// Constants differ between the blocks of a cluster: addresses in shared memory.
static void set_constants(Warp& w, Frame& f) {
    Launch& launch = *w.launch;
    const std::size_t number = static_cast<std::size_t>(f.function - launch.program->functions.data());
    f.base[static_cast<std::size_t>(Base::narrow_constant)] =
        reinterpret_cast<std::byte*>(launch.narrow_constants[w.block->rank][number].data());
    f.base[static_cast<std::size_t>(Base::wide_constant)] =
        reinterpret_cast<std::byte*>(launch.wide_constants[w.block->rank][number].data());
}

Frame* push_frame(Warp& w, const FunctionCode& function, Frame* parent, const Instr* call,
                  std::uint32_t return_pc, Mask lanes) {
    Launch& launch = *w.launch;
    const std::uint32_t base = parent ? parent->local_base + parent->function->frame_bytes : 0;
    const std::uint32_t depth = parent ? parent->depth + 1 : 0;
    std::uint32_t limit = launch.local_limit;
    if (launch.allocates)
        for (Mask m = lanes; m; m &= m - 1)
            limit = std::min(limit, w.stack[static_cast<std::size_t>(std::countr_zero(m))]);
    if (base + function.frame_bytes > limit || depth >= kMaxDepth) {
        report(w, "stack-overflow", *call, std::countr_zero(lanes),
               fmt::format("a call needs more than the thread's {} bytes of stack (call depth {})",
                           launch.local_limit, depth),
               true);
        return nullptr;
    }
    auto frame = std::make_unique<Frame>();
    Frame* f = frame.get();
    f->function = &function;
    f->parent = parent;
    f->call = call;
    f->return_pc = return_pc;
    f->depth = depth;
    f->local_base = base;
    f->lanes = lanes;
    if (launch.allocates)
        f->stack_at_entry = std::make_unique<const std::array<std::uint32_t, kLanes>>(w.stack);
    const std::size_t wide_bytes = std::size_t{function.wide} * 256,
                      narrow_bytes = std::size_t{function.narrow} * 128;
    // Room for one wide register past the end: the operands of a malformed instruction may be of another
    // width than it takes them for.
    const std::size_t bytes = wide_bytes + narrow_bytes + std::size_t{function.predicates} * 4 + 256;
    f->registers = std::make_unique<std::byte[]>(bytes + 64);  // zeroed
    std::byte* at = f->registers.get();
    at += (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
    f->base[static_cast<std::size_t>(Base::wide)] = at;
    f->base[static_cast<std::size_t>(Base::narrow)] = at + wide_bytes;
    f->base[static_cast<std::size_t>(Base::predicate)] = at + wide_bytes + narrow_bytes;
    set_constants(w, *f);
    if (function.true_predicate >= 0)
        reinterpret_cast<Mask*>(f->base[static_cast<std::size_t>(Base::predicate)])[function.true_predicate] =
            kAllLanes;
    unwrite_local(w, lanes, base, function.frame_bytes);
    begin_frame_taint(w, *f, lanes);
    w.frames.push_back(std::move(frame));
    return f;
}

Frame* reuse_frame(Warp& w, Mask lanes) {
    Frame* f = w.frames.front().get();
    w.frames.resize(1);
    set_constants(w, *f);
    const FunctionCode& function = *f->function;
    const std::size_t bytes = std::size_t{function.wide} * 256 + std::size_t{function.narrow} * 128 +
                              std::size_t{function.predicates} * 4;
    std::memset(f->base[static_cast<std::size_t>(Base::wide)], 0, bytes);
    if (function.true_predicate >= 0)
        reinterpret_cast<Mask*>(f->base[static_cast<std::size_t>(Base::predicate)])[function.true_predicate] =
            kAllLanes;
    f->lanes = lanes;
    f->taint.fill(nullptr);
    f->origin.fill(nullptr);
    f->taint_store.clear();
    f->origin_store.clear();
    f->undefined_bits.clear();
    begin_frame_taint(w, *f, lanes);
    unwrite_local(w, lanes, 0, function.frame_bytes);
    return f;
}

void release_frame(Warp& w, Frame* frame) {
    forget_registers(w, frame);
    if (w.frame == frame) w.frame = nullptr;
    std::erase_if(w.frames, [&](const auto& f) { return f.get() == frame; });
}

Fragment& split(Warp& w, Fragment& f, Mask lanes, Frame* frame, std::uint32_t pc) {
    f.mask &= ~lanes;
    // Fragments never number more than the lanes; the vector's room was reserved, so `f` stays valid.
    Fragment other;
    other.mask = lanes;
    other.pc = pc;
    other.frame = frame;
    other.last_run = w.instructions;
    w.fragments.push_back(other);
    return w.fragments.back();
}

static void copy_in(Warp& w, const CallSite::Piece& piece, std::uint32_t caller_base, std::uint32_t to,
                    std::uint32_t bytes, Mask lanes) {
    for (Mask m = lanes; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        std::byte* local = w.local + std::uint64_t(lane) * w.launch->local_stride;
        std::memcpy(local + to, local + caller_base + piece.offset, std::min(bytes, piece.bytes));
        if (w.launch->check_initialised) {
            const std::uint64_t at = std::uint64_t(lane) * w.launch->local_stride;
            copy_written(w, at + to, at + caller_base + piece.offset, std::min(bytes, piece.bytes));
        }
    }
}

void do_call(Warp& w, Fragment& f, const Instr& in, Mask exec) {
    Launch& launch = *w.launch;
    const CallSite& site = f.frame->function->calls[in.target];
    if (!site.builtin.empty()) {
        if (exec != f.mask) split(w, f, f.mask & ~exec, f.frame, f.pc + 1);
        call_builtin(w, f, in, site, exec);
        f.pc += 1;
        return;
    }
    const std::uint32_t return_pc = f.pc + 1;
    Frame* caller = f.frame;
    Mask rest = exec;
    Mask skipping = f.mask & ~exec;
    bool first = true;
    while (rest) {
        std::int64_t number = site.function;
        Mask group = rest;
        if (number < 0) {  // indirect: lanes with the same target go together
            const std::uint64_t target = lane_value(w, in.source(0), std::countr_zero(rest));
            group = 0;
            for_lanes(rest, [&](int i) {
                if (lane_value(w, in.source(0), i) == target) group |= Mask{1} << i;
            });
            number = static_cast<std::int64_t>(target - kFunctionTag);
            const auto count = static_cast<std::int64_t>(launch.program->functions.size());
            if (target < kFunctionTag || number >= count ||
                !launch.program->functions[static_cast<std::size_t>(number)].decoded ||
                launch.program->functions[static_cast<std::size_t>(number)].is_kernel) {
                report(w, "illegal-instruction", in, std::countr_zero(group),
                       fmt::format("calls through {:#x}, which is not the address of a function", target),
                       true);
                return;
            }
        }
        rest &= ~group;
        const FunctionCode& callee = launch.program->functions[static_cast<std::size_t>(number)];
        const ptx::Function& text = launch.module->functions[static_cast<std::size_t>(number)];
        Frame* frame = push_frame(w, callee, caller, &in, return_pc, group);
        if (!frame) return;
        for (std::size_t i = 0; i < site.arguments.size() && i < text.parameters.size(); ++i)
            copy_in(w, site.arguments[i], caller->local_base,
                    frame->local_base + callee.parameter_offset +
                        static_cast<std::uint32_t>(text.parameters[i].offset),
                    static_cast<std::uint32_t>(text.parameters[i].size), group);
        if (first) {
            if (skipping) split(w, f, skipping, caller, return_pc);
            // f carries the first group into the callee; the others get fragments of their own
            f.mask = group;
            first = false;
            f.frame = frame;
            f.pc = 0;
        } else {
            Fragment other;
            other.mask = group;
            other.frame = frame;
            other.pc = 0;
            other.last_run = w.instructions;
            w.fragments.push_back(other);
        }
    }
}

void do_return(Warp& w, Fragment& f, Mask exec) {
    Frame* frame = f.frame;
    Frame* caller = frame->parent;
    const CallSite& site = caller->function->calls[frame->call->target];
    const std::size_t number =
        static_cast<std::size_t>(frame->function - w.launch->program->functions.data());
    const ptx::Function& text = w.launch->module->functions[number];
    for (std::size_t i = 0; i < site.results.size() && i < text.returns.size(); ++i) {
        const CallSite::Piece& piece = site.results[i];
        const std::uint32_t from = frame->local_base + frame->function->parameter_offset +
                                   static_cast<std::uint32_t>(text.returns[i].offset);
        for_lanes(exec, [&](int lane) {
            std::byte* local = w.local + std::uint64_t(lane) * w.launch->local_stride;
            std::memcpy(local + caller->local_base + piece.offset, local + from,
                        std::min<std::uint64_t>(piece.bytes, text.returns[i].size));
            if (w.launch->check_initialised) {
                const std::uint64_t at = std::uint64_t(lane) * w.launch->local_stride;
                copy_written(w, at + caller->local_base + piece.offset, at + from,
                             std::min<std::uint64_t>(piece.bytes, text.returns[i].size));
            }
        });
    }
    if (frame->stack_at_entry)
        for_lanes(exec, [&](int lane) {
            const auto at = static_cast<std::size_t>(lane);
            w.stack[at] = (*frame->stack_at_entry)[at];
        });
    const std::uint32_t pc = frame->return_pc;
    if (exec != f.mask) {
        f.pc += 1;
        split(w, f, exec, caller, pc);
    } else {
        f.frame = caller;
        f.pc = pc;
    }
    frame->lanes &= ~exec;
    if (frame->lanes == 0) release_frame(w, frame);
}

void do_exit(Warp& w, Fragment& f, Mask exec) {
    f.mask &= ~exec;
    f.pc += 1;
    w.live &= ~exec;
    for (Frame* frame = f.frame; frame;) {
        Frame* parent = frame->parent;
        frame->lanes &= ~exec;
        if (frame->lanes == 0 && parent) release_frame(w, frame);
        frame = parent;
    }
    Block& block = *w.block;
    block.live_threads -= static_cast<std::uint32_t>(std::popcount(exec));
    block.writes += 1;
    check_barriers(block);
    check_cluster(*block.cluster);
}

void do_trap(Warp& w, const Instr& in, Mask exec) {
    report(w, "trap", in, std::countr_zero(exec), "the kernel executes a trap", true);
}

void do_unsupported(Warp& w, const Instr& in, Mask exec) {
    const Program& program = *w.launch->program;
    const ptx::Instruction& text = *program.text[in.id];
    report(w, "unsupported-instruction", in, std::countr_zero(exec),
           fmt::format("`{}` (line {} of the PTX) is not supported: {}", text.text, text.source.ptx_line,
                       program.unsupported.at(in.id)),
           true);
}

void do_indexed_branch(Warp& w, Fragment& f, const Instr& in, Mask exec) {
    const auto& table = f.frame->function->branch_tables[in.target];
    std::array<std::uint32_t, kLanes> targets{};
    for (Mask m = exec; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        const std::uint64_t index = lane_value(w, in.source(0), lane);
        if (index >= table.size()) {
            report(w, "illegal-instruction", in, lane, "an indexed branch outside its table", true);
            return;
        }
        targets[static_cast<std::size_t>(lane)] = table[index];
    }
    // Divergent once for every way beyond the first, the fall-through of lanes that do not branch included.
    std::uint64_t ways = exec != f.mask;
    if (exec != f.mask) split(w, f, f.mask & ~exec, f.frame, f.pc + 1);
    bool first = true;
    for (Mask rest = exec; rest; ++ways) {
        const std::uint32_t target = targets[static_cast<std::size_t>(std::countr_zero(rest))];
        Mask group = 0;
        for_lanes(rest, [&](int i) {
            if (targets[static_cast<std::size_t>(i)] == target) group |= Mask{1} << i;
        });
        rest &= ~group;
        if (first) {
            f.mask = group;
            f.pc = target;
            first = false;
        } else {
            Fragment other;
            other.mask = group;
            other.frame = f.frame;
            other.pc = target;
            other.last_run = w.instructions;
            w.fragments.push_back(other);
        }
    }
    w.launch->accesses[in.id].divergent += ways - 1;
}

std::uint64_t warp_state_hash(const Warp& w) {
    std::uint64_t h = 0xcbf29ce484222325ull;
    const auto mix = [&](std::uint64_t v) {
        h ^= v;
        h *= 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    };
    mix(w.block->writes);
    mix(w.launch->switches);
    mix(w.local_changes);
    for (const Fragment& f : w.fragments) {
        if (!f.mask) continue;
        mix(f.mask);
        mix(f.pc);
        mix(static_cast<std::uint64_t>(f.state));
        mix(f.frame->depth);
    }
    for (const auto& frame : w.frames) {
        const FunctionCode& f = *frame->function;
        const std::byte* from = frame->base[static_cast<std::size_t>(Base::wide)];
        const std::size_t bytes =
            std::size_t{f.wide} * 256 + std::size_t{f.narrow} * 128 + std::size_t{f.predicates} * 4;
        for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
            std::uint64_t v;
            std::memcpy(&v, from + i, 8);
            mix(v);
        }
    }
    return h;
}

}  // namespace emulator::exec

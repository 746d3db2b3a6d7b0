// Executes warps. A warp's active lanes are cut into fragments: sets of lanes at one instruction of one
// frame. The fragment in the deepest frame, then at the lowest instruction, runs until it reaches another
// one's instruction, where the two merge: so lanes that took different sides of a branch come together again
// at its end without any analysis of the control flow. A fragment that keeps polling memory lets the others
// of its warp run, so that lanes of one warp may wait for each other, and a warp whose fragments all poll in
// vain gives up the rest of its time slice.
#include <algorithm>

#include "emulator/src/exec/control.h"
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/tensor/handlers.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

constexpr u64 kSpinAccesses = 16;     // sync-relevant accesses after which a fragment yields to its siblings
constexpr u64 kSpinLoops = 200'000;   // backward branches after which it does so anyway
constexpr u64 kTensorSurcharge = 63;  // at most 2048 multiply-adds, as 64 instructions of a warp do
constexpr u32 kNoLimit = ~0u;
constexpr const char* kNotInMask = "the executing lane is not in its own member mask";

void enter(Warp& w, Fragment& f) {
    w.fragment = &f;
    if (w.frame != f.frame) {
        w.frame = f.frame;
        w.base = f.frame->base;
    }
}

// The lanes that a lane of a collective waits for; `lane` is one of those executing it.
Mask needed_lanes(Warp& w, const Instr& in, int lane) {
    if (in.has(flag::whole_warp)) return w.live;
    return narrow(w, in.source(in.sources - 1))[lane];
}

// True when every group of lanes with the same mask is complete, and the warpgroup where it must be.
bool collective_ready(Warp& w, const Instr& in, Mask exec) {
    if (in.has(flag::four_warps) && !warpgroup_has_issued(w, in)) return false;
    Mask left = exec;
    while (left) {
        const Mask needed = needed_lanes(w, in, std::countr_zero(left));
        if (needed & w.live & ~exec) return false;
        Mask group = 0;
        for_lanes(left, [&](int i) {
            if (needed_lanes(w, in, i) == needed) group |= Mask{1} << i;
        });
        left &= ~group;
    }
    return true;
}

void run_collective(Warp& w, const Instr& in, Mask exec) {
    Mask left = exec;
    while (left && !w.launch->stopped) {
        const int first = std::countr_zero(left);
        const Mask needed = needed_lanes(w, in, first);
        Mask group = 0;
        for_lanes(left, [&](int i) {
            if (needed_lanes(w, in, i) == needed) group |= Mask{1} << i;
        });
        left &= ~group;
        if (group & ~needed) {
            report(w, "invalid-shuffle", in, std::countr_zero(group & ~needed), kNotInMask, true);
            return;
        }
        in.fn(w, in, group);
    }
}

Mask predicate_mask(Warp& w, const Instr& in, Mask mask) {
    if (in.predicate < 0) return mask;
    const Mask p = reinterpret_cast<Mask*>(w.base[static_cast<int>(Base::predicate)])[in.predicate];
    return mask & (in.predicate_negated ? ~p : p);
}

// The lanes that stand at a bar.warp.sync (`at_sync`), at one place or at several: those whose mask is
// complete go on. Lanes with the same mask synchronise with each other, and with no others.
void finish_warp_barriers(Warp& w, Mask at_sync) {
    Mask complete = 0;
    Mask needed[kLanes];
    const Instr* first = nullptr;
    for (Fragment& f : w.fragments) {
        if (f.state != Fragment::State::at_collective || f.frame->function->code[f.pc].sub2 != 0xff) continue;
        enter(w, f);
        const Instr& in = f.frame->function->code[f.pc];
        bool all = true;
        for_lanes(f.mask, [&](int i) {
            needed[i] = needed_lanes(w, in, i);
            all &= (needed[i] & w.live & ~at_sync) == 0;
            if (!((needed[i] >> i) & 1) && !w.launch->stopped)
                report(w, "invalid-shuffle", in, i, kNotInMask, true);
        });
        if (!all) continue;
        w.instructions += 1;
        InstrCounters& c = w.launch->executed[in.id];
        c.warp += 1;
        c.threads += static_cast<u64>(std::popcount(f.mask));
        c.on += static_cast<u64>(std::popcount(f.mask));
        first = &in;
        complete |= f.mask;
        f.pc += 1;
        f.state = Fragment::State::ready;
    }
    while (complete && !w.launch->stopped) {
        Mask group = 0;
        const Mask mask = needed[std::countr_zero(complete)];
        for_lanes(complete, [&](int i) {
            if (needed[i] == mask) group |= Mask{1} << i;
        });
        complete &= ~group;
        first->fn(w, *first, group);
    }
}

// Drops empty fragments, merges those at one place, wakes complete collectives, and picks the next one.
// `limit` is the lowest instruction above its own where another fragment of its frame is.
Fragment* choose(Warp& w, u32& limit) {
    auto& fragments = w.fragments;
    limit = kNoLimit;
    if (fragments.size() == 1) {
        Fragment& f = fragments[0];
        if (f.mask == 0) {
            fragments.clear();
            return nullptr;
        }
        if (f.state == Fragment::State::ready) return &f;
    }
    for (std::size_t i = 0; i < fragments.size(); ++i)
        for (std::size_t j = i + 1; j < fragments.size(); ++j) {
            Fragment &a = fragments[i], &b = fragments[j];
            if (a.mask && b.mask && a.frame == b.frame && a.pc == b.pc && a.state == b.state) {
                a.mask |= b.mask;
                a.sync_accesses = std::min(a.sync_accesses, b.sync_accesses);
                b.mask = 0;
            }
        }
    std::erase_if(fragments, [](const Fragment& f) { return f.mask == 0; });
    for (Fragment& f : fragments)
        if (f.state == Fragment::State::at_collective) {
            enter(w, f);
            if (collective_ready(w, f.frame->function->code[f.pc], f.mask)) f.state = Fragment::State::ready;
        }
    // __syncwarp may be reached at different places: all lanes waiting there count together.
    Mask at_sync = 0;
    for (Fragment& f : fragments)
        if (f.state == Fragment::State::at_collective && f.frame->function->code[f.pc].sub2 == 0xff)
            at_sync |= f.mask;
    if (at_sync) finish_warp_barriers(w, at_sync);
    Fragment* best = nullptr;
    bool someone = false;
    for (int round = 0; round < 2 && !best; ++round) {
        for (Fragment& f : fragments) {
            if (f.state != Fragment::State::ready) continue;
            someone = true;
            if (f.sync_accesses >= kSpinAccesses) continue;
            if (!best || f.frame->depth > best->frame->depth ||
                (f.frame->depth == best->frame->depth && f.pc < best->pc))
                best = &f;
        }
        if (!best) {
            if (!someone) return nullptr;
            // all of them poll: a new round, beginning with the one that has waited longest
            for (Fragment& f : fragments) f.sync_accesses = 0;
            for (Fragment& f : fragments)
                if (f.state == Fragment::State::ready && (!best || f.last_run < best->last_run)) best = &f;
        }
    }
    for (const Fragment& f : fragments)
        if (&f != best && f.frame == best->frame && f.pc > best->pc) limit = std::min(limit, f.pc);
    return best;
}

// Runs one fragment until it merges, blocks, ends, or the warp's instruction count reaches `end`.
void run_fragment(Warp& w, Fragment& f, u32 limit, u64 end) {
    enter(w, f);
    Launch& launch = *w.launch;
    const Instr* code = f.frame->function->code.data();
    InstrCounters* const counters = launch.executed.data();
    const bool several = w.fragments.size() > 1;
    u64 loops = 0;
    u32 pc = f.pc;
    u64 executed = w.instructions;
    const auto leave = [&] {
        f.pc = pc;
        f.last_run = w.instructions = executed;
    };
    while (executed < end) {
        const Instr& in = code[pc];
        const Mask mask = f.mask;
        const Mask exec = predicate_mask(w, in, mask);
        if (w.tainted) [[unlikely]] {
            f.pc = pc;
            w.instructions = executed;
            if (!check_taint(w, in, mask, exec)) return leave();
        }
        if (w.watched && exec) [[unlikely]] {
            if (!watch_registers(w, in, exec)) return leave();
        }
        if (in.control != Control::collective) {
            executed += 1;
            InstrCounters& c = counters[in.id];
            c.warp += 1;
            c.threads += static_cast<u64>(std::popcount(mask));
            c.on += static_cast<u64>(std::popcount(exec));
        }
        switch (in.control) {
            case Control::plain:
                if (exec) {
                    if (w.tainted) [[unlikely]]
                        propagate_taint(w, in, exec);
                    in.fn(w, in, exec);
                    if (launch.stopped) [[unlikely]]
                        return leave();
                }
                pc += 1;
                break;
            case Control::timed:
                w.instructions = executed;
                if (exec) {
                    if (w.tainted) [[unlikely]]
                        propagate_taint(w, in, exec);
                    in.fn(w, in, exec);
                }
                pc += 1;
                break;
            case Control::branch: {
                const bool backward = in.target <= pc;
                if (exec == mask) {
                    pc = in.target;
                } else if (exec == 0) {
                    pc += 1;
                } else {
                    launch.accesses[in.id].divergent += 1;
                    f.pc = pc + 1;
                    f.last_run = w.instructions = executed;  // the other part's, too
                    split(w, f, exec, f.frame, in.target);
                    return;
                }
                if (backward && exec) {
                    const bool in_vain = w.polls_in_vain;
                    w.polls_in_vain = false;
                    if (several && (in_vain || f.sync_accesses >= kSpinAccesses || ++loops > kSpinLoops)) {
                        f.sync_accesses = kSpinAccesses;
                        w.gives_way = in_vain;
                        return leave();
                    }
                    if (w.stuck_limit) [[unlikely]] {  // probing for a loop that cannot end
                        leave();
                        const u64 hash = warp_state_hash(w);
                        if (hash == w.stuck_hash) {
                            if (in_vain) f.sync_accesses = kSpinAccesses;  // it gives way as others do
                            w.stuck = true;
                            return;
                        }
                        if (++w.stuck_steps >= w.stuck_limit) {
                            w.stuck_limit *= 2;
                            w.stuck_steps = 0;
                            w.stuck_hash = hash;
                        }
                    }
                    if (in_vain) {
                        f.sync_accesses = kSpinAccesses;
                        w.gives_way = true;
                        return leave();
                    }
                }
                break;
            }
            case Control::collective: {
                if (exec == 0) {
                    executed += 1;
                    counters[in.id].warp += 1;
                    counters[in.id].threads += static_cast<u64>(std::popcount(mask));
                    pc += 1;
                    break;
                }
                if (!collective_ready(w, in, exec)) {
                    f.pc = pc;
                    f.last_run = w.instructions = executed;
                    if (exec != mask) split(w, f, mask & ~exec, f.frame, pc + 1);
                    f.state = Fragment::State::at_collective;
                    return;
                }
                executed += 1;
                InstrCounters& c = counters[in.id];
                c.warp += 1;
                c.threads += static_cast<u64>(std::popcount(mask));
                c.on += static_cast<u64>(std::popcount(exec));
                if (in.pipe == Pipe::tensor) launch.surcharge += kTensorSurcharge;
                const bool uniform =
                    in.has(flag::whole_warp) || in.source(in.sources - 1).base == Base::narrow_constant;
                f.pc = pc;
                if (w.tainted) [[unlikely]]
                    propagate_taint(w, in, exec);
                if (uniform && (exec & ~needed_lanes(w, in, std::countr_zero(exec))) == 0)
                    in.fn(w, in, exec);
                else
                    run_collective(w, in, exec);
                if (launch.stopped) [[unlikely]]
                    return leave();
                pc += 1;
                break;
            }
            case Control::yield:
                pc += 1;
                f.sync_accesses = kSpinAccesses;
                leave();
                launch.clock.pass(500, 500);
                w.yield_at = executed;
                // Sleeping between two looks at memory that has not changed: still waiting.
                w.waits += w.polled_writes == w.block->writes + launch.switches;
                return;
            default: {
                f.pc = pc;
                f.last_run = w.instructions = executed;
                if (exec == 0) {
                    pc += 1;
                    break;
                }
                switch (in.control) {
                    case Control::call:
                        do_call(w, f, in, exec);
                        break;
                    case Control::ret:
                        do_return(w, f, exec);
                        break;
                    case Control::exit:
                        do_exit(w, f, exec);
                        break;
                    case Control::barrier:
                        do_barrier(w, f, in, exec);
                        break;
                    case Control::indexed:
                        do_indexed_branch(w, f, in, exec);
                        break;
                    case Control::unsupported:
                        do_unsupported(w, in, exec);
                        break;
                    default:
                        do_trap(w, in, exec);
                        break;
                }
                return;
            }
        }
        if (pc >= limit) return leave();
    }
    leave();
}

}  // namespace

void run_warp(Warp& w, u64 budget) {
    const u64 end = w.instructions + budget;
    const u64 yield_before = w.yield_at;
    if (w.tainted) settle_taint(w);
    while (w.instructions < end && w.live && !w.launch->stopped && !w.stuck) {
        u32 limit = kNoLimit;
        Fragment* f = choose(w, limit);
        if (!f) return;
        run_fragment(w, *f, limit, end);
        if (w.yield_at != yield_before) return;
        if (w.gives_way) {
            w.gives_way = false;
            const bool others = std::any_of(w.fragments.begin(), w.fragments.end(), [](const Fragment& g) {
                return g.mask && g.state == Fragment::State::ready && g.sync_accesses < kSpinAccesses;
            });
            if (!others) {
                w.waits += 1;
                return;
            }
        }
    }
}

HandlerSet handler_set() {
    HandlerSet set;
    set.run_warp = &run_warp;
    const HandlerTable tables[] = {
        integer_handlers(), float_handlers(),  approximate_handlers(), half_handlers(),
        convert_handlers(), move_handlers(),   memory_handlers(),      atomic_handlers(),
        async_handlers(),   bulk_handlers(),   collective_handlers(),  mbarrier_handlers(),
        video_handlers(),   tensor_handlers(), wgmma_handlers(),       tcgen05_handlers()};
    for (const HandlerTable& table : tables)
        for (std::size_t i = 0; i < table.count; ++i)
            set.handlers.emplace(table.entries[i].name, table.entries[i].fn);
    return set;
}

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

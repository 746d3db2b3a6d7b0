// The block's barriers. A warp arrives when all of its live lanes have (bar, barrier.aligned), or piece by
// piece (barrier without .aligned). A barrier without a thread count waits for every thread that has not
// exited; all of them must then stand at the same instruction.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/src/exec/control.h"
#include "emulator/src/exec/report.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/cluster.h"
#include "emulator/src/launch/mbarrier.h"
#include "emulator/src/races/races.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {

static const Instr& at(const Fragment& f) { return f.frame->function->code[f.pc]; }

static std::uint64_t in_frame(Warp& w, const Fragment& f, const Slot& slot, int lane) {
    const std::byte* base = f.frame->base[static_cast<std::size_t>(slot.base)] + slot.offset;
    (void)w;
    return slot.is_wide() ? reinterpret_cast<const std::uint64_t*>(base)[lane]
                          : reinterpret_cast<const std::uint32_t*>(base)[lane];
}
static Mask predicate_in_frame(const Fragment& f, const Slot& slot) {
    const Mask m =
        *reinterpret_cast<const Mask*>(f.frame->base[static_cast<std::size_t>(slot.base)] + slot.offset);
    return slot.negated ? ~m : m;
}

static void divergent(Warp& w, const Instr& in, int lane, Warp& other_warp, const Instr& other_in,
                      int other_lane) {
    OtherParty other;
    other.id = other_in.id;
    other.block = other_warp.block->linear;
    other.thread = other_warp.first_thread + static_cast<std::uint32_t>(other_lane);
    other.note = "where other threads of the block wait";
    report(w, "divergent-barrier", in, lane,
           "threads of the block wait at different barriers: a barrier is inside a condition that not all "
           "threads meet",
           true, &other);
}

// Takes what the waiting lanes contribute to a reduction.
static void contribute(Barrier& barrier, const Instr& in, const Fragment& f) {
    if (in.sub < 2) return;
    const Mask p = predicate_in_frame(f, in.source(in.sources - 1)) & f.mask;
    barrier.reduce_count += static_cast<std::uint32_t>(std::popcount(p));
    barrier.reduce_and &= p == f.mask;
    barrier.reduce_or |= p != 0;
}

static void give_result(const Barrier& barrier, const Instr& in, Fragment& f) {
    if (in.sub < 2) return;
    const Slot& d = in.destination(0);
    std::byte* to = f.frame->base[static_cast<std::size_t>(d.base)] + d.offset;
    if (Mask* taint = f.frame->taint[static_cast<std::size_t>(d.base)]) taint[d.number()] &= ~f.mask;
    if (in.sub == 2) {
        for_lanes(f.mask, [&](int i) { reinterpret_cast<std::uint32_t*>(to)[i] = barrier.reduce_count; });
    } else {
        Mask& p = *reinterpret_cast<Mask*>(to);
        p = (p & ~f.mask) | ((in.sub == 3 ? barrier.reduce_and : barrier.reduce_or) ? f.mask : 0);
    }
}

static void complete(Block& block, Barrier& barrier) {
    std::vector<std::uint32_t> arrivals, waiters;
    for (const auto* list : {&barrier.waiting, &barrier.arrivals})
        for (const BarrierWait& wait : *list)
            if (std::find(arrivals.begin(), arrivals.end(), wait.warp) == arrivals.end())
                arrivals.push_back(wait.warp);
    const BarrierWait* first = barrier.waiting.empty() ? nullptr : &barrier.waiting.front();
    for (const BarrierWait& wait : barrier.waiting) {
        if (std::find(waiters.begin(), waiters.end(), wait.warp) == waiters.end())
            waiters.push_back(wait.warp);
        const bool strict = barrier.expected == 0 && !wait.instr->has(flag::divergent_ok) &&
                            !first->instr->has(flag::divergent_ok);
        if (strict && wait.instr != first->instr) {
            divergent(*block.warps[wait.warp], *wait.instr, std::countr_zero(wait.lanes),
                      *block.warps[first->warp], *first->instr, std::countr_zero(first->lanes));
            return;
        }
    }
    if (barrier.expected == 0)  // threads that have exited count as arrived
        for (const auto& w : block.warps)
            if (w->live == 0 && std::find(arrivals.begin(), arrivals.end(), w->index) == arrivals.end())
                arrivals.push_back(w->index);
    block.launch->clock.pass(20, 40);
    if (block.launch->check_races) races::barrier(block, arrivals, waiters);
    for (const BarrierWait& wait : barrier.waiting) {
        Warp& w = *block.warps[wait.warp];
        for (Fragment& f : w.fragments)
            if (f.state == Fragment::State::at_barrier && f.arrived && (f.mask & wait.lanes)) {
                give_result(barrier, *wait.instr, f);
                f.state = Fragment::State::ready;
                f.arrived = false;
                f.pc += 1;
            }
    }
    block.writes += 1;
    barrier = Barrier{};
}

static void try_complete(Block& block, Barrier& barrier) {
    if (barrier.waiting.empty() && barrier.arrivals.empty()) return;
    const std::uint32_t expected = barrier.expected ? barrier.expected : block.live_threads;
    if (barrier.arrived >= expected && !barrier.waiting.empty()) complete(block, barrier);
}

// Lets fragments that stand at a barrier arrive there, when the rules of their instruction allow it.
static void arrive(Warp& w) {
    Block& block = *w.block;
    for (std::size_t i = 0; i < w.fragments.size(); ++i) {
        Fragment& f = w.fragments[i];
        if (f.state != Fragment::State::at_barrier || f.arrived || f.mask == 0) continue;
        const Instr& in = at(f);
        if (!in.has(flag::divergent_ok) && f.mask != w.live) {
            // the rest of the warp: at another barrier (an error), or still on its way
            for (Fragment& g : w.fragments) {
                if (&g == &f || g.mask == 0 || g.state != Fragment::State::at_barrier) continue;
                if (g.frame == f.frame && g.pc == f.pc) {  // the same one: together
                    f.mask |= g.mask;
                    g.mask = 0;
                } else if (&at(g) != &in) {
                    divergent(w, in, std::countr_zero(f.mask), w, at(g), std::countr_zero(g.mask));
                    return;
                }
            }
            if (f.mask != w.live) continue;
        }
        const int lane = std::countr_zero(f.mask);
        const std::uint64_t number = in_frame(w, f, in.source(0), lane);
        if (number >= 16) {
            report(w, "illegal-instruction", in, lane,
                   fmt::format("barrier {} does not exist (0 to 15)", number), true);
            return;
        }
        Barrier& barrier = block.barriers[number];
        std::uint32_t count = 0;
        if (in.has(flag::explicit_count))
            count = static_cast<std::uint32_t>(in_frame(w, f, in.source(1), lane));
        if (count % kLanes != 0) {
            report(w, "illegal-instruction", in, lane,
                   fmt::format("a barrier for {} threads: not a multiple of 32", count), true);
            return;
        }
        barrier.expected = count;
        BarrierWait wait;
        wait.warp = w.index;
        wait.lanes = f.mask;
        wait.instr = &in;
        wait.threads =
            count && !in.has(flag::divergent_ok) ? kLanes : static_cast<std::uint32_t>(std::popcount(f.mask));
        barrier.arrived += wait.threads;
        w.launch->barrier_arrivals += 1;
        if (in.sub == 1) {  // arrive: does not wait
            barrier.arrivals.push_back(wait);
            f.state = Fragment::State::ready;
            f.pc += 1;
        } else {
            contribute(barrier, in, f);
            barrier.waiting.push_back(wait);
            f.arrived = true;
        }
        try_complete(block, barrier);
        if (w.launch->stopped) return;
    }
}

void do_barrier(Warp& w, Fragment& f, const Instr& in, Mask exec) {
    if (in.has(flag::in_cluster)) return do_cluster_barrier(w, f, in, exec);
    if (exec != f.mask) split(w, f, f.mask & ~exec, f.frame, f.pc + 1);
    f.state = Fragment::State::at_barrier;
    f.arrived = false;
    arrive(w);
}

void check_barriers(Block& block) {
    for (const auto& w : block.warps) {
        if (!w->live) continue;
        bool waits = false;
        for (const Fragment& f : w->fragments)
            waits |= f.mask && f.state == Fragment::State::at_barrier && !f.arrived;
        if (waits) arrive(*w);
        if (block.launch->stopped) return;
    }
    for (Barrier& barrier : block.barriers) try_complete(block, barrier);
}

void report_stuck(Block& block, const char*) {
    // Everyone who waits, with where.
    struct Waiting {
        Warp* warp;
        const Fragment* fragment;
    };
    std::vector<Waiting> barriers, collectives;
    Warp* spinning = nullptr;
    for (const auto& w : block.warps) {
        if (!w->live) continue;
        if (w->stuck) spinning = w.get();
        for (const Fragment& f : w->fragments) {
            if (!f.mask) continue;
            if (f.state == Fragment::State::at_barrier) barriers.push_back({w.get(), &f});
            // Lanes of this warp are missing; or other warps (missing_warp).
            if (f.state == Fragment::State::at_collective &&
                !(at(f).has(flag::four_warps) && f.mask == w->live))
                collectives.push_back({w.get(), &f});
        }
    }
    OtherParty other;
    const auto fill = [&](const Waiting& x, const char* note) {
        other.id = at(*x.fragment).id;
        other.block = block.linear;
        other.thread = x.warp->first_thread + static_cast<std::uint32_t>(std::countr_zero(x.fragment->mask));
        other.note = note;
    };
    if (!collectives.empty()) {
        const Waiting& c = collectives.front();
        const Waiting* rest = nullptr;
        for (const Waiting& x : collectives)
            if (x.warp == c.warp && x.fragment != c.fragment) rest = &x;
        for (const Waiting& x : barriers)
            if (x.warp == c.warp) rest = &x;
        if (rest) fill(*rest, "where the others are");
        const bool sync = at(*c.fragment).sub2 == 0xff;
        report(*c.warp, sync ? "deadlock" : "invalid-shuffle", at(*c.fragment),
               std::countr_zero(c.fragment->mask), "lanes named in the member mask never arrive here", true,
               rest ? &other : nullptr);
        return;
    }
    if (const auto group = missing_warp(block)) {
        if (!group->missing->stuck) return report_missing_warp(*group);
        spinning = group->missing;  // what that one waits for keeps all of them
    }
    if (!barriers.empty()) {
        const Waiting& b = barriers.front();
        const Instr& in = at(*b.fragment);
        const Waiting* different = nullptr;
        for (const Waiting& x : barriers)
            if (&at(*x.fragment) != &in) different = &x;
        if (different) fill(*different, "where other threads of the block wait");
        const bool full = !in.has(flag::explicit_count);
        if (spinning && spinning->last_sync) {
            other.id = spinning->last_sync->id;
            other.block = block.linear;
            other.thread = spinning->first_thread + spinning->last_sync_lane;
            other.note = "where another thread waits";
            report(*b.warp, "deadlock", in, std::countr_zero(b.fragment->mask),
                   "waits at a barrier that not all threads reach: one of them waits for memory that nobody "
                   "changes meanwhile",
                   true, &other);
            return;
        }
        report(*b.warp, full && different ? "divergent-barrier" : "deadlock", in,
               std::countr_zero(b.fragment->mask),
               full && different
                   ? "threads of the block wait at different barriers"
                   : "waits at a barrier for more threads than arrive: its count must be that of the threads "
                     "that reach it",
               true, different ? &other : nullptr);
        return;
    }
    if (!spinning && report_stuck_cluster(block)) return;
    if (spinning && spinning->last_sync && spinning->awaited_home) {
        bool known = false;
        const std::string missing = what_is_missing(*spinning->awaited_home, spinning->awaited, other, known);
        report(*spinning, "deadlock", *spinning->last_sync, static_cast<int>(spinning->last_sync_lane),
               fmt::format("waits for a phase of the mbarrier in {}: {}",
                           describe(*block.launch, nullptr, true, spinning->awaited, 8), missing),
               true, known ? &other : nullptr);
        return;
    }
    if (spinning && spinning->last_sync) {
        const Buffer* buffer = block.launch->memory->at(spinning->last_sync_address);
        report(*spinning, "deadlock", *spinning->last_sync, static_cast<int>(spinning->last_sync_lane),
               buffer ? "waits for a change of " +
                            describe(*block.launch, buffer, false, spinning->last_sync_address, 4) +
                            ", which nobody makes: set it before or while this thread waits"
                      : std::string(
                            "waits for a change of shared memory that nobody makes: a flag must be set, an "
                            "mbarrier initialised with the number of arrivals that come"),
               true);
        return;
    }
    for (const auto& w : block.warps)
        if (w->live && !w->fragments.empty()) {
            report(*w, "endless-loop", at(w->fragments.front()), std::countr_zero(w->live),
                   "a loop that can never end", true);
            return;
        }
}

}  // namespace emulator::exec

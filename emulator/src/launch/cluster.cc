// Thread-block clusters: who reaches whose shared memory, and barrier.cluster. The blocks of a cluster run
// together (launch/scheduler.cc). The shared window of the cluster holds the memory of the block of rank r at
// r << kRankShift, and a block's own shared addresses carry its rank, as on hardware, so that an address may
// be handed to another block and that of a peer be computed from one's own.
#include "emulator/src/launch/cluster.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/src/exec/control.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

Block* home_of(Warp& w, const Instr& in, int lane, std::uint64_t& address) {
    Block& own = *w.block;
    if (w.launch->blocks_per_cluster == 1) return &own;
    if (address - own.shared_base < (std::uint64_t{1} << kRankShift)) {
        address -= own.shared_base;
        return &own;
    }
    const std::uint64_t rank = address >> kRankShift;
    const Cluster& cluster = *own.cluster;
    if (rank >= cluster.blocks.size()) {
        report(w, "out-of-bounds", in, lane,
               fmt::format("shared memory of block {} of the cluster, which has {} blocks", rank,
                           cluster.blocks.size()),
               true);
        return nullptr;
    }
    Block* home = cluster.blocks[rank];
    if (!home) {
        report(w, "cluster-access", in, lane,
               fmt::format("reaches into the shared memory of block {} of the cluster, which has ended: a "
                           "barrier of the cluster must keep it until nobody needs its memory any more",
                           rank),
               true);
        return nullptr;
    }
    if (cluster.phases == 0 && w.launch->check_races && !races::known_to_have_started(w, *home)) {
        report(w, "cluster-access", in, lane,
               fmt::format("reaches into the shared memory of block {} of the cluster, which may not have "
                           "started yet: a barrier of the cluster must come first",
                           rank),
               true);
        return nullptr;
    }
    address &= (std::uint64_t{1} << kRankShift) - 1;
    return home;
}

Dim3 cluster_index(const Launch& launch, std::uint64_t cluster) {
    const Dim3 n = cluster_count(launch);
    return {static_cast<std::uint32_t>(cluster % n.x), static_cast<std::uint32_t>(cluster / n.x % n.y),
            static_cast<std::uint32_t>(cluster / (std::uint64_t{n.x} * n.y))};
}
Dim3 cluster_count(const Launch& launch) {
    return {launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
            launch.grid.z / launch.cluster.z};
}
std::uint64_t cluster_of(const Launch& launch, std::uint64_t linear) {
    if (launch.blocks_per_cluster == 1) return linear;
    const Dim3 b = block_of(launch, linear), n = cluster_count(launch);
    const Dim3& c = launch.cluster;
    return (std::uint64_t{b.z / c.z} * n.y + b.y / c.y) * n.x + b.x / c.x;
}

static const Instr& at(const Fragment& f) { return f.frame->function->code[f.pc]; }

// Lets fragments that wait go on when all of their lanes may.
static void release_waiting(Warp& w) {
    for (Fragment& f : w.fragments) {
        if (f.state != Fragment::State::at_cluster || (f.mask & ~w.cluster_passed)) continue;
        w.cluster_passed &= ~f.mask;
        f.state = Fragment::State::ready;
        f.pc += 1;
        if (w.launch->check_races) races::cluster_acquire(w);
    }
}

void check_cluster(Cluster& cluster) {
    bool any = false;
    for (const Block* block : cluster.blocks) {
        if (!block) continue;
        for (const auto& w : block->warps) {
            if (w->live & ~w->cluster_arrived) return;
            any |= w->live != 0;
        }
    }
    if (!any) return;
    cluster.phases += 1;
    for (Block* block : cluster.blocks) {
        if (!block) continue;
        block->launch->clock.pass(100, 200);
        if (block->launch->check_races) {
            races::cluster_complete(cluster);
            break;
        }
    }
    for (Block* block : cluster.blocks) {
        if (!block) continue;
        block->writes += 1;
        for (const auto& w : block->warps) {
            w->cluster_passed |= w->cluster_arrived & w->live;
            w->cluster_arrived = 0;
            release_waiting(*w);
        }
    }
}

void do_cluster_barrier(Warp& w, Fragment& f, const Instr& in, Mask exec) {
    if (exec != f.mask) split(w, f, f.mask & ~exec, f.frame, f.pc + 1);
    const Mask arrived = w.cluster_arrived | w.cluster_passed;
    if (in.sub == 0) {  // arrive
        if (arrived & exec) {
            OtherParty other;
            if (w.cluster_arrival) {
                other.id = w.cluster_arrival->id;
                other.block = w.block->linear;
                other.thread = w.first_thread + static_cast<std::uint32_t>(std::countr_zero(arrived & exec));
                other.note = "the arrival before it";
            }
            report(w, "illegal-instruction", in, std::countr_zero(arrived & exec),
                   "arrives at the cluster's barrier a second time without having waited there in between",
                   true, w.cluster_arrival ? &other : nullptr);
            return;
        }
        w.cluster_arrived |= exec;
        w.cluster_arrival = &in;
        w.launch->barrier_arrivals += 1;
        if (w.launch->check_races) races::cluster_arrive(w, in.has(flag::relaxed));
        w.block->writes += 1;
        f.pc += 1;
        check_cluster(*w.block->cluster);
        return;
    }
    if (exec & ~arrived) {
        report(w, "illegal-instruction", in, std::countr_zero(exec & ~arrived),
               "waits at the cluster's barrier without having arrived there", true);
        return;
    }
    // Lanes that belong to an earlier phase than others of the fragment go on alone.
    if (const Mask early = f.mask & w.cluster_passed; early && early != f.mask) {
        Fragment& other = split(w, f, f.mask & ~early, f.frame, f.pc);
        other.state = Fragment::State::at_cluster;
    }
    f.state = Fragment::State::at_cluster;
    release_waiting(w);
}

bool report_stuck_cluster(Block& block) {
    for (const auto& w : block.warps)
        for (const Fragment& f : w->fragments) {
            if (!f.mask || f.state != Fragment::State::at_cluster) continue;
            // A thread that has not arrived, and where it is.
            OtherParty other;
            bool found = false;
            std::uint32_t rank = 0;
            for (const Block* b : block.cluster->blocks) {
                if (!b || found) continue;
                for (const auto& late : b->warps) {
                    const Mask missing = late->live & ~late->cluster_arrived;
                    if (!missing || found) continue;
                    for (const Fragment& g : late->fragments)
                        if ((g.mask & missing) && !found) {
                            found = true;
                            rank = b->rank;
                            other.id = at(g).id;
                            other.block = b->linear;
                            other.thread = late->first_thread +
                                           static_cast<std::uint32_t>(std::countr_zero(g.mask & missing));
                            other.note = "where a thread is that never arrives";
                        }
                }
            }
            report(*w, "deadlock", at(f), std::countr_zero(f.mask),
                   found ? fmt::format("waits at the cluster's barrier, where a thread of block {} of the "
                                       "cluster never arrives",
                                       rank)
                         : std::string("waits at the cluster's barrier, where not all threads arrive"),
                   true, found ? &other : nullptr);
            return true;
        }
    return false;
}

}  // namespace emulator::exec

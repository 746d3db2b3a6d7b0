#include "emulator/src/launch/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/src/exec/control.h"
#include "emulator/src/exec/report.h"
#include "emulator/src/launch/async_copy.h"
#include "emulator/src/launch/cluster.h"
#include "emulator/src/races/races.h"
#include "emulator/src/tensor/tensor_memory.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {

namespace {
constexpr std::uint64_t kSlice = 4096;           // instructions of a warp before the next one runs
constexpr std::uint64_t kIdleLimit = 2'000'000;  // of polling without any change, before it counts as waiting
constexpr std::uint64_t kProbeAfter = 1'000'000;  // idle instructions after which loops are probed anyway
constexpr std::uint64_t kWaitCost = 100;          // idle instructions that a turn given up counts for
constexpr std::byte kSharedPoison{0xd5};
}  // namespace

Scheduler::Scheduler(Launch& launch, BlockQueue& queue, Clock::time_point deadline)
    : launch_(launch), handlers_(*launch.program->handlers), queue_(queue), deadline_(deadline) {}

void Scheduler::prepare(Block& block, std::uint64_t ordinal) {
    Launch& launch = launch_;
    const bool fresh = block.launch == nullptr;
    block.launch = &launch;
    block.ordinal = ordinal;
    block.linear = linear_of(launch, ordinal);
    block.index = block_of(launch, block.linear);
    block.rank = static_cast<std::uint32_t>(ordinal % launch.blocks_per_cluster);
    block.shared_base = std::uint64_t{block.rank} << kRankShift;
    const std::uint32_t shared =
        launch.reserved_shared ? launch.reserved_shared + kReservedShared : launch.shared_bytes;
    const std::size_t padded = (std::size_t{shared} + 63) / 64 * 64 + 64;
    const std::size_t bits = padded / 8 + 64;
    if (fresh) {
        const std::size_t shadow = launch.check_races ? races::shared_shadow_bytes(shared) : 0;
        block.storage = Pages(padded + bits + shadow + 192);
        block.shared = block.storage.data();
        block.shared_written = reinterpret_cast<std::uint64_t*>(block.shared + padded);
        block.shared_shadow = block.shared + padded + (bits + 63) / 64 * 64;
        block.shared_bytes = launch.shared_bytes;
    }
    if (shared) {
        std::memset(block.shared, static_cast<int>(kSharedPoison), shared);
        std::memset(block.shared_written, 0, bits - 64);
    }
    if (launch.reserved_shared) {  // cooperative groups rely on zeros there
        std::memset(block.shared + launch.reserved_shared, 0, kReservedShared);
        set_bits(block.shared_written, launch.reserved_shared, kReservedShared);
    }
    // By itself, so that its warps' order does not depend on which blocks ran before.
    block.random = launch.options->schedule_seed * 0x9e3779b97f4a7c15ull + ordinal * 0xd1342543de82ef95ull;
    block.barriers = {};
    block.live_threads = launch.threads_per_block;
    block.version = 0;
    block.seen.clear();
    block.shared_sync.clear();
    block.mbarriers.clear();
    block.mbarrier_objects.clear();
    block.arriving.clear();
    block.stored_undefined.clear();
    block.warpgroups.clear();
    block.tensor_memory.reset();
    block.commits.clear();
    block.idle = 0;
    block.started_for_waiting = block.waiting = block.waited_for_start = false;
    if (fresh) {
        const std::size_t local = std::size_t{launch.local_stride} * kLanes;
        for (std::uint32_t i = 0; i < launch.warps_per_block; ++i) {
            auto warp = std::make_unique<Warp>();
            warp->block = &block;
            warp->launch = &launch;
            warp->index = i;
            warp->first_thread = i * kLanes;
            warp->fragments.reserve(3 * kLanes);
            for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                const std::uint32_t t = i * kLanes + lane;
                if (t >= launch.threads_per_block) break;
                warp->present |= Mask{1} << lane;
                const Dim3 tid = thread_of(launch, t);
                warp->tid[0][lane] = tid.x;
                warp->tid[1][lane] = tid.y;
                warp->tid[2][lane] = tid.z;
            }
            if (local) {
                warp->local_storage = Pages(local + local / 8 + 128);
                warp->local = warp->local_storage.data();
                warp->local_written = reinterpret_cast<std::uint64_t*>(warp->local + (local + 63) / 64 * 64);
            }
            block.warps.push_back(std::move(warp));
        }
    }
    for (const auto& w : block.warps) {
        w->live = w->present;
        w->slot = block.rank * launch.warps_per_block + w->index;
        w->cluster_arrived = w->cluster_passed = 0;
        w->cluster_arrival = nullptr;
        w->stack.fill(launch.local_limit);
        w->tainted = false;
        w->stuck = false;
        w->stuck_limit = 0;
        w->instructions = w->global_loads = 0;
        w->yield_at = 0;
        w->polls = 0;
        w->polls_in_vain = w->gives_way = false;
        w->polled_writes = ~std::uint64_t{0};
        w->polled.fill(~std::uint64_t{0});
        w->last_sync = nullptr;
        w->sync_count = w->sync_floor = w->read_floor = 0;
        w->lane_order.reset();
        w->read_order.reset();
        w->published.reset();
        w->published_in_cluster.reset();
        w->pending.clear();
        w->version = 0;
        w->acquired_location = w->acquired_changes = 0;
        w->open_group = {};
        w->groups.clear();
        w->open_stores.clear();
        w->bulk_groups.clear();
        w->agents.fill(0);
        w->register_changes = 0;
        w->register_change = nullptr;
        w->awaited_home = nullptr;
        w->products.reset();
        w->watched = false;
        w->fragments.clear();
        w->frame = nullptr;
        Fragment f;
        f.mask = w->present;
        f.frame = w->frames.empty()
                      ? push_frame(*w, *launch.kernel, nullptr, launch.kernel->code.data(), 0, w->present)
                      : reuse_frame(*w, w->present);
        w->fragments.push_back(f);
        launch.warps_launched += 1;
    }
    launch.blocks_launched += 1;
}

bool Scheduler::start(bool for_waiting) {
    const auto taken = queue_.take();
    if (!taken) return false;
    const std::uint64_t number = *taken;
    const std::uint32_t n = launch_.blocks_per_cluster;
    auto cluster = std::make_shared<Cluster>();
    cluster->number = number;
    const std::size_t first = resident_.size();
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        std::unique_ptr<Block> block;
        if (!spare_.empty()) {
            block = std::move(spare_.back());
            spare_.pop_back();
        } else {
            block = std::make_unique<Block>();
        }
        block->cluster = cluster;
        prepare(*block, number * n + rank);
        block->started_for_waiting = for_waiting;
        cluster->blocks.push_back(block.get());
        resident_.push_back(std::move(block));
    }
    races::start_cluster(*cluster);
    if (launch_.options->schedule_seed != 0)
        for (std::size_t i = n; i > 1; --i)
            std::swap(resident_[first + i - 1], resident_[first + next_random(resident_[first]->random) % i]);
    return true;
}

void Scheduler::retire(std::size_t index) {
    if (!launch_.stopped) {
        end_block(*resident_[index]);
        check_warpgroups(*resident_[index]);
        end_tensor_memory(*resident_[index]);
    }
    for (const auto& w : resident_[index]->warps) {
        launch_.max_warp_instructions = std::max(launch_.max_warp_instructions, w->instructions);
        launch_.max_global_loads = std::max(launch_.max_global_loads, w->global_loads);
    }
    Block* gone = resident_[index].get();
    gone->cluster->blocks[gone->rank] = nullptr;
    check_cluster(*gone->cluster);
    std::erase_if(launch_.watched, [&](const Watch& watch) { return watch.block == gone; });
    spare_.push_back(std::move(resident_[index]));
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool Scheduler::limits_reached(Block& block) {
    Launch& launch = launch_;
    const bool instructions = launch.instructions + launch.surcharge > launch.options->max_warp_instructions;
    const bool time = Clock::now() > deadline_;
    if (queue_.abandoned()) {
        launch.stopped = true;
        return true;
    }
    if (!instructions && !time) return false;
    // A block that has just ended ends no launch: the next one meets the limit as it begins, or there is none
    // and all is done.
    for (const auto& w : block.warps) {
        if (!w->live || w->fragments.empty()) continue;
        const Fragment& f = w->fragments.front();
        report(*w, instructions ? "instruction-limit" : "time-limit", f.frame->function->code[f.pc],
               std::countr_zero(w->live),
               instructions
                   ? fmt::format("the launch executed more than {} warp instructions",
                                 launch.options->max_warp_instructions)
                   : fmt::format("the launch ran longer than {} ms", launch.options->max_time.count()),
               true);
        launch.stopped = true;
        return true;
    }
    return false;
}

static bool waits_at_cluster(const Block& block) {
    for (const auto& w : block.warps)
        for (const Fragment& f : w->fragments)
            if (f.mask && f.state == Fragment::State::at_cluster) return true;
    return false;
}

// One slice of every warp that can run.
Scheduler::Progress Scheduler::run_round(Block& block) {
    Launch& launch = launch_;
    const std::uint64_t before = block.writes;
    std::uint64_t executed = 0, waits = 0;
    bool all_poll = true, live = false, stuck = false;
    const std::size_t n = block.warps.size();
    const bool seeded = launch.options->schedule_seed != 0;
    const std::size_t first = seeded ? next_random(block.random) % n : 0;
    const std::size_t step = seeded && n > 2 && n % 2 == 0 ? (next_random(block.random) % n) | 1
                                                           : 1;  // odd: visits all when n is a power of two
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = std::has_single_bit(n) ? (first + k * step) % n : (first + k) % n;
        Warp& w = *block.warps[at];
        if (!w.live) continue;
        live = true;
        if (w.stuck) {
            stuck = true;
            continue;
        }
        const std::uint64_t slice = seeded ? 64 + next_random(block.random) % 1024
                                    : launch.request->cooperative || launch.blocks_per_cluster > 1 ? 512
                                                                                                   : kSlice;
        const std::uint64_t start = w.instructions;
        w.polls = w.waits = 0;
        handlers_.run_warp(w, slice);
        const std::uint64_t ran = w.instructions - start;
        executed += ran;
        waits += w.waits;
        launch.instructions += ran;
        if (ran && !w.polls && !w.waits && w.live) all_poll = false;
        if (w.stuck) stuck = true;
        if (launch.stopped) return Progress::ended;
        if (limits_reached(block)) return Progress::ended;
    }
    if (!live || block.live_threads == 0) return Progress::ended;
    if (block.writes != before) {
        block.idle = 0;
        for (const auto& w : block.warps) {
            w->stuck = false;
            w->stuck_limit = 0;
        }
        return Progress::running;
    }
    block.idle += executed + kWaitCost * waits;
    if (executed == 0) {
        if (stuck || waits_at_cluster(block)) return Progress::waiting;  // others may let it go on
        report_stuck(block, "deadlock");
        return Progress::ended;
    }
    if (all_poll || block.idle > kProbeAfter)
        for (const auto& w : block.warps)
            if (w->live && !w->stuck_limit) {
                w->stuck_limit = 1;
                w->stuck_steps = w->stuck_hash = 0;
            }
    if (all_poll && block.idle > kIdleLimit) {
        for (const auto& w : block.warps) w->stuck = w->live != 0;
        return Progress::waiting;
    }
    return Progress::running;
}

// Nothing that a further cluster does to global memory can let the block's cluster go on.
bool Scheduler::helpless(const Block& block) const {
    for (const Block* b : block.cluster->blocks) {
        if (!b) continue;
        for (const auto& w : b->warps)
            if (w->live && w->stuck && (!w->last_sync || w->last_sync_address != ~std::uint64_t{0}))
                return false;
    }
    return true;
}

// Remembers what the block's warps poll.
void Scheduler::wait(Block& block) {
    block.waiting = true;
    std::erase_if(launch_.watched, [&](const Watch& watch) { return watch.block == &block; });
    for (const auto& w : block.warps)
        if (w->live && w->stuck && w->last_sync)
            for (const std::uint64_t at : w->sync_watch)
                launch_.watched.push_back({at, &block, w->last_sync, w->first_thread + w->last_sync_lane});
}

void Scheduler::run(const std::function<bool()>& until) {
    Launch& launch = launch_;
    const bool cooperative = launch.request->cooperative;
    const bool in_turn = cooperative || launch.blocks_per_cluster > 1;
    std::uint64_t generation = 0;  // grows when some block changed memory
    while (!launch.stopped) {
        if (cooperative)
            while (!launch.stopped && start(false)) continue;
        else if (resident_.empty())
            start(false);
        if (resident_.empty()) break;
        bool ran = false;
        for (std::size_t i = 0; i < resident_.size() && !launch.stopped;) {
            Block& block = *resident_[i];
            if (block.generation != generation) {
                // Another block has changed memory: who waits, or was about to be found waiting, looks again.
                block.generation = generation;
                block.waiting = false;
                block.idle = 0;
                for (const auto& w : block.warps) w->stuck = false;
            } else if (block.waiting) {
                ++i;
                continue;
            }
            ran = true;
            const std::uint64_t before = block.writes;
            if (limits_reached(block)) break;
            Progress progress = run_round(block);
            while (!in_turn && progress == Progress::running && !launch.stopped) progress = run_round(block);
            if (block.writes != before) {
                launch.switches += 1;
                block.generation = ++generation;
                if (block.waited_for_start && !cooperative && !launch.stopped) {
                    // It went on only because of a block that was started meanwhile.
                    for (const auto& w : block.warps)
                        if (w->last_sync) {
                            report(*w, "inter-block-wait", *w->last_sync, static_cast<int>(w->last_sync_lane),
                                   "waits for another block, and nothing guarantees that both are resident "
                                   "(a cooperative launch does)",
                                   true);
                            break;
                        }
                }
            }
            if (launch.stopped) break;
            if (progress == Progress::ended) {
                retire(i);
                continue;
            }
            if (progress == Progress::waiting) wait(block);
            ++i;
        }
        if (launch.stopped || (until && resident_.empty() && until())) break;
        if (!ran) {
            // Of those that wait for others in the first place.
            auto stuck = std::find_if(resident_.begin(), resident_.end(),
                                      [&](const auto& b) { return waits_at_cluster(*b) && helpless(*b); });
            if (stuck == resident_.end())
                stuck = std::find_if(resident_.begin(), resident_.end(),
                                     [&](const auto& b) { return helpless(*b); });
            if (stuck == resident_.end() && queue_.left() != 0) {
                for (const auto& b : resident_) b->waited_for_start = true;
                start(true);
            } else {
                report_stuck(stuck == resident_.end() ? *resident_.front() : **stuck, "deadlock");
                launch.stopped = true;
            }
        }
    }
    for (std::size_t i = resident_.size(); i > 0; --i) retire(i - 1);
}

}  // namespace emulator::exec

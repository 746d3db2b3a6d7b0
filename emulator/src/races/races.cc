// Which orders are known:
//  - program order of a thread;
//  - a block's barriers: each warp keeps, for every warp of its block, up to which stamp that warp's accesses
//    are ordered before its own (a vector clock); a barrier joins the clocks of those that arrive into those
//    that wait. Stamps come from one counter per launch, and a block takes a new one at each barrier, fence
//    and release, so a stamp also tells the interval in which an access was made;
//  - bar.warp.sync, between the lanes of its mask (lanes may otherwise run in any order, shuffles included);
//  - publication, as PTX's memory model has it: what is ordered before a fence (or a .release) of a warp,
//    that warp publishes with its next atomic or strong write; a warp whose atomic or strong read finds
//    it there has it ordered before all that follows its next fence (or at once with .acquire). A barrier
//    passes on what has been published, and counts as the reader's fence: the usual `if (t == 0) ticket =
//    atomicAdd(...); __syncthreads();` has no other, and strong reads need none. Warps take part as a whole,
//    and on the reading side blocks do, which may hide a race and never invents one;
//  - the end of a launch.
// No fault: racing stores of one value; and the plain read that a compare-and-swap loop begins with. That is
// known by the line: some thread's next access there was a compare-and-swap of what it had read.
// Each 4-byte granule remembers two writers (by bytes) and two readers (a warp's lanes together). Older
// accesses are forgotten, so some races that involve three parties are not seen; what is reported is real.
#include "emulator/src/races/races.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/races/shadow.h"

namespace emulator::races {

using exec::Block;
using exec::Instr;
using exec::kLanes;
using exec::Launch;
using exec::Mask;
using exec::Warp;

static const std::byte unknown_data[1] = {};
const std::byte* const kUnknownData = unknown_data;

void GlobalShadowDeleter::operator()(GlobalShadow* shadow) const { delete shadow; }

std::size_t shared_shadow_bytes(std::uint32_t shared_bytes) { return (shared_bytes / 4 + 1) * sizeof(Cell); }

namespace {

constexpr std::uint32_t kSyncMask = 0xffffffu;  // ReadRecord::sync, WriteRecord::sync

enum Strength : std::uint8_t { plain, strong, atomic_access };  // plain: .nc, too

struct Access {
    Warp& warp;
    const Instr& instr;
    Kind kind;
    Strength strength;
    bool block_scope;
    bool validates;  // a compare-and-swap
    bool shared;
    std::uint32_t stamp, serial;
    const std::byte* data;
    std::uint32_t stride;
    std::uint32_t bytes;
};

std::uint64_t block_of_stamp(const Access& a, std::uint32_t stamp) {
    return a.warp.launch->stamp_block[stamp];
}
// Shared memory is one block's alone; what an earlier block left there lies below every floor.
bool same_block(const Access& a, std::uint32_t stamp) {
    return a.shared || block_of_stamp(a, stamp) == a.warp.block->linear;
}

bool lane_ordered(const Warp& w, std::uint32_t sync, int lane, int other) {
    return sync < w.sync_floor ||
           (w.lane_order &&
            (*w.lane_order)[static_cast<std::size_t>(lane)][static_cast<std::size_t>(other)] > sync);
}

bool covers(const std::unordered_map<std::uint64_t, exec::Stamps>& known, std::uint64_t block,
            std::uint32_t stamp, std::uint32_t warp) {
    const auto it = known.find(block);
    return it != known.end() && it->second && stamp <= (*it->second)[warp];
}

// Which of the `others` (lanes of `warp`) made their access, at that stamp, without order to this lane's?
Mask unordered(const Access& a, std::uint32_t stamp, std::uint32_t warp, std::uint32_t sync, int lane,
               Mask others) {
    const Warp& w = a.warp;
    if (same_block(a, stamp) && (stamp <= w.floor || stamp <= w.clock[warp])) return 0;
    const std::uint64_t block = block_of_stamp(a, stamp);
    if (block != w.block->linear && covers(w.block->seen, block, stamp, warp)) return 0;
    if (a.strength != plain && covers(w.pending, block, stamp, warp)) return 0;
    if (!same_block(a, stamp) || warp != w.index) return others;
    Mask left = 0;
    exec::for_lanes(others, [&](int other) {
        if (!lane_ordered(w, sync, lane, other)) left |= Mask{1} << other;
    });
    return left;
}

// May two accesses of these strengths happen at once? Between blocks not when either is strong within its
// block only. Volatile accesses of one warp count as plain ones: warp-synchronous code without __syncwarp is
// what they are used for.
template <class Record>
bool compatible(const Access& a, const Record& r) {
    const std::uint32_t stamp = r.stamp, warp = r.warp, other = r.strength;
    if (a.strength == plain || other == plain) return false;
    if ((a.block_scope || r.block_scope) && !same_block(a, stamp)) return false;
    if (a.strength == atomic_access || other == atomic_access) return true;
    return warp != a.warp.index || !same_block(a, stamp);
}

// Surely ordered, found without looking anything up.
bool settled(const Access& a, std::uint32_t stamp) {
    return stamp <= a.warp.floor && (a.shared || same_block(a, stamp));
}

std::uint64_t stored_value(const Access& a, int lane, std::uint32_t offset, std::uint32_t n) {
    // bytes [offset, offset + n) of what the lane stores
    std::byte buffer[32] = {};
    if (a.data) {
        std::memcpy(buffer, a.data + static_cast<std::size_t>(lane) * a.stride,
                    std::min<std::uint32_t>(a.bytes, 16));
    } else {
        for (int v = 0; v < a.instr.vector && 1 + v < a.instr.sources; ++v) {
            const std::uint64_t value = exec::lane_value(a.warp, a.instr.source(1 + v), lane);
            std::memcpy(buffer + v * a.instr.size, &value, a.instr.size);
        }
    }
    std::uint64_t result = 0;
    std::memcpy(&result, buffer + offset, n);
    return result;
}

constexpr const char* kWriteNote = "the write it races with";
constexpr const char* kReadNote = "the read it races with";

void report_race(const Access& a, int lane, std::uint64_t address, const Buffer* buffer,
                 std::uint32_t other_id, std::uint32_t other_stamp, std::uint32_t other_warp, int other_lane,
                 bool other_writes, bool other_atomic) {
    Launch& launch = *a.warp.launch;
    exec::OtherParty other;
    other.id = other_id;
    other.block = block_of_stamp(a, other_stamp);
    other.thread = other_warp * kLanes + static_cast<std::uint32_t>(other_lane);
    other.note = other_writes ? kWriteNote : kReadNote;
    const char* rule = a.shared ? "shared-race" : "global-race";
    if (exec::repeated(launch, rule, a.instr.id, other_id)) return;
    const bool writes = a.kind != Kind::read;
    std::string message = a.kind == Kind::atomic ? "updates " : writes ? "writes " : "reads ";
    message += exec::describe(launch, a.shared ? nullptr : buffer, a.shared, address, a.bytes);
    message += other_writes ? ", which another thread writes" : ", which another thread reads";
    message += a.shared ? ", without a barrier between" : ", without synchronisation between";
    // The plain read of a pair whose other side is atomic is reported when the launch ends, unless a
    // compare-and-swap has validated reads of its line by then.
    const bool reads_plainly = a.kind == Kind::read && other_atomic;
    const bool was_read = a.kind == Kind::atomic && !other_writes;
    if (reads_plainly || was_read) {
        exec::Peek& peek = launch.peeks[launch.program->places[reads_plainly ? a.instr.id : other_id]];
        if (peek.validated || peek.raced) return;
        peek.raced = true;
        peek.rule = rule;
        peek.message = std::move(message);
        peek.id = a.instr.id;
        peek.block = a.warp.block->linear;
        peek.thread = a.warp.first_thread + static_cast<std::uint32_t>(lane);
        peek.other_id = other.id;
        peek.other_block = other.block;
        peek.other_thread = other.thread;
        peek.note = other_writes ? kWriteNote : kReadNote;
        return;
    }
    exec::report(a.warp, rule, a.instr, lane, std::move(message), false, &other);
}

// One recorded write against the lanes of an access.
void check_write(const Access& a, const WriteRecord& r, Mask mask, std::uint32_t bytes, std::uint64_t address,
                 std::uint32_t offset, const std::byte* memory, const Buffer* buffer) {
    const Warp& w = a.warp;
    Mask others = mask;
    if (r.warp == w.index && same_block(a, r.stamp)) others &= ~(Mask{1} << r.lane);
    if (!others || compatible(a, r)) return;
    for (Mask m = others; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        if (!unordered(a, r.stamp, r.warp, r.sync, lane, Mask{1} << r.lane)) continue;
        if (a.kind == Kind::write && r.strength != atomic_access && !r.unknown_data &&
            a.data != kUnknownData) {
            // every thread stores the same value, be it by one instruction or by several: harmless
            const std::uint32_t begin = static_cast<std::uint32_t>(std::countr_zero(bytes));
            const std::uint32_t n = static_cast<std::uint32_t>(std::popcount(bytes));
            const std::uint32_t at =
                begin - static_cast<std::uint32_t>(offset == 0 ? address & 3 : 0) + offset;
            const std::uint64_t mine = stored_value(a, lane, at, n);
            std::uint64_t theirs = 0;
            if (r.serial == a.serial)
                theirs = stored_value(a, static_cast<int>(r.lane), at, n);
            else
                std::memcpy(&theirs, memory + begin, n);
            if (mine == theirs) continue;
        }
        report_race(a, lane, address, buffer, r.id, r.stamp, r.warp, static_cast<int>(r.lane), true,
                    r.strength == atomic_access);
        return;
    }
}
// One recorded read against the lanes of a write.
void check_read(const Access& a, const ReadRecord& r, Mask mask, std::uint64_t address,
                const Buffer* buffer) {
    const Warp& w = a.warp;
    if (compatible(a, r)) return;
    const bool same_warp = r.warp == w.index && same_block(a, r.stamp);
    for (Mask m = mask; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        const Mask others =
            unordered(a, r.stamp, r.warp, r.sync, lane, same_warp ? r.lanes & ~(Mask{1} << lane) : r.lanes);
        if (!others) continue;
        report_race(a, lane, address, buffer, r.id, r.stamp, r.warp, std::countr_zero(others), false, false);
        return;
    }
}

// A compare-and-swap of lanes that have just read the place plainly: had the value changed since, it would
// have failed, so these reads did no harm.
void validate(const Access& a, Cell& cell, Mask mask, std::uint32_t bytes) {
    for (ReadRecord& r : cell.reads) {
        if (!r.bytes || (r.bytes & ~bytes) || r.warp != a.warp.index || !same_block(a, r.stamp) ||
            !(r.lanes & mask) || r.strength != plain)
            continue;
        a.warp.launch->peeks[a.warp.launch->program->places[r.id]].validated = true;
        r.lanes &= ~mask;
        if (!r.lanes) r.bytes = 0;
    }
}

// ld.global.nc is for data that nobody writes while the kernel runs: with a write by any thread, before or
// after, what it gives is undefined.
void check_non_coherent(const Access& a, Cell& cell, Mask mask, std::uint32_t bytes, std::uint64_t address,
                        const Buffer& buffer) {
    const int lane = std::countr_zero(mask);
    Launch& launch = *a.warp.launch;
    GlobalShadow::Reader& reader = buffer.shadow->non_coherent;
    exec::OtherParty other;
    const char* does = nullptr;
    if (a.instr.has(exec::flag::non_coherent)) {
        cell.reads[0].non_coherent |= bytes & 15u;
        reader = {a.instr.id, a.warp.first_thread + static_cast<std::uint32_t>(lane), a.warp.block->linear};
        for (const WriteRecord& r : cell.writes) {
            if (!(r.bytes & bytes)) continue;
            other.id = r.id;
            other.block = block_of_stamp(a, r.stamp);
            other.thread = r.warp * kLanes + r.lane;
            other.note = "the write by the same launch";
            does = "reads ";
            break;
        }
    } else if (a.kind != Kind::read && (cell.reads[0].non_coherent & bytes)) {
        other.id = reader.id;
        other.block = reader.block;
        other.thread = reader.thread;
        other.note = "the read by the same launch";
        does = a.kind == Kind::atomic ? "updates " : "writes ";
    }
    if (!does || exec::repeated(launch, "non-coherent-read", a.instr.id, other.id)) return;
    exec::report(a.warp, "non-coherent-read", a.instr, lane,
                 does + exec::describe(launch, &buffer, false, address, a.bytes) +
                     (a.kind == Kind::read ? " as data that no thread writes (ld.global.nc), but this launch "
                                             "writes it"
                                           : ", which this launch reads as data that no thread writes "
                                             "(ld.global.nc)") +
                     ": read it without __ldg, and through a pointer that is not const __restrict__",
                 false, &other);
}

// One granule, the lanes of `mask` (all with the same byte mask).
inline void touch(const Access& a, Cell& cell, Mask mask, std::uint32_t bytes, std::uint64_t address,
                  std::uint32_t offset, const std::byte* memory, const Buffer* buffer) {
    const Warp& w = a.warp;
    if (buffer && (a.kind != Kind::read || a.instr.has(exec::flag::non_coherent)))
        check_non_coherent(a, cell, mask, bytes, address, *buffer);
    for (const WriteRecord& r : cell.writes)
        if ((r.bytes & bytes) && !settled(a, r.stamp))
            check_write(a, r, mask, bytes, address, offset, memory, buffer);
    if (a.kind == Kind::read) {
        for (ReadRecord& r : cell.reads)
            if (r.stamp == a.stamp && r.warp == w.index && r.bytes == bytes && r.sync == w.sync_count &&
                r.strength == a.strength && r.block_scope == a.block_scope) {
                r.lanes |= mask;
                r.id = a.instr.id & 0x3fffffu;
                return;
            }
        ReadRecord& first = cell.reads[0];
        const bool replace = !first.bytes || settled(a, first.stamp) ||
                             (first.warp == w.index && first.bytes == bytes && first.lanes == mask &&
                              same_block(a, first.stamp));
        if (!replace) cell.reads[1] = first;
        first.stamp = a.stamp;
        first.id = a.instr.id & 0x3fffffu;
        first.sync = w.sync_count & kSyncMask;
        first.lanes = mask;
        first.warp = w.index & 31u;
        first.bytes = bytes & 15u;
        first.strength = a.strength;
        first.block_scope = a.block_scope;
        return;
    }
    if (a.validates) validate(a, cell, mask, bytes);
    for (const ReadRecord& r : cell.reads)
        if ((r.bytes & bytes) && !settled(a, r.stamp)) check_read(a, r, mask, address, buffer);
    for (WriteRecord& r : cell.writes) r.bytes = r.bytes & ~bytes & 15u;
    if (cell.writes[0].bytes) cell.writes[1] = cell.writes[0];
    WriteRecord& fresh = cell.writes[0];
    fresh.stamp = a.stamp;
    fresh.serial = a.serial;
    fresh.id = a.instr.id & 0x3fffffu;
    fresh.warp = w.index & 31u;
    fresh.lane = static_cast<std::uint32_t>(31 - std::countl_zero(mask)) & 31u;
    fresh.sync = w.sync_count & kSyncMask;
    fresh.bytes = bytes & 15u;
    fresh.strength = a.strength;
    fresh.block_scope = a.block_scope;
    fresh.unknown_data = a.data == kUnknownData;
    if (a.kind == Kind::write)
        for (ReadRecord& r : cell.reads) r.bytes = r.bytes & ~bytes & 15u;
}

Access make_access(Warp& w, const Instr& in, Kind kind, bool shared, std::uint32_t bytes,
                   const std::byte* data, std::uint32_t stride) {
    const bool validates = kind == Kind::compare_and_swap;
    if (validates) kind = Kind::atomic;
    const Strength strength = kind == Kind::atomic              ? atomic_access
                              : in.has(exec::flag::is_volatile) ? strong
                                                                : plain;
    return {w,
            in,
            kind,
            strength,
            in.has(exec::flag::block_scope),
            validates,
            shared,
            w.block->now,
            ++w.launch->race_serial,
            data,
            stride,
            bytes};
}

template <class Find>
void each_granule(const Access& a, Mask exec, const std::uint64_t* addresses, Find&& find) {
    for (Mask m = exec; m;) {
        const int lane = std::countr_zero(m);
        const std::uint64_t at = addresses[lane];
        Mask same = Mask{1} << lane;
        if (a.kind != Kind::write) {  // neighbours at the same place go together
            for (int next = lane + 1; next < kLanes && ((m >> next) & 1) && addresses[next] == at; ++next)
                same |= Mask{1} << next;
        }
        m &= ~same;
        std::uint64_t g = at & ~std::uint64_t{3};
        for (std::uint32_t done = 0; done < a.bytes; g += 4) {
            const std::uint32_t begin = g < at ? static_cast<std::uint32_t>(at - g) : 0;
            const std::uint32_t n = std::min(4 - begin, a.bytes - done);
            find(g, same, ((1u << n) - 1) << begin, at, done);
            done += n;
        }
    }
}

}  // namespace

void shared_access(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                   Kind kind, const std::byte* data, std::uint32_t stride) {
    const Access a = make_access(w, in, kind, true, bytes, data, stride);
    Cell* cells = static_cast<Cell*>(w.block->shared_shadow);
    each_granule(
        a, exec, addresses,
        [&](std::uint64_t g, Mask lanes, std::uint32_t mask, std::uint64_t at, std::uint32_t offset) {
            touch(a, cells[g >> 2], lanes, mask, at, offset, w.block->shared + g, nullptr);
        });
}

void global_access(Warp& w, const Instr& in, Mask exec, Buffer& buffer, const std::uint64_t* addresses,
                   std::uint32_t bytes, Kind kind, const std::byte* data, std::uint32_t stride) {
    const Access a = make_access(w, in, kind, false, bytes, data, stride);
    GlobalShadow& shadow = *buffer.shadow;
    each_granule(
        a, exec, addresses,
        [&](std::uint64_t g, Mask lanes, std::uint32_t mask, std::uint64_t at, std::uint32_t offset) {
            const std::uint64_t index = (g - buffer.address) >> 2;
            if (Cell* cell = shadow.cell(index))
                touch(a, *cell, lanes, mask, at, offset, buffer.data() + (g - buffer.address), &buffer);
        });
}

void end_launch(Launch& launch) {
    for (auto& [place, peek] : launch.peeks) {
        if (!peek.raced || peek.validated) continue;
        exec::OtherParty other;
        other.id = peek.other_id;
        other.block = peek.other_block;
        other.thread = peek.other_thread;
        other.note = peek.note;
        exec::report_id(launch, peek.rule, peek.id, peek.block, peek.thread, std::move(peek.message), false,
                        &other);
    }
}

// ---- synchronisation ----

static std::uint32_t new_stamp(Block& block) {
    std::vector<std::uint64_t>& blocks = block.launch->stamp_block;
    blocks.push_back(block.linear);
    return static_cast<std::uint32_t>(blocks.size() - 1);
}

void start_block(Block& block) {
    Launch& launch = *block.launch;
    const std::uint32_t before = static_cast<std::uint32_t>(launch.stamp_block.size()) - 1;
    block.now = new_stamp(block);
    for (const auto& w : block.warps) {
        w->clock.assign(block.warps.size(), before);
        w->floor = before;
    }
}

// Elementwise maximum, sharing a snapshot where one has it all.
static void join(exec::Stamps& into, const exec::Stamps& from) {
    if (!from || into == from) return;
    bool more = !into, less = false;
    for (std::size_t v = 0; into && v < from->size(); ++v) {
        more |= (*from)[v] > (*into)[v];
        less |= (*from)[v] < (*into)[v];
    }
    if (!more) return;
    if (!less) {
        into = from;
        return;
    }
    std::vector<std::uint32_t> both = *into;
    for (std::size_t v = 0; v < both.size(); ++v) both[v] = std::max(both[v], (*from)[v]);
    into = std::make_shared<const std::vector<std::uint32_t>>(std::move(both));
}

// The warp's view of its own block grows.
static void order_after(Warp& w, const std::vector<std::uint32_t>& stamps) {
    std::uint32_t low = ~0u;
    for (std::size_t v = 0; v < w.clock.size(); ++v) {
        w.clock[v] = std::max(w.clock[v], stamps[v]);
        low = std::min(low, w.clock[v]);
    }
    w.floor = std::max(w.floor, low);
}

static void take_pending(Warp& w, bool block_scope) {
    if (w.pending.empty()) return;
    Block& block = *w.block;
    for (const auto& [other, stamps] : w.pending) {
        if (other == block.linear) {
            order_after(w, *stamps);
            continue;
        }
        if (block_scope) continue;
        exec::Stamps& seen = block.seen[other];
        const exec::Stamps before = seen;
        join(seen, stamps);
        block.version += seen != before;
    }
    if (block_scope)
        std::erase_if(w.pending, [&](const auto& noted) { return noted.first == block.linear; });
    else
        w.pending.clear();
}

void acquire_noted(Warp& w, bool block_scope) { take_pending(w, block_scope); }

static void publish(Warp& w, const exec::Stamps& stamps, bool block_scope) {
    const exec::Stamps before = w.published, before_in_block = w.published_in_block;
    if (!block_scope) join(w.published, stamps);
    join(w.published_in_block, stamps);
    w.version += w.published != before || w.published_in_block != before_in_block;
}

void warp_sync(Warp& w, Mask lanes) {
    take_pending(w, false);
    w.sync_count += 1;
    if ((w.live & ~lanes) == 0) {  // all of them: nothing older matters any more
        w.sync_floor = w.sync_count;
        return;
    }
    if (!w.lane_order) {
        w.lane_order = std::make_unique<std::array<std::array<std::uint32_t, kLanes>, kLanes>>();
        for (auto& row : *w.lane_order) row.fill(0);
    }
    std::array<std::uint32_t, kLanes> joined{};
    exec::for_lanes(lanes, [&](int i) {
        for (std::size_t k = 0; k < kLanes; ++k)
            joined[k] = std::max(joined[k], (*w.lane_order)[static_cast<std::size_t>(i)][k]);
    });
    exec::for_lanes(lanes, [&](int i) { joined[static_cast<std::size_t>(i)] = w.sync_count; });
    exec::for_lanes(lanes, [&](int i) { (*w.lane_order)[static_cast<std::size_t>(i)] = joined; });
}

void barrier(Block& block, const std::vector<std::uint32_t>& arrivals,
             const std::vector<std::uint32_t>& waiters) {
    const std::size_t n = block.warps.size();
    std::vector<std::uint32_t> joined(n, 0);
    exec::Stamps published, published_in_block;
    for (const std::uint32_t a : arrivals) {
        Warp& w = *block.warps[a];
        take_pending(w, false);
        for (std::size_t v = 0; v < n; ++v) joined[v] = std::max(joined[v], w.clock[v]);
        join(published, w.published);
        join(published_in_block, w.published_in_block);
    }
    for (const std::uint32_t a : arrivals) joined[a] = block.now;
    for (const std::uint32_t b : waiters) {
        Warp& w = *block.warps[b];
        // All lanes of a waiting warp arrived, so its own accesses are ordered too.
        order_after(w, joined);
        publish(w, published, false);
        publish(w, published_in_block, true);
        warp_sync(w, exec::kAllLanes);
    }
    block.now = new_stamp(block);
}

void mbarrier_arrive(Warp& w, std::uint32_t address) {
    Block& block = *w.block;
    exec::BarrierClock& clock = block.mbarriers[address];
    take_pending(w, false);
    clock.arriving.resize(block.warps.size());
    for (std::size_t v = 0; v < clock.arriving.size(); ++v)
        clock.arriving[v] = std::max(clock.arriving[v], w.clock[v]);
    clock.arriving[w.index] = std::max(clock.arriving[w.index], block.now);
    join(clock.published, w.published);
    join(clock.published_in_block, w.published_in_block);
    block.now = new_stamp(block);
}
void mbarrier_complete(Block& block, std::uint32_t address) {
    const auto it = block.mbarriers.find(address);
    if (it == block.mbarriers.end()) return;
    exec::BarrierClock& clock = it->second;
    clock.completed.resize(clock.arriving.size());
    for (std::size_t v = 0; v < clock.completed.size(); ++v)
        clock.completed[v] = std::max(clock.completed[v], clock.arriving[v]);
}
void mbarrier_acquire(Warp& w, std::uint32_t address) {
    const auto it = w.block->mbarriers.find(address);
    if (it == w.block->mbarriers.end() || it->second.completed.empty()) return;
    order_after(w, it->second.completed);
    publish(w, it->second.published, false);
    publish(w, it->second.published_in_block, true);
}

void publish_all(Warp& w, bool block_scope) {
    Block& block = *w.block;
    std::vector<std::uint32_t> stamps = w.clock;
    stamps[w.index] = block.now;
    publish(w, std::make_shared<const std::vector<std::uint32_t>>(std::move(stamps)), block_scope);
    block.now = new_stamp(block);
}

void release(Warp& w, bool shared, std::uint64_t address, bool block_scope) {
    Block& block = *w.block;
    if (shared) {
        if (w.published_in_block)
            join(block.shared_sync[static_cast<std::uint32_t>(address)], w.published_in_block);
        return;
    }
    if (!w.published_in_block && (block_scope || block.seen.empty())) return;
    exec::SyncLocation& location = w.launch->sync_locations[address];
    const std::uint64_t version = w.version + block.version;
    if (location.last_block == block.linear && location.last_warp == w.index &&
        location.last_version == version && location.last_block_scope == block_scope)
        return;
    location.last_block = block.linear;
    location.last_warp = w.index;
    location.last_version = version;
    location.last_block_scope = block_scope;
    location.changes += 1;
    if (w.published_in_block) join(location.within[block.linear], w.published_in_block);
    if (block_scope) return;
    if (w.published) join(location.blocks[block.linear], w.published);
    for (const auto& [other, stamps] : block.seen) join(location.blocks[other], stamps);
}

void acquire(Warp& w, bool shared, std::uint64_t address, bool block_scope) {
    Block& block = *w.block;
    if (shared) {
        const auto it = block.shared_sync.find(static_cast<std::uint32_t>(address));
        if (it != block.shared_sync.end()) join(w.pending[block.linear], it->second);
        return;
    }
    if (w.launch->sync_locations.empty()) return;
    const auto it = w.launch->sync_locations.find(address);
    if (it == w.launch->sync_locations.end()) return;
    exec::SyncLocation& location = it->second;
    if (w.acquired_location == address && w.acquired_changes == location.changes &&
        w.acquired_block_scope == block_scope)
        return;
    w.acquired_location = address;
    w.acquired_changes = location.changes;
    w.acquired_block_scope = block_scope;
    if (const auto own = location.within.find(block.linear); own != location.within.end())
        join(w.pending[block.linear], own->second);
    if (block_scope) return;
    for (const auto& [other, stamps] : location.blocks)
        if (other != block.linear) join(w.pending[other], stamps);
}

}  // namespace emulator::races

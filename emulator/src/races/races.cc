// Which orders are known:
//  - program order of a thread;
//  - a block's barriers: each warp keeps, for every warp of its block, up to which stamp that warp's accesses
//    are ordered before its own (a vector clock); a barrier joins the clocks of those that arrive into those
//    that wait. Stamps come from one counter per launch, and a block takes a new one at each barrier, fence
//    and release, so a stamp also tells the interval in which an access was made;
//  - bar.warp.sync, between the lanes of its mask (lanes may otherwise run in any order);
//  - shuffles, votes, match and redux, between the lanes of their mask: what was read before is ordered
//  before
//    what is written after, since a lane that exchanges values has its loads behind it (the collectives of
//    cooperative groups' tiles rely on that). They order no write;
//  - publication, as PTX's memory model has it: what is ordered before a fence (or a .release) of a warp,
//    that warp publishes with its next atomic or strong write; a warp whose atomic or strong read finds
//    it there has it ordered before all that follows its next fence (or at once with .acquire). A barrier
//    passes on what has been published, and counts as the reader's fence: the usual `if (t == 0) ticket =
//    atomicAdd(...); __syncthreads();` has no other, and strong reads need none. Warps take part as a whole,
//    and on the reading side blocks do, which may hide a race and never invents one;
//  - the end of a launch.
//  - completion: what the async proxy does (bulk copies, TMA) has an entry in clocks of its own for each
//    mbarrier and for each warp's bulk groups. It is ordered after what precedes its issue, and before what
//    follows a wait that saw it complete, and nothing else orders it. The proxy sees what ordinary writes
//    left in shared memory only past a fence.proxy.async: Warp::fenced follows that along the same orders.
// No fault: racing stores of one value; and the plain read that a compare-and-swap loop begins with. That is
// known by the line: some thread's next access there was a compare-and-swap of what it had read.
// Each 4-byte granule remembers two writers (by bytes) and two readers (a warp's lanes together). Older
// accesses are forgotten, so some races that involve three parties are not seen; what is reported is real.
// A plain write stays below the atomics and strong writes that come after it (the second record then has
// bytes of the first): they do no harm to each other, but each of them must come after the plain one, as
// users of an mbarrier must come after its mbarrier.init. In the same way an atomic stays below that of
// another warp or block whose result nobody reads: who reads the sum plainly must come after both. (A result
// that is read tells its thread what came before: that precedes what follows, by observation order.)
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

// plain: .nc, too; async_access: by the async proxy, at some time between its issue and its completion
enum Strength : std::uint8_t { plain, strong, atomic_access, async_access };

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
    bool reduces = false;  // async_access: element by element, as atomics do
    bool proxy = false;    // through the async proxy
};

std::uint64_t ordinal_of(const Launch& launch, std::uint32_t stamp) {
    return launch.stamp_owner[stamp] & ((std::uint64_t{1} << exec::kAgentShift) - 1);
}
std::uint32_t agent_of(const Launch& launch, std::uint32_t stamp) {
    return static_cast<std::uint32_t>(launch.stamp_owner[stamp] >> exec::kAgentShift);
}
std::uint64_t block_of_stamp(const Access& a, std::uint32_t stamp) {  // in the grid
    return exec::linear_of(*a.warp.launch, ordinal_of(*a.warp.launch, stamp));
}
// Shared memory is one cluster's alone; what an earlier block left there lies below every floor.
bool same_block(const Access& a, std::uint32_t stamp) {
    const Launch& launch = *a.warp.launch;
    return (a.shared && launch.blocks_per_cluster == 1) || ordinal_of(launch, stamp) == a.warp.block->ordinal;
}
bool same_cluster(const Access& a, std::uint32_t stamp) {
    const Launch& launch = *a.warp.launch;
    if (a.shared || ordinal_of(launch, stamp) == a.warp.block->ordinal) return true;
    return launch.blocks_per_cluster > 1 &&
           ordinal_of(launch, stamp) / launch.blocks_per_cluster == a.warp.block->cluster->number;
}
// The entry in clocks of a warp of the block that a stamp belongs to.
std::uint32_t slot_of(const Access& a, std::uint32_t stamp, std::uint32_t warp) {
    const Launch& launch = *a.warp.launch;
    if (launch.blocks_per_cluster <= 1) return warp;
    return static_cast<std::uint32_t>(ordinal_of(launch, stamp) % launch.blocks_per_cluster) *
               launch.warps_per_block +
           warp;
}

bool lane_ordered(const Warp& w, std::uint32_t sync, int lane, int other) {
    return sync < w.sync_floor ||
           (w.lane_order &&
            (*w.lane_order)[static_cast<std::size_t>(lane)][static_cast<std::size_t>(other)] > sync);
}

bool lane_read_ordered(const Warp& w, std::uint32_t sync, int lane, int other) {
    return sync < w.read_floor ||
           (w.read_order &&
            (*w.read_order)[static_cast<std::size_t>(lane)][static_cast<std::size_t>(other)] > sync);
}

bool covers(const std::unordered_map<std::uint64_t, exec::Stamps>& known, std::uint64_t cluster,
            std::uint32_t stamp, std::uint32_t slot) {
    const auto it = known.find(cluster);
    return it != known.end() && it->second && slot < it->second->size() && stamp <= (*it->second)[slot];
}

// Which of the `others` (lanes of `warp`) made their access, at that stamp, without order to this lane's?
// `async`: the record is of the async proxy, whose accesses have no order but by their completion.
Mask unordered(const Access& a, std::uint32_t stamp, std::uint32_t warp, std::uint32_t sync, int lane,
               Mask others, bool async, bool others_read) {
    const Warp& w = a.warp;
    const bool own = same_cluster(a, stamp);
    if (a.shared && stamp <= w.block->cluster->start_stamp) return 0;  // an earlier block's
    const std::uint32_t slot = async ? agent_of(*w.launch, stamp) : slot_of(a, stamp, warp);
    if (own && ((!async && stamp <= w.floor) || (slot < w.clock.size() && stamp <= w.clock[slot]))) return 0;
    const std::uint64_t cluster = ordinal_of(*w.launch, stamp) / w.launch->blocks_per_cluster;
    if (!own && covers(w.block->seen, cluster, stamp, slot)) return 0;
    if (a.strength != plain && covers(w.pending, cluster, stamp, slot)) return 0;
    if (async || !same_block(a, stamp) || warp != w.index) return others;
    Mask left = 0;
    exec::for_lanes(others, [&](int other) {
        if (!lane_ordered(w, sync, lane, other) && !(others_read && lane_read_ordered(w, sync, lane, other)))
            left |= Mask{1} << other;
    });
    return left;
}

bool reduces(const WriteRecord& r) { return !r.unknown_data; }  // of async_access
bool reduces(const ReadRecord&) { return false; }

// May two accesses of these strengths happen at once? Between clusters not when either is strong within its
// block or cluster only. Volatile accesses of one warp count as plain ones: warp-synchronous code without
// __syncwarp is what they are used for. Those that name an order (cuda::atomic's loads and stores) do not.
bool names_order(const Launch& launch, std::uint32_t id) {
    for (const std::string& modifier : launch.program->text[id]->modifiers)
        if (modifier == "relaxed" || modifier == "acquire" || modifier == "release") return true;
    return false;
}
template <class Record>
bool compatible(const Access& a, const Record& r) {
    const std::uint32_t stamp = r.stamp, warp = r.warp, other = r.strength;
    if (a.strength == plain || other == plain) return false;
    if (a.strength == async_access || other == async_access)
        return (a.strength == async_access ? a.reduces : a.strength == atomic_access) &&
               (other == async_access ? reduces(r) : other == atomic_access);
    if ((a.block_scope || r.block_scope) && !same_cluster(a, stamp)) return false;
    if (a.strength == atomic_access || other == atomic_access) return true;
    return warp != a.warp.index || !same_block(a, stamp) ||
           (names_order(*a.warp.launch, a.instr.id) && names_order(*a.warp.launch, r.id));
}

// Surely ordered, found without looking anything up.
template <class Record>
bool settled(const Access& a, const Record& r) {
    return r.stamp <= a.warp.floor && r.strength != async_access && (a.shared || same_cluster(a, r.stamp));
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
constexpr const char* kAsyncNote = "the asynchronous operation";

void report_race(const Access& a, int lane, std::uint64_t address, const Buffer* buffer,
                 std::uint32_t other_id, std::uint32_t other_stamp, std::uint32_t other_warp, int other_lane,
                 bool other_writes, Strength other_strength) {
    const bool other_atomic = other_strength == atomic_access;
    const bool other_async = other_strength == async_access;
    Launch& launch = *a.warp.launch;
    exec::OtherParty other;
    other.id = other_id;
    other.block = block_of_stamp(a, other_stamp);
    other.thread = other_warp * kLanes + static_cast<std::uint32_t>(other_lane);
    other.note = other_async ? kAsyncNote : other_writes ? kWriteNote : kReadNote;
    const char* rule = a.shared ? "shared-race" : "global-race";
    if (exec::repeated(launch, rule, a.instr.id, other_id)) return;
    const bool writes = a.kind != Kind::read;
    std::string message = a.kind == Kind::atomic ? "updates " : writes ? "writes " : "reads ";
    message += exec::describe(launch, a.shared ? nullptr : buffer, a.shared, address, a.bytes);
    if (other_async) {
        message += other_writes
                       ? ", which an asynchronous copy writes that this thread has not waited for"
                       : ", which an asynchronous operation still reads (no wait for it came before)";
    } else {
        message += other_writes ? ", which another thread writes" : ", which another thread reads";
        message += a.shared ? ", without a barrier between" : ", without synchronisation between";
    }
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

// One recorded write against the lanes of an access. True: a race was found.
bool check_write(const Access& a, const WriteRecord& r, Mask mask, std::uint32_t bytes, std::uint64_t address,
                 std::uint32_t offset, const std::byte* memory, const Buffer* buffer) {
    const Warp& w = a.warp;
    Mask others = mask;
    const bool async = r.strength == async_access;
    if (!async && r.warp == w.index && same_block(a, r.stamp)) others &= ~(Mask{1} << r.lane);
    if (!others || compatible(a, r)) return false;
    for (Mask m = others; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        if (!unordered(a, r.stamp, r.warp, r.sync, lane, Mask{1} << r.lane, async, false)) continue;
        if (a.kind == Kind::write && r.strength != atomic_access && !async && !r.unknown_data &&
            a.data != kUnknownData) {
            // every thread stores the same value, be it by one instruction or by several: harmless
            bool same = true;
            for (std::uint32_t common = r.bytes & bytes; common; common &= common - 1) {
                const std::uint32_t byte = static_cast<std::uint32_t>(std::countr_zero(common));
                const std::uint32_t at =
                    byte - static_cast<std::uint32_t>(offset == 0 ? address & 3 : 0) + offset;
                const std::uint64_t theirs = r.serial == a.serial
                                                 ? stored_value(a, static_cast<int>(r.lane), at, 1)
                                                 : std::to_integer<std::uint64_t>(memory[byte]);
                same &= stored_value(a, lane, at, 1) == theirs;
            }
            if (same) continue;
        }
        report_race(a, lane, address, buffer, r.id, r.stamp, r.warp, static_cast<int>(r.lane), true,
                    static_cast<Strength>(r.strength));
        return true;
    }
    return false;
}
// A generic write that comes before an access of the async proxy, in order: the proxy need not see it unless
// a fence.proxy.async lies on the way.
void check_fenced(const Access& a, const WriteRecord& r, int lane, std::uint64_t address) {
    const Warp& w = a.warp;
    if (r.strength == async_access || r.stamp <= w.block->cluster->start_stamp) return;
    const std::uint32_t slot = slot_of(a, r.stamp, r.warp);
    if (slot < w.fenced.size() && r.stamp <= w.fenced[slot]) return;
    Launch& launch = *w.launch;
    // What cp.async has copied: CUTLASS lets wgmma read it without a fence (MainloopSm90CpAsyncGmma...).
    if (a.instr.has(exec::flag::async_product) && launch.program->text[r.id]->opcode == "cp") return;
    if (exec::repeated(launch, "missing-proxy-fence", a.instr.id, r.id)) return;
    exec::OtherParty other;
    other.id = r.id;
    other.block = block_of_stamp(a, r.stamp);
    other.thread = r.warp * kLanes + r.lane;
    other.note = "the write";
    exec::report(a.warp, "missing-proxy-fence", a.instr, lane,
                 (a.kind == Kind::read ? "reads " : "writes ") +
                     exec::describe(launch, nullptr, true, address, a.bytes) +
                     " through the async proxy after an ordinary write, and no fence.proxy.async between "
                     "makes sure that the proxy sees it: the writing threads need the fence before the "
                     "barrier that orders them",
                 false, &other);
}
// One recorded read against the lanes of a write.
void check_read(const Access& a, const ReadRecord& r, Mask mask, std::uint64_t address,
                const Buffer* buffer) {
    const Warp& w = a.warp;
    if (compatible(a, r)) return;
    const bool async = r.strength == async_access;
    const bool same_warp = !async && r.warp == w.index && same_block(a, r.stamp);
    for (Mask m = mask; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        const Mask others = unordered(a, r.stamp, r.warp, r.sync, lane,
                                      same_warp ? r.lanes & ~(Mask{1} << lane) : r.lanes, async, true);
        if (!others) continue;
        report_race(a, lane, address, buffer, r.id, r.stamp, r.warp, std::countr_zero(others), false,
                    async ? async_access : plain);
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

// One granule, the lanes of `mask` (all with the same byte mask). kProxy: an access of async_access_of.
template <bool kProxy>
inline void touch(const Access& a, Cell& cell, Mask mask, std::uint32_t bytes, std::uint64_t address,
                  std::uint32_t offset, const std::byte* memory, const Buffer* buffer) {
    const Warp& w = a.warp;
    if (buffer && (a.kind != Kind::read || a.instr.has(exec::flag::non_coherent)))
        check_non_coherent(a, cell, mask, bytes, address, *buffer);
    const bool async = kProxy && a.strength == async_access;
    const bool looks_below = a.strength == atomic_access || (a.strength == strong && a.kind == Kind::read);
    for (const WriteRecord& r : cell.writes) {
        const bool hides = &r != cell.writes.data() && r.strength == plain && !looks_below;
        const std::uint32_t visible = hides ? bytes & ~std::uint32_t{cell.writes[0].bytes} : bytes;
        if ((r.bytes & visible) && (kProxy || !settled(a, r)) &&
            !check_write(a, r, mask, visible, address, offset, memory, buffer) && kProxy && a.proxy &&
            a.shared)
            check_fenced(a, r, std::countr_zero(mask), address);
    }
    if (a.kind == Kind::read) {
        for (ReadRecord& r : cell.reads)
            if (r.stamp == a.stamp && r.warp == w.index && r.bytes == bytes && r.sync == w.sync_count &&
                r.strength == a.strength && r.block_scope == a.block_scope &&
                // a record names one instruction: that of all its lanes
                (r.id == (a.instr.id & 0x3fffffu) || (r.lanes & ~mask) == 0)) {
                r.lanes |= mask;
                r.id = a.instr.id & 0x3fffffu;
                return;
            }
        ReadRecord& first = cell.reads[0];
        const bool replace = !first.bytes || settled(a, first) ||
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
        if ((r.bytes & bytes) && !settled(a, r)) check_read(a, r, mask, address, buffer);
    WriteRecord &fresh = cell.writes[0], &below = cell.writes[1];
    const bool blind = a.strength == atomic_access && w.launch->program->blind_atomics[a.instr.id];
    const auto stays = [&](const WriteRecord& r) {
        if (!(r.bytes & bytes) || a.strength == plain || async) return false;
        return r.strength == plain ||
               (blind && r.strength == atomic_access && !(r.warp == w.index && same_block(a, r.stamp)));
    };
    const bool below_stays = stays(below);
    // What keeps its place: a plain write that may matter to others, too, and another block's atomic while
    // this block's follow each other.
    const bool taken =
        below_stays && (below.strength == plain ? !settled(a, below)
                                                : !same_block(a, below.stamp) && same_block(a, fresh.stamp));
    if (!stays(fresh) || taken) fresh.bytes = fresh.bytes & ~bytes & 15u;
    if (!below_stays) below.bytes = below.bytes & ~bytes & 15u;
    if (fresh.bytes) below = fresh;
    fresh.stamp = a.stamp;
    fresh.serial = a.serial;
    fresh.id = a.instr.id & 0x3fffffu;
    fresh.warp = w.index & 31u;
    fresh.lane = static_cast<std::uint32_t>(31 - std::countl_zero(mask)) & 31u;
    fresh.sync = w.sync_count & kSyncMask;
    fresh.bytes = bytes & 15u;
    fresh.strength = a.strength;
    fresh.block_scope = a.block_scope;
    fresh.unknown_data = async ? !a.reduces : a.data == kUnknownData;
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
        // Lanes at the same place go together: all that an instruction updates, before it is recorded there,
        // and neighbours that read.
        for (int next = lane + 1; a.kind != Kind::write && next < kLanes; ++next) {
            if (!((m >> next) & 1)) continue;
            if (addresses[next] == at)
                same |= Mask{1} << next;
            else if (a.kind == Kind::read)
                break;
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

void shared_access(Warp& w, const Instr& in, Mask exec, Block& home, const std::uint64_t* addresses,
                   std::uint32_t bytes, Kind kind, const std::byte* data, std::uint32_t stride) {
    const Access a = make_access(w, in, kind, true, bytes, data, stride);
    Cell* cells = static_cast<Cell*>(home.shared_shadow);
    each_granule(
        a, exec, addresses,
        [&](std::uint64_t g, Mask lanes, std::uint32_t mask, std::uint64_t at, std::uint32_t offset) {
            touch<false>(a, cells[g >> 2], lanes, mask, at, offset, home.shared + g, nullptr);
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
                touch<false>(a, *cell, lanes, mask, at, offset, buffer.data() + (g - buffer.address),
                             &buffer);
        });
}

static std::uint32_t new_stamp(Block& block) {
    std::vector<std::uint64_t>& blocks = block.launch->stamp_owner;
    blocks.push_back(block.ordinal);
    return static_cast<std::uint32_t>(blocks.size() - 1);
}

// ---- the async proxy ----

std::uint32_t async_stamp(Block& block, std::uint32_t agent) {
    Launch& launch = *block.launch;
    const std::uint32_t stamp = new_stamp(block);
    launch.stamp_owner[stamp] |= std::uint64_t{agent} << exec::kAgentShift;
    return stamp;
}
static std::uint32_t new_agent(exec::Cluster& cluster, const Launch& launch) {
    return launch.blocks_per_cluster * launch.warps_per_block + cluster.agents++;
}
std::uint32_t mbarrier_agent(Block& home, std::uint32_t address) {
    exec::Cluster& cluster = *home.cluster;
    const auto key = std::make_pair(home.rank, address);
    const auto it = cluster.mbarrier_agents.find(key);
    if (it != cluster.mbarrier_agents.end()) return it->second;
    return cluster.mbarrier_agents[key] = new_agent(cluster, *home.launch);
}
std::uint32_t warp_agent(Warp& w, Agent which) {
    std::uint32_t& agent = w.agents[static_cast<std::size_t>(which)];
    if (agent == 0) agent = new_agent(*w.block->cluster, *w.launch);
    return agent;
}
void complete_async(exec::Warp& w, std::uint32_t stamp) {
    const std::uint32_t agent = agent_of(*w.launch, stamp);
    if (w.clock.size() <= agent) w.clock.resize(agent + 1, 0);
    w.clock[agent] = std::max(w.clock[agent], stamp);
}
bool is_complete(const exec::Warp& w, std::uint32_t stamp) {
    const std::uint32_t agent = agent_of(*w.launch, stamp);
    return agent < w.clock.size() && w.clock[agent] >= stamp;
}
void mbarrier_landed(Block& home, std::uint32_t address, std::uint32_t stamp) {
    exec::BarrierClock& clock = home.mbarriers[address];
    const std::uint32_t agent = agent_of(*home.launch, stamp);
    for (std::vector<std::uint32_t>* arriving : {&clock.arriving, &clock.arriving_near}) {
        if (arriving->size() <= agent) arriving->resize(agent + 1, 0);
        (*arriving)[agent] = std::max((*arriving)[agent], stamp);
    }
}

static Access async_access_of(Warp& w, const Instr& in, Kind kind, bool shared, std::uint32_t bytes,
                              std::uint32_t stamp, bool reduction) {
    Access a = make_access(w, in, kind, shared, bytes, kUnknownData, 0);
    a.proxy = true;
    a.reduces = reduction;
    a.block_scope = false;
    a.strength = stamp ? async_access : plain;
    if (stamp) a.stamp = stamp;
    return a;
}
void async_shared(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, std::uint32_t bytes,
                  Kind kind, std::uint32_t stamp, bool reduction, bool through_proxy) {
    Access a = async_access_of(w, in, kind, true, bytes, stamp, reduction);
    a.proxy = through_proxy;
    std::uint64_t addresses[kLanes] = {};
    addresses[lane] = at;
    Cell* cells = static_cast<Cell*>(home.shared_shadow);
    each_granule(
        a, Mask{1} << lane, addresses,
        [&](std::uint64_t g, Mask lanes, std::uint32_t mask, std::uint64_t begin, std::uint32_t offset) {
            touch<true>(a, cells[g >> 2], lanes, mask, begin, offset, home.shared + g, nullptr);
        });
}
void async_global(Warp& w, const Instr& in, int lane, Buffer& buffer, std::uint64_t at, std::uint32_t bytes,
                  Kind kind, std::uint32_t stamp, bool reduction) {
    if (!buffer.shadow) return;
    const Access a = async_access_of(w, in, kind, false, bytes, stamp, reduction);
    std::uint64_t addresses[kLanes] = {};
    addresses[lane] = at;
    each_granule(
        a, Mask{1} << lane, addresses,
        [&](std::uint64_t g, Mask lanes, std::uint32_t mask, std::uint64_t begin, std::uint32_t offset) {
            const std::uint64_t index = (g - buffer.address) >> 2;
            if (Cell* cell = buffer.shadow->cell(index))
                touch<true>(a, *cell, lanes, mask, begin, offset, buffer.data() + (g - buffer.address),
                            &buffer);
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

void start_cluster(exec::Cluster& cluster) {
    Launch& launch = *cluster.blocks.front()->launch;
    const std::uint32_t before = static_cast<std::uint32_t>(launch.stamp_owner.size()) - 1;
    cluster.start_stamp = before;
    for (Block* block : cluster.blocks) {
        block->now = new_stamp(*block);
        for (const auto& w : block->warps) {
            w->clock.assign(block->warps.size() * cluster.blocks.size(), before);
            w->fenced.clear();
            w->floor = before;
        }
    }
}
bool known_to_have_started(const Warp& w, const Block& other) {
    const std::size_t first = std::size_t{other.rank} * w.launch->warps_per_block;
    for (std::size_t v = first; v < first + w.launch->warps_per_block; ++v)
        if (w.clock[v] > w.block->cluster->start_stamp) return true;
    return false;
}

// Elementwise maximum; an entry that is not there is zero: nothing.
static void raise(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& from) {
    if (into.size() < from.size()) into.resize(from.size(), 0);
    for (std::size_t v = 0; v < from.size(); ++v) into[v] = std::max(into[v], from[v]);
}
// The same, sharing a snapshot where one has it all.
static void join(exec::Stamps& into, const exec::Stamps& from) {
    if (!from || into == from) return;
    bool more = !into, less = into && into->size() > from->size();
    for (std::size_t v = 0; into && v < from->size(); ++v) {
        const std::uint32_t known = v < into->size() ? (*into)[v] : 0;
        more |= (*from)[v] > known;
        less |= (*from)[v] < known;
    }
    if (!more) return;
    if (!less) {
        into = from;
        return;
    }
    std::vector<std::uint32_t> both = *into;
    raise(both, *from);
    into = std::make_shared<const std::vector<std::uint32_t>>(std::move(both));
}

// The warp's view of its own cluster grows.
static void order_after(Warp& w, const std::vector<std::uint32_t>& stamps) {
    raise(w.clock, stamps);
    std::uint32_t low = ~0u;
    for (std::size_t v = 0; v < w.launch->warps_per_block * w.launch->blocks_per_cluster; ++v)
        low = std::min(low, w.clock[v]);
    w.floor = std::max(w.floor, low);
}

static void take_pending(Warp& w, bool block_scope) {
    if (w.pending.empty()) return;
    Block& block = *w.block;
    for (const auto& [other, stamps] : w.pending) {
        if (other == block.cluster->number) {
            order_after(w, *stamps);
            raise(w.fenced, *stamps);  // fences of this path are not followed: taken as proxy fences, too
            continue;
        }
        if (block_scope) continue;
        exec::Stamps& seen = block.seen[other];
        const exec::Stamps before = seen;
        join(seen, stamps);
        block.version += seen != before;
    }
    if (block_scope)
        std::erase_if(w.pending, [&](const auto& noted) { return noted.first == block.cluster->number; });
    else
        w.pending.clear();
}

void acquire_noted(Warp& w, bool block_scope) { take_pending(w, block_scope); }

static void publish(Warp& w, const exec::Stamps& stamps, bool block_scope) {
    const exec::Stamps before = w.published, before_in_cluster = w.published_in_cluster;
    if (!block_scope) join(w.published, stamps);
    join(w.published_in_cluster, stamps);
    w.version += w.published != before || w.published_in_cluster != before_in_cluster;
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

void exchange(Warp& w, Mask lanes) {
    w.sync_count += 1;
    if ((w.live & ~lanes) == 0) {
        w.read_floor = w.sync_count;
        return;
    }
    if (!w.read_order) {
        w.read_order = std::make_unique<std::array<std::array<std::uint32_t, kLanes>, kLanes>>();
        for (auto& row : *w.read_order) row.fill(0);
    }
    exec::for_lanes(lanes, [&](int i) {
        auto& row = (*w.read_order)[static_cast<std::size_t>(i)];
        for (std::size_t k = 0; k < kLanes; ++k)
            if (lanes >> k & 1) row[k] = w.sync_count;
    });
}

void barrier(Block& block, const std::vector<std::uint32_t>& arrivals,
             const std::vector<std::uint32_t>& waiters) {
    std::vector<std::uint32_t> joined(block.warps.front()->clock.size(), 0), fenced;
    exec::Stamps published, published_in_cluster;
    for (const std::uint32_t a : arrivals) {
        Warp& w = *block.warps[a];
        take_pending(w, false);
        raise(joined, w.clock);
        raise(fenced, w.fenced);
        join(published, w.published);
        join(published_in_cluster, w.published_in_cluster);
    }
    for (const std::uint32_t a : arrivals) joined[block.warps[a]->slot] = block.now;
    for (const std::uint32_t b : waiters) {
        Warp& w = *block.warps[b];
        // All lanes of a waiting warp arrived, so its own accesses are ordered too.
        order_after(w, joined);
        raise(w.fenced, fenced);
        publish(w, published, false);
        publish(w, published_in_cluster, true);
        warp_sync(w, exec::kAllLanes);
    }
    block.now = new_stamp(block);
}

// An arrival: what the warp has done and knows goes to those who wait; `relaxed`: what it has published.
static void arrive_at(Warp& w, exec::BarrierClock& clock, bool relaxed, bool own_block) {
    Block& block = *w.block;
    take_pending(w, false);
    join(clock.published, w.published);
    join(clock.published_in_cluster, w.published_in_cluster);
    if (relaxed) {
        if (!w.published_in_cluster) return;
        raise(clock.arriving, *w.published_in_cluster);
        if (own_block) raise(clock.arriving_near, *w.published_in_cluster);
        raise(clock.arriving_fenced, *w.published_in_cluster);
        return;
    }
    const auto arrive = [&](std::vector<std::uint32_t>& arriving) {
        raise(arriving, w.clock);
        arriving[w.slot] = std::max(arriving[w.slot], block.now);
    };
    arrive(clock.arriving);
    if (own_block) arrive(clock.arriving_near);
    raise(clock.arriving_fenced, w.fenced);
    block.now = new_stamp(block);
}
static void complete_phase(exec::BarrierClock& clock) {
    raise(clock.completed, clock.arriving);
    raise(clock.completed_near, clock.arriving_near);
    raise(clock.completed_fenced, clock.arriving_fenced);
}
static void acquire_phase(Warp& w, const exec::BarrierClock& clock, bool own_block) {
    const std::vector<std::uint32_t>& completed = own_block ? clock.completed_near : clock.completed;
    if (!completed.empty()) order_after(w, completed);
    raise(w.fenced, clock.completed_fenced);
    publish(w, clock.published, false);
    publish(w, clock.published_in_cluster, true);
}
// What the block knows of other clusters, another block of its own learns by synchronising with it.
static void share_seen(const Block& from, Block& to) {
    if (&from == &to) return;
    for (const auto& [other, stamps] : from.seen) {
        exec::Stamps& seen = to.seen[other];
        const exec::Stamps before = seen;
        join(seen, stamps);
        to.version += seen != before;
    }
}

void mbarrier_arrive(Warp& w, Block& home, std::uint32_t address, bool relaxed) {
    arrive_at(w, home.mbarriers[address], relaxed, &home == w.block);
    share_seen(*w.block, home);
}
void mbarrier_complete(Block& home, std::uint32_t address) {
    if (const auto it = home.mbarriers.find(address); it != home.mbarriers.end()) complete_phase(it->second);
}
void mbarrier_acquire(Warp& w, Block& home, std::uint32_t address, bool own_block) {
    const auto it = home.mbarriers.find(address);
    if (it == home.mbarriers.end() || it->second.completed.empty()) return;
    acquire_phase(w, it->second, own_block);
}
void mbarrier_note(Warp& w, Block& home, std::uint32_t address) {
    const auto it = home.mbarriers.find(address);
    if (it == home.mbarriers.end() || it->second.completed.empty()) return;
    join(w.pending[w.block->cluster->number],
         std::make_shared<const std::vector<std::uint32_t>>(it->second.completed));
}

void cluster_arrive(Warp& w, bool relaxed) { arrive_at(w, w.block->cluster->barrier, relaxed, false); }
void cluster_complete(exec::Cluster& cluster) {
    complete_phase(cluster.barrier);
    for (Block* from : cluster.blocks)
        for (Block* to : cluster.blocks)
            if (from && to) share_seen(*from, *to);
}
void cluster_acquire(Warp& w) {
    acquire_phase(w, w.block->cluster->barrier, false);
    warp_sync(w, exec::kAllLanes);
}

void proxy_fence(Warp& w) {
    Block& block = *w.block;
    raise(w.fenced, w.clock);
    w.fenced[w.slot] = block.now;
    block.now = new_stamp(block);
}

void publish_all(Warp& w, bool block_scope) {
    Block& block = *w.block;
    std::vector<std::uint32_t> stamps = w.clock;
    stamps[w.slot] = block.now;
    publish(w, std::make_shared<const std::vector<std::uint32_t>>(std::move(stamps)), block_scope);
    block.now = new_stamp(block);
}

void release(Warp& w, Block* home, std::uint64_t address, bool block_scope) {
    Block& block = *w.block;
    if (home) {
        if (w.published_in_cluster)
            join(home->shared_sync[static_cast<std::uint32_t>(address)], w.published_in_cluster);
        return;
    }
    const std::uint64_t cluster = block.cluster->number;
    if (!w.published_in_cluster && (block_scope || block.seen.empty())) return;
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
    if (w.published_in_cluster) join(location.within[cluster], w.published_in_cluster);
    if (block_scope) return;
    if (w.published) join(location.others[cluster], w.published);
    for (const auto& [other, stamps] : block.seen) join(location.others[other], stamps);
}

void acquire(Warp& w, Block* home, std::uint64_t address, bool block_scope) {
    const std::uint64_t cluster = w.block->cluster->number;
    if (home) {
        const auto it = home->shared_sync.find(static_cast<std::uint32_t>(address));
        if (it != home->shared_sync.end()) join(w.pending[cluster], it->second);
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
    if (const auto own = location.within.find(cluster); own != location.within.end())
        join(w.pending[cluster], own->second);
    if (block_scope) return;
    for (const auto& [other, stamps] : location.others)
        if (other != cluster) join(w.pending[other], stamps);
}

}  // namespace emulator::races

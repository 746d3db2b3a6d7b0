// Loads and stores of a warp: addresses, checks, data, counters. The common shapes (all lanes active and
// consecutive or equal addresses, one buffer) are recognised first; everything else goes lane by lane.
#include <algorithm>

#include "emulator/src/counters/access.h"
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

using races::Kind;

constexpr u64 kSpan = 4096;  // bytes of which the written bits are looked at as a whole first

struct Request {
    alignas(64) u64 address[kLanes];  // reach them with addresses() where `deferred` may be set
    counters::Shape shape;
    u32 bytes = 0;
    bool deferred = false;  // all lanes, consecutive or equal: the shape says it all

    const u64* addresses() {
        if (deferred)
            for (int i = 0; i < kLanes; ++i)
                address[i] = shape.low + (shape.equal ? 0 : static_cast<u64>(i) * bytes);
        deferred = false;
        return address;
    }
};

inline Request of_one_lane(const Request& r, int lane) {
    Request one;
    one.bytes = r.bytes;
    std::fill_n(one.address, kLanes, r.address[lane]);
    one.shape.low = one.shape.high = one.shape.any = r.address[lane];
    one.shape.equal = true;
    return one;
}

inline void fill_addresses(Warp& w, const Instr& in, const Slot& base, u64* out, u64 origin = 0) {
    u64 offset = static_cast<u64>(in.imm) - origin;
    if (in.has(flag::frame_relative)) offset += w.frame->local_base;
    if (base.is_wide()) {
        const u64* b = wide(w, base);
        for (int i = 0; i < kLanes; ++i) out[i] = b[i] + offset;
    } else {
        const u32* b = narrow(w, base);
        for (int i = 0; i < kLanes; ++i) out[i] = static_cast<u32>(b[i] + static_cast<u32>(offset));
    }
}

// The commonest shapes, told from the base register alone.
inline bool analyse_base(Request& r, const Instr& in, const u64* b, u64 origin) {
    const u64 base = b[0];
    u64 gaps = 0;
    for (int i = 0; i < kLanes; ++i) gaps |= b[i] ^ (base + static_cast<u64>(i) * r.bytes);
    u64 differences = 0;
    if (gaps)
        for (int i = 0; i < kLanes; ++i) differences |= b[i] ^ base;
    const u64 low = base + static_cast<u64>(in.imm) - origin, high = low + (gaps ? 0 : u64{31} * r.bytes);
    if ((gaps && differences) || high < low) return false;
    r.shape.consecutive = gaps == 0;
    r.shape.equal = gaps != 0;
    r.shape.quarters = false;
    r.shape.low = r.shape.any = low;
    r.shape.high = high;
    r.deferred = true;
    return true;
}

// Each quarter of the warp is a run or one address: its ends.
inline bool find_quarters(const Request& r, counters::Shape& s) {
    for (int q = 0; q < 4; ++q) {
        const u64* b = r.address + 8 * q;
        u64 run = 0, same = 0;
        for (int i = 0; i < 8; ++i) {
            run |= b[i] ^ (b[0] + static_cast<u64>(i) * r.bytes);
            same |= b[i] ^ b[0];
        }
        if ((run != 0 && same != 0) || b[7] < b[0]) return false;
        s.begin[q] = b[0];
        s.end[q] = b[7] + r.bytes;
    }
    return true;
}

// Lowest and highest address, alignment, and whether lanes are consecutive or equal. Inactive lanes get the
// first active one's address, so that later loops need no mask.
inline void analyse(Request& r, Mask exec) {
    counters::Shape& s = r.shape;
    u64* const a = r.address;
    const int first = std::countr_zero(exec);
    const u64 base = a[first];
    const bool full = exec == kAllLanes;
    if (!full)
        for (int i = 0; i < kLanes; ++i) a[i] = (exec >> i) & 1 ? a[i] : base;
    const bool run = ((exec >> first) & ((exec >> first) + 1)) == 0;  // active lanes are neighbours
    u64 gaps = 0, differences = 0;
    if (full) {
        for (int i = 0; i < kLanes; ++i) gaps |= a[i] ^ (base + static_cast<u64>(i) * r.bytes);
    } else if (run) {
        for (int i = 0; i < kLanes; ++i)
            gaps |= (exec >> i) & 1 ? a[i] ^ (base + static_cast<u64>(i - first) * r.bytes) : 0;
    }
    s.quarters = s.equal = false;
    s.low = s.high = s.any = base;
    s.consecutive = run && gaps == 0 && (exec & (exec - 1)) != 0;
    if (s.consecutive) {
        s.high = a[31 - std::countl_zero(exec)];
        return;
    }
    for (int i = 0; i < kLanes; ++i) differences |= a[i] ^ base;
    s.equal = differences == 0;
    if (s.equal) return;
    u64 any = 0;
    s64 low = static_cast<s64>(base), high = low;  // addresses have 48 bits
    for (int i = 0; i < kLanes; ++i) {
        const s64 v = static_cast<s64>(a[i]);
        low = v < low ? v : low;
        high = v > high ? v : high;
        any |= a[i];
    }
    s.any = any;
    s.low = static_cast<u64>(low);
    s.high = static_cast<u64>(high);
    if (low < 0 || high < 0) {  // not even addresses: make the check fail
        s.low = 0;
        s.high = ~u64{0} - 64;
    }
    s.quarters = full && r.bytes == 4 && find_quarters(r, s);
}

inline u64 fetch(const std::byte* at, u32 size) {
    u64 v = 0;
    switch (size) {
        case 1:
            std::memcpy(&v, at, 1);
            break;
        case 2:
            std::memcpy(&v, at, 2);
            break;
        case 4:
            std::memcpy(&v, at, 4);
            break;
        default:
            std::memcpy(&v, at, 8);
            break;
    }
    return v;
}
inline u64 extended(u64 v, u32 size, bool is_signed) {
    if (!is_signed) return v;
    switch (size) {
        case 1:
            return static_cast<u64>(static_cast<s64>(static_cast<s8>(v)));
        case 2:
            return static_cast<u64>(static_cast<s64>(static_cast<s16>(v)));
        case 4:
            return static_cast<u64>(static_cast<s64>(static_cast<s32>(v)));
        default:
            return v;
    }
}

// Values of type T from every lane's place, as register cells: inactive lanes read where the first active one
// does (analyse).
template <class T, class C>
inline void gather(C* out, const std::byte* from, const u64* address, u64 stride, C keep, Mask exec) {
    alignas(64) C got[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        T value;
        std::memcpy(&value, from + address[i] + static_cast<u64>(i) * stride, sizeof value);
        got[i] = static_cast<C>(value) & keep;
    }
    put(out, got, exec);
}
template <class C>
inline void gather_any(C* out, const Instr& in, const std::byte* from, const u64* address, u64 stride, C keep,
                       Mask exec) {
    const bool sign = in.has(flag::is_signed);
    switch (in.size) {
        case 1:
            return sign ? gather<s8>(out, from, address, stride, keep, exec)
                        : gather<u8>(out, from, address, stride, keep, exec);
        case 2:
            return sign ? gather<s16>(out, from, address, stride, keep, exec)
                        : gather<u16>(out, from, address, stride, keep, exec);
        case 4:
            return sign ? gather<s32>(out, from, address, stride, keep, exec)
                        : gather<u32>(out, from, address, stride, keep, exec);
        default:
            return gather<u64>(out, from, address, stride, keep, exec);
    }
}

// Four bytes for each lane.
inline void load_quarters(u32* out, const std::byte* from, const counters::Shape& shape) {
    for (int q = 0; q < 4; ++q) {
        if (shape.end[q] - shape.begin[q] == 32) {
            std::memcpy(out + 8 * q, from + shape.begin[q], 32);
        } else {
            u32 value;
            std::memcpy(&value, from + shape.begin[q], 4);
            for (int i = 0; i < 8; ++i) out[8 * q + i] = value;
        }
    }
}

// base + address[i] is where lane i's data lies in host memory; `stride` is added per lane (local memory).
inline void load_data(Warp& w, const Instr& in, Mask exec, Request& r, const std::byte* base, u64 stride) {
    const bool one_run = exec == kAllLanes && r.shape.consecutive && in.vector == 1;
    const u64 first = r.shape.low;  // where it counts: of a run, or of equal addresses
    for (int v = 0; v < in.vector; ++v) {
        const Slot& d = in.destination(v);
        const std::byte* from = base + static_cast<u64>(v) * in.size;
        if (stride != 0) {
            if (d.is_wide())
                gather_any(wide(w, d), in, from, r.addresses(), stride, ~u64{0}, exec);
            else
                gather_any(narrow(w, d), in, from, r.addresses(), stride,
                           in.has(flag::narrow_gap) ? u32{0xffff} : ~u32{0}, exec);
            continue;
        }
        if (d.is_wide()) {
            u64* out = wide(w, d);
            if (one_run && in.size == 8)
                std::memcpy(out, from + first, 256);
            else if (r.shape.equal)
                fill(out, extended(fetch(from + first, in.size), in.size, in.has(flag::is_signed)), exec);
            else
                gather_any(out, in, from, r.addresses(), 0, ~u64{0}, exec);
            continue;
        }
        u32* out = narrow(w, d);
        const u32 keep = in.has(flag::narrow_gap) ? 0xffffu : 0xffffffffu;
        if (one_run && in.size == 4)
            std::memcpy(out, from + first, 128);
        else if (r.shape.equal)
            fill(out,
                 static_cast<u32>(extended(fetch(from + first, in.size), in.size, in.has(flag::is_signed))) &
                     keep,
                 exec);
        else if (r.shape.quarters && in.vector == 1)
            load_quarters(out, from, r.shape);
        else
            gather_any(out, in, from, r.addresses(), 0, keep, exec);
    }
}

template <class T, class C>
inline void scatter(const C* values, std::byte* to, const u64* address, u64 stride, Mask exec) {
    for_lanes(exec, [&](int i) {
        const T value = static_cast<T>(values[i]);
        std::memcpy(to + address[i] + static_cast<u64>(i) * stride, &value, sizeof value);
    });
}
template <class C>
inline void scatter_any(const C* values, u32 size, std::byte* to, const u64* address, u64 stride, Mask exec) {
    switch (size) {
        case 1:
            return scatter<u8>(values, to, address, stride, exec);
        case 2:
            return scatter<u16>(values, to, address, stride, exec);
        case 4:
            return scatter<u32>(values, to, address, stride, exec);
        default:
            return scatter<u64>(values, to, address, stride, exec);
    }
}
inline void store_data(Warp& w, const Instr& in, Mask exec, Request& r, std::byte* base, u64 stride) {
    const bool one_run = exec == kAllLanes && r.shape.consecutive && in.vector == 1 && stride == 0;
    for (int v = 0; v < in.vector; ++v) {
        const Slot& s = in.source(1 + v);
        std::byte* to = base + static_cast<u64>(v) * in.size;
        if (s.is_wide()) {
            if (one_run && in.size == 8)
                std::memcpy(to + r.shape.low, wide(w, s), 256);
            else
                scatter_any(wide(w, s), in.size, to, r.addresses(), stride, exec);
        } else {
            if (one_run && in.size == 4)
                std::memcpy(to + r.shape.low, narrow(w, s), 128);
            else
                scatter_any(narrow(w, s), in.size, to, r.addresses(), stride, exec);
        }
    }
}

// ---- global ----
// The one buffer that all lanes lie in, or null after reporting the first lane that is wrong. Lanes in
// several buffers are legal: `mixed` is set, and the caller goes lane by lane.
Buffer* resolve(Warp& w, const Instr& in, Mask exec, Request& r, bool is_store, bool& mixed) {
    Memory::Impl& memory = *w.launch->memory;
    mixed = false;
    Buffer* buffer = memory.at(r.shape.low);
    if (buffer && buffer->contains(r.shape.low, r.bytes) && buffer->contains(r.shape.high, r.bytes) &&
        (r.shape.any & (r.bytes - 1)) == 0 && (!is_store || buffer->writable))
        return buffer;
    bool failed = false;
    const u64* address = r.addresses();
    for_lanes(exec, [&](int i) {
        if (failed) return;
        const u64 at = address[i];
        Buffer* b = memory.at(at);
        if (!b || !b->contains(at, r.bytes)) {
            report_bad_address(w, in, i, at, r.bytes, is_store);
            failed = true;
        } else if (at & (r.bytes - 1)) {
            report_misaligned(w, in, i, at, r.bytes, is_store, "global memory");
            failed = true;
        } else if (is_store && !b->writable) {
            report_bad_address(w, in, i, at, r.bytes, true);
            failed = true;
        }
    });
    if (failed) return nullptr;
    mixed = true;
    return buffer;
}

void claim(Buffer& buffer, Mask exec, const Request& r, bool is_store) {
    if (r.shape.consecutive || r.shape.equal)
        buffer.claim(r.shape.low, r.shape.high - r.shape.low + r.bytes, is_store);
    else
        for_lanes(exec, [&](int i) { buffer.claim(r.address[i], r.bytes, is_store); });
}

void load_from_buffer(Warp& w, const Instr& in, Mask exec, Request& r, Buffer& buffer) {
    Launch& launch = *w.launch;
    if (buffer.claims) claim(buffer, exec, r, false);
    Mask undefined = 0;
    if (buffer.track_initialised && launch.check_initialised) {
        const u64* bits = buffer.bits();
        const u64 low = r.shape.low - buffer.address;
        const u64 span = r.shape.high - r.shape.low + r.bytes;
        if (span > kSpan || !all_bits(bits, low, span))
            for_lanes(exec, [&](int i) {
                if (!all_bits(bits, r.addresses()[i] - buffer.address, r.bytes)) undefined |= Mask{1} << i;
            });
    }
    if (launch.check_races && buffer.shadow)
        races::global_access(w, in, exec, buffer, r.addresses(), r.bytes, Kind::read);
    load_data(w, in, exec, r, buffer.data() - buffer.address, 0);
    if (undefined || w.tainted)
        note_loaded(w, in, exec, undefined, &buffer, r.addresses(), r.bytes, buffer.bits(), buffer.address);
}

void load_global_request(Warp& w, const Instr& in, Mask exec, Request& r) {
    bool mixed = false;
    Buffer* buffer = resolve(w, in, exec, r, false, mixed);
    if (!buffer) return;
    w.launch->clock.pass(200, 400);
    if (in.has(flag::is_volatile)) sync_read(w, in, exec, r.addresses(), nullptr);
    if (w.launch->count) {
        if (in.space == ptx::Space::constant)
            w.launch->accesses[in.id].constants += 1;
        else
            counters::count_global(w, in, exec, r.address, r.bytes, r.shape, mixed ? nullptr : buffer, false);
        w.global_loads += in.space != ptx::Space::constant;
    }
    if (!mixed) {
        load_from_buffer(w, in, exec, r, *buffer);
        return;
    }
    for_lanes(exec, [&](int i) {
        Request one = of_one_lane(r, i);
        load_from_buffer(w, in, Mask{1} << i, one, *w.launch->memory->at(r.address[i]));
    });
}

void store_to_buffer(Warp& w, const Instr& in, Mask exec, Request& r, Buffer& buffer) {
    if (buffer.claims) claim(buffer, exec, r, true);
    if (w.launch->check_races && buffer.shadow)
        races::global_access(w, in, exec, buffer, r.addresses(), r.bytes, Kind::write);
    if (!w.launch->watched.empty()) note_watched(w, in, exec, r.addresses(), r.bytes);
    store_data(w, in, exec, r, buffer.data() - buffer.address, 0);
    if (buffer.track_initialised) {
        if (r.shape.consecutive)
            buffer.mark_written(r.shape.low - buffer.address, r.shape.high - r.shape.low + r.bytes);
        else
            for_lanes(exec, [&](int i) { buffer.mark_written(r.addresses()[i] - buffer.address, r.bytes); });
    }
    if (w.tainted) note_stored_global(w, in, exec, buffer, r.addresses(), r.bytes);
}

void store_global_request(Warp& w, const Instr& in, Mask exec, Request& r) {
    bool mixed = false;
    Buffer* buffer = resolve(w, in, exec, r, true, mixed);
    if (!buffer) return;
    w.launch->clock.pass(20, 40);
    w.block->writes += 1;
    if (w.launch->count)
        counters::count_global(w, in, exec, r.address, r.bytes, r.shape, mixed ? nullptr : buffer, true);
    if (!mixed) {
        store_to_buffer(w, in, exec, r, *buffer);
    } else {
        for_lanes(exec, [&](int i) {
            Request one = of_one_lane(r, i);
            store_to_buffer(w, in, Mask{1} << i, one, *w.launch->memory->at(r.address[i]));
        });
    }
    if (in.has(flag::is_volatile)) sync_write(w, in, exec, r.addresses(), nullptr);
}

// ---- shared ----
// `home` is the block of the cluster in whose shared memory the addresses (offsets) are.
bool shared_ok(Warp& w, const Instr& in, Mask exec, Request& r, const Block& home, bool is_store) {
    const u64 limit = home.shared_bytes;
    if (r.shape.low <= r.shape.high && !is_beyond(r.shape.high, r.bytes, limit) &&
        (r.shape.any & (r.bytes - 1)) == 0)
        return true;
    bool failed = false;
    r.addresses();
    for_lanes(exec, [&](int i) {
        if (failed) return;
        if (is_beyond(r.address[i], r.bytes, limit) && !w.launch->in_reserved_shared(r.address[i], r.bytes)) {
            report_bad_shared(w, in, i, r.address[i], r.bytes, is_store);
            failed = true;
        } else if (r.address[i] & (r.bytes - 1)) {
            report_misaligned(w, in, i, r.address[i], r.bytes, is_store, "shared memory");
            failed = true;
        }
    });
    return !failed;
}

void load_shared_request(Warp& w, const Instr& in, Mask exec, Request& r, Block& home) {
    if (!shared_ok(w, in, exec, r, home, false)) return;
    Launch& launch = *w.launch;
    launch.clock.pass(20, 16);
    if (in.has(flag::is_volatile)) sync_read(w, in, exec, r.addresses(), &home);
    if (launch.count)
        counters::count_shared(w, in, exec, r.bytes > 4 ? r.addresses() : r.address, r.bytes, r.shape, false);
    if (launch.check_races) races::shared_access(w, in, exec, home, r.addresses(), r.bytes, Kind::read);
    Mask undefined = 0;
    if (launch.check_initialised) {
        const u64* bits = home.shared_written;
        const u64 span = r.shape.high - r.shape.low + r.bytes;
        if (span > kSpan || !all_bits(bits, r.shape.low, span))
            for_lanes(exec, [&](int i) {
                if (!all_bits(bits, r.addresses()[i], r.bytes)) undefined |= Mask{1} << i;
            });
    }
    load_data(w, in, exec, r, home.shared, 0);
    if (undefined || w.tainted)
        note_loaded(w, in, exec, undefined, nullptr, r.addresses(), r.bytes, home.shared_written);
}
void store_shared_request(Warp& w, const Instr& in, Mask exec, Request& r, Block& home) {
    if (!shared_ok(w, in, exec, r, home, true)) return;
    Launch& launch = *w.launch;
    launch.clock.pass(10, 16);
    w.block->writes += 1;
    if (&home != w.block) home.writes += 1;
    if (launch.count)
        counters::count_shared(w, in, exec, r.bytes > 4 ? r.addresses() : r.address, r.bytes, r.shape, true);
    if (launch.check_races) races::shared_access(w, in, exec, home, r.addresses(), r.bytes, Kind::write);
    store_data(w, in, exec, r, home.shared, 0);
    if (launch.check_initialised) {
        u64* bits = home.shared_written;
        if (r.shape.consecutive)
            set_bits(bits, r.shape.low, r.shape.high - r.shape.low + r.bytes);
        else
            for_lanes(exec, [&](int i) { set_bits(bits, r.addresses()[i], r.bytes); });
        if (w.tainted) note_stored(w, in, exec, r.addresses(), r.bytes, bits, 0);
    }
    if (in.has(flag::is_volatile)) sync_write(w, in, exec, r.addresses(), &home);
}

// ---- local ----
bool local_ok(Warp& w, const Instr& in, Mask exec, const Request& r, bool is_store) {
    const u64 limit = w.frame->local_base + w.frame->function->frame_bytes;
    bool failed = false;
    if (r.shape.low > r.shape.high || is_beyond(r.shape.high, r.bytes, limit) ||
        (r.shape.any & (r.bytes - 1)))
        for_lanes(exec, [&](int i) {
            if (failed) return;
            if (is_beyond(r.address[i], r.bytes, limit) && !is_allocated(w, i, r.address[i], r.bytes)) {
                report_bad_local(w, in, i, r.address[i], r.bytes, is_store, limit);
                failed = true;
            } else if (r.address[i] & (r.bytes - 1)) {
                report_misaligned(w, in, i, r.address[i], r.bytes, is_store, "local memory");
                failed = true;
            }
        });
    return !failed;
}
void load_local_request(Warp& w, const Instr& in, Mask exec, Request& r) {
    if (!local_ok(w, in, exec, r, false)) return;
    Launch& launch = *w.launch;
    if (launch.count && !in.has(flag::local_param))
        counters::count_local(w, in, exec, r.address, r.bytes, false);
    const u64 stride = launch.local_stride;
    Mask undefined = 0;
    if (launch.check_initialised)
        for_lanes(exec, [&](int i) {
            if (!all_bits(w.local_written, static_cast<u64>(i) * stride + r.address[i], r.bytes))
                undefined |= Mask{1} << i;
        });
    load_data(w, in, exec, r, w.local, stride);
    if (undefined || w.tainted)
        note_loaded(w, in, exec, undefined, nullptr, r.address, r.bytes, w.local_written, 0, stride);
}
void store_local_request(Warp& w, const Instr& in, Mask exec, Request& r) {
    if (!local_ok(w, in, exec, r, true)) return;
    Launch& launch = *w.launch;
    if (launch.count && !in.has(flag::local_param))
        counters::count_local(w, in, exec, r.address, r.bytes, true);
    const u64 stride = launch.local_stride;
    w.local_changes += !in.has(flag::local_param);
    store_data(w, in, exec, r, w.local, stride);
    if (launch.check_initialised) {
        for_lanes(exec, [&](int i) {
            set_bits(w.local_written, static_cast<u64>(i) * stride + r.address[i], r.bytes);
        });
        if (w.tainted) note_stored(w, in, exec, r.address, r.bytes, w.local_written, stride);
    }
}

// ---- handlers ----
// Addresses and shape; with `deferrable`, of the commonest shapes the addresses only when they are asked for.
inline void prepare(Warp& w, const Instr& in, Mask exec, Request& r, bool deferrable, u64 origin = 0) {
    r.bytes = static_cast<u32>(in.size) * in.vector;
    const Slot& base = in.source(0);
    if (deferrable && exec == kAllLanes && base.is_wide() && analyse_base(r, in, wide(w, base), origin))
        return;
    fill_addresses(w, in, base, r.address, origin);
    analyse(r, exec);
}

// Addresses in the cluster's shared window become offsets; lanes go by the block that they mean.
template <class F>
void by_home(Warp& w, const Instr& in, Mask exec, Request& r, F access) {
    if (w.launch->blocks_per_cluster == 1) {
        analyse(r, exec);
        access(w, in, exec, r, *w.block);
        return;
    }
    Block* homes[kLanes] = {};
    bool ok = true;
    for_lanes(exec, [&](int i) { ok = ok && (homes[i] = home_of(w, in, i, r.address[i])) != nullptr; });
    while (ok && exec && !w.launch->stopped) {
        Block* home = homes[std::countr_zero(exec)];
        Mask part = 0;
        for_lanes(exec, [&](int i) { part |= static_cast<Mask>(homes[i] == home) << i; });
        exec &= ~part;
        Request one = r;
        analyse(one, part);
        access(w, in, part, one, *home);
    }
}

void ld_global(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, true);
    load_global_request(w, in, exec, r);
}
void st_global(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, true);
    store_global_request(w, in, exec, r);
}
void ld_shared(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, true, w.block->shared_base);
    load_shared_request(w, in, exec, r, *w.block);
}
void st_shared(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, true, w.block->shared_base);
    store_shared_request(w, in, exec, r, *w.block);
}
void ld_cluster(Warp& w, const Instr& in, Mask exec) {
    Request r;
    r.bytes = static_cast<u32>(in.size) * in.vector;
    fill_addresses(w, in, in.source(0), r.address);
    by_home(w, in, exec, r, load_shared_request);
}
void st_cluster(Warp& w, const Instr& in, Mask exec) {
    Request r;
    r.bytes = static_cast<u32>(in.size) * in.vector;
    fill_addresses(w, in, in.source(0), r.address);
    by_home(w, in, exec, r, store_shared_request);
}
void ld_local(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, false);
    load_local_request(w, in, exec, r);
}
void st_local(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, false);
    store_local_request(w, in, exec, r);
}

// Splits the lanes of a generic access by the window that their address falls into.
template <class G, class S, class L>
void generic(Warp& w, const Instr& in, Mask exec, G global, S shared, L local) {
    Request r;
    prepare(w, in, exec, r, false);
    Mask in_shared = 0, in_local = 0;
    for_lanes(exec, [&](int i) {
        if (is_shared_window(r.address[i])) in_shared |= Mask{1} << i;
        if (is_local_window(r.address[i])) in_local |= Mask{1} << i;
    });
    const Mask in_global = exec & ~(in_shared | in_local);
    if (in_global == exec) {
        global(w, in, exec, r);
        return;
    }
    for (const Mask part : {in_global, in_shared, in_local}) {
        if (!part || w.launch->stopped) continue;
        Request one = r;
        if (part == in_global) {
            analyse(one, part);
            global(w, in, part, one);
            continue;
        }
        const u64 window = part == in_shared ? kSharedWindow : kLocalWindow;
        for_lanes(part, [&](int i) { one.address[i] -= window; });
        if (part == in_shared) {
            by_home(w, in, part, one, shared);
        } else {
            analyse(one, part);
            local(w, in, part, one);
        }
    }
}
void ld_generic(Warp& w, const Instr& in, Mask exec) {
    generic(w, in, exec, load_global_request, load_shared_request, load_local_request);
}
void st_generic(Warp& w, const Instr& in, Mask exec) {
    generic(w, in, exec, store_global_request, store_shared_request, store_local_request);
}

// The launch's arguments, the same for every lane: imm is the offset.
void ld_param(Warp& w, const Instr& in, Mask exec) {
    const std::byte* from = w.launch->arguments.data() + in.imm;
    for (int v = 0; v < in.vector; ++v) {
        const Slot& d = in.destination(v);
        const u64 value = extended(fetch(from + v * in.size, in.size), in.size, in.has(flag::is_signed));
        if (d.is_wide()) {
            fill(wide(w, d), value, exec);
        } else {
            const u32 keep = in.has(flag::narrow_gap) ? 0xffffu : 0xffffffffu;
            fill(narrow(w, d), static_cast<u32>(value) & keep, exec);
        }
    }
    if (w.tainted) clear_taint(w, in, exec);
}

const HandlerEntry entries[] = {
    {"ld.global", ld_global}, {"ld.constant", ld_global}, {"st.global", st_global},
    {"ld.shared", ld_shared}, {"st.shared", st_shared},   {"ld.local", ld_local},
    {"st.local", st_local},   {"ld.generic", ld_generic}, {"st.generic", st_generic},
    {"ld.param", ld_param},   {"ld.cluster", ld_cluster}, {"st.cluster", st_cluster},
};

}  // namespace

HandlerTable memory_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

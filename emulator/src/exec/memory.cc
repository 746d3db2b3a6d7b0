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
    alignas(64) u64 address[kLanes];
    counters::Shape shape;
    u32 bytes = 0;
};

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

// Lowest and highest address, alignment, and whether lanes are consecutive or equal.
inline void analyse(Request& r, Mask exec) {
    counters::Shape& s = r.shape;
    const u64* a = r.address;
    if (exec == kAllLanes) {
        u64 consecutive = 0, equal = 0;
        for (int i = 0; i < kLanes; ++i) {
            consecutive |= a[i] ^ (a[0] + static_cast<u64>(i) * r.bytes);
            equal |= a[i] ^ a[0];
        }
        if (consecutive == 0) {
            s = {a[0], a[31], a[0], true, false, false, {}, {}};
            return;
        }
        if (equal == 0) {
            s = {a[0], a[0], a[0], false, true, false, {}, {}};
            return;
        }
        s.consecutive = s.equal = false;
        s.quarters = true;
        for (int q = 0; q < 4; ++q) {
            const u64* b = a + 8 * q;
            u64 run = 0, same = 0;
            for (int i = 0; i < 8; ++i) {
                run |= b[i] ^ (b[0] + static_cast<u64>(i) * r.bytes);
                same |= b[i] ^ b[0];
            }
            s.quarters &= (run == 0 || same == 0) && b[7] >= b[0];
            s.begin[q] = b[0];
            s.end[q] = b[7] + r.bytes;
        }
        u64 any = 0;
        for (int i = 0; i < kLanes; ++i) any |= a[i];
        s.any = any;
        if (s.quarters) {
            s.low = std::min(std::min(s.begin[0], s.begin[1]), std::min(s.begin[2], s.begin[3]));
            s.high = std::max(std::max(s.end[0], s.end[1]), std::max(s.end[2], s.end[3])) - r.bytes;
            return;
        }
        s64 low = static_cast<s64>(a[0]), high = low;  // addresses have 48 bits
        for (int i = 0; i < kLanes; ++i) {
            const s64 v = static_cast<s64>(a[i]);
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        s.low = static_cast<u64>(low);
        s.high = static_cast<u64>(high);
        if (low < 0 || high < 0) {  // not even addresses: make the check fail
            s.low = 0;
            s.high = ~u64{0} - 64;
        }
        return;
    }
    const int first = std::countr_zero(exec);
    u64 low = a[first], high = low, any = 0, equal = 0, consecutive = 0;
    for_lanes(exec, [&](int i) {
        low = std::min(low, a[i]);
        high = std::max(high, a[i]);
        any |= a[i];
        equal |= a[i] ^ a[first];
        consecutive |= a[i] ^ (a[first] + static_cast<u64>(i - first) * r.bytes);
    });
    const bool run = ((exec >> first) & ((exec >> first) + 1)) == 0;  // active lanes are neighbours
    s = {low, high, any, consecutive == 0 && run && equal != 0, equal == 0, false, {}, {}};
}

inline u64 fetch(const std::byte* at, u32 size) {
    switch (size) {
        case 1:
            return static_cast<u8>(*at);
        case 2: {
            u16 v;
            std::memcpy(&v, at, 2);
            return v;
        }
        case 4: {
            u32 v;
            std::memcpy(&v, at, 4);
            return v;
        }
        default: {
            u64 v;
            std::memcpy(&v, at, 8);
            return v;
        }
    }
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
inline void place(std::byte* at, u32 size, u64 v) { std::memcpy(at, &v, size); }

// base + address[i] is where lane i's data lies in host memory; `stride` is added per lane (local memory).
inline void load_data(Warp& w, const Instr& in, Mask exec, const Request& r, const std::byte* base,
                      u64 stride) {
    const u32 size = in.size;
    const bool sign = in.has(flag::is_signed);
    for (int v = 0; v < in.vector; ++v) {
        const Slot& d = in.destination(v);
        const std::byte* from = base + static_cast<u64>(v) * size;
        if (!d.is_wide() && size == 4) {
            u32* out = narrow(w, d);
            if (exec == kAllLanes && stride == 0) {
                if (r.shape.consecutive && in.vector == 1) {
                    std::memcpy(out, from + r.address[0], 128);
                    continue;
                }
                if (r.shape.equal) {
                    u32 value;
                    std::memcpy(&value, from + r.address[0], 4);
                    for (int i = 0; i < kLanes; ++i) out[i] = value;
                    continue;
                }
                for (int i = 0; i < kLanes; ++i) std::memcpy(out + i, from + r.address[i], 4);
                continue;
            }
            for_lanes(exec, [&](int i) {
                std::memcpy(out + i, from + r.address[i] + static_cast<u64>(i) * stride, 4);
            });
        } else if (d.is_wide()) {
            u64* out = wide(w, d);
            for_lanes(exec, [&](int i) {
                out[i] =
                    extended(fetch(from + r.address[i] + static_cast<u64>(i) * stride, size), size, sign);
            });
        } else {
            u32* out = narrow(w, d);
            const u32 keep = in.has(flag::narrow_gap) ? 0xffffu : 0xffffffffu;
            for_lanes(exec, [&](int i) {
                out[i] =
                    keep & static_cast<u32>(extended(
                               fetch(from + r.address[i] + static_cast<u64>(i) * stride, size), size, sign));
            });
        }
    }
}
inline void store_data(Warp& w, const Instr& in, Mask exec, const Request& r, std::byte* base, u64 stride) {
    const u32 size = in.size;
    for (int v = 0; v < in.vector; ++v) {
        const Slot& s = in.source(1 + v);
        std::byte* to = base + static_cast<u64>(v) * size;
        if (!s.is_wide() && size == 4) {
            const u32* from = narrow(w, s);
            if (exec == kAllLanes && stride == 0 && r.shape.consecutive && in.vector == 1) {
                std::memcpy(to + r.address[0], from, 128);
                continue;
            }
            for_lanes(exec, [&](int i) {
                std::memcpy(to + r.address[i] + static_cast<u64>(i) * stride, from + i, 4);
            });
        } else if (s.is_wide()) {
            const u64* from = wide(w, s);
            for_lanes(exec,
                      [&](int i) { place(to + r.address[i] + static_cast<u64>(i) * stride, size, from[i]); });
        } else {
            const u32* from = narrow(w, s);
            for_lanes(exec,
                      [&](int i) { place(to + r.address[i] + static_cast<u64>(i) * stride, size, from[i]); });
        }
    }
}

// ---- global ----
// The one buffer that all lanes lie in, or null after reporting the first lane that is wrong. Lanes in
// several buffers are legal: `mixed` is set, and the caller goes lane by lane.
Buffer* resolve(Warp& w, const Instr& in, Mask exec, const Request& r, bool is_store, bool& mixed) {
    Memory::Impl& memory = *w.launch->memory;
    mixed = false;
    Buffer* buffer = memory.at(r.shape.low);
    if (buffer && buffer->contains(r.shape.low, r.bytes) && buffer->contains(r.shape.high, r.bytes) &&
        (r.shape.any & (r.bytes - 1)) == 0 && (!is_store || buffer->writable))
        return buffer;
    bool failed = false;
    for_lanes(exec, [&](int i) {
        if (failed) return;
        const u64 at = r.address[i];
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

void load_from_buffer(Warp& w, const Instr& in, Mask exec, const Request& r, Buffer& buffer) {
    Launch& launch = *w.launch;
    Mask undefined = 0;
    if (buffer.track_initialised && launch.check_initialised) {
        const u64* bits = buffer.bits();
        const u64 low = r.shape.low - buffer.address;
        const u64 span = r.shape.high - r.shape.low + r.bytes;
        if (span > kSpan || !all_bits(bits, low, span))
            for_lanes(exec, [&](int i) {
                if (!all_bits(bits, r.address[i] - buffer.address, r.bytes)) undefined |= Mask{1} << i;
            });
    }
    if (launch.check_races && buffer.shadow)
        races::global_access(w, in, exec, buffer, r.address, r.bytes, Kind::read);
    load_data(w, in, exec, r, buffer.data() - buffer.address, 0);
    if (undefined || w.tainted)
        note_loaded(w, in, exec, undefined, &buffer, r.address, r.bytes, buffer.bits(), buffer.address);
}

void load_global_request(Warp& w, const Instr& in, Mask exec, Request& r) {
    bool mixed = false;
    Buffer* buffer = resolve(w, in, exec, r, false, mixed);
    if (!buffer) return;
    w.launch->clock.pass(200, 400);
    if (in.has(flag::is_volatile)) sync_read(w, in, exec, r.address, nullptr);
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
        Request one;
        one.bytes = r.bytes;
        one.address[i] = r.address[i];
        one.shape = {r.address[i], r.address[i], r.address[i], false, true, false, {}, {}};
        load_from_buffer(w, in, Mask{1} << i, one, *w.launch->memory->at(r.address[i]));
    });
}

void store_to_buffer(Warp& w, const Instr& in, Mask exec, const Request& r, Buffer& buffer) {
    if (w.launch->check_races && buffer.shadow)
        races::global_access(w, in, exec, buffer, r.address, r.bytes, Kind::write);
    if (!w.launch->watched.empty()) note_watched(w, in, exec, r.address, r.bytes);
    store_data(w, in, exec, r, buffer.data() - buffer.address, 0);
    if (buffer.track_initialised) {
        if (r.shape.consecutive)
            buffer.mark_written(r.shape.low - buffer.address, r.shape.high - r.shape.low + r.bytes);
        else
            for_lanes(exec, [&](int i) { buffer.mark_written(r.address[i] - buffer.address, r.bytes); });
    }
    if (w.tainted) note_stored_global(w, in, exec, buffer, r.address, r.bytes);
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
            Request one;
            one.bytes = r.bytes;
            one.address[i] = r.address[i];
            one.shape = {r.address[i], r.address[i], r.address[i], false, true, false, {}, {}};
            store_to_buffer(w, in, Mask{1} << i, one, *w.launch->memory->at(r.address[i]));
        });
    }
    if (in.has(flag::is_volatile)) sync_write(w, in, exec, r.address, nullptr);
}

// ---- shared ----
// `home` is the block of the cluster in whose shared memory the addresses (offsets) are.
bool shared_ok(Warp& w, const Instr& in, Mask exec, const Request& r, const Block& home, bool is_store) {
    const u64 limit = home.shared_bytes;
    if (r.shape.low <= r.shape.high && !is_beyond(r.shape.high, r.bytes, limit) &&
        (r.shape.any & (r.bytes - 1)) == 0)
        return true;
    bool failed = false;
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
    if (in.has(flag::is_volatile)) sync_read(w, in, exec, r.address, &home);
    if (launch.count) counters::count_shared(w, in, exec, r.address, r.bytes, r.shape, false);
    if (launch.check_races) races::shared_access(w, in, exec, home, r.address, r.bytes, Kind::read);
    Mask undefined = 0;
    if (launch.check_initialised) {
        const u64* bits = home.shared_written;
        const u64 span = r.shape.high - r.shape.low + r.bytes;
        if (span > kSpan || !all_bits(bits, r.shape.low, span))
            for_lanes(exec, [&](int i) {
                if (!all_bits(bits, r.address[i], r.bytes)) undefined |= Mask{1} << i;
            });
    }
    load_data(w, in, exec, r, home.shared, 0);
    if (undefined || w.tainted)
        note_loaded(w, in, exec, undefined, nullptr, r.address, r.bytes, home.shared_written);
}
void store_shared_request(Warp& w, const Instr& in, Mask exec, Request& r, Block& home) {
    if (!shared_ok(w, in, exec, r, home, true)) return;
    Launch& launch = *w.launch;
    launch.clock.pass(10, 16);
    w.block->writes += 1;
    if (&home != w.block) home.writes += 1;
    if (launch.count) counters::count_shared(w, in, exec, r.address, r.bytes, r.shape, true);
    if (launch.check_races) races::shared_access(w, in, exec, home, r.address, r.bytes, Kind::write);
    store_data(w, in, exec, r, home.shared, 0);
    if (launch.check_initialised) {
        u64* bits = home.shared_written;
        if (r.shape.consecutive)
            set_bits(bits, r.shape.low, r.shape.high - r.shape.low + r.bytes);
        else
            for_lanes(exec, [&](int i) { set_bits(bits, r.address[i], r.bytes); });
        if (w.tainted) note_stored(w, in, exec, r.address, r.bytes, bits, 0);
    }
    if (in.has(flag::is_volatile)) sync_write(w, in, exec, r.address, &home);
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
inline void prepare(Warp& w, const Instr& in, Mask exec, Request& r, u64 origin = 0) {
    r.bytes = static_cast<u32>(in.size) * in.vector;
    fill_addresses(w, in, in.source(0), r.address, origin);
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
        analyse(r, part);
        access(w, in, part, r, *home);
    }
}

void ld_global(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r);
    load_global_request(w, in, exec, r);
}
void st_global(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r);
    store_global_request(w, in, exec, r);
}
void ld_shared(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, w.block->shared_base);
    load_shared_request(w, in, exec, r, *w.block);
}
void st_shared(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r, w.block->shared_base);
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
    prepare(w, in, exec, r);
    load_local_request(w, in, exec, r);
}
void st_local(Warp& w, const Instr& in, Mask exec) {
    Request r;
    prepare(w, in, exec, r);
    store_local_request(w, in, exec, r);
}

// Splits the lanes of a generic access by the window that their address falls into.
template <class G, class S, class L>
void generic(Warp& w, const Instr& in, Mask exec, G global, S shared, L local) {
    Request r;
    prepare(w, in, exec, r);
    Mask in_shared = 0, in_local = 0;
    for_lanes(exec, [&](int i) {
        if (is_shared_window(r.address[i])) in_shared |= Mask{1} << i;
        if (is_local_window(r.address[i])) in_local |= Mask{1} << i;
    });
    const Mask in_global = exec & ~(in_shared | in_local);
    if (in_global) {
        if (in_global != exec) analyse(r, in_global);
        global(w, in, in_global, r);
    }
    for (const Mask part : {in_shared, in_local}) {
        if (!part || w.launch->stopped) continue;
        const u64 window = part == in_shared ? kSharedWindow : kLocalWindow;
        for_lanes(part, [&](int i) { r.address[i] -= window; });
        if (part == in_shared) {
            by_home(w, in, part, r, shared);
        } else {
            analyse(r, part);
            local(w, in, part, r);
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
            u64* out = wide(w, d);
            for_lanes(exec, [&](int i) { out[i] = value; });
        } else {
            u32* out = narrow(w, d);
            const u32 keep = in.has(flag::narrow_gap) ? 0xffffu : 0xffffffffu;
            for_lanes(exec, [&](int i) { out[i] = static_cast<u32>(value) & keep; });
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

#include "emulator/src/exec/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/origins.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

void new_frame_taint(Warp& w, Frame& frame) {
    if (!w.tainted || !frame.taint_store.empty()) return;
    const FunctionCode& f = *frame.function;
    const std::size_t n = f.narrow + f.wide + f.predicates;
    frame.taint_store.assign(n, 0);
    frame.origin_store.assign(n * kLanes, 0);
    const std::size_t at[kBases] = {0, 0, f.narrow, 0, f.narrow + f.wide};
    for (const Base b : {Base::narrow, Base::wide, Base::predicate}) {
        frame.taint[static_cast<std::size_t>(b)] = frame.taint_store.data() + at[static_cast<std::size_t>(b)];
        frame.origin[static_cast<std::size_t>(b)] =
            frame.origin_store.data() + at[static_cast<std::size_t>(b)] * kLanes;
    }
}

static void start_tracking(Warp& w) {
    if (w.tainted) return;
    w.tainted = true;
    for (const auto& frame : w.frames)
        if (frame) new_frame_taint(w, *frame);
}

void begin_frame_taint(Warp& w, Frame& frame, Mask lanes) {
    if (!w.launch->check_initialised || frame.function->unwritten.empty()) {
        new_frame_taint(w, frame);
        return;
    }
    start_tracking(w);
    new_frame_taint(w, frame);
    for (const Slot& slot : frame.function->unwritten) {
        frame.taint[static_cast<std::size_t>(slot.base)][slot.number()] = lanes;
        std::fill_n(frame.origin[static_cast<std::size_t>(slot.base)] + slot.number() * kLanes, kLanes,
                    kNeverWritten);
    }
}

void settle_taint(Warp& w) {
    for (const auto& frame : w.frames)
        for (const Mask taint : frame->taint_store)
            if (taint) return;
    w.tainted = false;
}

Mask taint_of(Warp& w, const Slot& slot) {
    if (!slot.is_register()) return 0;
    const Mask* taint = w.frame->taint[static_cast<std::size_t>(slot.base)];
    return taint ? taint[slot.number()] : 0;
}
static int first_tainted(Warp& w, const Slot& slot) { return std::countr_zero(taint_of(w, slot) | 1u << 31); }
std::uint32_t raw_origin_of(Warp& w, const Slot& slot, int lane) {
    if (!slot.is_register()) return 0;
    const std::uint32_t* origin = w.frame->origin[static_cast<std::size_t>(slot.base)];
    return origin ? origin[slot.number() * kLanes + static_cast<std::uint32_t>(lane)] : 0;
}
std::uint32_t raw_origin_of(Warp& w, const Slot& slot) {
    return raw_origin_of(w, slot, first_tainted(w, slot));
}
static std::uint32_t new_origin(Warp& w, const Instr& in, int lane, const char* rule, std::string what);
std::uint32_t origin_of(Warp& w, const Instr& in, const Slot& slot, int lane) {
    const std::uint32_t origin = raw_origin_of(w, slot, lane);
    if (origin != kNeverWritten) return origin;
    return new_origin(w, in, lane, "uninitialised-read", "uses a variable that was never given a value");
}
std::uint32_t origin_of(Warp& w, const Instr& in, const Slot& slot) {
    return origin_of(w, in, slot, first_tainted(w, slot));
}

// The register's index in the frame's taint_store.
static std::size_t index_of(const Frame& frame, const Slot& slot) {
    return static_cast<std::size_t>(frame.taint[static_cast<std::size_t>(slot.base)] -
                                    frame.taint_store.data()) +
           slot.number();
}
std::uint64_t undefined_bits(Warp& w, const Slot& slot, int lane) {
    if (!((taint_of(w, slot) >> lane) & 1)) return 0;
    const auto it = w.frame->undefined_bits.find(index_of(*w.frame, slot));
    return it == w.frame->undefined_bits.end() ? ~std::uint64_t{0}
                                               : it->second[static_cast<std::size_t>(lane)];
}
void set_undefined_bits(Warp& w, const Slot& slot, int lane, std::uint64_t bits, std::uint32_t origin) {
    if (!slot.is_register() || !w.frame->taint[static_cast<std::size_t>(slot.base)]) return;
    const std::uint64_t all = slot.is_wide() ? ~std::uint64_t{0} : 0xffffffffull;
    if (slot.base == Base::predicate && bits != 0) bits = ~std::uint64_t{0};  // it has but one
    if ((bits & all) == all) bits = ~std::uint64_t{0};
    auto& partial = w.frame->undefined_bits;
    const std::size_t index = index_of(*w.frame, slot);
    auto it = partial.find(index);
    if (it == partial.end() && bits != 0 && ~bits != 0) {
        it = partial.try_emplace(index).first;
        it->second.fill(~std::uint64_t{0});
    }
    if (it != partial.end()) it->second[static_cast<std::size_t>(lane)] = bits;
    Mask& taint = w.frame->taint[static_cast<std::size_t>(slot.base)][slot.number()];
    taint = (taint & ~(Mask{1} << lane)) | static_cast<Mask>(bits != 0) << lane;
    if (bits != 0)
        w.frame->origin[static_cast<std::size_t>(slot.base)]
                       [slot.number() * kLanes + static_cast<std::uint32_t>(lane)] = origin;
}
void taint_lanes(Warp& w, const Slot& slot, Mask exec, Mask tainted, std::uint32_t origin) {
    if (!slot.is_register()) return;
    Mask* taint = w.frame->taint[static_cast<std::size_t>(slot.base)];
    if (!taint) return;
    taint += slot.number();
    *taint = (*taint & ~exec) | (tainted & exec);
    if (!w.frame->undefined_bits.empty()) {
        const auto it = w.frame->undefined_bits.find(index_of(*w.frame, slot));
        if (it != w.frame->undefined_bits.end()) {
            for_lanes(exec, [&](int i) { it->second[static_cast<std::size_t>(i)] = ~std::uint64_t{0}; });
            if (*taint == 0) w.frame->undefined_bits.erase(it);
        }
    }
    std::uint32_t* origins = w.frame->origin[static_cast<std::size_t>(slot.base)] + slot.number() * kLanes;
    for_lanes(tainted & exec, [&](int i) { origins[i] = origin; });
}

void clear_taint(Warp& w, const Instr& in, Mask exec) {
    for (int k = 0; k < in.destinations; ++k) taint_lanes(w, in.destination(k), exec, 0, 0);
}

void report_undefined_use(Warp& w, const Instr& in, int lane, std::uint32_t origin, const char* use) {
    Launch& launch = *w.launch;
    if (origin == 0 || origin > launch.origins.size()) return;
    const Origin& o = launch.origins[origin - 1];
    if (repeated(launch, o.rule, o.id, in.id)) return;
    OtherParty other;
    other.id = in.id;
    other.note = use;
    other.block = w.block->linear;
    other.thread = w.first_thread + static_cast<std::uint32_t>(lane);
    report_id(launch, o.rule, o.id, o.block, o.thread, o.what + ", and the value " + use, false, &other);
}

bool check_taint(Warp& w, const Instr& in, Mask active, Mask exec) {
    if (in.predicate >= 0) {
        Slot p;
        p.base = Base::predicate;
        p.offset = static_cast<std::uint32_t>(in.predicate) * 4;
        if (const Mask t = taint_of(w, p) & active) {
            report_undefined_use(w, in, std::countr_zero(t), origin_of(w, in, p, std::countr_zero(t)),
                                 in.control == Control::branch
                                     ? "decides a branch"
                                     : "decides whether an instruction is executed");
            taint_lanes(w, p, t, 0, 0);
        }
    }
    const bool memory = in.size != 0 && in.pipe == Pipe::lsu && in.sources > 0;
    if (memory || in.control == Control::barrier || in.control == Control::indexed ||
        in.control == Control::call) {
        for (int k = 0; k < std::min<int>(in.sources, in.has(flag::two_addresses) ? 2 : 1); ++k)
            if (const Mask t = taint_of(w, in.source(k)) & exec) {
                report_undefined_use(w, in, std::countr_zero(t),
                                     origin_of(w, in, in.source(k), std::countr_zero(t)),
                                     memory ? "is used as an address" : "decides the control flow");
                taint_lanes(w, in.source(k), t, 0, 0);
            }
    }
    return !w.launch->stopped;
}

static std::uint32_t new_origin(Warp& w, const Instr& in, int lane, const char* rule, std::string what) {
    Launch& launch = *w.launch;
    const auto [it, added] =
        launch.origin_by_id.try_emplace(in.id, static_cast<std::uint32_t>(launch.origins.size() + 1));
    if (added) {
        Origin o;
        o.id = in.id;
        o.rule = rule;
        o.what = std::move(what);
        o.block = w.block->linear;
        o.thread = w.first_thread + static_cast<std::uint32_t>(lane);
        launch.origins.push_back(std::move(o));
    }
    return it->second;
}
static const char* rule_of(const Buffer* buffer) {
    return buffer && buffer->kind == BufferKind::output ? "uninitialised-output-read" : "uninitialised-read";
}
static std::string what_of(Warp& w, const Instr& in, const Buffer* buffer, std::uint64_t address,
                           std::uint32_t bytes) {
    const bool shared = !buffer && (in.space == ptx::Space::shared || in.space == ptx::Space::generic);
    return "reads " + describe(*w.launch, buffer, shared, address, bytes) + ", which nothing has written";
}

// What is known of undefined bytes in the memory that these bits describe, by bit_address().
static std::unordered_map<std::uint64_t, std::uint32_t>& stored_undefined(Warp& w,
                                                                          const std::uint64_t* bits) {
    const bool own = bits == w.block->shared_written || bits == w.local_written;
    return own ? w.block->stored_undefined : w.launch->stored_undefined;
}
static std::uint64_t bit_address(const std::uint64_t* bits, std::uint64_t bit) {
    return reinterpret_cast<std::uintptr_t>(bits) * 8 + bit;
}
// The origin of the undefined value that was stored in one of these bytes; 0: nobody stored any.
static std::uint32_t origin_in_memory(Warp& w, const std::uint64_t* bits, std::uint64_t begin,
                                      std::uint32_t bytes) {
    const auto& known = stored_undefined(w, bits);
    if (known.empty()) return 0;
    for (std::uint32_t b = 0; b < bytes; ++b)
        if (!all_bits(bits, begin + b, 1))
            if (const auto it = known.find(bit_address(bits, begin + b)); it != known.end())
                return it->second;
    return 0;
}

void note_stored_undefined(Warp& w, const std::uint64_t* bits, std::uint64_t begin, std::uint64_t bytes,
                           std::uint32_t origin) {
    for (std::uint64_t i = 0; i < bytes; ++i)
        stored_undefined(w, bits)[bit_address(bits, begin + i)] = origin;
}
void forget_stored_undefined(Warp& w, const std::uint64_t* bits, std::uint64_t begin, std::uint64_t bytes) {
    auto& known = stored_undefined(w, bits);
    if (known.empty()) return;
    for (std::uint64_t i = 0; i < bytes; ++i) known.erase(bit_address(bits, begin + i));
}

void copy_written(Warp& w, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    auto& known = w.block->stored_undefined;
    for (std::uint64_t i = 0; i < bytes; ++i) {
        if (all_bits(w.local_written, from + i, 1)) {
            set_bits(w.local_written, to + i, 1);
            continue;
        }
        clear_bits(w.local_written, to + i, 1);
        if (const auto it = known.find(bit_address(w.local_written, from + i)); it != known.end())
            known[bit_address(w.local_written, to + i)] = it->second;
    }
}

void note_loaded(Warp& w, const Instr& in, Mask exec, Mask undefined, const Buffer* buffer,
                 const std::uint64_t* addresses, std::uint32_t bytes, const std::uint64_t* written,
                 std::uint64_t base, std::uint64_t stride) {
    std::uint32_t origins[kLanes] = {};
    if (undefined) start_tracking(w);
    for_lanes(undefined, [&](int lane) {
        std::uint32_t& origin = origins[lane];
        if (written)
            origin = origin_in_memory(
                w, written, addresses[lane] - base + static_cast<std::uint64_t>(lane) * stride, bytes);
        if (origin) return;
        const auto known = w.launch->origin_by_id.find(in.id);
        origin =
            known != w.launch->origin_by_id.end()
                ? known->second
                : new_origin(w, in, lane, rule_of(buffer), what_of(w, in, buffer, addresses[lane], bytes));
    });
    for (int k = 0; k < in.destinations; ++k) {
        taint_lanes(w, in.destination(k), exec, 0, 0);
        if (!written) {
            for_lanes(undefined, [&](int lane) {
                taint_lanes(w, in.destination(k), Mask{1} << lane, Mask{1} << lane, origins[lane]);
            });
            continue;
        }
        for_lanes(undefined, [&](int lane) {
            const std::uint64_t at = addresses[lane] - base + static_cast<std::uint64_t>(lane) * stride +
                                     static_cast<std::uint64_t>(k) * in.size;
            std::uint64_t bits = 0;
            for (std::uint32_t b = 0; b < in.size; ++b)
                if (!all_bits(written, at + b, 1)) bits |= std::uint64_t{0xff} << (8 * b);
            // a sign that is extended comes from the last byte
            if (in.has(flag::is_signed) && in.size > 0 && in.size < 8) {
                const std::uint32_t sign = 8u * in.size - 1u;
                if (bits >> sign) bits |= ~std::uint64_t{0} << sign;
            }
            set_undefined_bits(w, in.destination(k), lane, bits, origins[lane]);
        });
    }
}

void taint_register(Warp& w, const Instr& in, const Slot& destination, Mask lanes) {
    start_tracking(w);
    const std::uint32_t origin = new_origin(w, in, std::countr_zero(lanes), "uninitialised-read",
                                            "reads memory that nothing has written");
    taint_lanes(w, destination, lanes, lanes, origin);
}

void note_shuffled(Warp& w, const Instr& in, Mask exec, const std::uint8_t* from, Mask absent) {
    if (absent) start_tracking(w);
    std::uint64_t bits[kLanes] = {};
    std::uint32_t origins[kLanes] = {};
    for_lanes(exec, [&](int lane) {
        if ((absent >> lane) & 1) {
            bits[lane] = ~std::uint64_t{0};
            origins[lane] = new_origin(
                w, in, lane, "invalid-shuffle",
                "reads a lane that does not take part in the shuffle (it has exited, or is not in the mask)");
            return;
        }
        bits[lane] = undefined_bits(w, in.source(0), from[lane]);
        if (bits[lane]) origins[lane] = origin_of(w, in, in.source(0), from[lane]);
    });
    for_lanes(exec,
              [&](int lane) { set_undefined_bits(w, in.destination(0), lane, bits[lane], origins[lane]); });
    if (in.destinations == 2) taint_lanes(w, in.destination(1), exec, 0, 0);
}

// Calls f(lane, byte of the element) for every byte that an undefined value of the store lands in.
template <class F>
static void each_undefined_byte(Warp& w, const Instr& in, const Slot& source, Mask exec, F&& f) {
    for_lanes(taint_of(w, source) & exec, [&](int lane) {
        const std::uint64_t bits = undefined_bits(w, source, lane);
        for (std::uint32_t b = 0; b < in.size; ++b)
            if ((bits >> (8 * b)) & 0xff) f(lane, b);
    });
}

void note_stored(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                 std::uint64_t* bits, std::uint64_t stride) {
    (void)bytes;
    for (int v = 0; v < in.vector && 1 + v < in.sources; ++v) {
        const Slot& source = in.source(1 + v);
        if (!(taint_of(w, source) & exec)) continue;
        // Lane by lane: where several store to one place, the last one's value stays there.
        for_lanes(exec, [&](int lane) {
            const std::uint64_t undefined = undefined_bits(w, source, lane);
            const std::uint64_t at = static_cast<std::uint64_t>(lane) * stride + addresses[lane] +
                                     static_cast<std::uint64_t>(v) * in.size;
            set_bits(bits, at, in.size);
            for (std::uint32_t b = 0; b < in.size; ++b) {
                if (!((undefined >> (8 * b)) & 0xff)) continue;
                clear_bits(bits, at + b, 1);
                stored_undefined(w, bits)[bit_address(bits, at + b)] = origin_of(w, in, source, lane);
            }
        });
    }
}
void note_stored_global(Warp& w, const Instr& in, Mask exec, Buffer& buffer, const std::uint64_t* addresses,
                        std::uint32_t bytes) {
    if (buffer.track_initialised && buffer.kind == BufferKind::scratch) {
        std::uint64_t offsets[kLanes] = {};
        for (Mask m = exec; m; m &= m - 1) {
            const int lane = std::countr_zero(m);
            offsets[lane] = addresses[lane] - buffer.address;
        }
        note_stored(w, in, exec, offsets, bytes, buffer.bits(), 0);
        return;
    }
    for (int v = 0; v < in.vector && 1 + v < in.sources; ++v) {
        int first = -1;
        each_undefined_byte(w, in, in.source(1 + v), exec, [&](int lane, std::uint32_t) {
            if (first < 0) first = lane;
        });
        if (first >= 0)
            report_undefined_use(w, in, first, origin_of(w, in, in.source(1 + v), first),
                                 "is stored in an output");
    }
}
void note_updated(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  Block* home) {
    for (int k = 1; k < in.sources; ++k)
        for_lanes(taint_of(w, in.source(k)) & exec, [&](int lane) {
            if (w.launch->stopped) return;
            const std::uint64_t used =
                in.size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * in.size) - 1;
            if (!(undefined_bits(w, in.source(k), lane) & used)) return;
            Buffer* buffer = home ? nullptr : w.launch->memory->at(addresses[lane]);
            const std::uint32_t origin = origin_of(w, in, in.source(k), lane);
            if (home || (buffer->track_initialised && buffer->kind == BufferKind::scratch)) {
                std::uint64_t* bits = home ? home->shared_written : buffer->bits();
                const std::uint64_t at = addresses[lane] - (home ? 0 : buffer->address);
                clear_bits(bits, at, bytes);
                for (std::uint32_t b = 0; b < bytes; ++b)
                    stored_undefined(w, bits)[bit_address(bits, at + b)] = origin;
            } else {
                report_undefined_use(w, in, lane, origin, "updates an output");
            }
        });
}

void report_undefined(Warp& w, const Instr& in, int lane, const Buffer* buffer, std::uint64_t address,
                      std::uint32_t bytes, bool shared) {
    const char* rule = rule_of(buffer);
    if (repeated(*w.launch, rule, in.id, ~0u)) return;
    report(w, rule, in, lane,
           "updates " + describe(*w.launch, buffer, shared, address, bytes) + ", which nothing has written",
           false);
}

// ---- sync-relevant accesses ----

void sync_read(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, Block* home) {
    const int lane = std::countr_zero(exec);
    w.fragment->sync_accesses += 1;
    const std::uint64_t writes = w.block->writes + w.launch->switches;
    const bool again = std::find(w.polled.begin(), w.polled.end(), addresses[lane]) != w.polled.end();
    if (again)
        w.polls += 1;
    else
        w.polled[w.polled_next++ % w.polled.size()] = addresses[lane];
    w.polls_in_vain = again && w.last_sync == &in && w.polled_writes == writes;
    w.polled_writes = writes;
    w.last_sync = &in;
    w.last_sync_address = home ? ~std::uint64_t{0} : addresses[lane];
    w.last_sync_lane = static_cast<std::uint32_t>(lane);
    w.awaited_home = nullptr;
    if (w.stuck_limit && !home) {
        w.sync_watch.clear();
        for (Mask m = exec; m; m &= m - 1) w.sync_watch.push_back(addresses[std::countr_zero(m)]);
    }
    if (!w.launch->check_races) return;
    std::uint64_t last = ~std::uint64_t{0};
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::countr_zero(m)];
        if (at != last) races::acquire(w, home, at, in.has(flag::block_scope));
        last = at;
    }
    if (in.has(flag::acquire)) races::acquire_noted(w, in.has(flag::block_scope));
}
void sync_write(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, Block* home) {
    if (!w.launch->check_races) return;
    if (in.has(flag::release)) races::publish_all(w, in.has(flag::block_scope));
    std::uint64_t last = ~std::uint64_t{0};
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::countr_zero(m)];
        if (at != last) races::release(w, home, at, in.has(flag::block_scope));
        last = at;
    }
}
void sync_within_warp(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, Block* home) {
    if (!w.launch->check_races || !w.published_in_cluster || (exec & (exec - 1)) == 0) return;
    std::uint64_t last = ~std::uint64_t{0};
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::countr_zero(m)];
        if (at != last) races::acquire(w, home, at, in.has(flag::block_scope));
        last = at;
    }
    if (in.has(flag::acquire)) races::acquire_noted(w, in.has(flag::block_scope));
}
void note_watched(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes) {
    Launch& launch = *w.launch;
    if (launch.request->cooperative || !w.block->started_for_waiting) return;
    for (const Watch& watch : launch.watched) {
        if (watch.block == w.block) continue;
        for (Mask m = exec; m; m &= m - 1) {
            const int lane = std::countr_zero(m);
            if (watch.address < addresses[lane] || watch.address >= addresses[lane] + bytes) continue;
            OtherParty other;
            other.id = in.id;
            other.note = "the write it waits for, by a block that need not be running";
            other.block = w.block->linear;
            other.thread = w.first_thread + static_cast<std::uint32_t>(lane);
            const Buffer* buffer = launch.memory->at(watch.address);
            report_id(launch, "inter-block-wait", watch.instr->id, watch.block->linear, watch.thread,
                      "waits for another block to write " +
                          describe(launch, buffer, false, watch.address, 4) +
                          "; nothing guarantees that both blocks are resident (a cooperative launch does)",
                      true, &other);
            return;
        }
    }
}

}  // namespace emulator::exec

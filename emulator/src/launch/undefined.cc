#include "emulator/src/exec/undefined.h"

#include <fmt/format.h>

#include <bit>

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

void new_frame_taint(Warp& w, Frame& frame) {
    if (!w.tainted || !frame.taint_store.empty()) return;
    const FunctionCode& f = *frame.function;
    const std::size_t n = f.narrow + f.wide + f.predicates;
    frame.taint_store.assign(n, 0);
    frame.origin_store.assign(n, 0);
    const std::size_t at[kBases] = {0, 0, f.narrow, 0, f.narrow + f.wide};
    for (const Base b : {Base::narrow, Base::wide, Base::predicate}) {
        frame.taint[static_cast<std::size_t>(b)] = frame.taint_store.data() + at[static_cast<std::size_t>(b)];
        frame.origin[static_cast<std::size_t>(b)] =
            frame.origin_store.data() + at[static_cast<std::size_t>(b)];
    }
}

static void start_tracking(Warp& w) {
    if (w.tainted) return;
    w.tainted = true;
    for (const auto& frame : w.frames)
        if (frame) new_frame_taint(w, *frame);
}

Mask taint_of(Warp& w, const Slot& slot) {
    if (!slot.is_register()) return 0;
    const Mask* taint = w.frame->taint[static_cast<std::size_t>(slot.base)];
    return taint ? taint[slot.number()] : 0;
}
std::uint32_t origin_of(Warp& w, const Slot& slot) {
    if (!slot.is_register()) return 0;
    const std::uint32_t* origin = w.frame->origin[static_cast<std::size_t>(slot.base)];
    return origin ? origin[slot.number()] : 0;
}
void taint_lanes(Warp& w, const Slot& slot, Mask exec, Mask tainted, std::uint32_t origin) {
    if (!slot.is_register()) return;
    Mask* taint = w.frame->taint[static_cast<std::size_t>(slot.base)];
    if (!taint) return;
    taint += slot.number();
    *taint = (*taint & ~exec) | (tainted & exec);
    if (tainted & exec) w.frame->origin[static_cast<std::size_t>(slot.base)][slot.number()] = origin;
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

bool check_taint(Warp& w, const Instr& in, Mask active) {
    if (in.predicate >= 0) {
        Slot p;
        p.base = Base::predicate;
        p.offset = static_cast<std::uint32_t>(in.predicate) * 4;
        if (const Mask t = taint_of(w, p) & active) {
            report_undefined_use(w, in, std::countr_zero(t), origin_of(w, p),
                                 in.control == Control::branch
                                     ? "decides a branch"
                                     : "decides whether an instruction is executed");
            taint_lanes(w, p, t, 0, 0);
        }
    }
    const bool memory = in.size != 0 && in.pipe == Pipe::lsu && in.sources > 0;
    if (memory || in.control == Control::barrier || in.control == Control::indexed ||
        in.control == Control::call) {
        if (in.sources > 0)
            if (const Mask t = taint_of(w, in.source(0)) & active) {
                report_undefined_use(w, in, std::countr_zero(t), origin_of(w, in.source(0)),
                                     memory ? "is used as an address" : "decides the control flow");
                taint_lanes(w, in.source(0), t, 0, 0);
            }
    }
    return !w.launch->stopped;
}

void propagate_taint(Warp& w, const Instr& in, Mask active, Mask exec) {
    if (in.has(flag::loads) || in.destinations == 0) return;
    (void)active;
    Mask result = 0;
    std::uint32_t origin = 0;
    if (in.has(flag::selects)) {
        const Mask p = mask_of(w, in.source(2));
        const Mask a = taint_of(w, in.source(0)), b = taint_of(w, in.source(1)),
                   c = taint_of(w, in.source(2));
        result = (a & p) | (b & ~p) | c;
        origin = (c & exec)       ? origin_of(w, in.source(2))
                 : (a & p & exec) ? origin_of(w, in.source(0))
                                  : origin_of(w, in.source(1));
    } else {
        for (int k = 0; k < in.sources; ++k)
            if (const Mask t = taint_of(w, in.source(k)) & exec) {
                result |= t;
                if (!origin) origin = origin_of(w, in.source(k));
            }
        if (in.has(flag::cross_lane) && result) result = kAllLanes;
    }
    for (int k = 0; k < in.destinations; ++k) taint_lanes(w, in.destination(k), exec, result, origin);
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

void note_loaded(Warp& w, const Instr& in, Mask exec, Mask undefined, const Buffer* buffer,
                 const std::uint64_t* addresses, std::uint32_t bytes) {
    std::uint32_t origin = 0;
    if (undefined) {
        start_tracking(w);
        const int lane = std::countr_zero(undefined);
        const auto known = w.launch->origin_by_id.find(in.id);
        origin =
            known != w.launch->origin_by_id.end()
                ? known->second
                : new_origin(w, in, lane, rule_of(buffer), what_of(w, in, buffer, addresses[lane], bytes));
    }
    for (int k = 0; k < in.destinations; ++k) taint_lanes(w, in.destination(k), exec, undefined, origin);
}

void taint_register(Warp& w, const Instr& in, const Slot& destination, Mask lanes) {
    start_tracking(w);
    const std::uint32_t origin = new_origin(w, in, std::countr_zero(lanes), "uninitialised-read",
                                            "reads memory that nothing has written");
    taint_lanes(w, destination, lanes, lanes, origin);
}

void note_shuffled(Warp& w, const Instr& in, Mask exec, Mask tainted, Mask absent) {
    std::uint32_t origin = tainted ? origin_of(w, in.source(0)) : 0;
    if (absent) {
        start_tracking(w);
        origin = new_origin(
            w, in, std::countr_zero(absent), "invalid-shuffle",
            "reads a lane that does not take part in the shuffle (it has exited, or is not in the mask)");
    }
    for (int k = 0; k < in.destinations; ++k)
        taint_lanes(w, in.destination(k), exec, k == 0 ? tainted | absent : 0, origin);
}

void note_stored(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                 std::uint64_t* bits, std::uint64_t stride) {
    (void)bytes;
    for (int v = 0; v < in.vector && 1 + v < in.sources; ++v)
        for (Mask m = taint_of(w, in.source(1 + v)) & exec; m; m &= m - 1) {
            const int lane = std::countr_zero(m);
            clear_bits(bits,
                       static_cast<std::uint64_t>(lane) * stride + addresses[lane] +
                           static_cast<std::uint64_t>(v) * in.size,
                       in.size);
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
    for (int v = 0; v < in.vector && 1 + v < in.sources; ++v)
        if (const Mask t = taint_of(w, in.source(1 + v)) & exec)
            report_undefined_use(w, in, std::countr_zero(t), origin_of(w, in.source(1 + v)),
                                 "is stored in an output");
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

void sync_read(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, bool shared) {
    const int lane = std::countr_zero(exec);
    w.fragment->sync_accesses += 1;
    w.sync_accesses += 1;
    w.last_sync = &in;
    w.last_sync_address = shared ? ~std::uint64_t{0} : addresses[lane];
    w.last_sync_lane = static_cast<std::uint32_t>(lane);
    if (w.stuck_limit && !shared) {
        w.sync_watch.clear();
        for (Mask m = exec; m; m &= m - 1) w.sync_watch.push_back(addresses[std::countr_zero(m)]);
    }
    if (!w.launch->check_races) return;
    std::uint64_t last = ~std::uint64_t{0};
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::countr_zero(m)];
        if (at != last) races::acquire(w, shared, at);
        last = at;
    }
}
void sync_write(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, bool shared) {
    if (!w.launch->check_races) return;
    if (in.has(flag::release)) races::fence(w);
    std::uint64_t last = ~std::uint64_t{0};
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t at = addresses[std::countr_zero(m)];
        if (at != last) races::release(w, shared, at);
        last = at;
    }
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

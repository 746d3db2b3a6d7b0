// atom and red. Lanes of one instruction are served in lane order. sub: the operation; size: bytes.
#include <cmath>

#include "emulator/src/counters/access.h"
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/scalar.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

// Operation codes: 0 add 1 min 2 max 3 and 4 or 5 xor 6 exch 7 cas 8 inc 9 dec
// Kinds (sub2): 0 u32 1 s32 2 u64 3 s64 4 f32 5 f64 6 f16 7 bf16 8 f16x2 9 bf16x2 10 b16 11 b128 (exch, cas)
u64 half_op(int op, u64 old, u64 value, bool bf) {
    const u32 a = static_cast<u32>(old) & 0xffff, b = static_cast<u32>(value) & 0xffff;
    const float x = bf ? bf16_to_float(a) : half_to_float(a), y = bf ? bf16_to_float(b) : half_to_float(b);
    float r = x + y;
    if (op == 1) r = x != x ? y : y != y ? x : x < y || (x == y && std::signbit(x)) ? x : y;
    if (op == 2) r = x != x ? y : y != y ? x : x > y || (x == y && !std::signbit(x)) ? x : y;
    return bf ? float_to_bf16(r) : float_to_half(r);
}

u64 apply(int op, int kind, bool global, u64 old, u64 v, u64 c) {
    switch (op) {
        case 6:
            return v;
        case 7:
            return old == v ? c : old;
        case 3:
            return old & v;
        case 4:
            return old | v;
        case 5:
            return old ^ v;
        case 8:
            return static_cast<u32>(old) >= static_cast<u32>(v) ? 0 : old + 1;
        case 9:
            return old == 0 || static_cast<u32>(old) > static_cast<u32>(v) ? v : old - 1;
        default:
            break;
    }
    switch (kind) {
        case 0:
            return op == 0 ? static_cast<u32>(old + v) : op == 1 ? std::min(old, v) : std::max(old, v);
        case 1: {
            const s32 a = static_cast<s32>(old), b = static_cast<s32>(v);
            return op == 0 ? static_cast<u32>(old + v)
                           : static_cast<u32>(op == 1 ? std::min(a, b) : std::max(a, b));
        }
        case 2:
            return op == 0 ? old + v : op == 1 ? std::min(old, v) : std::max(old, v);
        case 3: {
            const s64 a = static_cast<s64>(old), b = static_cast<s64>(v);
            return op == 0 ? old + v : static_cast<u64>(op == 1 ? std::min(a, b) : std::max(a, b));
        }
        case 4: {  // atom.add.f32 on global memory flushes subnormals
            u32 a = static_cast<u32>(old), b = static_cast<u32>(v);
            if (global) {
                a = flush(a);
                b = flush(b);
            }
            const u32 r = canonical(as_bits(as_float(a) + as_float(b)));
            return global ? flush(r) : r;
        }
        case 5:
            return nan_of_operands(as_bits(as_double(old) + as_double(v)), old, v);
        case 6:
            return half_op(op, old, v, false);
        case 7:
            return half_op(op, old, v, true);
        case 8:
            return half_op(op, old, v, false) | half_op(op, old >> 16, v >> 16, false) << 16;
        default:
            return half_op(op, old, v, true) | half_op(op, old >> 16, v >> 16, true) << 16;
    }
}

// One space; addresses are global ones (home: null) or offsets in the shared memory of a block.
void serve(Warp& w, const Instr& in, Mask exec, const u64* address, Block* home) {
    Launch& launch = *w.launch;
    const bool shared = home != nullptr;
    const u32 bytes = static_cast<u32>(in.size) * in.vector;
    bool failed = false;
    for_lanes(exec, [&](int i) {
        if (failed) return;
        const u64 at = address[i];
        Buffer* b = shared ? nullptr : launch.memory->at(at);
        if (shared ? is_beyond(at, bytes, home->shared_bytes) && !launch.in_reserved_shared(at, bytes)
                   : !b || !b->contains(at, bytes) || !b->writable) {
            if (shared)
                report_bad_shared(w, in, i, at, bytes, true);
            else
                report_bad_address(w, in, i, at, bytes, true);
            failed = true;
        } else if (at & (bytes - 1)) {
            report_misaligned(w, in, i, at, bytes, true, shared ? "shared memory" : "global memory");
            failed = true;
        }
    });
    if (failed) return;
    launch.surcharge += static_cast<u64>(std::popcount(exec));
    if (shared)
        launch.clock.pass(40, 60);
    else
        launch.clock.pass(300, 400);
    sync_read(w, in, exec, address, home);
    if (launch.count) {
        counters::Shape shape;
        const int first = std::countr_zero(exec);
        shape.low = shape.high = address[first];
        shape.equal = true;
        for_lanes(exec, [&](int i) { shape.equal &= address[i] == address[first]; });
        if (shared) {
            counters::count_shared_atomic(w, in, exec, address, bytes);
        } else {
            counters::count_global(w, in, exec, address, bytes, shape,
                                   counters::common_buffer(w, exec, address), true);
            // add, min, max, and, or, xor of integers
            const bool combines = in.sub <= 5 && (in.sub >= 3 || in.sub2 <= 3);
            counters::count_atomic(w, in, exec, address, combines);
        }
    }
    if (launch.check_races) {
        const races::Kind kind = in.sub == 7 ? races::Kind::compare_and_swap : races::Kind::atomic;
        if (shared) {
            races::shared_access(w, in, exec, *home, address, bytes, kind);
        } else {
            for_lanes(exec, [&](int i) {
                Buffer& b = *launch.memory->at(address[i]);
                if (b.shadow) races::global_access(w, in, Mask{1} << i, b, address, bytes, kind);
            });
        }
    }
    if (!launch.watched.empty() && !shared) note_watched(w, in, exec, address, bytes);
    const bool returns = !in.has(flag::reduction);
    bool changed = false;
    Mask undefined = 0;  // an exchange may overwrite what was never written; only its result is undefined
    for_lanes(exec, [&](int i) {
        const u64 at = address[i];
        Buffer* b = shared ? nullptr : launch.memory->at(at);
        std::byte* to = shared ? home->shared + at : b->data() + (at - b->address);
        if (launch.check_initialised) {
            const bool known = shared ? all_bits(home->shared_written, at, bytes)
                                      : !b->track_initialised || b->is_written(at - b->address, bytes);
            if (!known && in.sub == 6)
                undefined |= Mask{1} << i;
            else if (!known)
                report_undefined(w, in, i, b, at, bytes, shared);
        }
        u64 before[8] = {};  // given when all operands have been read: one register may be both
        for (int e = 0; e < in.vector; ++e) {
            std::byte* place = to + static_cast<u64>(e) * in.size;
            u64 old = 0;
            std::memcpy(&old, place, std::min<u32>(in.size, 8));
            if (in.sub2 == 11) {  // 128 bits: two wide registers per operand
                u64 high = 0;
                std::memcpy(&high, place + 8, 8);
                const u64 v0 = lane_value(w, in.source(1), i), v1 = lane_value(w, in.source(2), i);
                u64 n0 = v0, n1 = v1;
                if (in.sub == 7) {
                    const bool equal = old == v0 && high == v1;
                    n0 = equal ? lane_value(w, in.source(3), i) : old;
                    n1 = equal ? lane_value(w, in.source(4), i) : high;
                }
                changed |= n0 != old || n1 != high;
                std::memcpy(place, &n0, 8);
                std::memcpy(place + 8, &n1, 8);
                if (returns) {
                    set_lane(w, in.destination(0), i, old);
                    set_lane(w, in.destination(1), i, high);
                }
                continue;
            }
            const u64 keep = in.size == 8 ? ~0ull : (1ull << (8 * in.size)) - 1;
            const u64 v = lane_value(w, in.source(1 + e), i) & keep;
            const u64 c = in.sub == 7 ? lane_value(w, in.source(2), i) & keep : 0;
            const u64 result = apply(in.sub, in.sub2, !shared, old, v, c) & keep;
            changed |= result != old;
            std::memcpy(place, &result, in.size);
            before[e] = old;
        }
        if (returns && in.sub2 != 11)
            for (int e = 0; e < in.vector; ++e) set_lane(w, in.destination(e), i, before[e]);
        if (shared)
            set_bits(home->shared_written, at, bytes);
        else if (b->track_initialised)
            b->mark_written(at - b->address, bytes);
        // Before the next lane is served, which may find it there.
        if (w.tainted) note_updated(w, in, Mask{1} << i, address, bytes, home);
    });
    if (changed) {
        w.block->writes += 1;
        if (shared && home != w.block) home->writes += 1;
    }
    if (returns && (w.tainted || undefined))
        note_loaded(w, in, exec, undefined,
                    shared ? nullptr : launch.memory->at(address[std::countr_zero(exec)]), address, bytes);
    sync_write(w, in, exec, address, home);
    sync_within_warp(w, in, exec, address, home);
}

void atom(Warp& w, const Instr& in, Mask exec) {
    u64 address[kLanes] = {};
    Mask shared = in.space == ptx::Space::shared ? exec : 0;
    for_lanes(exec, [&](int i) {
        address[i] = lane_value(w, in.source(0), i) + static_cast<u64>(in.imm);
        if (in.has(flag::narrow_address)) address[i] = static_cast<u32>(address[i]);
        if (in.space == ptx::Space::generic && is_shared_window(address[i])) {
            address[i] -= kSharedWindow;
            shared |= Mask{1} << i;
        }
    });
    if (exec & ~shared) serve(w, in, exec & ~shared, address, nullptr);
    if (!shared || w.launch->stopped) return;
    if (in.space == ptx::Space::shared && !in.has(flag::in_cluster)) {
        for_lanes(shared, [&](int i) { address[i] -= w.block->shared_base; });
        serve(w, in, shared, address, w.block);
        return;
    }
    Block* homes[kLanes] = {};
    bool ok = true;
    for_lanes(shared, [&](int i) { ok = ok && (homes[i] = home_of(w, in, i, address[i])) != nullptr; });
    while (ok && shared && !w.launch->stopped) {
        Block* home = homes[std::countr_zero(shared)];
        Mask part = 0;
        for_lanes(shared, [&](int i) { part |= static_cast<Mask>(homes[i] == home) << i; });
        shared &= ~part;
        serve(w, in, part, address, home);
    }
}

const HandlerEntry entries[] = {{"atom", atom}};

}  // namespace

std::uint64_t combine(int operation, int kind, bool ftz, std::uint64_t old, std::uint64_t value) {
    return apply(operation, kind, ftz, old, value, 0);
}

HandlerTable atomic_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

// Instructions through which lanes of a warp talk to each other. The interpreter calls these when every
// lane that the instruction needs has arrived; `exec` holds them.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

// sub: 0 up, 1 down, 2 bfly, 3 idx. Sources: a, b (lane or delta), c (clamp and segment mask), membermask.
// The second destination, when there is one, says whether the source lane was in range.
void shfl(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::exchange(w, exec);
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1)), *c = narrow(w, in.source(2));
    alignas(64) u32 r[kLanes];
    std::memcpy(r, a, sizeof r);
    Mask valid = 0, undefined = 0;
    u8 from[kLanes] = {};
    const bool uniform =
        in.source(1).base == Base::narrow_constant && in.source(2).base == Base::narrow_constant;
    if (exec == kAllLanes && uniform && !w.tainted && in.sub == 2 && (c[0] & 0x1f1f) == 0x1f) {
        const u32 x = b[0] & 31;  // butterfly over the whole warp: always in range
        for (u32 i = 0; i < kLanes; ++i) r[i] = a[i ^ x];
        valid = kAllLanes;
    } else {
        for_lanes(exec, [&](int lane) {
            const int value = static_cast<int>(b[lane] & 31);
            const int clamp = static_cast<int>(c[lane] & 31), segment = static_cast<int>((c[lane] >> 8) & 31);
            const int max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
            int j;
            bool ok;
            switch (in.sub) {
                case 0:
                    j = lane - value;
                    ok = j >= max_lane;
                    break;
                case 1:
                    j = lane + value;
                    ok = j <= max_lane;
                    break;
                case 2:
                    j = lane ^ value;
                    ok = j <= max_lane;
                    break;
                default:
                    j = min_lane | (value & ~segment);
                    ok = j <= max_lane;
                    break;
            }
            if (!ok) j = lane;
            r[lane] = a[j];
            valid |= static_cast<Mask>(ok) << lane;
            if (!((exec >> j) & 1)) undefined |= Mask{1} << lane;  // the source lane does not take part
            from[lane] = static_cast<u8>(j);
        });
    }
    put(narrow(w, in.destination(0)), r, exec);
    if (in.destinations == 2) set_predicate(w, in.destination(1), exec, valid);
    if (w.launch->check_initialised && (undefined || w.tainted)) note_shuffled(w, in, exec, from, undefined);
}

// sub: 0 all, 1 any, 2 uni, 3 ballot
void vote(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::exchange(w, exec);
    const Mask p = mask_of(w, in.source(0)) & exec;
    if (in.sub == 3) {
        u32* d = narrow(w, in.destination(0));
        for_lanes(exec, [&](int i) { d[i] = p; });
        return;
    }
    const bool yes = in.sub == 0 ? p == exec : in.sub == 1 ? p != 0 : p == exec || p == 0;
    set_predicate(w, in.destination(0), exec, yes ? kAllLanes : 0);
}

template <class T>
void match_any(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::exchange(w, exec);
    const Cell<T>* a = lanes<T>(w, in.source(0));
    u32* d = narrow(w, in.destination(0));
    alignas(64) u32 r[kLanes] = {};
    for_lanes(exec,
              [&](int i) { for_lanes(exec, [&](int j) { r[i] |= static_cast<u32>(a[i] == a[j]) << j; }); });
    put(d, r, exec);
}
template <class T>
void match_all(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::exchange(w, exec);
    const Cell<T>* a = lanes<T>(w, in.source(0));
    const Cell<T> first = a[std::countr_zero(exec)];
    bool same = true;
    for_lanes(exec, [&](int i) { same &= a[i] == first; });
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = same ? exec : 0; });
    if (in.destinations == 2) set_predicate(w, in.destination(1), exec, same ? kAllLanes : 0);
}

// sub: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor
template <class T>
void redux(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::exchange(w, exec);
    const u32* a = narrow(w, in.source(0));
    T r = static_cast<T>(a[std::countr_zero(exec)]);
    for_lanes(exec & (exec - 1), [&](int i) {
        const T v = static_cast<T>(a[i]);
        switch (in.sub) {
            case 0:
                r = static_cast<T>(u32(r) + u32(v));
                break;
            case 1:
                r = v < r ? v : r;
                break;
            case 2:
                r = v > r ? v : r;
                break;
            case 3:
                r = r & v;
                break;
            case 4:
                r = r | v;
                break;
            default:
                r = r ^ v;
                break;
        }
    });
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = static_cast<u32>(r); });
}

// sub: 1 min, 2 max; of floats, where a NaN loses unless .NaN, and -0 lies below +0.
void redux_float(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::exchange(w, exec);
    const u32* a = narrow(w, in.source(0));
    const auto value = [&](int i) { return in.has(flag::magnitude) ? a[i] & 0x7fffffffu : a[i]; };
    u32 r = value(std::countr_zero(exec));
    for_lanes(exec & (exec - 1), [&](int i) {
        const u32 v = value(i);
        const float x = as_float(r), y = as_float(v);
        if (x != x || y != y)
            r = in.has(flag::nan_result) || (x != x && y != y) ? kNan32 : x != x ? v : r;
        else if (x == y)
            r = in.sub == 2 ? r & v : r | v;
        else if (in.sub == 2 ? y > x : y < x)
            r = v;
    });
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = canonical(r); });
}

void warp_barrier(Warp& w, const Instr&, Mask exec) { races::warp_sync(w, exec); }

void elect(Warp& w, const Instr& in, Mask exec) {
    const int leader = std::countr_zero(exec);
    if (in.destinations == 2) {
        u32* d = narrow(w, in.destination(0));
        for_lanes(exec, [&](int i) { d[i] = static_cast<u32>(leader); });
    }
    set_predicate(w, in.destination(in.destinations - 1), exec, Mask{1} << leader);
}

// Which lanes run together right now.
void activemask(Warp& w, const Instr& in, Mask exec) {
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = exec; });
}

void nothing(Warp&, const Instr&, Mask) {}
void fence(Warp& w, const Instr& in, Mask) {
    w.launch->clock.pass(200, 600);
    if (!w.launch->check_races) return;
    const bool block_scope = in.has(flag::block_scope);
    if (in.has(flag::acquire)) races::acquire_noted(w, block_scope);
    if (in.has(flag::release)) races::publish_all(w, block_scope);
}

void proxy_fence(Warp& w, const Instr& in, Mask exec) {
    if (w.launch->check_races) races::proxy_fence(w);
    if (in.has(flag::acquire | flag::release)) fence(w, in, exec);
}

// .acquire: of the map at the address that each lane gives; .release: of all that the block has changed.
void tensormap_fence(Warp& w, const Instr& in, Mask exec) {
    auto& changed = w.block->changed_maps;
    if (in.has(flag::release))
        for (auto& entry : changed) entry.second.released = true;
    else if (!changed.empty())
        for_lanes(exec, [&](int lane) {
            const auto it =
                changed.find(lane_value(w, in.source(0), lane) + static_cast<std::uint64_t>(in.imm));
            if (it != changed.end() && it->second.released) changed.erase(it);
        });
    fence(w, in, exec);
}

const HandlerEntry entries[] = {
    {"shfl", shfl},
    {"vote", vote},
    {"match.any.b32", match_any<u32>},
    {"match.any.b64", match_any<u64>},
    {"match.all.b32", match_all<u32>},
    {"match.all.b64", match_all<u64>},
    {"redux.f32", redux_float},
    {"redux.u32", redux<u32>},
    {"redux.s32", redux<s32>},
    {"bar.warp", warp_barrier},
    {"elect", elect},
    {"activemask", activemask},
    {"nothing", nothing},
    {"fence", fence},
    {"fence.proxy.tensormap", tensormap_fence},
    {"fence.proxy.async", proxy_fence},
};

}  // namespace

HandlerTable collective_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

// mov in all its forms, selp, address conversion, special registers.
#include <fmt/format.h>

#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/special.h"

#include "emulator/src/exec/tables.h"
#include "emulator/src/launch/cluster.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

void mov_narrow(Warp& w, const Instr& in, Mask exec) {
    put(narrow(w, in.destination(0)), narrow(w, in.source(0)), exec);
}
void mov_wide(Warp& w, const Instr& in, Mask exec) {
    put(wide(w, in.destination(0)), wide(w, in.source(0)), exec);
}
void mov_pred(Warp& w, const Instr& in, Mask exec) {
    set_predicate(w, in.destination(0), exec, mask_of(w, in.source(0)));
}
// A literal predicate: imm 0 or 1.
void mov_pred_literal(Warp& w, const Instr& in, Mask exec) {
    set_predicate(w, in.destination(0), exec, in.imm ? kAllLanes : 0);
}
// The address of a local variable: imm is the offset in the frame.
void mov_local(Warp& w, const Instr& in, Mask exec) {
    const u64 value = w.frame->local_base + static_cast<u64>(in.imm);
    for_lanes(exec, [&](int i) { set_lane(w, in.destination(0), i, value); });
}
// {a, b, ...} -> d and back; size is the bytes of one element. 128-bit registers are pairs of wide ones.
void pack(Warp& w, const Instr& in, Mask exec) {
    const u32 size = in.size;
    const u64 keep = size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
    for_lanes(exec, [&](int i) {
        u64 v = 0;
        for (int k = 0; k < in.sources; ++k) v |= (lane_value(w, in.source(k), i) & keep) << (8 * size * k);
        set_lane(w, in.destination(0), i, v);
    });
}
void unpack(Warp& w, const Instr& in, Mask exec) {
    const u32 size = in.size;
    const u64 keep = size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
    for_lanes(exec, [&](int i) {
        const u64 v = lane_value(w, in.source(0), i);
        for (int k = 0; k < in.destinations; ++k)
            set_lane(w, in.destination(k), i, (v >> (8 * size * k)) & keep);
    });
}
// As many sources as destinations, each to its own (128-bit moves, packs of 64-bit halves).
void mov_each(Warp& w, const Instr& in, Mask exec) {
    u64 values[4][kLanes];
    for (int k = 0; k < in.destinations; ++k)
        for_lanes(exec, [&](int i) { values[k][i] = lane_value(w, in.source(k), i); });
    for (int k = 0; k < in.destinations; ++k)
        for_lanes(exec, [&](int i) { set_lane(w, in.destination(k), i, values[k][i]); });
}

template <class T>
void selp(Warp& w, const Instr& in, Mask exec) {
    const Cell<T>*a = lanes<T>(w, in.source(0)), *b = lanes<T>(w, in.source(1));
    const Mask p = mask_of(w, in.source(2));
    alignas(64) Cell<T> r[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        const Cell<T> take = Cell<T>{0} - static_cast<Cell<T>>((p >> i) & 1u);
        r[i] = (a[i] & take) | (b[i] & ~take);
    }
    put(lanes<T>(w, in.destination(0)), r, exec);
}
void selp_pred(Warp& w, const Instr& in, Mask exec) {
    const Mask p = mask_of(w, in.source(2));
    set_predicate(w, in.destination(0), exec,
                  (mask_of(w, in.source(0)) & p) | (mask_of(w, in.source(1)) & ~p));
}

// cvta: sub 0 to generic, 1 from generic; windows of shared and local memory, everything else is identical.
void cvta(Warp& w, const Instr& in, Mask exec) {
    const u64 window = in.space == ptx::Space::shared  ? kSharedWindow
                       : in.space == ptx::Space::local ? kLocalWindow
                                                       : 0;
    for_lanes(exec, [&](int i) {
        const u64 a = lane_value(w, in.source(0), i);
        set_lane(w, in.destination(0), i, in.sub == 1 ? a - window : a + window);
    });
}
void isspacep(Warp& w, const Instr& in, Mask exec) {
    const u64* a = wide(w, in.source(0));
    Mask m = 0;
    for_lanes(exec, [&](int i) {
        bool yes = false;
        const Buffer* b = w.launch->memory->at(a[i]);
        switch (in.space) {
            case ptx::Space::shared:
                yes = is_shared_window(a[i]) &&
                      (in.has(flag::in_cluster) ||
                       (a[i] - kSharedWindow) >> kRankShift == w.block->shared_base >> kRankShift);
                break;
            case ptx::Space::local:
                yes = is_local_window(a[i]);
                break;
            case ptx::Space::constant:
                yes = b && b->role == Buffer::Role::constant_variable;
                break;
            case ptx::Space::param:
                yes = b && b->role == Buffer::Role::parameters;
                break;
            default:
                yes = !is_shared_window(a[i]) && !is_local_window(a[i]) &&
                      !(b && b->role == Buffer::Role::constant_variable);
                break;
        }
        m |= static_cast<Mask>(yes) << i;
    });
    set_predicate(w, in.destination(0), exec, m);
}

// Time: some cycles for each warp instruction of the launch, more for memory (Launch::clock), a few for
// reading it; where it begins depends on the seed. globaltimer converts to nanoseconds.
u64 cycles(Warp& w) { return w.launch->clock.cycles + (w.launch->instructions + w.instructions) * 4; }

u64 special_value(Warp& w, const Instr& in, int lane) {
    const Launch& launch = *w.launch;
    const Dim3 &grid = launch.grid, &block = launch.block, &index = w.block->index;
    const u32 bit = 1u << lane;
    switch (static_cast<SpecialRegister>(in.sub)) {
        case SpecialRegister::tid_x:
            return w.tid[0][lane];
        case SpecialRegister::tid_y:
            return w.tid[1][lane];
        case SpecialRegister::tid_z:
            return w.tid[2][lane];
        case SpecialRegister::ntid_x:
            return block.x;
        case SpecialRegister::ntid_y:
            return block.y;
        case SpecialRegister::ntid_z:
            return block.z;
        case SpecialRegister::ctaid_x:
            return index.x;
        case SpecialRegister::ctaid_y:
            return index.y;
        case SpecialRegister::ctaid_z:
            return index.z;
        case SpecialRegister::nctaid_x:
            return grid.x;
        case SpecialRegister::nctaid_y:
            return grid.y;
        case SpecialRegister::nctaid_z:
            return grid.z;
        case SpecialRegister::laneid:
            return static_cast<u64>(lane);
        case SpecialRegister::warpid:
            return w.index;
        case SpecialRegister::nwarpid:
            return launch.warps_per_block;
        case SpecialRegister::smid:
            return w.block->linear % launch.options->limits.sm_count;
        case SpecialRegister::nsmid:
            return launch.options->limits.sm_count;
        case SpecialRegister::gridid:
            return 1;
        case SpecialRegister::lanemask_eq:
            return bit;
        case SpecialRegister::lanemask_lt:
            return bit - 1;
        case SpecialRegister::lanemask_le:
            return (bit - 1) | bit;
        case SpecialRegister::lanemask_ge:
            return ~(bit - 1);
        case SpecialRegister::lanemask_gt:
            return ~((bit - 1) | bit);
        case SpecialRegister::clock:
            return static_cast<u32>(cycles(w));
        case SpecialRegister::clock_hi:
            return cycles(w) >> 32;
        case SpecialRegister::clock64:
            return cycles(w);
        case SpecialRegister::globaltimer:
        case SpecialRegister::globaltimer_lo:
        case SpecialRegister::globaltimer_hi: {
            const u64 ns = cycles(w) * 1000 / launch.options->limits.clock_mhz;
            return in.sub == static_cast<u8>(SpecialRegister::globaltimer_hi)   ? ns >> 32
                   : in.sub == static_cast<u8>(SpecialRegister::globaltimer_lo) ? static_cast<u32>(ns)
                                                                                : ns;
        }
        case SpecialRegister::envreg: {  // 1 and 2: the address of the grid's barrier, when there is one
            const u64 at = launch.workspace ? launch.workspace->address : 0;
            return in.imm == 1 ? at >> 32 : in.imm == 2 ? static_cast<u32>(at) : 0;
        }
        case SpecialRegister::total_smem_size:
            return launch.shared_bytes;
        case SpecialRegister::aggr_smem_size:
            return launch.shared_bytes + kReservedShared;
        case SpecialRegister::dynamic_smem_size:
            return launch.request->dynamic_shared;
        case SpecialRegister::clusterid_x:
            return cluster_index(launch, w.block->cluster->number).x;
        case SpecialRegister::clusterid_y:
            return cluster_index(launch, w.block->cluster->number).y;
        case SpecialRegister::clusterid_z:
            return cluster_index(launch, w.block->cluster->number).z;
        case SpecialRegister::nclusterid_x:
            return cluster_count(launch).x;
        case SpecialRegister::nclusterid_y:
            return cluster_count(launch).y;
        case SpecialRegister::nclusterid_z:
            return cluster_count(launch).z;
        case SpecialRegister::cluster_ctaid_x:
            return index.x % launch.cluster.x;
        case SpecialRegister::cluster_ctaid_y:
            return index.y % launch.cluster.y;
        case SpecialRegister::cluster_ctaid_z:
            return index.z % launch.cluster.z;
        case SpecialRegister::cluster_nctaid_x:
            return launch.cluster.x;
        case SpecialRegister::cluster_nctaid_y:
            return launch.cluster.y;
        case SpecialRegister::cluster_nctaid_z:
            return launch.cluster.z;
        case SpecialRegister::cluster_ctarank:
            return w.block->rank;
        case SpecialRegister::cluster_nctarank:
            return launch.blocks_per_cluster;
        case SpecialRegister::reserved_smem:
            return w.block->shared_base + launch.reserved_shared + static_cast<u64>(in.imm);
        case SpecialRegister::reserved_smem_cap:
            return kReservedShared;
        default:
            return 0;
    }
}
bool differs_by_lane(SpecialRegister which) {
    switch (which) {
        case SpecialRegister::tid_x:
        case SpecialRegister::tid_y:
        case SpecialRegister::tid_z:
        case SpecialRegister::laneid:
        case SpecialRegister::lanemask_eq:
        case SpecialRegister::lanemask_lt:
        case SpecialRegister::lanemask_le:
        case SpecialRegister::lanemask_ge:
        case SpecialRegister::lanemask_gt:
            return true;
        default:
            return false;
    }
}
// size: bytes that are kept. Four destinations: the components, of which the last is always zero.
void special(Warp& w, const Instr& in, Mask exec) {
    if (in.control == Control::timed) w.launch->clock.pass(8, 24);
    const u64 keep = in.size >= 8 ? ~0ull : (1ull << (8 * in.size)) - 1;
    Instr one = in;
    for (int k = 0; k < in.destinations; ++k) {
        one.sub = k == 3 ? static_cast<u8>(SpecialRegister::zero) : static_cast<u8>(in.sub + k);
        if (differs_by_lane(static_cast<SpecialRegister>(one.sub))) {
            for_lanes(exec,
                      [&](int i) { set_lane(w, in.destination(k), i, special_value(w, one, i) & keep); });
        } else {
            const u64 value = special_value(w, one, 0) & keep;
            if (in.destination(k).is_wide())
                fill(wide(w, in.destination(k)), value, exec);
            else
                fill(narrow(w, in.destination(k)), static_cast<u32>(value), exec);
        }
    }
}

// ---- stack ----
// Allocations of a lane grow down from the end of its local memory, towards the frames; imm: the alignment.
void alloca_(Warp& w, const Instr& in, Mask exec) {
    const u64 frames_end = w.frame->local_base + w.frame->function->frame_bytes;
    bool failed = false;
    for_lanes(exec, [&](int i) {
        if (failed) return;
        u32& top = w.stack[static_cast<std::size_t>(i)];
        const u64 size = lane_value(w, in.source(0), i);
        const u64 room = top > frames_end ? top - frames_end : 0;
        const u64 at = size > room ? 0 : (top - size) & ~(static_cast<u64>(in.imm) - 1);
        if (size > room || at < frames_end) {
            report(w, "stack-overflow", in, i,
                   fmt::format("allocates {} bytes where {} of the thread's {} bytes of stack are left", size,
                               room, w.launch->local_limit),
                   true);
            failed = true;
            return;
        }
        if (w.launch->check_initialised)
            clear_bits(w.local_written, static_cast<u64>(i) * w.launch->local_stride + at, top - at);
        top = static_cast<u32>(at);
        set_lane(w, in.destination(0), i, at);
    });
}
void stacksave(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int i) { set_lane(w, in.destination(0), i, w.stack[static_cast<std::size_t>(i)]); });
}
void stackrestore(Warp& w, const Instr& in, Mask exec) {
    bool failed = false;
    for_lanes(exec, [&](int i) {
        if (failed) return;
        u32& top = w.stack[static_cast<std::size_t>(i)];
        const u64 to = lane_value(w, in.source(0), i);
        if (to < top || to > w.launch->local_limit) {
            report(w, "out-of-bounds", in, i,
                   fmt::format("restores the stack pointer to {:#x}, which stacksave did not give here", to),
                   true);
            failed = true;
            return;
        }
        top = static_cast<u32>(to);
    });
}

void explicit_cluster(Warp& w, const Instr& in, Mask exec) {
    set_predicate(w, in.destination(0), exec, w.launch->explicit_cluster ? kAllLanes : 0);
}

// sub 0: mapa (sources: an address, a rank), 1: getctarank. The rank stands above kRankShift, in the shared
// window as in generic addresses.
void mapa(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int i) {
        const u64 a = lane_value(w, in.source(0), i);
        if (in.sub == 1) {
            set_lane(w, in.destination(0), i, (a >> kRankShift) & 0xff);
            return;
        }
        const u64 rank = lane_value(w, in.source(1), i) & 0xff;
        set_lane(w, in.destination(0), i, (a & ~(u64{0xff} << kRankShift)) | rank << kRankShift);
    });
}

const HandlerEntry entries[] = {
    {"mov.narrow", mov_narrow},
    {"mov.wide", mov_wide},
    {"mov.pred", mov_pred},
    {"mov.pred.literal", mov_pred_literal},
    {"mov.local", mov_local},
    {"pack", pack},
    {"unpack", unpack},
    {"mov.each", mov_each},
    {"selp.narrow", selp<u32>},
    {"selp.wide", selp<u64>},
    {"selp.pred", selp_pred},
    {"cvta", cvta},
    {"isspacep", isspacep},
    {"special", special},
    {"mapa", mapa},
    {"mov.pred.explicit_cluster", explicit_cluster},
    {"alloca", alloca_},
    {"stacksave", stacksave},
    {"stackrestore", stackrestore},
};

}  // namespace

HandlerTable move_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

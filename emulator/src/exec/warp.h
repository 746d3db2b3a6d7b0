// How handlers reach a warp's registers and memory.
//
// A handler is void(Warp& w, const Instr& in, Mask exec): exec holds the active lanes whose predicate is
// true (never empty). It must write only lanes of exec. Reach operands with narrow()/wide()/mask_of(); reach
// memory of one lane with load_lane()/store_lane(), which check bounds, alignment, initialisation and races,
// return false after a fault (then leave at once), and count nothing; count a warp's access once with
// count_shared()/count_global().
//
// A collective (Control::collective) is called when all lanes that it needs are in exec.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "emulator/src/exec/isa.h"
#include "emulator/src/exec/report.h"
#include "emulator/src/exec/state.h"

namespace emulator::exec {

inline std::uint32_t* narrow(Warp& w, const Slot& slot) {
    return reinterpret_cast<std::uint32_t*>(w.base[static_cast<int>(slot.base)] + slot.offset);
}
inline std::uint64_t* wide(Warp& w, const Slot& slot) {
    return reinterpret_cast<std::uint64_t*>(w.base[static_cast<int>(slot.base)] + slot.offset);
}
// In the slot's own file, whatever it is: a text that names another kind of register is wrong, but must not
// reach beyond the frame (push_frame leaves room for the widest access at the end).
inline Mask& predicate(Warp& w, const Slot& slot) {
    return *reinterpret_cast<Mask*>(w.base[static_cast<int>(slot.base)] + slot.offset);
}
inline Mask mask_of(Warp& w, const Slot& slot) {  // a predicate source, ! applied
    const Mask mask = predicate(w, slot);
    return slot.negated ? ~mask : mask;
}
inline void set_predicate(Warp& w, const Slot& slot, Mask exec, Mask value) {
    Mask& p = predicate(w, slot);
    p = (p & ~exec) | (value & exec);
}
// One lane of an integer operand of either width.
inline std::uint64_t lane_value(Warp& w, const Slot& slot, int lane) {
    return slot.is_wide() ? wide(w, slot)[lane] : narrow(w, slot)[lane];
}
inline void set_lane(Warp& w, const Slot& slot, int lane, std::uint64_t value) {
    if (slot.is_wide())
        wide(w, slot)[lane] = value;
    else
        narrow(w, slot)[lane] = static_cast<std::uint32_t>(value);
}

template <class F>
inline void for_lanes(Mask exec, F&& body) {
    while (exec) {
        const int lane = std::countr_zero(exec);
        exec &= exec - 1;
        body(lane);
    }
}

// Addresses of a memory instruction's lanes (those of exec; others are not set): base operand plus offset.
void lane_addresses(Warp& w, const Instr& in, const Slot& base, Mask exec, std::uint64_t* addresses);

// `space` may be generic, global, shared, local or constant. Data goes to and from `bytes` of host memory.
// taint: set to true when a byte was never written (and undefined values are tracked instead of reported).
bool load_lane(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address,
               std::uint32_t bytes, void* data, bool* undefined);
bool store_lane(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address,
                std::uint32_t bytes, const void* data);

// Counts one warp-wide request; `bytes` per lane. Shared addresses are offsets in shared memory.
void count_shared(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  bool store);
void count_global(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  bool store);

// The place that a tainted register's undefined value came from is kept, so that the report can name it.
void taint_register(Warp& w, const Instr& in, const Slot& destination, Mask lanes);

// The block of the warp's cluster that an address of the shared window (without the generic window's base)
// belongs to; `address` becomes the offset in its shared memory. Null after reporting a fault: no such block,
// one that has ended, or one that may not have begun (launch/cluster.cc).
Block* home_of(Warp& w, const Instr& in, int lane, std::uint64_t& address);

// Is this generic address shared memory? Then its offset.
inline bool is_shared_window(std::uint64_t address) {
    return (address >> kSlotShift) == (kSharedWindow >> kSlotShift);
}
inline bool is_local_window(std::uint64_t address) {
    return (address >> kSlotShift) == (kLocalWindow >> kSlotShift);
}

// Is this local memory that the lane has taken with alloca?
inline bool is_allocated(const Warp& w, int lane, std::uint64_t address, std::uint32_t bytes) {
    const std::uint64_t limit = w.launch->local_limit;
    return address >= w.stack[static_cast<std::size_t>(lane)] && address <= limit && bytes <= limit - address;
}

}  // namespace emulator::exec

// Undefined values. A byte that nobody wrote may be loaded (padding, a halo that is not used), a variable
// without an initial value may be copied; what matters is whether it decides anything. A register lane that
// holds such a value is tainted; taint follows the data flow, bit by bit where data is only moved (half of a
// pair may be undefined), and is reported when it becomes an address, a branch or an execution predicate, or
// reaches an output. Tracking starts when a frame begins whose code may read a register before writing it,
// or when a warp first loads an undefined byte, and costs nothing before.
#pragma once

#include <cstdint>

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// Before an instruction of a tainted warp. False from check_taint when a fault ended the launch;
// propagate_taint gives the destinations their taint, and reads the sources' values (propagate.cc).
// `active`: the lanes that stand at it; `exec`: those of them that execute it.
bool check_taint(Warp& w, const Instr& in, Mask active, Mask exec);
void propagate_taint(Warp& w, const Instr& in, Mask exec);
void clear_taint(Warp& w, const Instr& in, Mask exec);
// Lanes of exec become wholly undefined where `tainted`, else defined.
void taint_lanes(Warp& w, const Slot& slot, Mask exec, Mask tainted, std::uint32_t origin);
Mask taint_of(Warp& w, const Slot& slot);  // lanes with any undefined bit
// The undefined bits of one lane (0: none, ~0: all of them whatever the register's width), and setting them.
std::uint64_t undefined_bits(Warp& w, const Slot& slot, int lane);
void set_undefined_bits(Warp& w, const Slot& slot, int lane, std::uint64_t bits, std::uint32_t origin);
// Where a tainted register's value came from, for report_undefined_use; a register that was never written
// gets `in`, which reads it, as its place.
constexpr std::uint32_t kNeverWritten = ~0u;
std::uint32_t origin_of(Warp& w, const Instr& in, const Slot& slot);
std::uint32_t raw_origin_of(Warp& w, const Slot& slot);  // kNeverWritten stays
void new_frame_taint(Warp& w, Frame& frame);
// A frame begins for these lanes: its registers that may be read before they are written are undefined.
void begin_frame_taint(Warp& w, Frame& frame, Mask lanes);
// Ends the tracking when no register holds an undefined value any more.
void settle_taint(Warp& w);

// After a load: `undefined` lanes read something that was never written. buffer: null for shared and local.
// `written`: the bits that say which bytes were, the lane's first at addresses[lane] - base + lane * stride;
// null: the lane is undefined as a whole.
void note_loaded(Warp& w, const Instr& in, Mask exec, Mask undefined, const Buffer* buffer,
                 const std::uint64_t* addresses, std::uint32_t bytes, const std::uint64_t* written = nullptr,
                 std::uint64_t base = 0, std::uint64_t stride = 0);
// After a store of possibly tainted sources: the bytes become undefined again.
void note_stored(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                 std::uint64_t* bits, std::uint64_t stride);
void note_stored_global(Warp& w, const Instr& in, Mask exec, Buffer& buffer, const std::uint64_t* addresses,
                        std::uint32_t bytes);
// Local memory of a lane is copied from one frame to another: its written bits with it.
void copy_written(Warp& w, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
// An atomic whose operand is undefined leaves an undefined value behind.
// `home`: the block in whose shared memory the addresses are; null: global memory.
void note_updated(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  Block* home);
// A shuffle, each lane of exec reading lane from[lane]; `absent` ones read a lane that does not take part.
void note_shuffled(Warp& w, const Instr& in, Mask exec, const std::uint8_t* from, Mask absent);
// A read-modify-write or other use that cannot be deferred.
void report_undefined(Warp& w, const Instr& in, int lane, const Buffer* buffer, std::uint64_t address,
                      std::uint32_t bytes, bool shared);
void report_undefined_use(Warp& w, const Instr& in, int lane, std::uint32_t origin, const char* use);

// ---- sync-relevant accesses ---- (`home` as above)
void sync_read(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, Block* home);
void sync_write(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, Block* home);
// After sync_write of an atomic: its lanes are served one after the other, and the later ones find what the
// earlier ones have released.
void sync_within_warp(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, Block* home);
void note_watched(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes);

void report_bad_shared(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                       bool is_store);
void report_bad_local(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                      bool is_store, std::uint64_t limit);

}  // namespace emulator::exec

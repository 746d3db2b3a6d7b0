// Undefined values. A byte that nobody wrote may be loaded (padding, a halo that is not used); what matters
// is whether it decides anything. A register lane that holds such a value is tainted; taint follows the data
// flow, and is reported when it becomes an address, a branch or an execution predicate, or reaches an output.
// Tracking starts when a warp first loads an undefined byte and costs nothing before.
#pragma once

#include <cstdint>

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// Before / after an instruction of a tainted warp: false from check_taint when a fault ended the launch.
bool check_taint(Warp& w, const Instr& in, Mask active);
void propagate_taint(Warp& w, const Instr& in, Mask active, Mask exec);
void clear_taint(Warp& w, const Instr& in, Mask exec);
void taint_lanes(Warp& w, const Slot& slot, Mask exec, Mask tainted, std::uint32_t origin);
Mask taint_of(Warp& w, const Slot& slot);
std::uint32_t origin_of(Warp& w, const Slot& slot);
void new_frame_taint(Warp& w, Frame& frame);

// After a load: `undefined` lanes read something that was never written. buffer: null for shared and local.
void note_loaded(Warp& w, const Instr& in, Mask exec, Mask undefined, const Buffer* buffer,
                 const std::uint64_t* addresses, std::uint32_t bytes);
// After a store of possibly tainted sources: the bytes become undefined again.
void note_stored(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                 std::uint64_t* bits, std::uint64_t stride);
void note_stored_global(Warp& w, const Instr& in, Mask exec, Buffer& buffer, const std::uint64_t* addresses,
                        std::uint32_t bytes);
// After a shuffle: `tainted` lanes read an undefined value, `absent` ones a lane that does not take part.
void note_shuffled(Warp& w, const Instr& in, Mask exec, Mask tainted, Mask absent);
// A read-modify-write or other use that cannot be deferred.
void report_undefined(Warp& w, const Instr& in, int lane, const Buffer* buffer, std::uint64_t address,
                      std::uint32_t bytes, bool shared);
void report_undefined_use(Warp& w, const Instr& in, int lane, std::uint32_t origin, const char* use);

// ---- sync-relevant accesses ----
void sync_read(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, bool shared);
void sync_write(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, bool shared);
void note_watched(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes);

void report_bad_shared(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                       bool is_store);
void report_bad_local(Warp& w, const Instr& in, int lane, std::uint64_t address, std::uint32_t bytes,
                      bool is_store, std::uint64_t limit);

}  // namespace emulator::exec

// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"): a phase
// completes when its expected arrivals have come and the bytes that it was told to expect are complete. The
// object is opaque to programs; here it is kept beside shared memory, whose eight bytes hold a summary that
// is also the state that an arrival returns: bits 0-19 pending arrivals, 20-39 expected ones, 40-60 pending
// bytes (21 bits, signed), 61-63 the phase modulo 8.
#pragma once

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/state.h"

namespace emulator::exec {

constexpr std::uint32_t kMaxArrivals = (1u << 20) - 1;
constexpr std::int32_t kMaxTransaction = (1 << 20) - 1;  // bytes pending at once, either way

// Makes the object; the address is checked already. To the race check that is a plain write, and every other
// use an atomic: it must come after.
void make_mbarrier(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, std::uint64_t count);
// The object, or null after a fault: never made, or overwritten since.
Mbarrier* find_mbarrier(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at);

// Each false after a fault. `bytes` may be negative (complete_tx).
bool expect_bytes(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, Mbarrier& m,
                  std::int64_t bytes);
struct ArrivalKind {
    bool drop = false, no_complete = false;
};
bool arrive(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, Mbarrier& m,
            std::uint64_t count, ArrivalKind kind);
// Has the phase of this parity completed? Lets copies land when that completes it.
bool phase_has_completed(Warp& w, Block& home, std::uint32_t at, Mbarrier& m, bool parity);
// The arrival of a tcgen05.commit whose operations are complete.
void arrive_commit(Block& home, std::uint32_t at, Mbarrier& m, const TensorCommit& commit);
// Bytes that an asynchronous copy completes.
void complete_bytes(const AsyncLoad& load, Block& home);

std::uint64_t state_of(const Mbarrier& m);
// "3 of 4 arrivals and 128 bytes are missing ..." for a report; `other`: the event that it depends on.
std::string what_is_missing(const Block& home, std::uint32_t at, OtherParty& other, bool& has_other);

}  // namespace emulator::exec

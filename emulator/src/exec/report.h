// Faults: where, who, what. A fault is recorded once per (rule, places); a fatal one ends the launch.
#pragma once

#include <string>

#include "emulator/src/exec/state.h"

namespace emulator::exec {

Place place_of(const Launch& launch, const Instr& instr);
Place place_of_id(const Launch& launch, std::uint32_t id);
Dim3 thread_of(const Launch& launch, std::uint32_t linear_thread);
Dim3 block_of(const Launch& launch, std::uint64_t linear_block);
std::uint64_t linear_of(const Launch& launch, std::uint64_t ordinal);  // Block::ordinal to Block::linear

struct OtherParty {
    std::uint32_t id = 0;  // Instr::id
    std::string note;
    std::uint64_t block = 0;
    std::uint32_t thread = 0;  // linear in the block
    bool has_thread = true;
};

// True (and counted) when a fault of this rule at these two places was reported before.
bool repeated(Launch& launch, const char* rule, std::uint32_t id, std::uint32_t other_id);
// "4 bytes at offset 64 of `x`": buffer null with shared: a shared variable, else local memory.
std::string describe(const Launch& launch, const Buffer* buffer, bool shared, std::uint64_t address,
                     std::uint32_t bytes);

void report(Warp& warp, const char* rule, const Instr& instr, int lane, std::string message, bool fatal,
            const OtherParty* other = nullptr);
void report_id(Launch& launch, const char* rule, std::uint32_t id, std::uint64_t block, std::uint32_t thread,
               std::string message, bool fatal, const OtherParty* other = nullptr);

// "of `x`, which has 4124 bytes" and the like, for an address that is not inside a buffer.
void report_bad_address(Warp& warp, const Instr& instr, int lane, std::uint64_t address, std::uint32_t bytes,
                        bool is_store);
void report_misaligned(Warp& warp, const Instr& instr, int lane, std::uint64_t address, std::uint32_t bytes,
                       bool is_store, const char* what);

}  // namespace emulator::exec

// The specification of the emulated GPU, as a program: slow, obvious, and apart from the engine that is used.
// It executes parsed PTX thread by thread. What it shares with the fast engine is the parser, the address
// space and the outcome; what instructions do, which lanes run, what is counted and what is a race it says
// for itself, in the simplest way there is. Two engines that agree on many programs (tests/differential) are
// the evidence that both are right.
//
// Left out, and a fault `unsupported-instruction` here: wmma, wgmma, sparse products, bulk copies, clusters,
// approximate functions, clocks, printf and other built-in functions, cooperative launches, schedule seeds.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulator/emulator.h"

namespace emulator::specification {

// What the specification knows of races beyond the one that it reports for a pair of places: every pair of
// threads that raced there, and whether the two accesses of some pair followed each other at once at their
// four bytes, so that an engine that remembers little cannot have forgotten the first, nor can one that keeps
// the order of warps instead of threads have taken them for ordered.
struct RaceDetail {
    struct Party {
        std::uint64_t block = 0;
        std::uint32_t thread = 0;
        int ptx_line = 0;
        bool operator<(const Party& other) const {
            return std::tie(block, thread, ptx_line) < std::tie(other.block, other.thread, other.ptx_line);
        }
    };
    std::set<std::pair<Party, Party>> pairs;  // the later access first
    bool adjacent = false;
};
using RaceDetails = std::map<std::pair<std::string, std::pair<int, int>>, RaceDetail>;  // rule, PTX lines

// The launch has been checked; details may be null.
Outcome execute(const Module& module, Memory& memory, const Launch& launch, const Options& options,
                RaceDetails* details);

}  // namespace emulator::specification

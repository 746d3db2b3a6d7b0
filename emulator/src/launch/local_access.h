// A thread's own memory, for the launch code: plain reads of what generic pointers point to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// Host memory behind `bytes` bytes at a generic address of the lane; null when any of it is outside.
const std::byte* host_bytes(const Warp& w, int lane, std::uint64_t address, std::uint64_t bytes);
// A zero-terminated string; nothing when it runs out of its buffer.
std::optional<std::string> read_string(const Warp& w, int lane, std::uint64_t address,
                                       std::size_t limit = 4096);

}  // namespace emulator::exec

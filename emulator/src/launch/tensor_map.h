// What a tensor map says, as the executor uses it.
#pragma once

#include <optional>
#include <string>

#include "emulator/tensor_map.h"

namespace emulator::exec {

// A field as tensormap.replace numbers it (decode/async.cc).
enum class TensorMapField : std::uint8_t {
    global_address,
    rank,
    box_dim,
    global_dim,
    global_stride,
    element_stride,
    elemtype,
    interleave_layout,
    swizzle_mode,
    fill_mode
};

// The fields that were encoded; nothing when the bytes are no tensor map.
std::optional<TensorMapRequest> decode_tensor_map(const TensorMap& map);
// Sets one field; false: no such value. An all-zero or foreign object becomes a tensor map of rank 1.
bool replace_in_tensor_map(TensorMap& map, TensorMapField field, std::uint32_t ordinal, std::uint64_t value);
// The rule that the fields break, if any.
std::optional<TensorMapError> check_tensor_map(const TensorMapRequest& request);

}  // namespace emulator::exec

// Tensor maps: the 128-byte objects that tell the TMA unit (cp.async.bulk.tensor) how a tensor lies in global
// memory and which box of it a copy takes. On a GPU the driver's cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col make them; here encode_tensor_map does, with the rules that the driver documents.
// The bytes are opaque to programs and are not those of hardware.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace emulator {

struct TensorMapRequest {
    // The element types of CUtensorMapDataType that are plain bits in shared memory.
    enum class Type : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 } type = Type::f32;
    enum class Swizzle : std::uint8_t { none, bytes32, bytes64, bytes128 } swizzle = Swizzle::none;
    enum class Fill : std::uint8_t { zero, nan } fill = Fill::zero;  // of what lies outside the tensor
    std::uint64_t address = 0;                                       // of the tensor, in global memory
    // Innermost dimension first, one to five of them.
    std::vector<std::uint64_t> dims;             // elements
    std::vector<std::uint64_t> strides;          // bytes, without the innermost dimension's
    std::vector<std::uint32_t> box;              // elements
    std::vector<std::uint32_t> element_strides;  // empty: all 1; the innermost one is not used
    // For cp.async.bulk.tensor.im2col in place of `box`: dims are C, W, (H, (D,)) N. A copy takes `channels`
    // of each of `pixels` pixels, which lie one after another (W first) in the box from `lower` to the
    // tensor's end plus `upper`, image after image. Corners: W, (H, (D)).
    struct Im2col {
        std::vector<std::int32_t> lower, upper;
        std::uint32_t channels = 0, pixels = 0;
    };
    std::optional<Im2col> im2col;
};
using TensorMap = std::array<std::byte, 128>;

// Rules: "rank", "address", "dims", "strides", "box", "element-strides", "swizzle", "fill",
// "corners", "channels", "pixels".
struct TensorMapError {
    std::string rule, message;
};

std::variant<TensorMap, TensorMapError> encode_tensor_map(const TensorMapRequest& request);
std::uint32_t element_bytes(TensorMapRequest::Type type);

}  // namespace emulator

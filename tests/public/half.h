// binary16 and bfloat16 for host data.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace kernelwright::public_sources {

using u16 = std::uint16_t;

inline std::vector<u16> to_half(const std::vector<float>& x) {
    std::vector<u16> out;
    for (const float v : x) out.push_back(std::bit_cast<u16>(static_cast<_Float16>(v)));
    return out;
}
inline std::vector<float> from_half(const std::vector<u16>& x) {
    std::vector<float> out;
    for (const u16 v : x) out.push_back(static_cast<float>(std::bit_cast<_Float16>(v)));
    return out;
}
// Rounded to nearest, ties to even; no NaN.
inline std::vector<u16> to_bfloat(const std::vector<float>& x) {
    std::vector<u16> out;
    for (const float v : x) {
        const auto bits = std::bit_cast<std::uint32_t>(v);
        out.push_back(static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
    }
    return out;
}
inline std::vector<float> from_bfloat(const std::vector<u16>& x) {
    std::vector<float> out;
    for (const u16 v : x) out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16));
    return out;
}

}  // namespace kernelwright::public_sources

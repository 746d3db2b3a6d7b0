#include "verifiers/numerics/poison.h"

#include <algorithm>
#include <array>

namespace kernelwright {

std::uint8_t poison_byte(std::uint64_t variation) {
    constexpr std::array<std::uint8_t, 4> patterns{0xff, 0xd5, 0xfd, 0xab};
    return patterns[variation % patterns.size()];
}

void poison_fill(Tensor& tensor, std::uint64_t variation) {
    std::fill(tensor.data.begin(), tensor.data.end(), static_cast<std::byte>(poison_byte(variation)));
}

bool is_poison(const Tensor& tensor, std::int64_t index, std::uint64_t variation) {
    const std::byte byte = static_cast<std::byte>(poison_byte(variation));
    std::array<std::byte, 8> cell{};
    cell.fill(byte);
    return load_bits(tensor.dtype, tensor.data.data(), index) ==
           load_bits(tensor.dtype, cell.data(), bits(tensor.dtype) == 4 ? index % 2 : 0);
}

}  // namespace kernelwright

// The little that is read from machine code (an ELF file): how large each kernel's code is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace kernelwright {

// Size of each .text.NAME section, by NAME. Empty when the bytes are no 64-bit ELF file.
std::map<std::string, std::uint32_t> code_sizes(std::span<const std::byte> cubin);

}  // namespace kernelwright

// The bytes that outputs and scratch hold before a run. A pattern must not look like an answer: every float
// format reads it as a value no draw gives, every integer as one far from small counts. Two runs with
// different variations use different bytes, so an element that nobody wrote shows even where one pattern
// happens to fit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/core/tensor.h"

namespace kernelwright {

// Of 0xff (NaN in all IEEE formats and in e4m3), 0xfd, 0xd5 and 0xab.
std::uint8_t poison_byte(std::uint64_t variation);
void poison_fill(Tensor& tensor, std::uint64_t variation);
// Does element `index` still hold the poison of `variation`?
bool is_poison(const Tensor& tensor, std::int64_t index, std::uint64_t variation);

}  // namespace kernelwright

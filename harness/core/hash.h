// Content addresses: SHA-256 in lower-case hex.
#pragma once

#include <string>
#include <string_view>

namespace kernelwright {

std::string sha256_hex(std::string_view bytes);

}  // namespace kernelwright

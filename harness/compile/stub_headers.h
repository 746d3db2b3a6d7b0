// The host's usual headers as NVRTC can take them, and what a candidate has without any include. They live in
// this program, not in files, and are handed to NVRTC as in-memory headers.
#pragma once

#include <span>
#include <string>

namespace kernelwright {

struct StubHeader {
    const char* name;  // as written between < and >
    const char* text;
};

std::span<const StubHeader> stub_headers();

// Included before the first line of every candidate (--pre-include), so that line numbers stay the file's
// own.
inline constexpr const char* prelude_header = "kernelwright_prelude.h";

// A hash of all of them, for the compile cache.
const std::string& stub_headers_hash();

}  // namespace kernelwright

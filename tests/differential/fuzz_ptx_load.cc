// libFuzzer: any bytes as PTX.
#include <cstdint>
#include <string_view>

#include "tests/differential/hostile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    emulator::differential::exercise({reinterpret_cast<const char*>(data), size});
    return 0;
}

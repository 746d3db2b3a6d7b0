#include "emulator/src/decode/decoder.h"

namespace emulator::decode {

void add_tensor(DecodeTable&) {}

}  // namespace emulator::decode

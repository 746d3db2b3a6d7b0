// What the decoders of cp, st and red hand to decode/async.cc.
#pragma once

#include "emulator/src/decode/decoder.h"

namespace emulator::decode {

bool bulk_copy(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out);    // after cp.async.bulk
bool bulk_zero(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out);    // st.bulk
bool async_store(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out);  // st.async, red.async

}  // namespace emulator::decode

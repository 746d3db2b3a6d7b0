// SIMD video instructions: two 16-bit or four 8-bit lanes within a register.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

// imm: the operation (0 add 1 sub 2 avrg 3 absdiff 4 min 5 max); vector: lanes (2, 4); sub: bit 0 a is
// signed, bit 1 b, bit 2 the result; flags: sat, reduction (.add: the lanes are summed into c).
void video(Warp& w, const Instr& in, Mask exec) {
    const int n = in.vector, bits = 32 / n;
    const auto element = [&](u32 v, int k, bool is_signed) -> s32 {
        const u32 e = (v >> (bits * k)) & ((1u << bits) - 1);
        return is_signed ? static_cast<s32>(e << (32 - bits)) >> (32 - bits) : static_cast<s32>(e);
    };
    const s32 low = (in.sub & 4) ? -(1 << (bits - 1)) : 0,
              high = (in.sub & 4) ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    const bool sat = in.has(flag::sat), accumulate = in.has(flag::reduction);
    map3<u32, u32, u32, u32>(w, in, exec, [&](u32 a, u32 b, u32 c) {
        u32 r = accumulate ? c : 0;
        for (int k = 0; k < n; ++k) {
            const s32 x = element(a, k, in.sub & 1), y = element(b, k, in.sub & 2);
            s32 v = 0;
            switch (in.imm) {
                case 0:
                    v = x + y;
                    break;
                case 1:
                    v = x - y;
                    break;
                case 2:
                    v = (x + y + 1) >> 1;
                    break;
                case 3:
                    v = x > y ? x - y : y - x;
                    break;
                case 4:
                    v = x < y ? x : y;
                    break;
                default:
                    v = x > y ? x : y;
                    break;
            }
            if (sat) v = v < low ? low : v > high ? high : v;
            if (accumulate)
                r += static_cast<u32>(v);
            else
                r |= (static_cast<u32>(v) & ((1u << bits) - 1)) << (bits * k);
        }
        return r;
    });
}

const HandlerEntry entries[] = {{"video", video}};

}  // namespace

HandlerTable video_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

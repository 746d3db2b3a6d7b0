// Video instructions: on a word or a part of it, or on two halves or four bytes at once. The stages are those
// of the PTX ISA: extract and extend, operate, clamp, then a second operation with c or a merge into it.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/video_form.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

using s128 = __int128;

// Bits [at, at + bits) of v, extended.
s64 extract(u64 v, int at, int bits, bool is_signed) {
    const u64 e = (v >> at) & ((u64{1} << bits) - 1);
    return is_signed ? static_cast<s64>(e << (64 - bits)) >> (64 - bits) : static_cast<s64>(e);
}

struct Part {
    int at, bits;
};
constexpr Part kParts[7] = {{0, 32}, {0, 8}, {8, 8}, {16, 8}, {24, 8}, {0, 16}, {16, 16}};

template <class T>
T clamp(T v, int bits, bool is_signed) {
    const s64 low = is_signed ? -(s64{1} << (bits - 1)) : 0;
    const s64 high = low + (s64{1} << bits) - 1;
    return v < low ? T{low} : v > high ? T{high} : v;
}

bool compare(u64 op, s64 a, s64 b) {
    switch (op) {
        case 0:
            return a == b;
        case 1:
            return a != b;
        case 2:
            return a < b;
        case 3:
            return a <= b;
        case 4:
            return a > b;
        default:
            return a >= b;
    }
}

s128 operate(const VideoForm& form, s64 a, s64 b) {
    switch (static_cast<VideoOperation>(form.operation)) {
        case VideoOperation::add:
            return a + b;
        case VideoOperation::sub:
            return a - b;
        case VideoOperation::average:
            return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
        case VideoOperation::difference:
            return a > b ? a - b : b - a;
        case VideoOperation::minimum:
            return a < b ? a : b;
        case VideoOperation::maximum:
            return a > b ? a : b;
        case VideoOperation::left:
            return s128{a} << (form.wrap ? b & 31 : b > 32 ? 32 : b);
        case VideoOperation::right:
            return a >> (form.wrap ? b & 31 : b > 32 ? 32 : b);
        default:
            return compare(form.comparison, a, b) ? 1 : 0;
    }
}

void scalar(Warp& w, const Instr& in, Mask exec) {
    const VideoForm form = video_form(in.imm);
    const Part pa = kParts[form.part_a], pb = kParts[form.part_b], pd = kParts[form.part_d];
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    const u32* c = in.sources > 2 ? narrow(w, in.source(2)) : nullptr;
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) {
        const s128 result = operate(form, extract(a[i], pa.at, pa.bits, form.a_signed),
                                    extract(b[i], pb.at, pb.bits, form.b_signed));
        // Without a clamp the intermediate result has 33 bits.
        const s64 v = form.saturate ? static_cast<s64>(clamp(result, pd.bits, form.d_signed))
                                    : static_cast<s64>(static_cast<u64>(result) << 31) >> 31;
        const s64 other = c ? extract(c[i], 0, 32, form.d_signed) : 0;
        switch (static_cast<VideoSecond>(form.second)) {
            case VideoSecond::add:
                d[i] = static_cast<u32>(v + other);
                break;
            case VideoSecond::minimum:
                d[i] = static_cast<u32>(v < other ? v : other);
                break;
            case VideoSecond::maximum:
                d[i] = static_cast<u32>(v > other ? v : other);
                break;
            default: {
                const u32 keep = pd.bits == 32 ? ~0u : ((1u << pd.bits) - 1) << pd.at;
                d[i] = (static_cast<u32>(static_cast<u64>(v) << pd.at) & keep) | (c ? c[i] & ~keep : 0);
            }
        }
    });
}

void simd(Warp& w, const Instr& in, Mask exec) {
    const VideoForm form = video_form(in.imm);
    const int n = in.vector, bits = 32 / n;
    const auto element = [&](u64 pair, u64 select, int k, bool is_signed) {
        return extract(pair, static_cast<int>((select >> (3 * k)) & 7) * bits, bits, is_signed);
    };
    const u32 low = (1u << bits) - 1;
    map3<u32, u32, u32, u32>(w, in, exec, [&](u32 a, u32 b, u32 c) {
        const u64 pair = u64{b} << 32 | a;
        u32 r = c;
        for (int k = 0; k < n; ++k) {
            if (((form.mask >> k) & 1) == 0) continue;
            s64 v = static_cast<s64>(operate(form, element(pair, form.select_a, k, form.a_signed),
                                             element(pair, form.select_b, k, form.b_signed)));
            if (form.saturate) v = clamp(v, bits, form.d_signed);
            if (static_cast<VideoSecond>(form.second) == VideoSecond::add)
                r += static_cast<u32>(v);
            else
                r = (r & ~(low << (bits * k))) | (static_cast<u32>(v) & low) << (bits * k);
        }
        return r;
    });
}

void mad(Warp& w, const Instr& in, Mask exec) {
    const VideoForm form = video_form(in.imm);
    const Part pa = kParts[form.part_a], pb = kParts[form.part_b];
    const bool is_signed = form.a_signed || form.b_signed || form.negate_product || form.negate_c;
    map3<u32, u32, u32, u32>(w, in, exec, [&](u32 a, u32 b, u32 c) {
        const s128 product =
            s128{extract(a, pa.at, pa.bits, form.a_signed)} * extract(b, pb.at, pb.bits, form.b_signed);
        s128 sum = form.negate_product ? -product : product;
        // -c is ~c + 1, and it is the 32-bit ~c that is extended.
        sum += extract(form.negate_c ? ~c : c, 0, 32, is_signed);
        sum += form.plus_one || form.negate_c ? 1 : 0;
        const s128 scaled = sum >> form.scale;  // of which 64 bits are kept
        s128 r = is_signed ? s128{static_cast<s64>(scaled)} : s128{static_cast<u64>(scaled)};
        if (form.saturate) r = clamp(r, 32, is_signed);
        return static_cast<u32>(r);
    });
}

const HandlerEntry entries[] = {{"video.scalar", scalar}, {"video.simd", simd}, {"video.mad", mad}};

}  // namespace

HandlerTable video_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

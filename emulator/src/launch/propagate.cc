// How undefined bits pass through an instruction that computes (loads, shuffles and matrix products do it in
// their handlers). Arithmetic makes all of its result undefined; what only moves bits moves their taint, and
// the logic operations know that 0 and x is 0 whatever x is. Pairs of halves are followed half by half: the
// second half of an odd tail is often never set and never looked at.
#include <bit>

#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/origins.h"

namespace emulator::exec {

namespace {

using Bits = std::uint64_t;

Bits low(std::uint32_t width) { return width >= 64 ? ~Bits{0} : (Bits{1} << width) - 1; }
Bits sign_extended(Bits bits, std::uint32_t width) {
    bits &= low(width);
    if (width < 64 && ((bits >> (width - 1)) & 1)) bits |= ~low(width);
    return bits;
}

// Predicates: all lanes at once. `undefined` and `value` are those of the two sources.
Mask logic(Flow flow, Mask undefined_a, Mask a, Mask undefined_b, Mask b) {
    switch (flow) {
        case Flow::logic_and:
            return (undefined_a & undefined_b) | (undefined_a & b) | (undefined_b & a);
        case Flow::logic_or:
            return (undefined_a & undefined_b) | (undefined_a & ~b) | (undefined_b & ~a);
        default:
            return undefined_a | undefined_b;
    }
}

// A literal shift count, position or selector; nothing when it differs between lanes or is undefined itself.
bool literal(Warp& w, const Slot& slot, int lane, Bits& value) {
    if (undefined_bits(w, slot, lane)) return false;
    value = lane_value(w, slot, lane);
    return true;
}

// The undefined bits of destination k of one lane.
Bits result_bits(Warp& w, const Instr& in, int k, int lane) {
    const auto of = [&](int source) { return undefined_bits(w, in.source(source), lane); };
    Bits n = 0;
    switch (in.flow) {
        case Flow::copy:
            if (in.has(flag::selects)) {
                if (of(2)) return ~Bits{0};
                return (mask_of(w, in.source(2)) >> lane) & 1 ? of(0) : of(1);
            }
            return of(in.sources == in.destinations ? k : 0);
        case Flow::pack: {
            Bits bits = 0;
            for (int e = 0; e < in.sources; ++e)
                bits |= (of(e) & low(8u * in.size)) << (8u * in.size * static_cast<std::uint32_t>(e));
            return bits;
        }
        case Flow::unpack:
            return (of(0) >> (8u * in.size * static_cast<std::uint32_t>(k))) & low(8u * in.size);
        case Flow::logic_and: {
            const Bits a = lane_value(w, in.source(0), lane), b = lane_value(w, in.source(1), lane);
            return ((of(0) & of(1)) | (of(0) & b) | (of(1) & a)) & low(in.flow_width);
        }
        case Flow::logic_or: {
            const Bits a = lane_value(w, in.source(0), lane), b = lane_value(w, in.source(1), lane);
            return ((of(0) & of(1)) | (of(0) & ~b) | (of(1) & ~a)) & low(in.flow_width);
        }
        case Flow::logic_xor:
            return (of(0) | (in.sources > 1 ? of(1) : 0)) & low(in.flow_width);
        case Flow::shift_left:
            if (!literal(w, in.source(1), lane, n)) return ~Bits{0};
            return n >= in.flow_width ? 0 : (of(0) & low(in.flow_width)) << n & low(in.flow_width);
        case Flow::shift_right:
            if (!literal(w, in.source(1), lane, n)) return ~Bits{0};
            return n >= in.flow_width ? 0 : (of(0) & low(in.flow_width)) >> n;
        case Flow::shift_right_signed:
            if (!literal(w, in.source(1), lane, n)) return ~Bits{0};
            n = n >= in.flow_width ? in.flow_width - 1u : n;
            return static_cast<Bits>(static_cast<std::int64_t>(sign_extended(of(0), in.flow_width)) >>
                                     static_cast<int>(n)) &
                   low(in.flow_width);
        case Flow::extract:
        case Flow::extract_signed: {
            Bits length = 0;
            if (!literal(w, in.source(1), lane, n) || !literal(w, in.source(2), lane, length))
                return ~Bits{0};
            n &= 0xff;
            length &= 0xff;
            const Bits source = of(0) & low(in.flow_width);
            if (length == 0) return 0;
            if (in.flow == Flow::extract)
                return n >= in.flow_width ? 0 : (source >> n) & low(static_cast<std::uint32_t>(length));
            // beyond the source's end stand copies of its sign
            const auto field =
                static_cast<Bits>(static_cast<std::int64_t>(sign_extended(source, in.flow_width)) >>
                                  static_cast<int>(n < 64 ? n : 63));
            return (length >= 64 ? field : sign_extended(field, static_cast<std::uint32_t>(length))) &
                   low(in.flow_width);
        }
        case Flow::permute: {
            if (!literal(w, in.source(2), lane, n)) return ~Bits{0};
            const Bits bytes = (of(0) & 0xffffffffu) | of(1) << 32;
            Bits bits = 0;
            for (int i = 0; i < 4; ++i) {
                const auto selector = static_cast<std::uint32_t>(n >> (4 * i)) & 15u;
                Bits byte = (bytes >> (8 * (selector & 7u))) & 0xff;
                if (selector & 8u) byte = byte & 0x80 ? 0xff : 0;  // copies of the sign
                bits |= byte << (8 * i);
            }
            return bits;
        }
        case Flow::halves: {
            Bits any = 0;
            for (int s = 0; s < in.sources; ++s) any |= of(s);
            const Bits lower = low(in.flow_width), upper = lower << in.flow_width;
            if (in.destinations == 2)  // setp: one predicate per half
                return any & (k == 0 ? lower : upper);
            return (any & lower ? lower : 0) | (any & upper ? upper : 0);
        }
        case Flow::join:
            return (of(0) ? 0xffff0000u : 0u) | (in.sources > 1 && of(1) ? 0xffffu : 0u);
        case Flow::widen:
            return of(0) & low(in.flow_width);
        case Flow::widen_signed:
            return sign_extended(of(0), in.flow_width);
        case Flow::whole:
            break;
    }
    for (int s = 0; s < in.sources; ++s)
        if (of(s) & low(in.flow_width)) return ~Bits{0};
    return 0;
}

}  // namespace

void propagate_taint(Warp& w, const Instr& in, Mask exec) {
    if (in.has(flag::loads) || in.destinations == 0) return;
    // A copy of a variable that was never set is not yet a use of it.
    const bool copies = in.flow == Flow::copy || in.flow == Flow::pack || in.flow == Flow::unpack;
    Mask any = 0;
    for (int k = 0; k < in.sources; ++k) any |= taint_of(w, in.source(k)) & exec;
    if (!any) {
        clear_taint(w, in, exec);
        return;
    }
    std::array<std::uint32_t, kLanes> origins{};  // of the first undefined source
    for_lanes(any, [&](int lane) {
        for (int k = 0; k < in.sources; ++k) {
            if (!((taint_of(w, in.source(k)) >> lane) & 1)) continue;
            origins[static_cast<std::size_t>(lane)] =
                copies ? raw_origin_of(w, in.source(k), lane) : origin_of(w, in, in.source(k), lane);
            return;
        }
    });
    const auto taint = [&](const Slot& slot, Mask tainted) {
        taint_lanes(w, slot, exec, 0, 0);
        for_lanes(tainted & exec, [&](int lane) {
            taint_lanes(w, slot, Mask{1} << lane, Mask{1} << lane, origins[static_cast<std::size_t>(lane)]);
        });
    };
    const bool on_predicates = in.sources == 2 && in.source(0).base == Base::predicate;
    if (in.has(flag::cross_lane)) {
        origins.fill(origins[static_cast<std::size_t>(std::countr_zero(any))]);
        for (int k = 0; k < in.destinations; ++k) taint(in.destination(k), exec);
    } else if (on_predicates) {
        const Mask a = mask_of(w, in.source(0)), b = mask_of(w, in.source(1));
        taint(in.destination(0), logic(in.flow, taint_of(w, in.source(0)), a, taint_of(w, in.source(1)), b));
    } else if (in.flow == Flow::whole && in.flow_width == 64) {
        for (int k = 0; k < in.destinations; ++k) taint(in.destination(k), any);
    } else {
        // The destinations may be sources too: all results first.
        std::array<std::array<Bits, kLanes>, 8> results;
        std::array<std::array<std::uint32_t, kLanes>, 8> from;
        // Two words that are moved together have each their own.
        const bool apart = in.flow == Flow::copy && in.sources == in.destinations;
        const int n = std::min<int>(in.destinations, static_cast<int>(results.size()));
        for_lanes(exec & any, [&](int lane) {
            for (int k = 0; k < n; ++k) {
                results[static_cast<std::size_t>(k)][static_cast<std::size_t>(lane)] =
                    result_bits(w, in, k, lane);
                from[static_cast<std::size_t>(k)][static_cast<std::size_t>(lane)] =
                    apart ? raw_origin_of(w, in.source(k), lane) : origins[static_cast<std::size_t>(lane)];
            }
        });
        clear_taint(w, in, exec & ~any);
        for_lanes(exec & any, [&](int lane) {
            for (int k = 0; k < n; ++k)
                set_undefined_bits(w, in.destination(k), lane,
                                   results[static_cast<std::size_t>(k)][static_cast<std::size_t>(lane)],
                                   from[static_cast<std::size_t>(k)][static_cast<std::size_t>(lane)]);
        });
    }
}

}  // namespace emulator::exec

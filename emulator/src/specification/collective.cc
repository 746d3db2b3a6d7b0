// Instructions of the lanes of a warp together: shfl, vote, match, redux, and bar.warp.sync.
#include <algorithm>

#include "emulator/src/specification/machine.h"
#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

namespace {
const ptx::Instruction& instruction_of(const Group& g) { return g.at->function->code[g.pc]; }
bool is_warp_barrier(const ptx::Instruction& in) { return in.opcode == "bar"; }
}  // namespace

// The member mask is the last operand.
LaneMask Machine::members(Warp& w, const Group& g, const ptx::Instruction& in, int lane) {
    if (is_matrix_instruction(in)) return w.live;
    if (in.operands.empty() || !readable(g, in.operands.back(), ptx::Type::b32)) return 0;
    return static_cast<LaneMask>(read(w, g, lane, in.operands.back(), ptx::Type::b32).bits);
}

bool Machine::complete_for(Warp& w, const Group& g, const ptx::Instruction& in, LaneMask exec) {
    bool all = true;
    each_lane(exec, [&](int lane) { all &= (members(w, g, in, lane) & w.live & ~exec) == 0; });
    return all;
}

// Lanes that name the same members act together.
void Machine::collective(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    for (LaneMask rest = exec; rest && !stopped_;) {
        const LaneMask named = members(w, g, in, lowest(rest));
        LaneMask lanes = 0;
        each_lane(rest, [&](int lane) {
            if (members(w, g, in, lane) == named) lanes |= LaneMask{1} << lane;
        });
        rest &= ~lanes;
        if (lanes & ~named) {
            report("invalid-shuffle", who(w, in, lowest(lanes & ~named)),
                   "the executing lane is not in its own member mask", true);
            return;
        }
        together(w, g, in, lanes);
    }
}

// bar.warp.sync may be reached at different places: all lanes that wait at one count.
void Machine::finish_warp_barriers(Warp& w) {
    LaneMask waiting = 0;
    for (const Group& g : w.groups)
        if (g.state == Group::State::at_collective && is_warp_barrier(instruction_of(g))) waiting |= g.lanes;
    if (!waiting) return;
    std::array<LaneMask, kWarpSize> named{};
    LaneMask complete = 0;
    for (Group& g : w.groups) {
        if (g.state != Group::State::at_collective || !is_warp_barrier(instruction_of(g))) continue;
        const ptx::Instruction& in = instruction_of(g);
        bool all = true;
        each_lane(g.lanes, [&](int lane) {
            const LaneMask m = named[static_cast<std::size_t>(lane)] = members(w, g, in, lane);
            all &= (m & w.live & ~waiting) == 0;
            if (!((m >> lane) & 1) && !stopped_)
                report("invalid-shuffle", who(w, in, lane),
                       "the executing lane is not in its own member mask", true);
        });
        if (!all || stopped_) continue;
        complete |= g.lanes;
        count_instruction(in, g.lanes, g.lanes, false);
        w.instructions += 1;
        g.pc += 1;
        g.state = Group::State::ready;
    }
    while (complete && !stopped_) {
        std::vector<std::uint32_t> lanes;
        const LaneMask m = named[static_cast<std::size_t>(lowest(complete))];
        each_lane(complete, [&](int lane) {
            if (named[static_cast<std::size_t>(lane)] != m) return;
            lanes.push_back(number_of(w, lane));
            complete &= ~(LaneMask{1} << lane);
        });
        if (options_.check_races) synchronise(lanes, lanes);
    }
}

void Machine::together(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes) {
    using ptx::Type;
    const auto unsupported = [&] {
        report("unsupported-instruction", who(w, in, lowest(lanes)), in.text, true);
    };
    if (is_matrix_instruction(in)) {
        if (!matrix(w, g, in, lanes)) unsupported();
        return;
    }
    Words words(in);
    if (in.opcode == "bar") {
        if (!words.take("warp") || !words.take("sync") || !words.empty() || in.operands.size() != 1)
            return unsupported();
        if (!options_.check_races) return;
        std::vector<std::uint32_t> numbers;
        each_lane(lanes, [&](int lane) { numbers.push_back(number_of(w, lane)); });
        synchronise(numbers, numbers);
        return;
    }
    if (!words.take("sync")) return unsupported();
    if (in.opcode == "elect") {  // the lowest lane
        if (!words.empty() || in.operands.size() != 2 || !in.operands[0].pair) return unsupported();
        int origin = 0;
        bool undefined = false;
        each_lane(lanes, [&](int lane) {
            const Value mask = read(w, g, lane, in.operands[1], Type::b32);
            if (mask.undefined && !undefined) origin = origin_for(w, in, mask, lane);
            undefined |= mask.undefined != 0;
        });
        each_lane(lanes, [&](int lane) {
            Value leader, chosen;
            leader.origin = chosen.origin = origin;
            leader.undefined = chosen.undefined = undefined ? ~std::uint64_t{0} : 0;
            leader.bits = static_cast<std::uint64_t>(lowest(lanes));
            chosen.bits = lane == lowest(lanes);
            write(w, g, lane, in.operands[0], leader);
            ptx::Operand second;
            second.value = *in.operands[0].pair;
            write(w, g, lane, second, chosen);
        });
        return;
    }
    const auto mode = words.take_one_of({"up", "down", "bfly", "idx", "all", "any", "uni", "ballot", "add",
                                         "min", "max", "and", "or", "xor"});
    const bool magnitudes = words.take("abs"), nan_wins = words.take("NaN");
    const auto type = words.take_type();
    if (!mode || !type || !words.empty()) return unsupported();
    const bool real = in.opcode == "redux" && *type == Type::f32;
    if ((magnitudes || nan_wins) && !real) return unsupported();
    const bool shuffles = in.opcode == "shfl";
    const Type source = in.opcode == "vote" ? Type::pred : *type;
    if (in.operands.size() != (shuffles ? 5u : 3u)) return unsupported();
    for (std::size_t k = 1; k < in.operands.size(); ++k)
        if (!readable(g, in.operands[k], k == 1 ? source : Type::b32)) return unsupported();
    if (options_.check_races) exchange(w, lanes);
    std::array<Value, kWarpSize> a, results, second;
    bool any_undefined = false;
    int origin = 0;
    each_lane(lanes, [&](int lane) {
        const auto i = static_cast<std::size_t>(lane);
        a[i] = read(w, g, lane, in.operands[1], source);
        a[i].bits = source == Type::pred ? a[i].bits : truncated(a[i].bits, bits_of(source));
        for (std::size_t k = 1; k < in.operands.size() && !shuffles; ++k) {
            const Value v = read(w, g, lane, in.operands[k], k == 1 ? source : Type::b32);
            if (v.undefined && !any_undefined) origin = origin_for(w, in, v, lane);
            any_undefined |= v.undefined != 0;
        }
    });
    const auto give = [&](std::uint64_t bits) {
        each_lane(lanes, [&](int lane) { results[static_cast<std::size_t>(lane)].bits = bits; });
    };
    if (shuffles) {
        if (*type != Type::b32) return unsupported();
        each_lane(lanes, [&](int lane) {
            const auto i = static_cast<std::size_t>(lane);
            const int b = static_cast<int>(read(w, g, lane, in.operands[2], Type::b32).bits & 0x1f);
            const int c = static_cast<int>(read(w, g, lane, in.operands[3], Type::b32).bits & 0x1f1f);
            const int clamp = c & 0x1f, segment = c >> 8;
            const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
            int from = lane;
            bool in_range = true;
            if (*mode == "up") {
                from = lane - b;
                in_range = from >= most;
            } else if (*mode == "down") {
                from = lane + b;
                in_range = from <= most;
            } else if (*mode == "bfly") {
                from = lane ^ b;
                in_range = from <= most;
            } else {
                from = least | (b & ~segment);
                in_range = from <= most;
            }
            if (!in_range) from = lane;
            const auto j = static_cast<std::size_t>(from);
            second[i].bits = in_range;
            if (!((lanes >> from) & 1)) {  // "the value is undefined": it does not take part
                results[i] = read(w, g, from, in.operands[1], source);
                if (options_.check_initialised) {
                    results[i].undefined = 0xffffffff;
                    results[i].origin = new_origin(w, in, lane, "invalid-shuffle",
                                                   "reads a lane that does not take part in the shuffle");
                }
                return;
            }
            results[i] = a[j];
            if (a[j].undefined) results[i].origin = origin_for(w, in, a[j], from);
        });
    } else if (in.opcode == "vote") {
        std::uint64_t ballot = 0;
        each_lane(lanes, [&](int lane) {
            ballot |= std::uint64_t{a[static_cast<std::size_t>(lane)].bits != 0} << lane;
        });
        if (*mode == "ballot") {
            if (*type != Type::b32) return unsupported();
            give(ballot);
        } else if (*type != Type::pred || (*mode != "all" && *mode != "any" && *mode != "uni")) {
            return unsupported();
        } else {
            give(*mode == "all"   ? ballot == lanes
                 : *mode == "any" ? ballot != 0
                                  : ballot == 0 || ballot == lanes);
        }
    } else if (in.opcode == "match") {
        if (*type != Type::b32 && *type != Type::b64) return unsupported();
        if (*mode == "any") {
            each_lane(lanes, [&](int x) {
                each_lane(lanes, [&](int y) {
                    if (a[static_cast<std::size_t>(x)].bits == a[static_cast<std::size_t>(y)].bits)
                        results[static_cast<std::size_t>(x)].bits |= std::uint64_t{1} << y;
                });
            });
        } else if (*mode == "all") {
            bool same = true;
            each_lane(lanes, [&](int x) {
                same &=
                    a[static_cast<std::size_t>(x)].bits == a[static_cast<std::size_t>(lowest(lanes))].bits;
            });
            give(same ? lanes : 0);
            each_lane(lanes, [&](int lane) { second[static_cast<std::size_t>(lane)].bits = same; });
        } else {
            return unsupported();
        }
    } else if (real) {
        if (*mode != "min" && *mode != "max") return unsupported();
        const auto value = [&](int lane) {
            const std::uint64_t bits = a[static_cast<std::size_t>(lane)].bits;
            return magnitudes ? bits & ~sign_bit(kSingle) : bits;
        };
        std::uint64_t r = value(lowest(lanes));
        each_lane(lanes, [&](int lane) { r = smaller(r, value(lane), *mode == "max", nan_wins, kSingle); });
        give(is_nan(r, kSingle) ? canonical_nan(kSingle) : r);
    } else {
        const bool logic = *mode == "and" || *mode == "or" || *mode == "xor";
        if (logic ? *type != Type::b32 : *type != Type::u32 && *type != Type::s32) return unsupported();
        std::uint64_t r = a[static_cast<std::size_t>(lowest(lanes))].bits;
        each_lane(lanes & ~(LaneMask{1} << lowest(lanes)), [&](int lane) {
            const std::uint64_t v = a[static_cast<std::size_t>(lane)].bits;
            const auto order = [&](std::uint64_t x) {
                return static_cast<std::int64_t>(*type == Type::s32 ? sign_extended(x, 32) : x);
            };
            if (*mode == "add")
                r = truncated(r + v, 32);
            else if (*mode == "min")
                r = order(v) < order(r) ? v : r;
            else if (*mode == "max")
                r = order(v) > order(r) ? v : r;
            else if (*mode == "and")
                r &= v;
            else if (*mode == "or")
                r |= v;
            else if (*mode == "xor")
                r ^= v;
        });
        if (*mode != "add" && *mode != "min" && *mode != "max" && !logic) return unsupported();
        give(r);
    }
    each_lane(lanes, [&](int lane) {
        const auto i = static_cast<std::size_t>(lane);
        if (!shuffles && any_undefined) {
            results[i].undefined = second[i].undefined = ~std::uint64_t{0};
            results[i].origin = second[i].origin = origin;
        }
        write(w, g, lane, in.operands[0], results[i]);
        if (in.operands[0].pair) {
            ptx::Operand other;
            other.value = *in.operands[0].pair;
            write(w, g, lane, other, second[i]);
        }
    });
}

}  // namespace emulator::specification

// Undefined bits: what was never written and what was computed from it. They are followed from register to
// register and become a fault when they choose an address or a way, or reach an output.
#include <algorithm>

#include "emulator/src/specification/machine.h"

namespace emulator::specification {

using ptx::Type;

// The first thread that met undefined data at this instruction stands for all.
int Machine::new_origin(Warp& w, const ptx::Instruction& in, int lane, const char* rule, std::string what) {
    const auto [it, added] = origin_of_.try_emplace(&in, static_cast<int>(origins_.size()) + 1);
    if (added)
        origins_.push_back({&in, rule, std::move(what), block_->linear,
                            w.index * kWarpSize + static_cast<std::uint32_t>(lane)});
    return it->second;
}
// A register that was never given a value: the instruction that computes with it is the place.
int Machine::origin_for(Warp& w, const ptx::Instruction& in, const Value& v, int lane) {
    if (v.origin != kNeverSet) return v.origin;
    return new_origin(w, in, lane, "uninitialised-read", "uses a variable that was never given a value");
}
void Machine::use_undefined(Warp& w, const ptx::Instruction& in, int lane, int origin) {
    if (origin <= 0) return;
    const Origin& o = origins_[static_cast<std::size_t>(origin) - 1];
    const Who use = who(w, in, lane);
    report(o.rule, {o.instruction, o.block, o.thread}, o.what + ", and the value is used", false, &use);
}

// The undefined bits of destination k.
std::uint64_t Machine::undefined_result(const ptx::Instruction& in, const std::vector<Value>& s,
                                        std::size_t destinations, std::size_t k) const {
    constexpr std::uint64_t everything = ~std::uint64_t{0};
    bool any = false;
    for (const Value& v : s) any |= v.undefined != 0;
    if (!any) return 0;
    const std::string& op = in.opcode;
    std::vector<Type> types;
    for (const std::string& m : in.modifiers)
        if (const auto t = ptx::parse_type(m)) types.push_back(*t);
    const Type type = types.empty() ? Type::none : types.front();
    const int n = type == Type::none || type == Type::pred ? 1 : bits_of(type);
    const auto u = [&](std::size_t i) { return truncated(s[i].undefined, n); };
    const auto v = [&](std::size_t i) { return truncated(s[i].bits, n); };
    if (op == "selp") return s[2].undefined ? everything : s[2].bits ? s[0].undefined : s[1].undefined;
    // 0 and x is 0 whatever x is; 1 or x is 1.
    if (op == "and") return (u(0) & u(1)) | (u(0) & v(1)) | (u(1) & v(0));
    if (op == "or") return (u(0) & u(1)) | (u(0) & ~v(1)) | (u(1) & ~v(0));
    if (op == "xor") return u(0) | u(1);
    if (op == "not") return u(0);
    if (op == "shl" || op == "shr") {
        if (s[1].undefined) return everything;
        const std::uint64_t by = truncated(s[1].bits, 32);
        const bool out = by >= static_cast<std::uint64_t>(n);
        if (op == "shl") return out ? 0 : truncated(u(0) << by, n);
        if (!is_signed(type)) return out ? 0 : u(0) >> by;
        std::uint64_t result = 0;  // the sign is copied down
        for (int i = 0; i < n; ++i) {
            const std::uint64_t from = static_cast<std::uint64_t>(i) + by;
            const int at = out || from >= static_cast<std::uint64_t>(n) ? n - 1 : static_cast<int>(from);
            result |= ((u(0) >> at) & 1) << i;
        }
        return result;
    }
    if (op == "bfe") {
        if (s[1].undefined || s[2].undefined) return everything;
        const int pos = static_cast<int>(s[1].bits & 0xff), len = static_cast<int>(s[2].bits & 0xff);
        if (len == 0) return 0;
        const int top = std::min(pos + len - 1, n - 1);
        std::uint64_t result = 0;
        for (int i = 0; i < n; ++i) {
            const bool inside = i < len && pos + i < n;
            if (inside)
                result |= ((u(0) >> (pos + i)) & 1) << i;
            else if (is_signed(type))
                result |= ((u(0) >> top) & 1) << i;
        }
        return result;
    }
    if (op == "prmt" && in.modifiers.size() == 1) {
        if (s[2].undefined) return everything;
        const std::uint64_t all = truncated(s[0].undefined, 32) | s[1].undefined << 32;
        std::uint64_t result = 0;
        for (int i = 0; i < 4; ++i) {
            const std::uint64_t selector = (s[2].bits >> (4 * i)) & 15;
            std::uint64_t byte = (all >> (8 * (selector & 7))) & 0xff;
            if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
            result |= byte << (8 * i);
        }
        return result;
    }
    const Type last = types.empty() ? Type::none : types.back();
    if (op == "cvt" && types.size() == 2) {
        if ((type == Type::f16x2 || type == Type::bf16x2) && last == Type::f32)
            return (s[0].undefined ? 0xffff0000u : 0u) | (s[1].undefined ? 0xffffu : 0u);
        const int from = bits_of(last), kept = std::min(n, from);
        if (s.size() > 1) return everything;  // two values that become one
        if (is_integer(type) && is_integer(last) && !in.has("sat")) {
            const std::uint64_t bits = truncated(s[0].undefined, kept);
            return is_signed(last) && kept == from ? sign_extended(bits, kept) : bits;
        }
        return truncated(s[0].undefined, from) ? everything : 0;
    }
    if ((last == Type::f16x2 || last == Type::bf16x2) && op != "set") {          // each half by itself
        if (op == "setp" && s.size() == 3 && s[2].undefined) return everything;  // the predicate joins both
        std::uint64_t all = 0;
        for (const Value& each : s) all |= each.undefined;
        if (destinations == 2) return k == 0 ? all & 0xffff : all & 0xffff0000;
        return (all & 0xffff ? 0xffffu : 0u) | (all & 0xffff0000 ? 0xffff0000u : 0u);
    }
    if (last == Type::f32x2) {
        std::uint64_t all = 0;
        for (const Value& each : s) all |= each.undefined;
        return (truncated(all, 32) ? 0xffffffffu : 0u) | (all >> 32 ? 0xffffffff00000000u : 0u);
    }
    return everything;
}

}  // namespace emulator::specification

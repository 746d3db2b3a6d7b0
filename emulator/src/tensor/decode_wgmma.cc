// wgmma.mma_async and what orders it; tensor/wgmma.h says which fields hold what.
#include <algorithm>
#include <cstdlib>

#include "emulator/src/decode/decoder.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {

const std::vector<WarpgroupForm>& warpgroup_forms() {
    static const std::vector<WarpgroupForm> forms = [] {
        using enum ptx::Type;
        std::vector<WarpgroupForm> all = {{f16, f16, f32, 16, 2},
                                          {f16, f16, f16, 16, 2},
                                          {bf16, bf16, f32, 16, 2},
                                          {tf32, tf32, f32, 8, 4},
                                          {b1, b1, s32, 256, 0}};
        for (const ptx::Type a : {e4m3, e5m2})
            for (const ptx::Type b : {e4m3, e5m2})
                for (const ptx::Type d : {f32, f16}) all.push_back({a, b, d, 32, 1});
        for (const ptx::Type a : {s8, u8})
            for (const ptx::Type b : {s8, u8}) all.push_back({a, b, s32, 32, 1});
        return all;
    }();
    return forms;
}

}  // namespace emulator::exec

namespace emulator::decode {

namespace {

namespace flag = exec::flag;
namespace warpgroup = exec::warpgroup;

// "m64n128k16": N and K; false when it is something else.
bool take_warpgroup_shape(const ptx::Instruction& in, Modifiers& modifiers, int& n, int& k) {
    for (const std::string& modifier : in.modifiers) {
        if (modifier.rfind("m64n", 0) != 0 || !modifiers.take(modifier)) continue;
        const std::size_t at = modifier.find('k');
        if (at == std::string::npos) return false;
        n = std::atoi(modifier.c_str() + 4);
        k = std::atoi(modifier.c_str() + at + 1);
        return true;
    }
    return false;
}

bool allowed_width(const exec::WarpgroupForm& form, int n) {
    if (n < 8 || n > 256 || n % 8 != 0) return false;
    if (form.d != Type::s32) return true;
    return n <= 32 || n % 16 == 0;  // integers and single bits
}

std::int64_t warpgroup_recipe(const exec::WarpgroupForm& form, int k) {
    // Hopper: 25 fraction bits, 13 for 8-bit floats, and one step for all of K (arXiv 2511.10909).
    const bool eight = form.a == Type::e4m3 || form.a == Type::e5m2;
    const std::int64_t bits = eight ? 13 : 25, result = eight ? 13 : 23;
    return bits | std::int64_t{k} << 8 | result << 16;
}

bool product(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool sparse = m.take("sp");
    int n = 0, k = 0;
    if (!take_warpgroup_shape(in, m, n, k)) return d.fail("the shape must be m64nNkK");
    if (m.take("satfinite")) out.flags |= flag::sat;
    if (m.take("and") && !m.take("popc")) return d.fail(".popc is missing");
    const auto type_d = m.type(), type_a = m.type(), type_b = m.type();
    if (!type_d || !type_a || !type_b) return d.fail("the types of D, A and B are expected");
    const auto& forms = exec::warpgroup_forms();
    const auto form = std::find_if(forms.begin(), forms.end(), [&](const exec::WarpgroupForm& f) {
        return f.a == *type_a && f.b == *type_b && f.d == *type_d && f.k * (sparse ? 2 : 1) == k;
    });
    if (form == forms.end() || !allowed_width(*form, n) || (sparse && form->a == Type::b1)) {
        return d.fail("this shape and these types are not supported together");
    }
    const std::size_t registers = static_cast<std::size_t>(form->d == Type::f16 ? n / 4 : n / 2);
    const auto* accumulators =
        in.operands.empty() ? nullptr : std::get_if<ptx::Vector>(&in.operands[0].value);
    if (accumulators == nullptr || accumulators->elements.size() != registers) {
        return d.fail("D must have " + std::to_string(registers) + " registers");
    }
    const std::size_t first =
        sparse ? 5 : 3;  // after scale-d's place: the scales of A and B, the transpositions
    if (in.operands.size() < first + 1) return d.fail("too few operands");
    const bool in_registers = std::holds_alternative<ptx::Vector>(in.operands[1].value);
    if (in_registers) out.sub |= warpgroup::a_in_registers;
    const bool floats = form->d != Type::s32, transposable = form->a == Type::f16 || form->a == Type::bf16;
    const std::size_t expected =
        first + 1 + (floats ? 2u : 0u) + (transposable ? in_registers ? 1u : 2u : 0u);
    if (in.operands.size() != expected) return d.fail("a different number of operands");
    std::size_t next = first + 1;
    const auto literal = [&](std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
        const auto value = d.literal(in.operands[next++]);
        return value && (*value == a || *value == b) ? value : std::nullopt;
    };
    if (floats) {
        const auto scale_a = literal(1, -1), scale_b = literal(1, -1);
        if (!scale_a || !scale_b) return d.fail("the scales of A and B must be 1 or -1");
        if (*scale_a < 0) out.sub |= warpgroup::negate_a;
        if (*scale_b < 0) out.sub |= warpgroup::negate_b;
    }
    if (transposable) {
        const auto a = in_registers ? std::optional<std::int64_t>(0) : literal(0, 1);
        const auto b = literal(0, 1);
        if (!a || !b) return d.fail("the transpositions must be 0 or 1");
        if (*a != 0) out.sub |= warpgroup::a_transposed;
        if (*b != 0) out.sub |= warpgroup::b_transposed;
    }
    if (!d.destination(out, in.operands[0])) return false;
    if (in_registers && std::get<ptx::Vector>(in.operands[1].value).elements.size() != 4) {
        return d.fail("A must have 4 registers");
    }
    if (!d.source(out, in.operands[1], in_registers ? Type::b32 : Type::b64) ||
        !d.source(out, in.operands[2], Type::b64) || !d.source(out, in.operands[first], Type::pred)) {
        return false;
    }
    if (sparse) {
        out.sub |= warpgroup::sparse;
        // Half of the lanes hold the metadata of 16 and 32-bit types, all of them that of 8-bit types.
        const std::int64_t most = form->bytes == 1 ? 0 : 1;
        const auto selector = d.literal(in.operands[4]);
        if (!selector || *selector < 0 || *selector > most)
            return d.fail("the sparsity selector is out of range");
        out.rounding = static_cast<std::uint8_t>(*selector);
        if (!d.source(out, in.operands[3], Type::b32)) return false;
    }
    if (!d.source(out, in.operands[0], floats && form->d == Type::f32 ? Type::f32 : Type::b32)) return false;
    out.target = static_cast<std::uint32_t>(n);
    out.imm = warpgroup_recipe(*form, k) | std::int64_t{form - forms.begin()} << 24;
    out.pipe = Pipe::tensor;
    out.flags |= flag::loads | flag::async_product;  // follows undefined values itself
    return d.handler(out, "wgmma.mma_async");
}

bool wgmma(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (d.module.target != "sm_90a") return d.fail("wgmma needs .target sm_90a");
    if (!m.take("sync") || !m.take("aligned")) return d.fail(".sync.aligned is missing");
    out.control = Control::collective;
    out.pipe = Pipe::control;
    out.flags |= flag::whole_warp | flag::cross_lane;
    if (m.take("mma_async")) return product(d, in, m, out);
    if (m.take("fence")) return in.operands.empty() && d.handler(out, "wgmma.fence");
    if (m.take("commit_group")) return in.operands.empty() && d.handler(out, "wgmma.commit_group");
    if (!m.take("wait_group")) return d.fail("mma_async, fence, commit_group or wait_group is expected");
    const auto pending = in.operands.size() == 1 ? d.literal(in.operands[0]) : std::nullopt;
    if (!pending || *pending < 0) return d.fail("wait_group takes the number of groups that may be pending");
    out.imm = *pending;
    out.flags |= flag::four_warps;
    return d.handler(out, "wgmma.wait_group");
}

}  // namespace

void add_wgmma(DecodeTable& table) { table["wgmma"] = wgmma; }

}  // namespace emulator::decode

#include "emulator/src/tensor/plan.h"

#include <fmt/format.h>

namespace emulator::tensor {

namespace {

std::uint32_t bits_of(Type type) {
    switch (type) {
        case Type::f64:
            return 64;
        case Type::f16:
        case Type::bf16:
            return 16;
        case Type::s8:
        case Type::u8:
        case Type::e4m3:
        case Type::e5m2:
            return 8;
        case Type::s4:
        case Type::u4:
            return 4;
        default:  // f32, s32, tf32, and b1 by words
            return 32;
    }
}

enum class Role { a, b, c };

// One fragment of `rows` x `cols` elements, `repeat` times over.
Layout make_layout(Role role, std::uint32_t rows, std::uint32_t cols, Type type, std::uint32_t repeat = 1,
                   bool transposed = false) {
    if (transposed) {  // as the other operand of the transposed product
        const Role other = role == Role::a ? Role::b : role == Role::b ? Role::a : Role::c;
        Layout layout = make_layout(other, cols, rows, type, repeat);
        for (std::uint16_t& position : layout.index) {
            const std::uint32_t row = position / layout.cols, col = position % layout.cols;
            position = static_cast<std::uint16_t>(col * cols + row);
        }
        layout.rows = rows;
        layout.cols = cols;
        return layout;
    }
    Layout layout;
    layout.rows = rows;
    layout.cols = cols;
    layout.bits = bits_of(type);
    const std::uint32_t per = layout.bits >= 32 ? 1 : 32 / layout.bits;
    layout.per_register = per;
    // A C fragment of 16-bit elements packs the two columns of a row into one register.
    layout.distinct = rows * cols / 32 / per;
    layout.registers = layout.distinct * repeat;
    layout.index.resize(std::size_t{layout.registers} * per * 32);
    const std::uint32_t tile_rows = rows >= 16 ? 16 : 8;
    for (std::uint32_t number = 0; number < layout.registers; ++number) {
        for (std::uint32_t e = 0; e < per; ++e) {
            for (std::uint32_t lane = 0; lane < 32; ++lane) {
                const std::uint32_t g = lane / 4, t = lane % 4;
                std::uint32_t r = number % layout.distinct, row = 0, col = 0;
                if (role == Role::a) {
                    const std::uint32_t in_tile = tile_rows * cols / 32 / per;
                    const std::uint32_t tile = r / in_tile;
                    r %= in_tile;
                    const std::uint32_t halves = tile_rows / 8;
                    row = tile * 16 + g + 8 * (r % halves);
                    col = t * per + e + 4 * per * (r / halves);
                } else if (role == Role::b) {
                    const std::uint32_t in_tile = rows * 8 / 32 / per;
                    const std::uint32_t tile = r / in_tile;
                    r %= in_tile;
                    row = t * per + e + 4 * per * r;
                    col = tile * 8 + g;
                } else {
                    const std::uint32_t in_tile = tile_rows * 8 / 32;  // elements
                    const std::uint32_t i = (r * per + e) % in_tile, tile = (r * per + e) / in_tile;
                    const std::uint32_t across = cols / 8;
                    row = (tile / across) * 16 + g + 8 * (i / 2);
                    col = (tile % across) * 8 + 2 * t + i % 2;
                }
                layout.index[(std::size_t{number} * per + e) * 32 + lane] =
                    static_cast<std::uint16_t>(row * cols + col);
            }
        }
    }
    return layout;
}

Plan make_plan(bool is_wmma, int m, int n, int k, Type a, Type b, Type c, Type d) {
    Plan plan;
    plan.is_wmma = is_wmma;
    plan.m = m;
    plan.n = n;
    plan.k = k;
    plan.a = a;
    plan.b = b;
    plan.c = c;
    plan.d = d;
    const auto um = static_cast<std::uint32_t>(m), un = static_cast<std::uint32_t>(n);
    const auto uk = static_cast<std::uint32_t>(a == Type::b1 ? k / 32 : k);
    // Half-precision wmma fragments always have eight registers.
    const bool half = is_wmma && a == Type::f16;
    const std::uint32_t repeat_a = half ? 8 / (um * uk / 64) : 1, repeat_b = half ? 8 / (uk * un / 64) : 1;
    const bool transposed = m == 8 && n == 32;
    plan.layout_a = make_layout(Role::a, um, uk, a, repeat_a, transposed);
    plan.layout_b = make_layout(Role::b, uk, un, b, repeat_b, transposed);
    plan.layout_c = make_layout(Role::c, um, un, c, 1, transposed);
    plan.layout_d = make_layout(Role::c, um, un, d, 1, transposed);
    return plan;
}

std::vector<Plan> make_plans() {
    std::vector<Plan> all;
    struct Size {
        int m, n, k;
    };
    const auto add = [&](bool is_wmma, std::initializer_list<Size> sizes, std::initializer_list<Type> as,
                         bool mixed_ab, std::initializer_list<Type> ds, bool mixed_cd) {
        for (const Size size : sizes)
            for (const Type a : as)
                for (const Type b : as)
                    for (const Type d : ds)
                        for (const Type c : ds) {
                            if ((a != b && !mixed_ab) || (c != d && !mixed_cd)) continue;
                            all.push_back(make_plan(is_wmma, size.m, size.n, size.k, a, b, c, d));
                        }
    };
    using enum Type;
    add(false, {{16, 8, 8}, {16, 8, 16}}, {f16}, false, {f32, f16}, false);
    add(false, {{16, 8, 8}, {16, 8, 16}}, {bf16}, false, {f32}, false);
    add(false, {{16, 8, 4}, {16, 8, 8}}, {tf32}, false, {f32}, false);
    add(false, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}, {f64}, false, {f64}, false);
    add(false, {{16, 8, 16}, {16, 8, 32}}, {e4m3, e5m2}, true, {f32, f16}, false);
    add(false, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}, {s8, u8}, true, {s32}, false);
    add(false, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}, {s4, u4}, true, {s32}, false);
    add(false, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}, {b1}, false, {s32}, false);
    const std::initializer_list<Size> wide = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
    add(true, wide, {f16}, false, {f32, f16}, true);
    add(true, wide, {bf16}, false, {f32}, false);
    add(true, wide, {s8, u8}, false, {s32}, false);
    add(true, {{16, 16, 8}}, {tf32}, false, {f32}, false);
    add(true, {{8, 8, 4}}, {f64}, false, {f64}, false);
    add(true, {{8, 8, 32}}, {s4, u4}, false, {s32}, false);
    add(true, {{8, 8, 128}}, {b1}, false, {s32}, false);
    return all;
}

}  // namespace

const std::vector<Plan>& plans() {
    static const std::vector<Plan> all = make_plans();
    return all;
}

int find_plan(bool is_wmma, std::string_view shape, Type a, Type b, Type c, Type d) {
    const auto fits = [](Type wanted, Type given) { return wanted == Type::none || wanted == given; };
    for (std::size_t i = 0; i < plans().size(); ++i) {
        const Plan& plan = plans()[i];
        if (plan.is_wmma == is_wmma && fits(a, plan.a) && fits(b, plan.b) && fits(c, plan.c) &&
            fits(d, plan.d) && shape == fmt::format("m{}n{}k{}", plan.m, plan.n, plan.k)) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

}  // namespace emulator::tensor

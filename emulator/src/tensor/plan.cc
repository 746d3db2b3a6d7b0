#include "emulator/src/tensor/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
        case Type::e2m1:  // in bytes, but for the products with k = 64
        case Type::e2m3:
        case Type::e3m2:
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

Plan make_plan(bool is_wmma, bool sparse, int m, int n, int k, Type a, Type b, Type c, Type d) {
    Plan plan;
    plan.shape = fmt::format("m{}n{}k{}", m, n, k);
    plan.is_wmma = is_wmma;
    plan.sparse = sparse;
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
    const Type packed = a == Type::e2m1 && k == 64 ? Type::s4 : a;
    plan.layout_a = make_layout(Role::a, um, sparse ? uk / 2 : uk, packed, repeat_a, transposed);
    plan.layout_b = make_layout(Role::b, uk, un, packed == a ? b : packed, repeat_b, transposed);
    plan.layout_c = make_layout(Role::c, um, un, c, 1, transposed);
    plan.layout_d = make_layout(Role::c, um, un, d, 1, transposed);
    return plan;
}

// One of the four products of m8n8k4 with f16 (PTX ISA, "Matrix fragments for mma.m8n8k4 with .f16"; CuTe's
// SM70_8x4_Row, SM70_8x4_Col, SM70_8x8_16b and SM70_8x8_32b). Lane l belongs to quad pair q = l / 4 mod 4 and
// is its thread t = l mod 4 + 4 (l / 16).
//   A by rows, B by columns:  row (column) t, along k: element 0 .. 3
//   A by columns, B by rows:  along k: t mod 4, row (column) 4 (t / 4) + element
//   C and D of f16:           row t, column element
//   C and D of f32:           row t mod 2 + (i & 2) + 4 (t / 4), column i mod 2 + (t & 2) + (i & 4)
Layout quad_layout(Role role, bool along_k, Type type) {
    Layout layout;
    layout.rows = role == Role::b ? 4 : 8;
    layout.cols = role == Role::a ? 4 : 8;
    layout.bits = bits_of(type);
    layout.per_register = 32 / layout.bits;
    const std::uint32_t elements = role == Role::c ? 8 : 4;
    layout.registers = layout.distinct = elements / layout.per_register;
    for (std::uint32_t i = 0; i < elements; ++i) {
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const std::uint32_t quad = lane / 4 % 4, t = lane % 4 + 4 * (lane / 16);
            std::uint32_t row = t, col = i;
            if (role != Role::c) {
                const std::uint32_t outer = along_k ? t : 4 * (t / 4) + i, k = along_k ? i : t % 4;
                row = role == Role::a ? outer : k;
                col = role == Role::a ? k : outer;
            } else if (type == Type::f32) {
                row = t % 2 + (i & 2) + 4 * (t / 4);
                col = i % 2 + (t & 2) + (i & 4);
            }
            layout.index.push_back(
                static_cast<std::uint16_t>((quad * layout.rows + row) * layout.cols + col));
        }
    }
    return layout;
}

Plan make_quad_plan(bool a_by_columns, bool b_by_rows, Type c, Type d) {
    Plan plan;
    plan.shape = "m8n8k4";
    plan.m = plan.n = 8;
    plan.k = 4;
    plan.products = 4;
    plan.a = plan.b = Type::f16;
    plan.c = c;
    plan.d = d;
    plan.a_by_columns = a_by_columns;
    plan.b_by_rows = b_by_rows;
    plan.layout_a = quad_layout(Role::a, !a_by_columns, Type::f16);
    plan.layout_b = quad_layout(Role::b, !b_by_rows, Type::f16);
    plan.layout_c = quad_layout(Role::c, false, c);
    plan.layout_d = quad_layout(Role::c, false, d);
    return plan;
}

std::vector<Plan> make_plans() {
    std::vector<Plan> all;
    struct Size {
        int m, n, k;
    };
    bool sparse = false;
    const auto add = [&](bool is_wmma, std::initializer_list<Size> sizes, std::initializer_list<Type> as,
                         bool mixed_ab, std::initializer_list<Type> ds, bool mixed_cd) {
        for (const Size size : sizes)
            for (const Type a : as)
                for (const Type b : as)
                    for (const Type d : ds)
                        for (const Type c : ds) {
                            if ((a != b && !mixed_ab) || (c != d && !mixed_cd)) continue;
                            all.push_back(make_plan(is_wmma, sparse, size.m, size.n, size.k, a, b, c, d));
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
    const Type narrow[] = {e4m3, e5m2, e2m3, e3m2, e2m1};
    for (const Type a : narrow)
        for (const Type b : narrow) {
            if ((a == e4m3 || a == e5m2) && (b == e4m3 || b == e5m2)) continue;
            for (const Type d : {f32, f16}) all.push_back(make_plan(false, false, 16, 8, 32, a, b, d, d));
        }
    all.push_back(make_plan(false, false, 16, 8, 64, e2m1, e2m1, f32, f32));
    for (const bool a_by_columns : {false, true}) {
        for (const bool b_by_rows : {false, true}) {
            for (const auto& [c, d] : {std::pair{f16, f16}, std::pair{f16, f32}, std::pair{f32, f32}})
                all.push_back(make_quad_plan(a_by_columns, b_by_rows, c, d));
        }
    }
    sparse = true;
    add(false, {{16, 8, 16}, {16, 8, 32}}, {f16}, false, {f32, f16}, false);
    add(false, {{16, 8, 16}, {16, 8, 32}}, {bf16}, false, {f32}, false);
    add(false, {{16, 8, 8}, {16, 8, 16}}, {tf32}, false, {f32}, false);
    add(false, {{16, 8, 64}}, {e4m3, e5m2}, true, {f32}, false);
    add(false, {{16, 8, 32}, {16, 8, 64}}, {s8, u8}, true, {s32}, false);
    add(false, {{16, 8, 64}, {16, 8, 128}}, {s4, u4}, true, {s32}, false);
    sparse = false;
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

int find_plan(const Form& form) {
    const auto fits = [](Type wanted, Type given) { return wanted == Type::none || wanted == given; };
    for (std::size_t i = 0; i < plans().size(); ++i) {
        const Plan& plan = plans()[i];
        if (plan.is_wmma == form.is_wmma && plan.sparse == form.sparse && fits(form.a, plan.a) &&
            fits(form.b, plan.b) && fits(form.c, plan.c) && fits(form.d, plan.d) &&
            form.a_by_columns == plan.a_by_columns && form.b_by_rows == plan.b_by_rows &&
            form.shape == plan.shape) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

static bool by_pairs(Type a) { return a == Type::s4 || a == Type::u4; }

int metadata_groups(Type a, int k) { return k / (by_pairs(a) ? 8 : a == Type::tf32 ? 2 : 4); }

int sparsity_selectors(Type a, int k) { return 16 / metadata_groups(a, k); }

MetadataPlace metadata_place(Type a, int k, int selector, int row, int number) {
    const auto place = [&](int q, int bit) {  // of the four lanes that share rows g and g + 8
        return MetadataPlace{static_cast<std::uint32_t>(4 * (row % 8) + q), static_cast<std::uint32_t>(bit)};
    };
    // Half a row to a lane, and with it the same half of the row eight below; one-byte and smaller types give
    // a whole word of one row to a lane.
    if (metadata_groups(a, k) == 4) return place(selector, 4 * number + 16 * (row / 8));
    if (bits_of(a) >= 16) return place(2 * selector + number / 4, 4 * (number % 4) + 16 * (row / 8));
    return place(2 * selector + row / 8 + 2 * (number / 8), 4 * (number % 8));
}

std::optional<SparsityFault> expand_sparse(Type type, int m, int k, int selector, bool ordered,
                                           const std::uint32_t* metadata, const std::uint32_t* kept,
                                           std::uint32_t* a) {
    std::fill_n(a, m * k, 0);
    const int half = k / 2, groups = metadata_groups(type, k);
    for (int row = 0; row < m; ++row) {
        for (int group = 0; group < groups; ++group) {
            const MetadataPlace place = metadata_place(type, k, selector, row, group);
            const std::uint32_t bits = metadata[place.lane] >> place.bit & 15;
            const int first = static_cast<int>(bits & 3), second = static_cast<int>(bits >> 2);
            const std::uint32_t* from = kept + row * half + group * (half / groups);
            std::uint32_t* to = a + row * k + group * (k / groups);
            const char* wrong = nullptr;
            if (type == Type::tf32) {
                if (bits != 0x4 && bits != 0xe && from[0] != 0) wrong = "neither 0b0100 nor 0b1110";
                to[bits == 0xe] = from[0];
            } else if (by_pairs(type)) {
                const bool empty = (from[0] | from[1]) == 0 || (from[2] | from[3]) == 0;
                if (first == second && !empty) wrong = "one place for two pairs";
                for (int e = 0; e < 2; ++e) {
                    to[2 * first + e] |= from[e];
                    to[2 * second + e] |= from[2 + e];
                }
            } else {
                if (first == second && from[0] != 0 && from[1] != 0) wrong = "one place for two elements";
                to[first] |= from[0];
                to[second] |= from[1];
            }
            if (ordered && type != Type::tf32 && first > second) wrong = "out of order";
            if (wrong != nullptr) {
                return SparsityFault{
                    place.lane,
                    fmt::format("the sparsity metadata of row {}, group {} is {} (0b{:04b}): what "
                                "it does is undefined",
                                row, group, wrong, bits)};
            }
        }
    }
    return std::nullopt;
}

}  // namespace emulator::tensor

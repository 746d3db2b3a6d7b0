// Tensor-core instructions: fragments to matrices and back, and the matrices' way to memory.
#include "emulator/src/tensor/handlers.h"

#include "emulator/src/exec/rounding.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/tensor/arithmetic.h"
#include "emulator/src/tensor/lane_memory.h"
#include "emulator/src/tensor/plan.h"

#include <algorithm>
#include <vector>

namespace emulator::exec {
namespace EMULATOR_ISA {

namespace {

using ptx::Type;
using tensor::Layout;
using tensor::Plan;

constexpr std::size_t kMaxElements = 2048;

const Plan& plan_of(const Instr& in) { return tensor::plans()[in.target]; }

// Elements of a fragment, whose registers are slots[0 ..], into a matrix.
void gather(Warp& w, const Layout& layout, const Slot* slots, std::uint32_t* matrix) {
    const std::uint32_t mask = layout.bits == 32 ? ~0u : (1u << layout.bits) - 1;
    const std::uint16_t* position = layout.index.data();
    for (std::uint32_t r = 0; r < layout.distinct; ++r) {
        const std::uint32_t* lanes = narrow(w, slots[r]);
        for (std::uint32_t e = 0; e < layout.per_register; ++e, position += kLanes) {
            const std::uint32_t shift = e * layout.bits;
            for (int lane = 0; lane < kLanes; ++lane) {
                matrix[position[lane]] = (lanes[lane] >> shift) & mask;
            }
        }
    }
}

void scatter(Warp& w, const Layout& layout, const Slot* slots, const std::uint32_t* matrix, Mask exec) {
    for (std::uint32_t r = 0; r < layout.registers; ++r) {
        std::uint32_t* lanes = narrow(w, slots[r]);
        const std::uint16_t* position = layout.index.data() + std::size_t{r} * layout.per_register * kLanes;
        for_lanes(exec, [&](int lane) {
            std::uint32_t value = 0;
            for (std::uint32_t e = 0; e < layout.per_register; ++e) {
                value |= matrix[position[e * kLanes + static_cast<std::uint32_t>(lane)]] << (e * layout.bits);
            }
            lanes[lane] = value;
        });
    }
}

// Undefined elements of A make their row of D undefined, those of B their column, those of C themselves;
// undefined metadata all of D.
void taint_product(Warp& w, const Instr& in, const Plan& plan, Mask exec) {
    const Slot* slot = in.op + in.destinations;
    std::uint32_t origin = 0;
    const auto products = static_cast<std::size_t>(plan.products);
    const auto m = static_cast<std::uint32_t>(plan.m), n = static_cast<std::uint32_t>(plan.n);
    std::vector<bool> rows(products * m), columns(products * n), cells(products * m * n);
    bool all = false;
    const auto row_of = [&](const Layout& layout, std::uint32_t at) { return at / layout.cols; };
    const auto column_of = [&](const Layout& layout, std::uint32_t at) {
        return at / (layout.rows * layout.cols) * layout.cols + at % layout.cols;
    };
    for (int which = 0; which < 3; ++which) {
        const Layout& layout = plan.layout(which);
        for (std::uint32_t r = 0; r < layout.registers; ++r, ++slot) {
            const Mask tainted = taint_of(w, *slot);
            if (tainted == 0) continue;
            origin = origin_of(w, in, *slot);
            for_lanes(tainted, [&](int lane) {
                const std::uint64_t bits = undefined_bits(w, *slot, lane);
                for (std::uint32_t e = 0; e < layout.per_register; ++e) {
                    if (layout.bits < 64 && !((bits >> (e * layout.bits)) & ((1ull << layout.bits) - 1)))
                        continue;
                    const std::uint32_t at =
                        layout
                            .index[(r * layout.per_register + e) * kLanes + static_cast<std::uint32_t>(lane)];
                    if (which == 0) rows[row_of(layout, at)] = true;
                    if (which == 1) columns[column_of(layout, at)] = true;
                    if (which == 2) cells[at] = true;
                }
            });
        }
    }
    if (plan.sparse && taint_of(w, *slot)) {
        origin = origin_of(w, in, *slot);
        all = true;
    }
    const Layout& layout = plan.layout_d;
    for (std::uint32_t r = 0; r < layout.registers; ++r) {
        Mask tainted = all ? kAllLanes : 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            for (std::uint32_t e = 0; e < layout.per_register; ++e) {
                const std::uint32_t at =
                    layout.index[(r * layout.per_register + e) * kLanes + static_cast<std::uint32_t>(lane)];
                if (cells[at] || rows[row_of(layout, at)] || columns[column_of(layout, at)])
                    tainted |= 1u << lane;
            }
        }
        taint_lanes(w, in.destination(static_cast<int>(r)), exec, tainted, origin);
    }
}

// Before the result is written, because D's registers may be C's.
void start_product(Warp& w, const Instr& in, const Plan& plan, Mask exec) {
    if (w.tainted) taint_product(w, in, plan, exec);
    w.launch->accesses[in.id].flops +=
        std::uint64_t{2} * static_cast<std::uint64_t>(plan.products) * static_cast<std::uint64_t>(plan.m) *
        static_cast<std::uint64_t>(plan.n) * static_cast<std::uint64_t>(plan.k);
}

// A sparse A in full; false after a fault.
bool expand(Warp& w, const Instr& in, const Plan& plan, std::uint32_t* a) {
    const Slot& metadata = in.source(
        static_cast<int>(plan.layout_a.registers + plan.layout_b.registers + plan.layout_c.registers));
    std::uint32_t kept[kMaxElements / 2];
    std::copy_n(a, plan.m * plan.k / 2, kept);
    const auto fault = tensor::expand_sparse(plan.a, plan.m, plan.k, in.rounding, in.vector == 2,
                                             narrow(w, metadata), kept, a);
    if (fault) report(w, "illegal-instruction", in, static_cast<int>(fault->lane), fault->what, true);
    return !fault;
}

std::uint32_t f16_to_f32(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16, field = (half >> 10) & 31, fraction = half & 0x3ffu;
    if (field == 31) return sign | 0x7f800000u | fraction << 13;
    if (field != 0) return sign | (field + 112) << 23 | fraction << 13;
    return sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
}

std::uint32_t f32_to_f16(std::uint32_t bits) {  // to nearest even
    const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fffu;
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
    if (magnitude < 0x38800000u) {  // below the smallest normal: units of 2^-24, which the addition rounds
        const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
        return sign | (std::bit_cast<std::uint32_t>(scaled + 0x1p23f) & 0x7ffu);
    }
    const std::uint32_t odd = (magnitude >> 13) & 1;
    return sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

// Elements of less than a byte stand in bytes: e2m1 in bits 2 to 5, those of six bits in the low ones (PTX
// ISA; CuTe shifts the e2m1 that ldmatrix gives by two).
void unpack_narrow(Type type, int count, std::uint32_t* elements) {
    if (type != Type::e2m1 && type != Type::e2m3 && type != Type::e3m2) return;
    for (int i = 0; i < count; ++i)
        elements[i] = type == Type::e2m1 ? elements[i] >> 2 & 15 : elements[i] & 63;
}

void mma_float(Warp& w, const Instr& in, Mask exec) {
    const Plan& plan = plan_of(in);
    start_product(w, in, plan, exec);
    alignas(32) std::uint32_t a[kMaxElements], b[kMaxElements], c[kMaxElements], d[kMaxElements];
    const Slot* slots = in.op + in.destinations;
    gather(w, plan.layout_a, slots, a);
    gather(w, plan.layout_b, slots + plan.layout_a.registers, b);
    gather(w, plan.layout_c, slots + plan.layout_a.registers + plan.layout_b.registers, c);
    if (plan.sparse && !expand(w, in, plan, a)) return;
    const auto elements = static_cast<std::size_t>(plan.products * plan.m * plan.n);
    if (plan.c != plan.d) {
        for (std::size_t i = 0; i < elements; ++i) {
            c[i] = plan.d == Type::f32 ? f16_to_f32(c[i]) : f32_to_f16(c[i]);
        }
    }
    unpack_narrow(plan.a, plan.m * plan.k, a);
    unpack_narrow(plan.b, plan.k * plan.n, b);
    if (plan.a == Type::tf32) {  // the low 13 bits are not read
        for (int i = 0; i < plan.m * plan.k; ++i) a[i] >>= 13;
        for (int i = 0; i < plan.k * plan.n; ++i) b[i] >>= 13;
    }
    FloatRecipe recipe;
    recipe.a = format_of(plan.a);
    recipe.b = format_of(plan.b);
    recipe.fraction_bits = static_cast<int>(in.imm & 0xff);
    recipe.chunk = static_cast<int>(in.imm >> 8 & 0xff);
    recipe.output_bits = static_cast<int>(in.imm >> 16 & 0xff);
    recipe.approximation = w.launch->options->approximation;
    recipe.seed = w.launch->options->schedule_seed;
    recipe.output_f16 = plan.d == Type::f16;
    for (int i = 0; i < plan.products; ++i) {
        multiply_float(recipe, plan.m, plan.n, plan.k, a + i * plan.m * plan.k, b + i * plan.k * plan.n,
                       c + i * plan.m * plan.n, d + i * plan.m * plan.n);
    }
    scatter(w, plan.layout_d, in.op, d, exec);
}

// Scales: of A's row g and row g + 8 in the lanes 4 g + 2 t and + 1 of the selected t, of B's column g in
// lane 4 g + t; from the selected byte on.
void mma_scaled(Warp& w, const Instr& in, Mask exec) {
    const Plan& plan = plan_of(in);
    start_product(w, in, plan, exec);
    alignas(32) std::uint32_t a[kMaxElements], b[kMaxElements], c[kMaxElements], d[kMaxElements];
    const Slot* slots = in.op + in.destinations;
    gather(w, plan.layout_a, slots, a);
    gather(w, plan.layout_b, slots + plan.layout_a.registers, b);
    gather(w, plan.layout_c, slots + plan.layout_a.registers + plan.layout_b.registers, c);
    if (plan.k == 32) {
        unpack_narrow(plan.a, plan.m * plan.k, a);
        unpack_narrow(plan.b, plan.k * plan.n, b);
    }
    const Slot* scale = slots + plan.layout_a.registers + plan.layout_b.registers + plan.layout_c.registers;
    const std::uint32_t groups = in.sub;
    std::uint32_t scale_a[16 * 4], scale_b[4 * 8], selected[4];
    for (int s = 0; s < 4; ++s) {  // byte and thread of A, of B
        const Slot& slot = scale[s < 2 ? 1 + s : 2 + s];
        selected[s] = static_cast<std::uint32_t>(lane_value(w, slot, std::countr_zero(exec)));
    }
    const auto fits = [&](std::uint32_t byte) { return byte + groups <= 4 && byte % groups == 0; };
    if (!fits(selected[0]) || !fits(selected[2]) || selected[1] > 1 || selected[3] > 3) {
        report(w, "illegal-instruction", in, std::countr_zero(exec),
               "the selectors of the scales name a byte or a thread that there is not", true);
        return;
    }
    for (std::uint32_t row = 0; row < 16; ++row)
        for (std::uint32_t g = 0; g < groups; ++g)
            scale_a[row * groups + g] =
                narrow(w, scale[0])[4 * (row % 8) + 2 * selected[1] + row / 8] >> (8 * (selected[0] + g)) &
                0xff;
    for (std::uint32_t column = 0; column < 8; ++column)
        for (std::uint32_t g = 0; g < groups; ++g)
            scale_b[g * 8 + column] =
                narrow(w, scale[3])[4 * column + selected[3]] >> (8 * (selected[2] + g)) & 0xff;
    FloatRecipe recipe;
    recipe.a = format_of(plan.a);
    recipe.b = format_of(plan.b);
    recipe.fraction_bits = static_cast<int>(in.imm);
    recipe.approximation = w.launch->options->approximation;
    recipe.seed = w.launch->options->schedule_seed;
    multiply_scaled(recipe, plan.m, plan.n, plan.k, a, b, c, d, in.sub, in.sub2 ? Type::ue4m3 : Type::ue8m0,
                    scale_a, scale_b);
    scatter(w, plan.layout_d, in.op, d, exec);
    for (const Slot* s : {scale, scale + 3})
        if (w.tainted && taint_of(w, *s))
            for (int r = 0; r < in.destinations; ++r)
                taint_lanes(w, in.destination(r), exec, kAllLanes, origin_of(w, in, *s));
}

void mma_integer(Warp& w, const Instr& in, Mask exec) {
    const Plan& plan = plan_of(in);
    start_product(w, in, plan, exec);
    alignas(32) std::uint32_t a[kMaxElements], b[kMaxElements], c[kMaxElements], d[kMaxElements];
    const Slot* slots = in.op + in.destinations;
    gather(w, plan.layout_a, slots, a);
    gather(w, plan.layout_b, slots + plan.layout_a.registers, b);
    gather(w, plan.layout_c, slots + plan.layout_a.registers + plan.layout_b.registers, c);
    if (plan.sparse && !expand(w, in, plan, a)) return;
    alignas(32) std::int32_t sa[kMaxElements], sb[kMaxElements];
    const auto extend = [](Type type, const std::uint32_t* from, int count, std::int32_t* to) {
        const int drop = type == Type::s8 ? 24 : type == Type::s4 ? 28 : 0;
        for (int i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(from[i] << drop) >> drop;
    };
    extend(plan.a, a, plan.m * plan.k, sa);
    extend(plan.b, b, plan.k * plan.n, sb);
    multiply_integer(plan.m, plan.n, plan.k, sa, sb, c, d, in.has(flag::sat));
    scatter(w, plan.layout_d, in.op, d, exec);
}

void mma_bits(Warp& w, const Instr& in, Mask exec) {
    const Plan& plan = plan_of(in);
    start_product(w, in, plan, exec);
    alignas(32) std::uint32_t a[kMaxElements], b[kMaxElements], c[kMaxElements], d[kMaxElements];
    const Slot* slots = in.op + in.destinations;
    gather(w, plan.layout_a, slots, a);
    gather(w, plan.layout_b, slots + plan.layout_a.registers, b);
    gather(w, plan.layout_c, slots + plan.layout_a.registers + plan.layout_b.registers, c);
    multiply_bits(plan.m, plan.n, plan.k / 32, a, b, c, d, in.sub2 == 0);
    scatter(w, plan.layout_d, in.op, d, exec);
}

void mma_double(Warp& w, const Instr& in, Mask exec) {
    const Plan& plan = plan_of(in);
    start_product(w, in, plan, exec);
    std::uint64_t a[256], b[256], c[256], d[256];
    const Slot* slots = in.op + in.destinations;
    const auto gather_wide = [&](const Layout& layout, std::uint64_t* matrix) {
        for (std::uint32_t r = 0; r < layout.registers; ++r, ++slots) {
            for (int lane = 0; lane < kLanes; ++lane) {
                matrix[layout.index[r * kLanes + static_cast<std::uint32_t>(lane)]] = wide(w, *slots)[lane];
            }
        }
    };
    gather_wide(plan.layout_a, a);
    gather_wide(plan.layout_b, b);
    gather_wide(plan.layout_c, c);
    {
        const RoundScope scope(in.rounding);
        multiply_double(plan.m, plan.n, plan.k, a, b, c, d);
    }
    for (std::uint32_t r = 0; r < plan.layout_d.registers; ++r) {
        std::uint64_t* lanes = wide(w, in.op[r]);
        for_lanes(exec, [&](int lane) {
            lanes[lane] = d[plan.layout_d.index[r * kLanes + static_cast<std::uint32_t>(lane)]];
        });
    }
}

// One request of a memory instruction: addresses of the same space for all lanes of exec.
void count_access(Warp& w, const Instr& in, Mask exec, const std::uint64_t* addresses, std::uint32_t bytes,
                  bool store) {
    if (exec == 0) return;
    const int first = std::countr_zero(exec);
    if (in.space == ptx::Space::shared) {
        count_shared(w, in, exec, addresses, bytes, store);
    } else if (in.space == ptx::Space::generic && is_shared_window(addresses[first])) {
        std::uint64_t offsets[kLanes];
        for_lanes(exec, [&](int lane) { offsets[lane] = addresses[lane] - kSharedWindow; });
        count_shared(w, in, exec, offsets, bytes, store);
    } else if (in.space == ptx::Space::global || !is_local_window(addresses[first])) {
        count_global(w, in, exec, addresses, bytes, store);
    }
}

Mask matrix_lanes(const Instr& in) {  // those whose addresses count
    return in.sub == 4 ? kAllLanes : (1u << (8 * in.sub)) - 1;
}

// Lane l gives the address of row l % 8 of matrix l / 8; it gets elements 2 (l % 4) and the next of row l / 4
// of every matrix, or of column l / 4 when transposed.
void ldmatrix(Warp& w, const Instr& in, Mask exec) {
    std::uint64_t addresses[kLanes];
    const Mask used = matrix_lanes(in);
    lane_addresses(w, in, in.source(0), used, addresses);
    std::uint16_t rows[kLanes][8];
    Mask undefined_rows = 0;
    bool good = true;
    for_lanes(used, [&](int lane) {
        bool undefined = false;
        good = good && load_lane(w, in, lane, in.space, addresses[lane], 16, rows[lane], &undefined);
        if (undefined) undefined_rows |= 1u << lane;
    });
    if (!good) return;
    if (w.launch->count) count_access(w, in, used, addresses, 16, false);
    for (int matrix = 0; matrix < in.sub; ++matrix) {
        std::uint32_t* lanes = narrow(w, in.destination(matrix));
        Mask tainted = 0;
        for_lanes(exec, [&](int lane) {
            const int g = lane / 4, t = 2 * (lane % 4);
            const std::uint16_t(*m)[8] = rows + 8 * matrix;
            lanes[lane] = in.sub2 ? m[t][g] | std::uint32_t{m[t + 1][g]} << 16
                                  : m[g][t] | std::uint32_t{m[g][t + 1]} << 16;
            const Mask needed = (in.sub2 ? 3u << t : 1u << g) << (8 * matrix);
            if (undefined_rows & needed) tainted |= 1u << lane;
        });
        if (w.tainted) taint_lanes(w, in.destination(matrix), exec, 0, 0);
        if (tainted) taint_register(w, in, in.destination(matrix), tainted);
    }
}

// Matrices of bytes, or of four or six bits that become bytes. A matrix has 8 rows of 16 elements (one
// register) or, transposed, 16 rows (two). Thread t, register r, byte e:
//   m8n16         row t / 4                 element 4 (t mod 4) + e
//   m16n16.trans  row 4 (t mod 4) + e       element t / 4 + 8 r
// stmatrix m16n8.trans: row 2 (t mod 4) + e mod 2, element t / 4 + 8 (e / 2). (CuTe's SM100_U8x8_LDSM_T,
// SM100_SU4_DU8x16_x1_LDSM_N and SM100_U8x4_STSM_T, whose registers are reordered.)
Mask small_lanes(const Instr& in, std::uint32_t rows) {
    const std::uint32_t count = in.sub * rows;
    return count >= 32 ? kAllLanes : (1u << count) - 1;
}
void ldmatrix_small(Warp& w, const Instr& in, Mask exec) {
    const bool tall = in.vector == 2;
    const auto form = static_cast<tensor::MatrixForm>(in.rounding);
    const std::uint32_t rows = tall ? 16 : 8;
    const std::uint32_t bits = form == tensor::MatrixForm::b4 ? 4 : form == tensor::MatrixForm::b6 ? 6 : 8;
    std::uint64_t addresses[kLanes];
    const Mask used = small_lanes(in, rows);
    lane_addresses(w, in, in.source(0), used, addresses);
    std::byte packed[kLanes][24] = {};
    Mask undefined_rows = 0;
    bool good = true;
    for_lanes(used, [&](int lane) {
        if (!good) return;
        if (addresses[lane] % 16 != 0) {
            report_misaligned(w, in, lane, addresses[lane], 16, false, "shared memory");
            good = false;
            return;
        }
        for (std::uint32_t at = 0; good && at < 2 * bits; at += 4) {  // what follows is padding
            bool undefined = false;
            good = load_lane(w, in, lane, in.space, addresses[lane] + at, 4, packed[lane] + at, &undefined);
            if (undefined) undefined_rows |= 1u << lane;
        }
    });
    if (!good) return;
    if (w.launch->count) count_access(w, in, used, addresses, 16, false);
    const auto element = [&](std::uint32_t row, std::uint32_t e) {
        std::uint32_t word;
        std::memcpy(&word, packed[row] + e * bits / 8, 4);
        return word >> (e * bits % 8) & ((1u << bits) - 1);
    };
    for (std::uint32_t number = 0; number < in.destinations; ++number) {
        const std::uint32_t first = number / in.vector * rows, r = number % in.vector;
        const Slot& to = in.destination(static_cast<int>(number));
        Mask tainted = 0;
        for_lanes(exec, [&](int lane) {
            const auto t = static_cast<std::uint32_t>(lane);
            std::uint32_t value = 0;
            for (std::uint32_t e = 0; e < 4; ++e) {
                const std::uint32_t row = first + (tall ? 4 * (t % 4) + e : t / 4);
                value |= element(row, tall ? t / 4 + 8 * r : 4 * (t % 4) + e) << (8 * e);
                if (undefined_rows >> row & 1) tainted |= 1u << lane;
            }
            narrow(w, to)[lane] = value;
        });
        if (w.tainted) taint_lanes(w, to, exec, 0, 0);
        if (tainted) taint_register(w, in, to, tainted);
    }
}
void stmatrix_small(Warp& w, const Instr& in, Mask exec) {
    std::uint64_t addresses[kLanes];
    const Mask used = small_lanes(in, 8) & exec;
    lane_addresses(w, in, in.source(0), used, addresses);
    const auto place = [&](int lane, int byte) {  // row, element
        return std::pair{2 * (lane % 4) + byte % 2, lane / 4 + 8 * (byte / 2)};
    };
    std::uint8_t rows[kLanes][16];
    for (int matrix = 0; matrix < in.sub; ++matrix)
        for (int lane = 0; lane < kLanes; ++lane)
            for (int e = 0; e < 4; ++e) {
                const auto [row, at] = place(lane, e);
                rows[8 * matrix + row][at] =
                    static_cast<std::uint8_t>(narrow(w, in.source(1 + matrix))[lane] >> (8 * e));
            }
    bool good = true;
    for_lanes(used, [&](int lane) {
        good = good && store_lane(w, in, lane, in.space, addresses[lane], 16, rows[lane]);
    });
    if (!good) return;
    if (w.launch->count) count_access(w, in, used, addresses, 16, true);
    if (!w.tainted) return;
    for (int matrix = 0; matrix < in.sub; ++matrix) {
        const Slot& slot = in.source(1 + matrix);
        for_lanes(taint_of(w, slot) & exec, [&](int lane) {
            for (int e = 0; e < 4; ++e) {
                if (!(undefined_bits(w, slot, lane) >> (8 * e) & 0xff)) continue;
                const auto [row, at] = place(lane, e);
                store_undefined(w, in, 8 * matrix + row, in.space,
                                addresses[8 * matrix + row] + static_cast<std::uint64_t>(at), 1,
                                origin_of(w, in, slot));
            }
        });
    }
}

void stmatrix(Warp& w, const Instr& in, Mask exec) {
    std::uint64_t addresses[kLanes];
    const Mask used = matrix_lanes(in) & exec;
    lane_addresses(w, in, in.source(0), used, addresses);
    std::uint16_t rows[kLanes][8];
    for (int matrix = 0; matrix < in.sub; ++matrix) {
        const std::uint32_t* lanes = narrow(w, in.source(1 + matrix));
        std::uint16_t(*m)[8] = rows + 8 * matrix;
        for (int lane = 0; lane < kLanes; ++lane) {
            const int g = lane / 4, t = 2 * (lane % 4);
            (in.sub2 ? m[t][g] : m[g][t]) = static_cast<std::uint16_t>(lanes[lane]);
            (in.sub2 ? m[t + 1][g] : m[g][t + 1]) = static_cast<std::uint16_t>(lanes[lane] >> 16);
        }
    }
    bool good = true;
    for_lanes(used, [&](int lane) {
        good = good && store_lane(w, in, lane, in.space, addresses[lane], 16, rows[lane]);
    });
    if (!good) return;
    if (w.launch->count) count_access(w, in, used, addresses, 16, true);
    if (!w.tainted) return;
    for (int matrix = 0; matrix < in.sub; ++matrix) {
        const Slot& slot = in.source(1 + matrix);
        for_lanes(taint_of(w, slot) & exec, [&](int lane) {
            const int g = lane / 4, t = 2 * (lane % 4);
            for (int half = 0; half < 2; ++half) {
                if (!((undefined_bits(w, slot, lane) >> (16 * half)) & 0xffff)) continue;
                const int row = in.sub2 ? t + half : g, column = in.sub2 ? g : t + half;
                const int giver = 8 * matrix + row;
                if (!((used >> giver) & 1)) continue;  // nobody gave the row's address
                store_undefined(w, in, giver, in.space,
                                addresses[giver] + static_cast<std::uint64_t>(2 * column), 2,
                                origin_of(w, in, slot));
            }
        });
    }
}

void movmatrix(Warp& w, const Instr& in, Mask exec) {
    std::uint16_t m[8][8];
    const std::uint32_t* from = narrow(w, in.source(0));
    for (int lane = 0; lane < kLanes; ++lane) {
        m[lane / 4][2 * (lane % 4)] = static_cast<std::uint16_t>(from[lane]);
        m[lane / 4][2 * (lane % 4) + 1] = static_cast<std::uint16_t>(from[lane] >> 16);
    }
    std::uint32_t* to = narrow(w, in.destination(0));
    for_lanes(exec, [&](int lane) {
        const int g = lane / 4, t = 2 * (lane % 4);
        to[lane] = m[t][g] | std::uint32_t{m[t + 1][g]} << 16;
    });
}

// The memory side of wmma fragments. How a GPU splits such an access is not documented; here every register
// is one request when its elements stand side by side in memory, else one request per element.
struct FragmentAccess {
    const Layout* layout = nullptr;
    std::uint64_t stride = 0;  // elements
    bool by_columns = false;
    std::uint32_t bytes_of_row = 0;

    // In bits, from the matrix's first element.
    std::uint64_t bit_offset(std::uint32_t r, std::uint32_t e, int lane) const {
        const std::uint32_t at =
            layout->index[(r * layout->per_register + e) * kLanes + static_cast<std::uint32_t>(lane)];
        const std::uint64_t row = at / layout->cols, col = at % layout->cols;
        const std::uint64_t element = by_columns ? col * stride + row : row * stride + col;
        return element * layout->bits;
    }
    bool side_by_side(std::uint32_t r) const {
        for (std::uint32_t e = 1; e < layout->per_register; ++e) {
            if (bit_offset(r, e, 0) != bit_offset(r, 0, 0) + std::uint64_t{e} * layout->bits) return false;
        }
        return true;
    }
};

FragmentAccess access_of(Warp& w, const Instr& in) {
    const Plan& plan = plan_of(in);
    FragmentAccess access;
    access.layout = &plan.layout(in.sub);
    access.by_columns = in.sub2 != 0;
    // A stride counts elements of the matrix; words of single bits stand for 32 of them.
    const std::uint32_t pack = plan.a == Type::b1 && in.sub < 2 ? 32 : 1;
    access.stride = access.by_columns ? access.layout->rows : access.layout->cols;
    if (in.vector != 0) {
        const Slot& slot = in.source(1);
        access.stride = lane_value(w, slot, 0) / pack;
    }
    return access;
}

void wmma_load(Warp& w, const Instr& in, Mask exec) {
    const FragmentAccess access = access_of(w, in);
    const Layout& layout = *access.layout;
    std::uint64_t base[kLanes], addresses[kLanes];
    lane_addresses(w, in, in.source(0), exec, base);
    bool good = true;
    for (std::uint32_t r = 0; r < layout.distinct && good; ++r) {
        const bool together = access.side_by_side(r) || layout.bits < 8;
        const std::uint32_t bytes = together ? layout.bits * layout.per_register / 8 : layout.bits / 8;
        const std::uint32_t pieces = together ? 1 : layout.per_register;
        std::uint64_t values[kLanes] = {};
        Mask tainted = 0;
        for (std::uint32_t e = 0; e < pieces && good; ++e) {
            for_lanes(exec, [&](int lane) {
                addresses[lane] = base[lane] + access.bit_offset(r, e, lane) / 8;
                std::uint64_t data = 0;
                bool undefined = false;
                good = good && load_lane(w, in, lane, in.space, addresses[lane], bytes, &data, &undefined);
                values[lane] |= data << (e * layout.bits);
                if (undefined) tainted |= 1u << lane;
            });
            if (good && w.launch->count) count_access(w, in, exec, addresses, bytes, false);
        }
        if (!good) return;
        for (std::uint32_t copy = r; copy < layout.registers; copy += layout.distinct) {
            const Slot& slot = in.destination(static_cast<int>(copy));
            for_lanes(exec, [&](int lane) { set_lane(w, slot, lane, values[lane]); });
            if (w.tainted) taint_lanes(w, slot, exec, 0, 0);
            if (tainted) taint_register(w, in, slot, tainted);
        }
    }
}

void wmma_store(Warp& w, const Instr& in, Mask exec) {
    const FragmentAccess access = access_of(w, in);
    const Layout& layout = *access.layout;
    const int first = in.vector != 0 ? 2 : 1;
    std::uint64_t base[kLanes], addresses[kLanes];
    lane_addresses(w, in, in.source(0), exec, base);
    bool good = true;
    for (std::uint32_t r = 0; r < layout.registers && good; ++r) {
        const bool together = access.side_by_side(r);
        const std::uint32_t bytes = together ? layout.bits * layout.per_register / 8 : layout.bits / 8;
        const std::uint32_t pieces = together ? 1 : layout.per_register;
        const Slot& slot = in.source(first + static_cast<int>(r));
        for (std::uint32_t e = 0; e < pieces && good; ++e) {
            for_lanes(exec, [&](int lane) {
                addresses[lane] = base[lane] + access.bit_offset(r, e, lane) / 8;
                const std::uint64_t data = lane_value(w, slot, lane) >> (e * layout.bits);
                good = good && store_lane(w, in, lane, in.space, addresses[lane], bytes, &data);
            });
            if (good && w.launch->count) count_access(w, in, exec, addresses, bytes, true);
            if (good && w.tainted) {
                const std::uint64_t piece = bytes < 8 ? (1ull << 8 * bytes) - 1 : ~0ull;
                for_lanes(taint_of(w, slot) & exec, [&](int lane) {
                    if (!((undefined_bits(w, slot, lane) >> (e * layout.bits)) & piece)) return;
                    store_undefined(w, in, lane, in.space, addresses[lane], bytes, origin_of(w, in, slot));
                });
            }
        }
    }
}

constexpr HandlerEntry entries[] = {
    {"mma.float", mma_float},
    {"mma.integer", mma_integer},
    {"mma.bits", mma_bits},
    {"mma.scaled", mma_scaled},
    {"ldmatrix.small", ldmatrix_small},
    {"stmatrix.small", stmatrix_small},
    {"mma.double", mma_double},
    {"ldmatrix", ldmatrix},
    {"stmatrix", stmatrix},
    {"movmatrix", movmatrix},
    {"wmma.load", wmma_load},
    {"wmma.store", wmma_store},
};

}  // namespace

HandlerTable tensor_handlers() { return {entries, std::size(entries)}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

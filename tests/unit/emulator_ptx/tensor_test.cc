// Tensor-core instructions executed: every shape and type of mma.sync and wmma against a product in doubles,
// ldmatrix, stmatrix and movmatrix, and a kernel that uses them as real ones do. Small integers make every
// result exact, so nothing is compared with a tolerance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "emulator/emulator.h"
#include "emulator/src/tensor/plan.h"
#include "tests/unit/emulator_ptx/matrices.h"
#include "tests/unit/emulator_ptx/nvrtc.h"

namespace emulator {
namespace {

using namespace test;
using tensor::Layout;
using tensor::Plan;

Matrix product(const Plan& plan, const Matrix& a, const Matrix& b, const Matrix& c, bool conjunction) {
    Matrix d(static_cast<std::size_t>(plan.m * plan.n));
    for (int i = 0; i < plan.m; ++i) {
        for (int j = 0; j < plan.n; ++j) {
            double sum = c[i * plan.n + j];
            for (int p = 0; p < plan.k; ++p) {
                const double x = a[i * plan.k + p], y = b[p * plan.n + j];
                sum += plan.a != Type::b1 ? x * y : conjunction ? x * y : x != y;
            }
            d[i * plan.n + j] = sum;
        }
    }
    return d;
}

const char* const head =
    ".version 9.0\n.target {}\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, "
    ".param .u64 pc, .param .u64 pd)\n{{\n";

std::string target_of(const Plan& plan) {
    if (plan.a == Type::e4m3 || plan.a == Type::e5m2 || plan.b == Type::e4m3) return "sm_89";
    return plan.a == Type::f64 && plan.m == 16 ? "sm_90" : "sm_80";
}

std::string plan_name(const Plan& plan) {
    return fmt::format("{}m{}n{}k{} {} {} {} {}", plan.is_wmma ? "wmma " : "", plan.m, plan.n, plan.k,
                       ptx::to_string(plan.d), ptx::to_string(plan.a), ptx::to_string(plan.b),
                       ptx::to_string(plan.c));
}

// ---- mma.sync: fragments are loaded and stored register by register ------------------------------------

std::vector<std::byte> to_fragment(const Layout& layout, Type type, const Matrix& matrix) {
    const std::uint32_t reg_bits = layout.bits == 64 ? 64 : 32;
    std::vector<std::byte> data(std::size_t{32} * layout.registers * reg_bits / 8);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t r = 0; r < layout.registers; ++r) {
            for (std::uint32_t e = 0; e < layout.per_register; ++e) {
                const std::uint32_t at = layout.index[(r * layout.per_register + e) * 32 + lane];
                std::uint64_t bits = 0;
                if (type == Type::b1) {  // the matrix is given as words of 32 along k
                    for (std::uint32_t i = 0; i < 32; ++i) {
                        bits |= static_cast<std::uint64_t>(matrix[at * 32 + i]) << i;
                    }
                } else {
                    bits = encode(type, matrix[at]);
                }
                put_bits(data, (std::size_t{lane} * layout.registers + r) * reg_bits + e * layout.bits,
                         layout.bits, bits);
            }
        }
    }
    return data;
}

Matrix from_fragment(const Layout& layout, Type type, const std::vector<std::byte>& data) {
    const std::uint32_t reg_bits = layout.bits == 64 ? 64 : 32;
    Matrix matrix(std::size_t{layout.rows} * layout.cols);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t r = 0; r < layout.registers; ++r) {
            for (std::uint32_t e = 0; e < layout.per_register; ++e) {
                const std::size_t bit =
                    (std::size_t{lane} * layout.registers + r) * reg_bits + e * layout.bits;
                matrix[layout.index[(r * layout.per_register + e) * 32 + lane]] =
                    decode(type, get_bits(data, bit, layout.bits));
            }
        }
    }
    return matrix;
}

std::string mma_kernel(const Plan& plan, const std::string& suffix) {
    const char* wide = plan.a == Type::f64 ? "64" : "32";
    std::string text = fmt::format(fmt::runtime(head), target_of(plan));
    text += fmt::format(
        ".reg .b{0} a<{1}>, b<{2}>, c<{3}>, d<{4}>;\n.reg .b64 p<3>; .reg .b32 lane;\nmov.u32 lane, "
        "%laneid;\n",
        wide, plan.layout_a.registers, plan.layout_b.registers, plan.layout_c.registers,
        plan.layout_d.registers);
    const auto place = [&](const char* parameter, std::uint32_t count) {
        text += fmt::format("ld.param.u64 p0, [{}];\nmul.wide.u32 p1, lane, {};\nadd.u64 p0, p0, p1;\n",
                            parameter, count * (plan.a == Type::f64 ? 8 : 4));
    };
    const auto load = [&](const char* parameter, const char* name, std::uint32_t count) {
        place(parameter, count);
        for (std::uint32_t i = 0; i < count; ++i) {
            text += fmt::format("ld.global.b{} {}{}, [p0+{}];\n", wide, name, i,
                                i * (plan.a == Type::f64 ? 8 : 4));
        }
    };
    load("pa", "a", plan.layout_a.registers);
    load("pb", "b", plan.layout_b.registers);
    load("pc", "c", plan.layout_c.registers);
    text += fmt::format("mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{}{} {}, {}, {}, {};\n", plan.m,
                        plan.n, plan.k, suffix == ".satfinite" ? suffix : "", ptx::to_string(plan.d),
                        ptx::to_string(plan.a), ptx::to_string(plan.b), ptx::to_string(plan.c),
                        suffix == ".satfinite" ? "" : suffix, registers("d", plan.layout_d.registers),
                        registers("a", plan.layout_a.registers), registers("b", plan.layout_b.registers),
                        registers("c", plan.layout_c.registers));
    place("pd", plan.layout_d.registers);
    for (std::uint32_t i = 0; i < plan.layout_d.registers; ++i) {
        text += fmt::format("st.global.b{} [p0+{}], d{};\n", wide, i * (plan.a == Type::f64 ? 8 : 4), i);
    }
    return text + "ret;\n}\n";
}

TEST(Mma, EveryShapeAndType) {
    std::mt19937 random(3);
    int done = 0;
    for (const Plan& plan : tensor::plans()) {
        if (plan.is_wmma || plan.sparse || plan.products > 1) continue;  // tests/cases/ptx has the others
        const auto below_a_byte = [](Type t) {                           // and these
            return t == Type::e2m1 || t == Type::e2m3 || t == Type::e3m2;
        };
        if (below_a_byte(plan.a) || below_a_byte(plan.b)) continue;
        SCOPED_TRACE(plan_name(plan));
        const Matrix a = draw(plan.a, plan.m * plan.k, random);
        Matrix b = draw(plan.b, plan.k * plan.n, random);
        const Matrix c = draw(plan.c, plan.m * plan.n, random);
        for (const bool conjunction : {false, true}) {
            if (conjunction && plan.a != Type::b1) continue;
            Matrix b_packed = b;
            if (plan.a == Type::b1) {  // words of B: [word][column] of 32 consecutive k
                for (int p = 0; p < plan.k; ++p) {
                    for (int j = 0; j < plan.n; ++j)
                        b_packed[((p / 32) * plan.n + j) * 32 + p % 32] = b[p * plan.n + j];
                }
            }
            const std::string suffix = plan.a != Type::b1 ? "" : conjunction ? ".and.popc" : ".xor.popc";
            const Executed r =
                run_ptx(mma_kernel(plan, suffix),
                        {to_fragment(plan.layout_a, plan.a, a), to_fragment(plan.layout_b, plan.b, b_packed),
                         to_fragment(plan.layout_c, plan.c, c)},
                        std::size_t{32} * plan.layout_d.registers * (plan.a == Type::f64 ? 8 : 4));
            ASSERT_EQ(r.error, "");
            EXPECT_EQ(from_fragment(plan.layout_d, plan.d, r.output), product(plan, a, b, c, conjunction));
            EXPECT_EQ(r.outcome.counters.tensor_flops, 2u * plan.m * plan.n * plan.k);
            EXPECT_EQ(r.outcome.counters.inst_tensor, 1u);
            ++done;
        }
    }
    EXPECT_GT(done, 50);
}

TEST(Mma, SatfiniteClampsAndOtherwiseWraps) {
    const Plan& plan = tensor::plans()[static_cast<std::size_t>(
        tensor::find_plan({false, false, "m16n8k16", Type::s8, Type::s8, Type::s32, Type::s32}))];
    const Matrix a(plan.m * plan.k, 127), b(plan.k * plan.n, 127), c(plan.m * plan.n, 2147483000.0);
    for (const char* suffix : {"", ".satfinite"}) {
        const Executed r =
            run_ptx(mma_kernel(plan, suffix),
                    {to_fragment(plan.layout_a, plan.a, a), to_fragment(plan.layout_b, plan.b, b),
                     to_fragment(plan.layout_c, plan.c, c)},
                    512);
        ASSERT_EQ(r.error, "");
        const double expected = *suffix ? 2147483647.0 : 2147483000.0 + 16 * 127 * 127 - 4294967296.0;
        EXPECT_EQ(from_fragment(plan.layout_d, plan.d, r.output), Matrix(plan.m * plan.n, expected));
    }
}

TEST(Mma, TheTargetDecidesHowTermsAreCut) {
    // 2^11 + sixteen products just below the last bit that 24 fraction bits keep, but not 25.
    const Plan& plan = tensor::plans()[static_cast<std::size_t>(
        tensor::find_plan({false, false, "m16n8k16", Type::f16, Type::f16, Type::f32, Type::f32}))];
    const Matrix a(plan.m * plan.k, std::ldexp(1.0, -7)), b(plan.k * plan.n, std::ldexp(1.0, -7));
    const Matrix c(plan.m * plan.n, 2048.0);
    for (const auto& [target, expected] :
         {std::pair{"sm_80", 2048.0}, std::pair{"sm_90", 2048.0 + std::ldexp(1.0, -10)}}) {
        std::string text = mma_kernel(plan, "");
        text.replace(text.find("sm_80"), 5, target);
        const Executed r =
            run_ptx(text,
                    {to_fragment(plan.layout_a, plan.a, a), to_fragment(plan.layout_b, plan.b, b),
                     to_fragment(plan.layout_c, plan.c, c)},
                    512);
        ASSERT_EQ(r.error, "");
        EXPECT_EQ(from_fragment(plan.layout_d, plan.d, r.output), Matrix(plan.m * plan.n, expected))
            << target;
    }
}

TEST(Mma, UnknownFormsAreRefused) {
    const Plan& plan = tensor::plans()[0];
    const std::vector<std::vector<std::byte>> inputs(3, std::vector<std::byte>(4096));
    std::string text = mma_kernel(plan, "");
    text.replace(text.find("m16n8k8"), 7, "m16n8k9");
    EXPECT_NE(run_ptx(text, inputs, 4096).error.find("not supported"), std::string::npos);
    text = mma_kernel(plan, "");
    text.replace(text.find("{d0, d1, d2, d3}"), 16, "{d0, d1, d2}");
    EXPECT_NE(run_ptx(text, inputs, 4096).error.find("must have 4 registers"), std::string::npos);
}

// ---- wmma ----------------------------------------------------------------------------------------------

std::vector<std::byte> to_memory(Type type, const Matrix& matrix, int rows, int cols, bool by_columns,
                                 int stride) {
    const std::uint32_t width = bits_of(type);
    std::vector<std::byte> data(std::size_t(stride) * (by_columns ? cols : rows) * width / 8);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; ++j) {
            const std::size_t at = by_columns ? std::size_t(j) * stride + i : std::size_t(i) * stride + j;
            put_bits(data, at * width, width,
                     type == Type::b1 ? static_cast<std::uint64_t>(matrix[i * cols + j])
                                      : encode(type, matrix[i * cols + j]));
        }
    }
    return data;
}

std::string wmma_kernel(const Plan& plan, bool col_a, bool col_b, bool col_c, bool col_d,
                        const int (&strides)[4], bool conjunction) {
    const bool is_wide = plan.a == Type::f64;
    std::string text = fmt::format(fmt::runtime(head), "sm_80");
    text += fmt::format(".reg .b{0} a<{1}>, b<{2}>, c<{3}>, d<{4}>;\n.reg .b64 p<5>; .reg .b32 st;\n",
                        is_wide ? 64 : 32, plan.layout_a.registers, plan.layout_b.registers,
                        plan.layout_c.registers, plan.layout_d.registers);
    const char* layouts[] = {"row", "col"};
    const std::string shape = fmt::format("m{}n{}k{}", plan.m, plan.n, plan.k);
    int i = 0;
    for (const auto& [role, count, type, col] : {std::tuple{"a", plan.layout_a.registers, plan.a, col_a},
                                                 std::tuple{"b", plan.layout_b.registers, plan.b, col_b},
                                                 std::tuple{"c", plan.layout_c.registers, plan.c, col_c}}) {
        text += fmt::format(
            "ld.param.u64 p0, [p{0}];\nmov.u32 st, {1};\nwmma.load.{0}.sync.aligned.{2}.{3}.global.{4} {5}, "
            "[p0], st;\n",
            role, strides[i++], layouts[col], shape, ptx::to_string(type), registers(role, count));
    }
    std::string types = fmt::format("{}.{}", ptx::to_string(plan.d), ptx::to_string(plan.c));
    if (plan.a != Type::f16) {
        types = fmt::format("{}.{}.{}.{}", ptx::to_string(plan.d), ptx::to_string(plan.a),
                            ptx::to_string(plan.b), ptx::to_string(plan.c));
    }
    text += fmt::format("wmma.mma{}.sync.aligned.{}.{}.{}{}.{} {}, {}, {}, {};\n",
                        plan.a != Type::b1 ? ""
                        : conjunction      ? ".and.popc"
                                           : ".xor.popc",
                        layouts[col_a], layouts[col_b], shape, is_wide ? ".rn" : "", types,
                        registers("d", plan.layout_d.registers), registers("a", plan.layout_a.registers),
                        registers("b", plan.layout_b.registers), registers("c", plan.layout_c.registers));
    text += fmt::format(
        "ld.param.u64 p0, [pd];\nmov.u32 st, {};\nwmma.store.d.sync.aligned.{}.{}.global.{} [p0], {}, "
        "st;\nret;\n}}\n",
        strides[3], layouts[col_d], shape, ptx::to_string(plan.d), registers("d", plan.layout_d.registers));
    return text;
}

TEST(Wmma, EveryShapeTypeAndLayout) {
    std::mt19937 random(5);
    int done = 0;
    for (const Plan& plan : tensor::plans()) {
        if (!plan.is_wmma) continue;
        SCOPED_TRACE(plan_name(plan));
        const bool packed = bits_of(plan.a) < 8;
        for (int variant = 0; variant < 16; ++variant) {
            const bool col_a = variant & 1, col_b = variant & 2, col_c = variant & 4, col_d = variant & 8;
            if (packed && (col_a || !col_b)) continue;
            const Matrix a = draw(plan.a, plan.m * plan.k, random), b = draw(plan.b, plan.k * plan.n, random);
            const Matrix c = draw(plan.c, plan.m * plan.n, random);
            const int pad = packed ? 128 : 16;
            const int strides[4] = {(col_a ? plan.m : plan.k) + pad, (col_b ? plan.k : plan.n) + pad,
                                    (col_c ? plan.m : plan.n) + 8, (col_d ? plan.m : plan.n) + 8};
            const bool conjunction = plan.a == Type::b1 && col_d;
            const std::size_t out = std::size_t(strides[3]) * (col_d ? plan.n : plan.m) * bits_of(plan.d) / 8;
            const Executed r = run_ptx(wmma_kernel(plan, col_a, col_b, col_c, col_d, strides, conjunction),
                                       {to_memory(plan.a, a, plan.m, plan.k, col_a, strides[0]),
                                        to_memory(plan.b, b, plan.k, plan.n, col_b, strides[1]),
                                        to_memory(plan.c, c, plan.m, plan.n, col_c, strides[2])},
                                       out);
            ASSERT_EQ(r.error, "");
            const Matrix expected = product(plan, a, b, c, conjunction);
            for (int i = 0; i < plan.m; ++i) {
                for (int j = 0; j < plan.n; ++j) {
                    const std::size_t at =
                        col_d ? std::size_t(j) * strides[3] + i : std::size_t(i) * strides[3] + j;
                    const std::uint32_t width = bits_of(plan.d);
                    ASSERT_EQ(decode(plan.d, get_bits(r.output, at * width, width)), expected[i * plan.n + j])
                        << "variant " << variant << " row " << i << " column " << j;
                }
            }
            EXPECT_EQ(r.outcome.counters.tensor_flops, 2u * plan.m * plan.n * plan.k);
            ++done;
        }
    }
    EXPECT_GT(done, 200);
}

// ---- ldmatrix and its relatives -------------------------------------------------------------------------

// 32 rows of 8 halves, element = 8 row + column, go to shared memory with `stride` bytes between rows.
std::string matrix_kernel(int count, const char* trans, int stride, const char* middle) {
    std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 "
        "pd)\n{\n"
        ".shared .align 128 .b8 s[4096]; .reg .b64 p<5>; .reg .b32 r<4>, v<4>, x<6>, lane;\nmov.u32 lane, "
        "%laneid;\n"
        "ld.param.u64 p0, [pa];\nmul.wide.u32 p1, lane, 16;\nadd.u64 p0, p0, p1;\nld.global.v4.b32 {v0, v1, "
        "v2, v3}, [p0];\n"
        "mov.u32 x0, s;\n";
    text += fmt::format(
        "mad.lo.u32 x1, lane, {}, x0;\nst.shared.v4.b32 [x1], {{v0, v1, v2, v3}};\nbar.warp.sync -1;\n",
        stride);
    text += fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [x1];\n{}", count, trans,
                        registers("r", static_cast<std::uint32_t>(count)), middle);
    text +=
        fmt::format("ld.param.u64 p0, [pd];\nmul.wide.u32 p1, lane, {};\nadd.u64 p0, p0, p1;\n", 4 * count);
    for (int i = 0; i < count; ++i) text += fmt::format("st.global.b32 [p0+{}], r{};\n", 4 * i, i);
    return text + "ret;\n}\n";
}

std::vector<std::byte> numbered_halves(std::size_t count) {
    std::vector<std::byte> data(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<std::uint16_t>(i);
        std::memcpy(data.data() + 2 * i, &value, 2);
    }
    return data;
}

TEST(Matrix8x8, LdmatrixGivesRowsOrColumns) {
    for (const int count : {1, 2, 4}) {
        for (const char* trans : {"", ".trans"}) {
            SCOPED_TRACE(fmt::format("x{}{}", count, trans));
            const Executed r =
                run_ptx(matrix_kernel(count, trans, 16, ""), {numbered_halves(256)}, 128 * count);
            ASSERT_EQ(r.error, "");
            for (std::uint32_t lane = 0; lane < 32; ++lane) {
                for (int m = 0; m < count; ++m) {
                    std::uint16_t got[2];
                    std::memcpy(got, r.output.data() + (lane * count + m) * 4, 4);
                    const std::uint32_t g = lane / 4, t = 2 * (lane % 4);
                    const std::uint32_t first = *trans ? 8 * t + g : 8 * g + t;
                    const std::uint32_t second = *trans ? 8 * (t + 1) + g : 8 * g + t + 1;
                    EXPECT_EQ(got[0], 64 * m + first);
                    EXPECT_EQ(got[1], 64 * m + second);
                }
            }
        }
    }
}

TEST(Matrix8x8, LdmatrixCountsWavefronts) {
    // Rows side by side: eight rows of 16 bytes are one wavefront. Rows 128 bytes apart share their banks.
    const auto wavefronts = [](int count, int stride) {
        const auto load_only = [&](const std::string& kernel) {
            const Executed r = run_ptx(kernel, {numbered_halves(256)}, 512);
            EXPECT_EQ(r.error, "");
            return r.outcome.counters;
        };
        const Counters c = load_only(matrix_kernel(count, "", stride, ""));
        EXPECT_EQ(c.shared_load_requests, 1u);
        return std::pair{c.shared_load_wavefronts, c.shared_load_conflicts};
    };
    EXPECT_EQ(wavefronts(4, 16), (std::pair<std::uint64_t, std::uint64_t>{4, 0}));
    EXPECT_EQ(wavefronts(1, 16), (std::pair<std::uint64_t, std::uint64_t>{1, 0}));
    EXPECT_EQ(wavefronts(4, 128), (std::pair<std::uint64_t, std::uint64_t>{32, 28}));
    EXPECT_EQ(wavefronts(2, 32), (std::pair<std::uint64_t, std::uint64_t>{4, 2}));
}

TEST(Matrix8x8, StmatrixAndMovmatrixUndoLdmatrix) {
    for (const char* trans : {"", ".trans"}) {
        const std::string middle = fmt::format(
            "xor.b32 x2, x1, 0;\nbar.warp.sync -1;\nst.shared.v4.b32 [x1], {{lane, lane, lane, "
            "lane}};\nbar.warp.sync -1;\n"
            "stmatrix.sync.aligned.m8n8.x4{}.shared.b16 [x1], {{r0, r1, r2, r3}};\nbar.warp.sync -1;\n"
            "ld.shared.v4.b32 {{r0, r1, r2, r3}}, [x1];\n",
            trans);
        const Executed r = run_ptx(matrix_kernel(4, trans, 16, middle.c_str()), {numbered_halves(256)}, 512);
        ASSERT_EQ(r.error, "");
        EXPECT_EQ(r.output, numbered_halves(256)) << trans;
    }
    const Executed plain = run_ptx(matrix_kernel(1, ".trans", 16, ""), {numbered_halves(256)}, 128);
    const Executed moved =
        run_ptx(matrix_kernel(1, "", 16, "movmatrix.sync.aligned.m8n8.trans.b16 r0, r0;\n"),
                {numbered_halves(256)}, 128);
    ASSERT_EQ(plain.error + moved.error, "");
    EXPECT_EQ(plain.output, moved.output);
}

TEST(Matrix8x8, AMisalignedRowIsAFault) {
    std::string text = matrix_kernel(4, "", 16, "");
    text.replace(text.find("ldmatrix"), 0, "add.u32 x1, x1, 8;\n");
    EXPECT_NE(run_ptx(text, {numbered_halves(256)}, 512).error.find("misaligned-access"), std::string::npos);
}

// ---- undefined values ------------------------------------------------------------------------------------

// Rows 8 to 15 of A are shared memory that nothing has written; only rows 0 to 7 of D are stored, or all.
std::string partial_kernel(bool store_all) {
    std::string text = fmt::format(fmt::runtime(head), "sm_80");
    text +=
        ".shared .align 16 .b8 s[256]; .reg .b32 a<4>, b<2>, c<4>, x<4>, lane, t; .reg .b64 p<3>; .reg .pred "
        "low;\n"
        "mov.u32 lane, %laneid;\nmov.u32 x0, s;\nmad.lo.u32 x1, lane, 16, x0;\nsetp.lt.u32 low, lane, "
        "8;\nmov.u32 t, 0;\n"
        "@low st.shared.v4.b32 [x1], {t, t, t, t};\nbar.warp.sync -1;\nand.b32 x2, lane, 15;\nmad.lo.u32 x1, "
        "x2, 16, x0;\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a0, a1}, [x1];\nmov.u32 b0, 0;\n"
        "mov.u32 c0, 0;\nmov.u32 c1, 0;\nmov.u32 c2, 0;\nmov.u32 c3, 0;\n"
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {c0, c1, c2, c3}, {a0, a1}, {b0}, {c0, c1, c2, "
        "c3};\n"
        "ld.param.u64 p0, [pd];\nmul.wide.u32 p1, lane, 16;\nadd.u64 p0, p0, p1;\nst.global.v2.b32 [p0], "
        "{c0, c1};\n";
    if (store_all) text += "st.global.v2.b32 [p0+8], {c2, c3};\n";
    return text + "ret;\n}\n";
}

TEST(TensorUndefined, AnUnwrittenRowOfAReachesItsRowOfDAlone) {
    const std::vector<std::byte> none(16);
    EXPECT_EQ(run_ptx(partial_kernel(false), {none, none, none}, 512).error, "");
    EXPECT_NE(run_ptx(partial_kernel(true), {none, none, none}, 512).error.find("uninitialised"),
              std::string::npos);
}

// ---- through CUDA ---------------------------------------------------------------------------------------

TEST(TensorCuda, GemmWithLdmatrixAndMma) {
    const char* source = R"(
#include <cuda_fp16.h>
// C[64 x 32] = A[64 x 64] B[64 x 32], four warps, each 16 rows.
extern "C" __global__ void k(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half sa[64][72], sb[64][40];
  for (int i = threadIdx.x; i < 64 * 64; i += 128) sa[i / 64][i % 64] = a[i];
  for (int i = threadIdx.x; i < 64 * 32; i += 128) sb[i / 32][i % 32] = b[i];
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float d[4][4] = {};
  for (int k = 0; k < 64; k += 16) {
    unsigned ra[4], rb[2];
    unsigned pa = __cvta_generic_to_shared(&sa[warp * 16 + lane % 16][k + 8 * (lane / 16)]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    for (int n = 0; n < 4; ++n) {
      unsigned pb = __cvta_generic_to_shared(&sb[k + lane % 16][n * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    }
  }
  for (int n = 0; n < 4; ++n) for (int i = 0; i < 4; ++i)
    c[(warp * 16 + lane / 4 + 8 * (i / 2)) * 32 + n * 8 + 2 * (lane % 4) + i % 2] = d[n][i];
})";
    const auto compiled = test::compile_cuda(source, "80");
    if (!compiled.available) GTEST_SKIP() << "no NVRTC found: set CUDA_HOME to a toolkit";
    ASSERT_FALSE(compiled.ptx.empty()) << compiled.log;
    std::mt19937 random(11);
    const Matrix a = draw(Type::f16, 64 * 64, random), b = draw(Type::f16, 64 * 32, random);
    const Executed r =
        run_ptx(compiled.ptx,
                {to_memory(Type::f16, a, 64, 64, false, 64), to_memory(Type::f16, b, 64, 32, false, 32)},
                64 * 32 * 4, 128);
    ASSERT_EQ(r.error, "");
    for (int i = 0; i < 64; ++i) {
        for (int j = 0; j < 32; ++j) {
            double sum = 0;
            for (int p = 0; p < 64; ++p) sum += a[i * 64 + p] * b[p * 32 + j];
            ASSERT_EQ(decode(Type::f32, get_bits(r.output, (i * 32 + j) * 32, 32)), sum) << i << " " << j;
        }
    }
    EXPECT_EQ(r.outcome.counters.inst_tensor, 4u * 4 * 4);
    EXPECT_EQ(r.outcome.counters.tensor_flops, 2u * 64 * 64 * 32);
    EXPECT_EQ(r.outcome.counters.shared_load_conflicts, 0u);  // the padded rows are free of conflicts
}

TEST(TensorCuda, WmmaApi) {
    // Row- and column-major loads from shared memory, element-wise work on a fragment, a store.
    const char* source = R"(
#include <mma.h>
using namespace nvcuda;
template <class A, class B> struct same { static const bool value = false; };
template <class A> struct same<A, A> { static const bool value = true; };
template <int M, int N, class LA, class LB> __device__ void tile(const __half* a, const __half* b, float* c, int lda, int ldb) {
  wmma::fragment<wmma::matrix_a, M, N, 16, __half, LA> fa; wmma::fragment<wmma::matrix_b, M, N, 16, __half, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, 16, float> fc; wmma::fill_fragment(fc, 1.0f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(fa, a + (same<LA, wmma::row_major>::value ? k : k * lda), lda);
    wmma::load_matrix_sync(fb, b + (same<LB, wmma::row_major>::value ? k * ldb : k), ldb);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
extern "C" __global__ void k(const __half* a, const __half* b, float* c) {
  __shared__ __half s[32 * 32]; for (int i = threadIdx.x; i < 1024; i += 32) s[i] = a[i]; __syncwarp();
  using R = wmma::row_major; using C = wmma::col_major;
  tile<16, 16, R, R>(s, b, c, 32, 32); tile<16, 16, R, C>(a, b, c + 256, 32, 32); tile<16, 16, C, R>(s, b, c + 512, 32, 32);
  tile<32, 8, R, R>(a, b, c + 768, 32, 32); tile<8, 32, C, C>(s, b, c + 1024, 32, 32);
})";
    const auto compiled = test::compile_cuda(source, "80");
    if (!compiled.available) GTEST_SKIP() << "no NVRTC found: set CUDA_HOME to a toolkit";
    ASSERT_FALSE(compiled.ptx.empty()) << compiled.log;
    std::mt19937 random(13);
    const Matrix a = draw(Type::f16, 1024, random), b = draw(Type::f16, 1024, random);
    const Executed r = run_ptx(
        compiled.ptx,
        {to_memory(Type::f16, a, 32, 32, false, 32), to_memory(Type::f16, b, 32, 32, false, 32)}, 1280 * 4);
    ASSERT_EQ(r.error, "");
    struct Tile {
        int m, n;
        bool col_a, col_b;
    };
    int at = 0;
    for (const Tile t : {Tile{16, 16, false, false}, Tile{16, 16, false, true}, Tile{16, 16, true, false},
                         Tile{32, 8, false, false}, Tile{8, 32, true, true}}) {
        for (int i = 0; i < t.m; ++i) {
            for (int j = 0; j < t.n; ++j, ++at) {
                double sum = 1;
                for (int p = 0; p < 32; ++p)
                    sum +=
                        (t.col_a ? a[p * 32 + i] : a[i * 32 + p]) * (t.col_b ? b[j * 32 + p] : b[p * 32 + j]);
                ASSERT_EQ(decode(Type::f32, get_bits(r.output, std::size_t(at) * 32, 32)), 2 * sum)
                    << t.m << "x" << t.n << " " << i << " " << j;
            }
        }
    }
}

}  // namespace
}  // namespace emulator

// wgmma executed: every form and width, every shared-memory layout, operands in registers, products in
// flight. The layouts come from CuTe's atoms (Layout_K_SW128_Atom ..., tile_to_shape), written down here on
// their own: an atom of 8 rows (or 8 steps of k) times 16, 32, 64 or 128 bytes, atoms one behind the other
// along M or N first, and Swizzle<B, 4, 3> on the byte address. Small integers make every result exact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/emulator_ptx/matrices.h"

namespace emulator {
namespace {

using namespace test;

struct Stored {  // an operand in shared memory
    std::vector<std::byte> image;
    std::uint64_t descriptor = 0;  // but for the start address
};

// `matrix` is [outer][k], outer being M or N. width: units of 16 bytes of an atom's row (1, 2, 4, 8).
Stored store_operand(Type type, const Matrix& matrix, int outer, int depth, int width, bool across) {
    const int bits = static_cast<int>(bits_of(type)), row_bytes = 16 * width;
    const int along = row_bytes * 8 / bits;  // elements of an atom's row
    const int atom = 8 * row_bytes;
    // Atoms along M or N, and along k.
    const int wide = across ? (outer + along - 1) / along : outer / 8;
    const int deep = across ? depth / 8 : (depth + along - 1) / along;
    Stored stored;
    stored.image.resize(static_cast<std::size_t>(wide) * static_cast<std::size_t>(deep * atom));
    for (int i = 0; i < outer; ++i) {
        for (int p = 0; p < depth; ++p) {
            const int row = across ? p : i, at = across ? i : p;  // of an atom's rows; along one
            const int number = across ? at / along + row / 8 * wide : row / 8 + at / along * wide;
            std::size_t bit = static_cast<std::size_t>(number * atom + row % 8 * row_bytes) * 8 +
                              static_cast<std::size_t>(at % along * bits);
            const std::size_t byte = bit / 8;
            const std::size_t swizzled = byte ^ ((byte >> 7 & static_cast<std::size_t>(width - 1)) << 4);
            bit = swizzled * 8 + bit % 8;
            put_bits(stored.image, bit, static_cast<std::uint32_t>(bits),
                     type == Type::b1 ? static_cast<std::uint64_t>(matrix[i * depth + p])
                                      : encode(type, matrix[i * depth + p]));
        }
    }
    // make_gmma_desc: strides of the canonical layout, in units of 16 bytes.
    std::uint64_t leading = 0, stride = 0;
    if (across) {
        const std::uint64_t next_outer = atom / 16, next_k = static_cast<std::uint64_t>(wide * atom / 16);
        leading = width == 1 ? next_k : next_outer;
        stride = width == 1 ? next_outer : next_k;
    } else {
        stride = atom / 16;
        leading = width == 1 ? static_cast<std::uint64_t>(wide * atom / 16) : 1;
    }
    const std::uint64_t layout = width == 1 ? 0 : width == 2 ? 3 : width == 4 ? 2 : 1;
    stored.descriptor = leading << 16 | stride << 32 | layout << 62;
    return stored;
}

struct Trial {
    Type a = Type::f16, b = Type::f16, d = Type::f32;
    int n = 8, k = 16;  // of one instruction
    int steps = 1;      // along k, one after the other on the same accumulators
    int width_a = 1, width_b = 1;
    bool across_a = false, across_b = false, a_in_registers = false;
    int scale_a = 1, scale_b = 1;
    bool scale_d = true;
    std::string suffix;
    std::string in_flight;     // before the products are waited for
    const char* result = "d";  // the registers that are stored
    bool fenced = true;
    unsigned repeated = 0;  // further products of the same size in `in_flight`
    std::string fault;      // what must be reported; empty: nothing
    std::string name() const {
        return fmt::format("m64n{}k{} {} {} {} {} widths {} {} across {} {}", n, k, ptx::to_string(d),
                           ptx::to_string(a), ptx::to_string(b), suffix, width_a, width_b, across_a,
                           across_b);
    }
};

bool has_scales(const Trial& t) { return t.d != Type::s32; }
bool transposable(const Trial& t) { return t.a == Type::f16 || t.a == Type::bf16; }
std::uint32_t accumulators(const Trial& t) {
    return static_cast<std::uint32_t>(t.d == Type::f16 ? t.n / 4 : t.n / 2);
}

// Copies both images to shared memory, loads the accumulators, multiplies `steps` times, stores them.
std::string kernel_text(const Trial& t, const Stored& a, const Stored& b) {
    const std::uint32_t count = accumulators(t);
    std::string text = fmt::format(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 sa[{}];\n.shared .align "
        "1024 .b8 "
        "sb[{}];\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pf, .param "
        ".u64 pd)\n"
        "{{\n.reg .b32 d<{}>, e<128>, f<4>, tid, i, x, s;\n.reg .b64 p<8>, da, db;\n.reg .pred q, "
        "scale;\nmov.u32 "
        "tid, %tid.x;\n",
        std::max<std::size_t>(a.image.size(), 16), b.image.size(), count);
    int label = 0;
    const auto copy = [&](const char* parameter, const char* shared, std::size_t bytes) {
        if (bytes == 0) return;
        text += fmt::format(
            "ld.param.u64 p0, [{}];\nmov.u32 s, {};\nshl.b32 i, tid, 2;\nL{}:\nsetp.ge.u32 q, i, {};\n@q bra "
            "M{};\n"
            "cvt.u64.u32 p1, i;\nadd.u64 p1, p1, p0;\nld.global.b32 x, [p1];\nadd.u32 x, x, 0;\nadd.u32 "
            "f0, s, i;\nst.shared.b32 [f0], x;\nadd.u32 i, i, 512;\nbra L{};\nM{}:\n",
            parameter, shared, label, bytes, label, label, label);
        ++label;
    };
    copy("pa", "sa", a.image.size());
    copy("pb", "sb", b.image.size());
    text += "fence.proxy.async;\nbar.sync 0;\n";
    const auto place = [&](const char* parameter, std::uint32_t registers_each) {
        text += fmt::format("ld.param.u64 p0, [{}];\nmul.wide.u32 p1, tid, {};\nadd.u64 p0, p0, p1;\n",
                            parameter, 4 * registers_each);
    };
    place("pc", count);
    for (std::uint32_t r = 0; r < count; ++r) text += fmt::format("ld.global.b32 d{}, [p0+{}];\n", r, 4 * r);
    const auto descriptor = [&](const char* name, const char* shared, std::uint64_t bits) {
        text += fmt::format("mov.u32 s, {};\ncvt.u64.u32 {}, s;\nshr.u64 {}, {}, 4;\nor.b64 {}, {}, {:#x};\n",
                            shared, name, name, name, name, name, bits);
    };
    descriptor("da", "sa", a.descriptor);
    descriptor("db", "sb", b.descriptor);
    text += fmt::format("setp.eq.u32 scale, {}, 1;\n", t.scale_d ? 1 : 0);
    for (int step = 0; step < t.steps; ++step) {
        if (t.a_in_registers) {
            place("pf", static_cast<std::uint32_t>(4 * t.steps));
            for (int r = 0; r < 4; ++r)
                text += fmt::format("ld.global.b32 f{}, [p0+{}];\n", r, 16 * step + 4 * r);
        }
        if (t.fenced) text += "wgmma.fence.sync.aligned;\n";
        // The next k of an operand: 32 bytes further along k, or two atoms (16 steps) across it.
        const auto advanced = [&](const char* name, const Stored& operand, int width, bool across) {
            const std::uint64_t next_k =
                across ? (width == 1 ? operand.descriptor >> 16 : operand.descriptor >> 32) & 0x3fff
                       : operand.descriptor >> 16 & 0x3fff;
            std::uint64_t units = 0;
            if (across) {
                units = 2 * next_k * static_cast<std::uint64_t>(step);
            } else if (width == 1) {
                units = 2 * next_k * static_cast<std::uint64_t>(step);
            } else {  // within the atom's row, then in the next atom
                const int per_atom = width / 2;
                const std::size_t atoms_wide = operand.image.size() / static_cast<std::size_t>(128 * width) *
                                               static_cast<std::size_t>(per_atom) /
                                               static_cast<std::size_t>(t.steps);
                units = static_cast<std::uint64_t>(2 * (step % per_atom)) +
                        static_cast<std::uint64_t>(step / per_atom) * atoms_wide *
                            static_cast<std::uint64_t>(8 * width);
            }
            text += fmt::format("add.u64 {}, {}, {};\n", name, name, units);
        };
        text += fmt::format("mov.b64 p4, da;\nmov.b64 p5, db;\n");
        if (!t.a_in_registers) advanced("da", a, t.width_a, t.across_a);
        advanced("db", b, t.width_b, t.across_b);
        std::string tail;
        if (has_scales(t)) tail += fmt::format(", {}, {}", t.scale_a, t.scale_b);
        if (transposable(t) && !t.a_in_registers) tail += fmt::format(", {}", t.across_a ? 1 : 0);
        if (transposable(t)) tail += fmt::format(", {}", t.across_b ? 1 : 0);
        text += fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}{} {}, {}, db, {}{};\n", t.n, t.k,
                            ptx::to_string(t.d), ptx::to_string(t.a), ptx::to_string(t.b), t.suffix,
                            registers("d", count), t.a_in_registers ? registers("f", 4) : "da",
                            step == 0 ? "scale" : "1", tail);
        text += "mov.b64 da, p4;\nmov.b64 db, p5;\n";
        if (t.a_in_registers && step + 1 < t.steps)
            text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    }
    text += t.in_flight;
    text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    place("pd", count);
    for (std::uint32_t r = 0; r < count; ++r)
        text += fmt::format("st.global.b32 [p0+{}], {}{};\n", 4 * r, t.result, r);
    return text + "ret;\n}\n";
}

// Row and column of accumulator i of a thread (PTX ISA, "Register fragments for wgmma": D).
std::pair<int, int> accumulator_at(int thread, int i) {
    const int lane = thread % 32, warp = thread / 32;
    return {16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

void check(const Trial& t, unsigned seed) {
    SCOPED_TRACE(t.name());
    std::mt19937 random(seed);
    const int depth = t.k * t.steps;
    const Matrix a = draw(t.a, std::size_t{64} * static_cast<std::size_t>(depth), random);
    const Matrix b =
        draw(t.b, static_cast<std::size_t>(t.n) * static_cast<std::size_t>(depth), random);  // [n][k]
    const Matrix c =
        draw(t.d == Type::s32 ? Type::s8 : t.d, std::size_t{64} * static_cast<std::size_t>(t.n), random);
    const Stored in_a = t.a_in_registers ? Stored{} : store_operand(t.a, a, 64, depth, t.width_a, t.across_a);
    const Stored in_b = store_operand(t.b, b, t.n, depth, t.width_b, t.across_b);
    const std::uint32_t width = t.d == Type::f16 ? 16 : 32, count = accumulators(t);
    std::vector<std::byte> in_c(std::size_t{128} * count * 4), fragments(std::size_t{128} * 16 * t.steps);
    for (int thread = 0; thread < 128; ++thread) {
        for (int i = 0; i < t.n / 2; ++i) {
            const auto [row, col] = accumulator_at(thread, i);
            put_bits(in_c, std::size_t(thread) * count * 32 + std::size_t(i) * width, width,
                     encode(t.d, c[row * t.n + col]));
        }
        const int lane = thread % 32, bits = static_cast<int>(bits_of(t.a)), per = 32 / bits;
        for (int step = 0; t.a_in_registers && step < t.steps; ++step) {
            for (int r = 0; r < 4; ++r) {
                for (int e = 0; e < per; ++e) {
                    const int row = 16 * (thread / 32) + lane / 4 + 8 * (r % 2);
                    const int col = step * t.k + lane % 4 * per + e + 4 * per * (r / 2);
                    const double x = a[row * depth + col];
                    put_bits(fragments,
                             std::size_t(thread * t.steps * 4 + step * 4 + r) * 32 + std::size_t(e * bits),
                             static_cast<std::uint32_t>(bits),
                             t.a == Type::b1 ? static_cast<std::uint64_t>(x) : encode(t.a, x));
                }
            }
        }
    }
    Matrix expected(std::size_t{64} * static_cast<std::size_t>(t.n));
    for (int i = 0; i < 64; ++i) {
        for (int j = 0; j < t.n; ++j) {
            double sum = t.scale_d ? c[i * t.n + j] : 0;
            for (int p = 0; p < depth; ++p)
                sum += t.scale_a * t.scale_b * a[i * depth + p] * b[j * depth + p];
            expected[i * t.n + j] = sum;
        }
    }
    const std::string text = kernel_text(t, in_a, in_b);
    for (const auto when : {Options::Async::late, Options::Async::eager}) {
        Options options;
        options.asynchronous = when;
        const Executed r = run_ptx(
            text, {in_a.image.empty() ? std::vector<std::byte>(4) : in_a.image, in_b.image, in_c, fragments},
            in_c.size(), 128, options);
        if (!t.fault.empty()) {
            EXPECT_EQ(r.error.substr(0, r.error.find(':')), t.fault) << r.error;
            continue;
        }
        ASSERT_EQ(r.error, "");
        EXPECT_EQ(r.outcome.counters.tensor_flops,
                  2u * 64u * static_cast<unsigned>(t.n * depth) * (1 + t.repeated));
        for (int thread = 0; thread < 128; ++thread) {
            for (int i = 0; i < t.n / 2; ++i) {
                const auto [row, col] = accumulator_at(thread, i);
                ASSERT_EQ(
                    decode(t.d, get_bits(r.output, std::size_t(thread) * count * 32 + std::size_t(i) * width,
                                         width)),
                    expected[row * t.n + col])
                    << row << " " << col;
            }
        }
    }
}

struct Types {
    Type a, b, d;
    int k;
    const char* suffix;
};
std::vector<Types> all_types() {
    using enum Type;
    std::vector<Types> all = {{f16, f16, f32, 16, ""},
                              {f16, f16, f16, 16, ""},
                              {bf16, bf16, f32, 16, ""},
                              {tf32, tf32, f32, 8, ""},
                              {b1, b1, s32, 256, ".and.popc"}};
    for (const Type a : {e4m3, e5m2})
        for (const Type b : {e4m3, e5m2})
            for (const Type d : {f32, f16}) all.push_back({a, b, d, 32, ""});
    for (const Type a : {s8, u8})
        for (const Type b : {s8, u8}) all.push_back({a, b, s32, 32, ""});
    return all;
}

TEST(Wgmma, EveryTypeAndWidth) {
    unsigned seed = 0;
    int done = 0;
    for (const Types& types : all_types()) {
        for (int n = 8; n <= 256; n += 8) {
            if (types.d == Type::s32 && n > 32 && n % 16 != 0) continue;
            Trial t;
            t.a = types.a;
            t.b = types.b;
            t.d = types.d;
            t.n = n;
            t.k = types.k;
            t.suffix = types.suffix;
            t.a_in_registers = n % 24 == 0;
            t.scale_d = n % 40 != 0;
            check(t, ++seed);
            if (HasFatalFailure()) return;
            ++done;
        }
    }
    EXPECT_GT(done, 400);
}

TEST(Wgmma, EverySharedLayout) {
    unsigned seed = 100;
    for (const int width_a : {1, 2, 4, 8}) {
        for (const int width_b : {1, 2, 4, 8}) {
            for (const bool across_a : {false, true}) {
                for (const bool across_b : {false, true}) {
                    Trial t;
                    t.n = across_b ? 128 : 24;
                    t.steps = 4;
                    t.width_a = width_a;
                    t.width_b = width_b;
                    t.across_a = across_a;
                    t.across_b = across_b;
                    check(t, ++seed);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

TEST(Wgmma, SwizzlesOfOtherElementSizes) {
    unsigned seed = 200;
    for (const Types& types : all_types()) {
        for (const int width : {2, 4, 8}) {
            Trial t;
            t.a = types.a;
            t.b = types.b;
            t.d = types.d;
            t.n = 16;
            t.k = types.k;
            t.suffix = types.suffix;
            t.steps = 4;
            t.width_a = t.width_b = width;
            check(t, ++seed);
            t.a_in_registers = true;
            check(t, ++seed);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(Wgmma, ScalesNegate) {
    for (const int a : {1, -1}) {
        for (const int b : {1, -1}) {
            for (const Type type : {Type::f16, Type::bf16, Type::tf32, Type::e4m3}) {
                Trial t;
                t.a = t.b = type;
                t.k = type == Type::tf32 ? 8 : type == Type::e4m3 ? 32 : 16;
                t.scale_a = a;
                t.scale_b = b;
                check(t, 7);
            }
        }
    }
}

std::string each_register(const char* form, int count) {
    std::string text;
    for (int r = 0; r < count; ++r) text += fmt::format(fmt::runtime(form), r);
    return text;
}

TEST(Wgmma, MovesRenameWhatIsInFlight) {
    Trial t;
    t.steps = 3;
    t.in_flight = each_register("mov.b32 e{0}, d{0};\n", 4);
    t.result = "e";
    check(t, 1);
    // Then the first name may be used for something else.
    t.in_flight += each_register("mov.b32 d{0}, 0;\n", 4);
    check(t, 2);
}

TEST(Wgmma, AccumulatorsInFlightAreLeftAlone) {
    Trial t;
    t.fault = "unwaited-wgmma";
    t.in_flight = "add.u32 x, d1, 0;\n";
    check(t, 1);
    t.in_flight = "mov.b32 e1, d1;\nadd.u32 x, e1, 0;\n";  // by another name
    check(t, 2);
    t.in_flight = "mov.b32 d1, 0;\n";
    check(t, 3);
    t.in_flight = "add.u32 d1, i, 1;\n";
    check(t, 4);
    t.in_flight = "st.shared.b32 [s], d1;\n";
    check(t, 5);
    t.a_in_registers = true;
    t.in_flight = "add.u32 f0, f0, 1;\n";
    check(t, 6);
}

TEST(Wgmma, FencesAreNeeded) {
    Trial t;
    t.fenced = false;
    t.fault = "missing-wgmma-fence";
    check(t, 1);
    t.fenced = true;
    t.steps = 2;
    t.in_flight =
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, da, db, 1, 1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nadd.u32 d1, i, 1;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, da, db, 1, 1, 1, 0, 0;\n";
    check(t, 2);
    // Another shape takes over the accumulators.
    t.in_flight =
        "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {d0, d1, d2, d3}, da, da, 1, 1, 1, 0, 0;\n";
    check(t, 3);
}

TEST(Wgmma, ManyInFlight) {  // more than are kept back
    Trial t;
    t.n = 16;
    const std::string again =
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {d0, d1, d2, d3, d4, d5, d6, d7}, da, db, "
        "0, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n";
    for (int i = 0; i < 200; ++i) t.in_flight += again;
    t.scale_d = false;
    t.repeated = 200;
    check(t, 4);
}

}  // namespace
}  // namespace emulator

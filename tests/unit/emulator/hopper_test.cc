// sm_90 through the API: tensor maps and their rules, TMA copies against a host model, cluster refusals,
// counters of bulk copies. The host model swizzles as CuTe's Swizzle<1|2|3, 4, 3> does (the layouts of
// 32, 64 and 128 bytes): among the 16-byte chunks of a 128-byte line, chunk c of line l lies at c xor l.
#include <fmt/format.h>

#include "emulator/tensor_map.h"
#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

using Request = TensorMapRequest;

Request sound() {
    Request r;
    r.type = Request::Type::f16;
    r.address = 0x1000;
    r.dims = {100, 20};
    r.strides = {208};
    r.box = {64, 8};
    return r;
}

TEST(TensorMap, RulesAreCheckedByName) {
    EXPECT_TRUE(std::holds_alternative<TensorMap>(encode_tensor_map(sound())));
    struct Wrong {
        const char* rule;
        void (*change)(Request&);
    };
    const Wrong wrong[] = {
        {"rank", [](Request& r) { r.dims.clear(); }},
        {"rank", [](Request& r) { r.dims.assign(6, 8); }},
        {"address", [](Request& r) { r.address += 8; }},
        {"dims", [](Request& r) { r.dims[1] = 0; }},
        {"dims", [](Request& r) { r.dims[0] = (std::uint64_t{1} << 32) + 1; }},
        {"strides", [](Request& r) { r.strides[0] = 200; }},
        {"strides", [](Request& r) { r.strides[0] = std::uint64_t{1} << 40; }},
        {"strides", [](Request& r) { r.strides.clear(); }},
        {"box", [](Request& r) { r.box[1] = 0; }},
        {"box", [](Request& r) { r.box[1] = 257; }},
        {"box", [](Request& r) { r.box[0] = 60; }},
        {"box", [](Request& r) { r.box.push_back(1); }},
        {"element-strides",
         [](Request& r) {
             r.element_strides = {1, 9};
         }},
        {"element-strides", [](Request& r) { r.element_strides = {1}; }},
        {"swizzle", [](Request& r) { r.swizzle = Request::Swizzle::bytes64; }},
        {"fill",
         [](Request& r) {
             r.type = Request::Type::u16;
             r.fill = Request::Fill::nan;
         }},
    };
    for (const Wrong& w : wrong) {
        Request r = sound();
        w.change(r);
        const auto map = encode_tensor_map(r);
        const auto* error = std::get_if<TensorMapError>(&map);
        ASSERT_NE(error, nullptr) << w.rule;
        EXPECT_EQ(error->rule, w.rule) << error->message;
    }
}

// A kernel that loads one box, waits, and writes shared memory out as it lies there; `store` instead fills
// shared memory from `data` and stores the box. `im2col`: with offsets o0, o1, o2 of the load.
std::string kernel(int rank, bool store, bool im2col = false) {
    std::string coordinates, loads, offsets;
    for (int i = 0; im2col && !store && i < rank - 2; ++i) {
        loads += fmt::format("ld.param.u16 %o{}, [o{}];\n", i, i);
        offsets += fmt::format("{}%o{}", i ? ", " : ", {", i);
    }
    if (!offsets.empty()) offsets += "}";
    const char* mode = im2col ? store ? "im2col_no_offs" : "im2col" : "tile";
    for (int i = 0; i < rank; ++i) {
        loads += fmt::format("ld.param.s32 %c{}, [c{}];\n", i, i);
        coordinates += fmt::format("{}%c{}", i ? ", " : "", i);
    }
    std::string parameters = ".param .align 64 .b8 map[128], .param .u64 data, .param .u32 n";
    for (int i = 0; i < rank; ++i) parameters += fmt::format(", .param .s32 c{}", i);
    for (int i = 0; im2col && !store && i < rank - 2; ++i) parameters += fmt::format(", .param .u16 o{}", i);
    const std::string copy_in =
        R"(
mbarrier.init.shared::cta.b64 [bar], 1;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
)" +
        fmt::format(
            "cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes [smem], "
            "[%map, {{{}}}], [bar]{};\n",
            rank, mode, coordinates, offsets) +
        R"(
W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra W;
mov.u32 %i, 0;
L: ld.shared.b32 %v, [%s];
st.global.b32 [%d], %v;
)";
    const std::string copy_out = R"(
mov.u32 %i, 0;
L: ld.global.b32 %v, [%d];
st.shared.b32 [%s], %v;
)";
    const std::string end = store ? fmt::format(R"(
fence.proxy.async;
cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group [%map, {{{}}}], [smem];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
)",
                                                rank, mode, coordinates)
                                  : std::string();
    return ".version 8.6\n.target sm_90a\n.address_size 64\n"
           ".shared .align 1024 .b8 smem[16384];\n.shared .align 8 .b8 bar[8];\n"
           ".visible .entry k(" +
           parameters +
           ")\n{\n.reg .b64 %map, %d;\n.reg .b32 %i, %s, %v, %n, %c<5>;\n.reg .b16 %o<3>;\n.reg "
           ".pred %p;\n" +
           "mov.b64 %map, map;\ncvta.param.u64 %map, %map;\nld.param.u64 %d, [data];\nld.param.u32 %n, "
           "[n];\n" +
           loads + "mov.u32 %s, smem;\n" + (store ? copy_out : copy_in) +
           "add.u32 %i, %i, 4;\nadd.u32 %s, %s, 4;\nadd.u64 %d, %d, 4;\nsetp.lt.u32 %p, %i, %n;\n@%p bra "
           "L;\n" +
           end + "ret;\n}\n";
}

struct Shape {
    Request::Type type = Request::Type::f32;
    Request::Swizzle swizzle = Request::Swizzle::none;
    Request::Fill fill = Request::Fill::zero;
    std::vector<std::uint64_t> dims = {};
    std::vector<std::uint32_t> box = {}, element_strides = {};
    std::vector<std::int32_t> at = {};
    std::uint32_t padding = 0;  // bytes at the end of each row of memory
};

std::uint32_t swizzled(std::uint32_t at, Request::Swizzle swizzle) {
    const std::uint32_t chunks = swizzle == Request::Swizzle::bytes128  ? 8
                                 : swizzle == Request::Swizzle::bytes64 ? 4
                                 : swizzle == Request::Swizzle::bytes32 ? 2
                                                                        : 1;
    const std::uint32_t line = at / 128, chunk = at % 128 / 16;
    return line * 128 + (chunk ^ (line % chunks)) * 16 + at % 16;
}

// Calls f(byte in shared memory, byte in global memory or -1) for every byte of the box.
template <class F>
void each_byte(const Shape& s, const Request& r, F&& f) {
    const std::uint32_t element = element_bytes(s.type);
    const std::size_t rank = s.dims.size();
    std::vector<std::uint32_t> count(s.box), index(rank, 0);
    for (std::size_t i = 1; i < rank; ++i)
        if (!s.element_strides.empty())
            count[i] = (s.box[i] + s.element_strides[i] - 1) / s.element_strides[i];
    std::uint32_t n = 0;
    for (;;) {
        bool inside = true;
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < rank; ++i) {
            const std::int64_t step = i > 0 && !s.element_strides.empty() ? s.element_strides[i] : 1;
            const std::int64_t c = s.at[i] + index[i] * step;
            inside &= c >= 0 && c < static_cast<std::int64_t>(s.dims[i]);
            offset += c * static_cast<std::int64_t>(i == 0 ? element : r.strides[i - 1]);
        }
        for (std::uint32_t b = 0; b < element; ++b)
            f(swizzled(n * element + b, s.swizzle), inside ? offset + b : -1);
        n += 1;
        std::size_t i = 0;
        while (i < rank && ++index[i] == count[i]) index[i++] = 0;
        if (i == rank) return;
    }
}

class TmaBox : public testing::TestWithParam<Shape> {
  protected:
    Request request(std::uint64_t address) const {
        const Shape& s = GetParam();
        Request r;
        r.type = s.type;
        r.swizzle = s.swizzle;
        r.fill = s.fill;
        r.address = address;
        r.dims = s.dims;
        r.box = s.box;
        r.element_strides = s.element_strides;
        std::uint64_t stride = element_bytes(s.type) * s.dims[0] + s.padding;
        for (std::size_t i = 1; i < s.dims.size(); ++i) {
            r.strides.push_back(stride);
            stride *= s.dims[i];
        }
        return r;
    }
    std::uint64_t memory_bytes() const {
        const Shape& s = GetParam();
        std::uint64_t bytes = element_bytes(s.type) * s.dims[0] + s.padding;
        for (std::size_t i = 1; i < s.dims.size(); ++i) bytes *= s.dims[i];
        return bytes;
    }
    std::uint32_t box_bytes() const {
        std::uint32_t n = 0;
        each_byte(GetParam(), request(0), [&](std::uint32_t, std::int64_t) { n += 1; });
        return n;
    }
    static std::vector<std::uint8_t> numbers(std::size_t n, std::uint32_t x = 12345) {
        std::vector<std::uint8_t> out(n);
        for (std::uint8_t& b : out) {
            x = x * 1664525u + 1013904223u;
            b = static_cast<std::uint8_t>(x >> 24);
        }
        return out;
    }
    Outcome launch(Machine& m, const Request& r, std::uint64_t data, std::uint32_t n) {
        const auto map = encode_tensor_map(r);
        EXPECT_TRUE(std::holds_alternative<TensorMap>(map)) << std::get<TensorMapError>(map).message;
        Launch request;
        request.kernel = "k";
        std::vector<std::vector<std::byte>> arguments;
        const TensorMap& bytes = std::get<TensorMap>(map);
        arguments.emplace_back(bytes.begin(), bytes.end());
        arguments.push_back(Machine::bytes_of(data));
        arguments.push_back(Machine::bytes_of(n));
        for (const std::int32_t c : GetParam().at) arguments.push_back(Machine::bytes_of(c));
        request.arguments = m.pack("k", arguments);
        return run(*m.module, m.memory, request, m.options);
    }
};

TEST_P(TmaBox, LandsWhereTheTensorMapSays) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kernel(static_cast<int>(GetParam().dims.size()), false))) << m.error;
    const auto content = numbers(memory_bytes());
    const Request r = request(m.input("x", content));
    const std::uint32_t n = box_bytes();
    const std::uint64_t out = m.output<std::uint8_t>("y", n);
    const Outcome o = launch(m, r, out, n);
    EXPECT_TRUE(o.clean()) << describe(o);
    const auto got = m.read<std::uint8_t>(out, n);
    std::vector<std::uint8_t> expected(n, 0);
    if (GetParam().fill == Request::Fill::nan)
        for (std::uint32_t i = 0; i < n; ++i) expected[i] = i % 4 == 3 ? 0x7f : 0xff;  // of f32
    each_byte(GetParam(), r, [&](std::uint32_t to, std::int64_t from) {
        if (from >= 0) expected[to] = content[static_cast<std::size_t>(from)];
    });
    EXPECT_EQ(got, expected);
    EXPECT_EQ(o.counters.bulk_load_bytes, n);
    EXPECT_EQ(o.counters.bulk_requests, 1u);
}

TEST_P(TmaBox, StoresWhatLiesInsideTheTensor) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kernel(static_cast<int>(GetParam().dims.size()), true))) << m.error;
    const auto before = numbers(memory_bytes());
    const std::uint64_t x = m.input("x", before, BufferKind::inout);
    const Request r = request(x);
    const std::uint32_t n = box_bytes();
    const auto content = numbers(n, 54321);
    const Outcome o = launch(m, r, m.input("data", content), n);
    EXPECT_TRUE(o.clean()) << describe(o);
    std::vector<std::uint8_t> expected = before;
    std::uint64_t stored = 0;
    each_byte(GetParam(), r, [&](std::uint32_t from, std::int64_t to) {
        if (to < 0) return;
        expected[static_cast<std::size_t>(to)] = content[from];
        stored += 1;
    });
    EXPECT_EQ(m.read<std::uint8_t>(x, before.size()), expected);
    EXPECT_EQ(o.counters.bulk_store_bytes, stored);
}

const Shape shapes[] = {
    {.dims = {64}, .box = {32}, .at = {8}},
    {.dims = {64}, .box = {32}, .at = {-12}},
    {.type = Request::Type::u8, .dims = {100}, .box = {128}, .at = {3}, .padding = 12},
    {.dims = {40, 9}, .box = {16, 4}, .at = {20, 3}},
    {.swizzle = Request::Swizzle::bytes128, .dims = {64, 24}, .box = {32, 16}, .at = {16, 4}},
    {.type = Request::Type::f16,
     .swizzle = Request::Swizzle::bytes128,
     .dims = {72, 24},
     .box = {64, 20},
     .at = {24, 8}},
    {.type = Request::Type::bf16,
     .swizzle = Request::Swizzle::bytes64,
     .dims = {64, 24},
     .box = {32, 16},
     .at = {16, 4}},
    {.swizzle = Request::Swizzle::bytes32, .dims = {64, 24}, .box = {8, 32}, .at = {3, -2}},
    {.swizzle = Request::Swizzle::bytes128, .dims = {64, 24}, .box = {16, 16}, .at = {60, 20}},
    {.fill = Request::Fill::nan, .dims = {20, 7}, .box = {16, 8}, .at = {8, 2}},
    {.dims = {8, 5, 6}, .box = {8, 3, 4}, .at = {-2, 3, 3}},
    {.type = Request::Type::f64, .dims = {6, 5, 4, 3}, .box = {4, 3, 2, 2}, .at = {1, 2, -1, 2}},
    {.type = Request::Type::u16, .dims = {8, 3, 4, 3, 4}, .box = {8, 2, 3, 2, 3}, .at = {0, 1, 2, 2, -1}},
    {.dims = {16, 20}, .box = {8, 9}, .element_strides = {1, 4}, .at = {4, 2}},
    {.dims = {16, 20, 9}, .box = {8, 4, 5}, .element_strides = {3, 2, 3}, .at = {4, 18, 1}},
    {.dims = {8, 8}, .box = {8, 8}, .at = {100, -100}},
};
INSTANTIATE_TEST_SUITE_P(Shapes, TmaBox, testing::ValuesIn(shapes));

// im2col by its definition (PTX ISA, "Im2col mode"): all pixels of the bounding boxes in order, image by
// image, from the one that the instruction names; each moved by the offsets.
// proves: cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// proves: cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// proves: cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// proves: cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group
// proves: cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group
// proves: cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group
struct Im2colShape {
    Request::Type type = Request::Type::f32;
    Request::Swizzle swizzle = Request::Swizzle::none;
    Request::Fill fill = Request::Fill::zero;
    std::vector<std::uint64_t> dims = {};
    std::vector<std::int32_t> lower = {}, upper = {};
    std::uint32_t channels = 0, pixels = 0;
    std::vector<std::uint32_t> strides = {};
    std::vector<std::int32_t> at = {};
    std::vector<std::uint16_t> offsets = {};
};
template <class F>
void each_im2col_byte(const Im2colShape& s, bool store, F&& f) {
    const std::uint32_t element = element_bytes(s.type);
    const std::size_t spatial = s.dims.size() - 2;
    std::vector<std::vector<std::int64_t>> pixels;  // W, (H, (D,)) N
    for (std::int64_t n = s.at.back(); n < s.at.back() + 40; ++n) {
        std::vector<std::vector<std::int64_t>> image(1, {n});
        for (std::size_t i = spatial; i-- > 0;) {
            std::vector<std::vector<std::int64_t>> longer;
            for (const auto& tail : image)
                for (std::int64_t c = s.lower[i];
                     c <= static_cast<std::int64_t>(s.dims[i + 1]) - 1 + s.upper[i];
                     c += s.strides.empty() ? 1 : s.strides[i + 1]) {
                    longer.push_back({c});
                    longer.back().insert(longer.back().end(), tail.begin(), tail.end());
                }
            image = std::move(longer);
        }
        pixels.insert(pixels.end(), image.begin(), image.end());
    }
    const std::vector<std::int64_t> wanted(s.at.begin() + 1, s.at.end());
    auto pixel = std::find(pixels.begin(), pixels.end(), wanted);
    ASSERT_NE(pixel, pixels.end());
    ASSERT_GE(pixels.end() - pixel, static_cast<std::ptrdiff_t>(s.pixels));
    for (std::uint32_t p = 0; p < s.pixels; ++p, ++pixel)
        for (std::uint32_t channel = 0; channel < s.channels; ++channel) {
            std::int64_t c = s.at[0] + static_cast<std::int64_t>(channel), from = 0;
            bool inside = c >= 0 && c < static_cast<std::int64_t>(s.dims[0]);
            for (std::size_t i = spatial + 1; i-- > 0;) {
                const std::int64_t x = (*pixel)[i] + (i < spatial && !store ? s.offsets[i] : 0);
                inside &= x >= 0 && x < static_cast<std::int64_t>(s.dims[i + 1]);
                from = from * static_cast<std::int64_t>(s.dims[i + 1]) + x;
            }
            from = (from * static_cast<std::int64_t>(s.dims[0]) + c) * element;
            for (std::uint32_t b = 0; b < element; ++b)
                f(swizzled((p * s.channels + channel) * element + b, s.swizzle), inside ? from + b : -1);
        }
}
class TmaIm2col : public testing::TestWithParam<Im2colShape> {
  protected:
    static Request request(const Im2colShape& s, std::uint64_t address) {
        Request r;
        r.type = s.type;
        r.swizzle = s.swizzle;
        r.fill = s.fill;
        r.address = address;
        r.dims = s.dims;
        r.element_strides = s.strides;
        r.im2col = Request::Im2col{s.lower, s.upper, s.channels, s.pixels};
        std::uint64_t stride = element_bytes(s.type);
        for (std::size_t i = 0; i + 1 < s.dims.size(); ++i) r.strides.push_back(stride *= s.dims[i]);
        return r;
    }
    static std::vector<std::uint8_t> numbers(std::size_t n, std::uint32_t x) {
        std::vector<std::uint8_t> out(n);
        for (std::uint8_t& b : out) {
            x = x * 1664525u + 1013904223u;
            b = static_cast<std::uint8_t>(x >> 24);
        }
        return out;
    }
    static Outcome launch(Machine& m, const Request& r, std::uint64_t data, std::uint32_t n, bool store) {
        const auto map = encode_tensor_map(r);
        EXPECT_TRUE(std::holds_alternative<TensorMap>(map)) << std::get<TensorMapError>(map).message;
        Launch request;
        request.kernel = "k";
        std::vector<std::vector<std::byte>> arguments;
        const TensorMap& bytes = std::get<TensorMap>(map);
        arguments.emplace_back(bytes.begin(), bytes.end());
        arguments.push_back(Machine::bytes_of(data));
        arguments.push_back(Machine::bytes_of(n));
        for (const std::int32_t c : GetParam().at) arguments.push_back(Machine::bytes_of(c));
        for (std::size_t i = 0; !store && i < GetParam().offsets.size(); ++i)
            arguments.push_back(Machine::bytes_of(GetParam().offsets[i]));
        request.arguments = m.pack("k", arguments);
        return run(*m.module, m.memory, request, m.options);
    }
};

TEST_P(TmaIm2col, LoadsThePixelsOfTheBox) {
    const Im2colShape& s = GetParam();
    Machine m;
    ASSERT_TRUE(m.load_ptx(kernel(static_cast<int>(s.dims.size()), false, true))) << m.error;
    std::size_t memory = element_bytes(s.type);
    for (const std::uint64_t d : s.dims) memory *= d;
    const auto content = numbers(memory, 7);
    const std::uint32_t n = s.pixels * s.channels * element_bytes(s.type);
    const std::uint64_t in = m.input("x", content), out = m.output<std::uint8_t>("y", n);
    const Outcome o = launch(m, request(s, in), out, n, false);
    EXPECT_TRUE(o.clean()) << describe(o);
    std::vector<std::uint8_t> expected(n, 0);
    if (s.fill == Request::Fill::nan)
        for (std::uint32_t i = 0; i < n; ++i) expected[i] = i % 2 == 1 ? 0x7f : 0xff;  // of 16 bits
    each_im2col_byte(s, false, [&](std::uint32_t to, std::int64_t from) {
        if (from >= 0) expected[to] = content[static_cast<std::size_t>(from)];
    });
    EXPECT_EQ(m.read<std::uint8_t>(out, n), expected);
}

TEST_P(TmaIm2col, StoresThePixelsOfTheBox) {
    const Im2colShape& s = GetParam();
    Machine m;
    ASSERT_TRUE(m.load_ptx(kernel(static_cast<int>(s.dims.size()), true, true))) << m.error;
    std::size_t memory = element_bytes(s.type);
    for (const std::uint64_t d : s.dims) memory *= d;
    const auto before = numbers(memory, 8);
    const std::uint64_t x = m.input("x", before, BufferKind::inout);
    const std::uint32_t n = s.pixels * s.channels * element_bytes(s.type);
    const auto content = numbers(n, 9);
    const Outcome o = launch(m, request(s, x), m.input("data", content), n, true);
    EXPECT_TRUE(o.clean()) << describe(o);
    std::vector<std::uint8_t> expected = before;
    each_im2col_byte(s, true, [&](std::uint32_t from, std::int64_t to) {
        if (to >= 0) expected[static_cast<std::size_t>(to)] = content[from];
    });
    EXPECT_EQ(m.read<std::uint8_t>(x, before.size()), expected);
}

const Im2colShape im2col_shapes[] = {
    // C, W, N
    {.dims = {8, 9, 3},
     .lower = {0},
     .upper = {0},
     .channels = 8,
     .pixels = 20,
     .at = {0, 2, 0},
     .offsets = {0}},
    {.type = Request::Type::f16,
     .fill = Request::Fill::nan,
     .dims = {24, 9, 3},
     .lower = {-1},
     .upper = {-1},
     .channels = 16,
     .pixels = 32,
     .at = {16, -1, 0},
     .offsets = {2}},
    // C, W, H, N: a convolution of 3 x 3 with a border of 1, every place of its kernel's corner
    {.dims = {8, 7, 5, 2},
     .lower = {-1, -1},
     .upper = {-1, -1},
     .channels = 8,
     .pixels = 48,
     .at = {0, 3, 2, 0},
     .offsets = {0, 0}},
    {.dims = {8, 7, 5, 2},
     .lower = {-1, -1},
     .upper = {-1, -1},
     .channels = 8,
     .pixels = 70,
     .at = {0, -1, -1, 0},
     .offsets = {2, 1}},
    {.type = Request::Type::bf16,
     .swizzle = Request::Swizzle::bytes128,
     .dims = {72, 7, 5, 2},
     .lower = {-1, -1},
     .upper = {-1, -1},
     .channels = 64,
     .pixels = 64,
     .at = {16, 4, 1, 0},
     .offsets = {1, 2}},
    {.type = Request::Type::f16,
     .swizzle = Request::Swizzle::bytes64,
     .dims = {32, 9, 14, 2},
     .lower = {-2, 1},
     .upper = {0, -3},
     .channels = 32,
     .pixels = 100,
     .at = {0, 5, 4, 1},
     .offsets = {3, 1}},
    {.swizzle = Request::Swizzle::bytes32,
     .dims = {8, 6, 6, 4},
     .lower = {-1, 0},
     .upper = {0, -1},
     .channels = 8,
     .pixels = 32,
     .strides = {1, 2, 3, 1},
     .at = {0, 1, 3, 1},
     .offsets = {1, 0}},
    // C, W, H, D, N
    {.type = Request::Type::u16,
     .dims = {16, 5, 4, 3, 2},
     .lower = {-1, 0, -1},
     .upper = {-1, 0, -2},
     .channels = 16,
     .pixels = 90,
     .at = {0, 1, 2, 0, 0},
     .offsets = {2, 1, 2}},
    {.type = Request::Type::f64,
     .dims = {4, 5, 4, 3, 2},
     .lower = {0, 0, 0},
     .upper = {0, -1, 0},
     .channels = 2,
     .pixels = 30,
     .strides = {1, 2, 1, 2, 1},
     .at = {-1, 2, 1, 0, 0},
     .offsets = {0, 1, 1}},
};
INSTANTIATE_TEST_SUITE_P(Shapes, TmaIm2col, testing::ValuesIn(im2col_shapes));

// Four rows of a matrix: what lies where the map says, by the ISA's text on tile::gather4 and tile::scatter4.
// proves: cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
// proves: cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
TEST(TmaRows, GathersAndScatters) {
    for (const bool store : {false, true}) {
        SCOPED_TRACE(store);
        const std::string copy = store ? R"(fence.proxy.async;
cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {4, 2, 7, 30, 0}], [smem];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
)"
                                       : R"(mbarrier.init.shared::cta.b64 [bar], 1;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [smem], [%map, {4, 2, 7, 30, 0}], [bar];
W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra W;
)";
        const std::string move = store ? "ld.global.b32 %v, [%d];\nst.shared.b32 [%s], %v;\n"
                                       : "ld.shared.b32 %v, [%s];\nst.global.b32 [%d], %v;\n";
        const std::string loop = "mov.u32 %s, smem;\nmov.u32 %i, 0;\nL: " + move +
                                 "add.u32 %i, %i, 1;\nadd.u32 %s, %s, 4;\nadd.u64 %d, %d, 4;\n"
                                 "setp.lt.u32 %p, %i, 32;\n@%p bra L;\n";
        Machine m;
        ASSERT_TRUE(m.load_ptx(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.shared .align 1024 .b8 smem[1024];\n.shared "
            ".align 8 .b8 bar[8];\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 data)\n{\n"
            ".reg .b64 %map, %d;\n.reg .b32 %i, %s, %v;\n.reg .pred %p;\nmov.b64 %map, map;\n"
            "cvta.param.u64 %map, %map;\nld.param.u64 %d, [data];\n" +
            (store ? loop + copy : copy + loop) + "ret;\n}\n"))
            << m.error;
        std::vector<std::uint32_t> matrix(16 * 20), given(32);
        for (std::uint32_t i = 0; i < matrix.size(); ++i) matrix[i] = 1000 + i;
        for (std::uint32_t i = 0; i < given.size(); ++i) given[i] = 5000 + i;
        Request r;
        r.type = Request::Type::u32;
        r.swizzle = Request::Swizzle::bytes32;
        r.address = m.input("x", matrix, store ? BufferKind::inout : BufferKind::input);
        r.dims = {16, 20};
        r.strides = {64};
        r.box = {8, 1};
        const std::uint64_t data = store ? m.input("y", given) : m.output<std::uint32_t>("y", 32);
        const auto map = encode_tensor_map(r);
        Launch request;
        request.kernel = "k";
        const TensorMap& bytes = std::get<TensorMap>(map);
        request.arguments = m.pack("k", {{bytes.begin(), bytes.end()}, Machine::bytes_of(data)});
        const Outcome o = run(*m.module, m.memory, request, m.options);
        EXPECT_TRUE(o.clean()) << describe(o);
        std::vector<std::uint32_t> expected = store ? matrix : std::vector<std::uint32_t>(32, 0);
        const std::uint32_t rows[] = {2, 7, 30, 0};  // 30: outside
        for (std::uint32_t i = 0; i < 4; ++i)
            for (std::uint32_t c = 0; c < 8 && rows[i] < 20; ++c) {
                const std::uint32_t at = swizzled(32 * i + 4 * c, r.swizzle) / 4;
                const std::uint32_t cell = rows[i] * 16 + 4 + c;
                if (store)
                    expected[cell] = given[at];
                else
                    expected[at] = matrix[cell];
            }
        EXPECT_EQ(m.read<std::uint32_t>(store ? r.address : data, expected.size()), expected);
    }
}

TEST(TensorMap, RulesOfIm2col) {
    const auto good = [] {
        Request r;
        r.type = Request::Type::f16;
        r.address = 0x1000;
        r.dims = {64, 9, 14, 3};
        r.strides = {128, 1152, 16128};
        r.im2col = Request::Im2col{{-1, -1}, {-1, -1}, 64, 128};
        return r;
    };
    EXPECT_TRUE(std::holds_alternative<TensorMap>(encode_tensor_map(good())));
    struct Wrong {
        const char* rule;
        void (*change)(Request&);
    };
    const Wrong wrong[] = {
        {"corners", [](Request& r) { r.im2col->lower = {0}; }},
        {"corners", [](Request& r) { r.im2col->lower[0] = -129; }},
        {"corners", [](Request& r) { r.im2col->upper[1] = 128; }},
        {"corners", [](Request& r) { r.im2col->upper[0] = -10; }},
        {"channels", [](Request& r) { r.im2col->channels = 257; }},
        {"pixels", [](Request& r) { r.im2col->pixels = 1025; }},
        {"box", [](Request& r) { r.im2col->channels = 12; }},
        {"swizzle", [](Request& r) { r.swizzle = Request::Swizzle::bytes64; }},
        {"rank",
         [](Request& r) {
             r.dims.resize(2);
             r.strides.resize(1);
         }},
    };
    for (const Wrong& w : wrong) {
        Request r = good();
        w.change(r);
        const auto map = encode_tensor_map(r);
        const auto* error = std::get_if<TensorMapError>(&map);
        ASSERT_NE(error, nullptr) << w.rule;
        EXPECT_EQ(error->rule, w.rule) << error->message;
    }
}

TEST(Clusters, RefusalsNameTheRule) {
    const std::string head = ".version 8.6\n.target sm_90\n.address_size 64\n";
    const auto refused = [&](const std::string& directives, Dim3 grid, std::optional<Dim3> cluster,
                             std::uint32_t limit) -> std::string {
        Machine m;
        EXPECT_TRUE(m.load_ptx(head + ".visible .entry k()\n" + directives + "\n{ ret; }\n")) << m.error;
        Launch launch;
        launch.kernel = "k";
        launch.grid = grid;
        launch.block = {32, 1, 1};
        launch.cluster = cluster;
        m.options.limits.max_cluster_blocks = limit;
        const Outcome o = run(*m.module, m.memory, launch, m.options);
        return o.refused ? o.refused->rule : "";
    };
    const std::string rule = "illegal-cluster";
    EXPECT_EQ(refused("", {4, 1, 1}, Dim3{2, 1, 1}, 8), "");
    EXPECT_EQ(refused("", {4, 1, 1}, Dim3{2, 1, 1}, 1), rule);  // a device without clusters
    EXPECT_EQ(refused("", {32, 1, 1}, Dim3{16, 1, 1}, 8), rule);
    EXPECT_EQ(refused("", {5, 1, 1}, Dim3{2, 1, 1}, 8), rule);
    EXPECT_EQ(refused("", {4, 1, 1}, Dim3{0, 1, 1}, 8), rule);
    EXPECT_EQ(refused(".reqnctapercluster 2, 1, 1", {4, 1, 1}, std::nullopt, 8), "");
    EXPECT_EQ(refused(".reqnctapercluster 2, 1, 1", {4, 1, 1}, Dim3{4, 1, 1}, 8), rule);
    EXPECT_EQ(refused(".reqnctapercluster 2, 1, 1", {5, 1, 1}, std::nullopt, 8), rule);
    EXPECT_EQ(refused(".explicitcluster", {4, 1, 1}, std::nullopt, 8), rule);
    EXPECT_EQ(refused(".explicitcluster\n.maxclusterrank 2", {4, 1, 1}, Dim3{4, 1, 1}, 8), rule);
}

// Blocks of a cluster run whole when some of them are asked for.
TEST(Clusters, SampledBlocksBringTheirCluster) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y)
{
.reg .b64 %d, %o;
.reg .b32 %b, %n, %r;
ld.param.u64 %d, [y];
mov.u32 %b, %ctaid.x;
mov.u32 %r, %ctaid.y;
mov.u32 %n, %nctaid.x;
mad.lo.u32 %b, %r, %n, %b;
mul.wide.u32 %o, %b, 4;
add.u64 %d, %d, %o;
mov.u32 %r, %cluster_ctarank;
barrier.cluster.arrive;
barrier.cluster.wait;
st.global.u32 [%d], %r;
ret;
}
)")) << m.error;
    const std::uint64_t y = m.output<std::int32_t>("y", 16);
    Launch launch;
    launch.kernel = "k";
    launch.grid = {4, 4, 1};
    launch.block = {1, 1, 1};
    launch.cluster = Dim3{2, 2, 1};
    launch.arguments = m.pack("k", {Machine::bytes_of(y)});
    m.options.limits.max_cluster_blocks = 8;
    m.options.blocks = {7};
    const Outcome o = run(*m.module, m.memory, launch, m.options);
    EXPECT_TRUE(o.clean()) << describe(o);
    EXPECT_EQ(o.counters.blocks_launched, 4u);
    const auto written = m.memory.initialised(y);
    for (int block = 0; block < 16; ++block)
        EXPECT_EQ(written[static_cast<std::size_t>(4 * block)],
                  block == 2 || block == 3 || block == 6 || block == 7)
            << block;
    EXPECT_EQ(m.read<std::int32_t>(y, 16)[7], 3);
    EXPECT_EQ(m.read<std::int32_t>(y, 16)[6], 2);
}

// A map that a kernel makes field by field, and a copy through it.
TEST(TensorMap, ReplacedFieldByField) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(R"(.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 smem[1024];
.shared .align 128 .b8 local[128];
.shared .align 8 .b8 bar[8];
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 map)
{
.reg .b64 %x, %y, %m, %z;
.reg .b32 %v, %i;
.reg .pred %p;
ld.param.u64 %x, [x];
ld.param.u64 %y, [y];
ld.param.u64 %m, [map];
mov.u32 %i, 0;
Z: mov.u32 %v, local;
add.u32 %v, %v, %i;
st.shared.b32 [%v], 0;
add.u32 %i, %i, 4;
setp.lt.u32 %p, %i, 128;
@%p bra Z;
tensormap.replace.tile.global_address.shared::cta.b1024.b64 [local], %x;
tensormap.replace.tile.rank.shared::cta.b1024.b32 [local], 1;
tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [local], 2;
tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [local], 0;
tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [local], 0;
tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [local], 0;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [local], 0, 8;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [local], 1, 4;
mov.b64 %z, 32;
tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [local], 0, %z;
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [local], 0, 4;
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [local], 1, 2;
tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [local], 0, 1;
tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [local], 1, 1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%m], [local], 128;
fence.proxy.tensormap::generic.acquire.gpu [%m], 128;
mbarrier.init.shared::cta.b64 [bar], 1;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32;
cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [smem], [%m, {2, 1}], [bar];
W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
@!%p bra W;
ld.shared.b32 %v, [smem];
st.global.b32 [%y], %v;
ld.shared.b32 %v, [smem+28];
st.global.b32 [%y+4], %v;
ret;
}
)")) << m.error;
    std::vector<std::int32_t> content(32);
    for (int i = 0; i < 32; ++i) content[static_cast<std::size_t>(i)] = i;
    const std::uint64_t x = m.input("x", content), y = m.output<std::int32_t>("y", 2);
    const std::uint64_t map = m.output<std::uint8_t>("map", 128, BufferKind::scratch);
    const Outcome o = m.run("k", {1, 1, 1}, {1, 1, 1}, 0, x, y, map);
    EXPECT_TRUE(o.clean()) << describe(o);
    EXPECT_EQ(m.read<std::int32_t>(y, 2), (std::vector<std::int32_t>{10, 21}));
}

// The last asynchronous copy may land as late as the wait: until then its destination is undefined, whichever
// way the copies are told to land.
TEST(Asynchronous, LateAndEagerDifferOnlyWhereNothingWaits) {
    const std::string ptx = R"(.version 8.6
.target sm_90
.address_size 64
.shared .align 128 .b8 smem[64];
.shared .align 8 .b8 bar[8];
.visible .entry k(.param .u64 x, .param .u64 y)
{
.reg .b64 %x, %y;
.reg .b32 %v;
ld.param.u64 %x, [x];
ld.param.u64 %y, [y];
mbarrier.init.shared::cta.b64 [bar], 1;
fence.proxy.async;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [smem], [%x], 64, [bar];
ld.shared.b32 %v, [smem+4];
st.global.b32 [%y], %v;
ret;
}
)";
    const std::vector<std::int32_t> content(16, 7);
    std::vector<std::int32_t> seen;
    for (const auto mode : {Options::Async::late, Options::Async::eager}) {
        Machine m;
        ASSERT_TRUE(m.load_ptx(ptx)) << m.error;
        m.options.asynchronous = mode;
        const std::uint64_t x = m.input("x", content), y = m.output<std::int32_t>("y", 1);
        const Outcome o = m.run("k", {1, 1, 1}, {1, 1, 1}, 0, x, y);
        ASSERT_FALSE(o.faults.empty());
        EXPECT_EQ(o.faults[0].rule, "shared-race") << describe(o);
        EXPECT_EQ(o.faults[0].place.ptx_line, 16);
        ASSERT_TRUE(o.faults[0].other);
        EXPECT_EQ(o.faults[0].other->place.ptx_line, 15);
        seen.push_back(m.read<std::int32_t>(y, 1)[0]);
    }
    EXPECT_NE(seen[0], 7);
    EXPECT_EQ(seen[1], 7);
}

}  // namespace
}  // namespace emulator::test

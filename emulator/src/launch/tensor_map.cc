// Rules: CUDA Driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, with
// CU_TENSOR_MAP_INTERLEAVE_NONE.
#include "emulator/src/launch/tensor_map.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

namespace emulator {

namespace {

constexpr std::uint32_t kMagic = 0x50414d54;  // "TMAP"
constexpr std::size_t kMaxRank = 5;

// The object's bytes.
struct Layout {
    std::uint32_t magic = kMagic;
    std::uint8_t rank = 0, type = 0, swizzle = 0, fill = 0;
    std::uint64_t address = 0;
    std::uint64_t dims[kMaxRank] = {};
    std::uint64_t strides[kMaxRank - 1] = {};
    std::uint16_t box[kMaxRank] = {};
    std::uint8_t element_strides[kMaxRank] = {};
    std::uint8_t im2col = 0;
    std::int16_t lower[kMaxRank - 2] = {}, upper[kMaxRank - 2] = {};
    std::uint16_t channels = 0, pixels = 0;
};
static_assert(sizeof(Layout) <= sizeof(TensorMap));

Layout layout_of(const TensorMapRequest& r) {
    Layout l;
    l.rank = static_cast<std::uint8_t>(r.dims.size());
    l.type = static_cast<std::uint8_t>(r.type);
    l.swizzle = static_cast<std::uint8_t>(r.swizzle);
    l.fill = static_cast<std::uint8_t>(r.fill);
    l.address = r.address;
    for (std::size_t i = 0; i < kMaxRank; ++i) {
        l.dims[i] = i < r.dims.size() ? r.dims[i] : 0;
        l.box[i] = static_cast<std::uint16_t>(i < r.box.size() ? r.box[i] : 0);
        l.element_strides[i] =
            static_cast<std::uint8_t>(i < r.element_strides.size() ? r.element_strides[i] : 1);
        if (i + 1 < kMaxRank) l.strides[i] = i < r.strides.size() ? r.strides[i] : 0;
    }
    if (r.im2col) {
        l.im2col = 1;
        for (std::size_t i = 0; i < r.im2col->lower.size(); ++i) {
            l.lower[i] = static_cast<std::int16_t>(r.im2col->lower[i]);
            l.upper[i] = static_cast<std::int16_t>(r.im2col->upper[i]);
        }
        l.channels = static_cast<std::uint16_t>(r.im2col->channels);
        l.pixels = static_cast<std::uint16_t>(r.im2col->pixels);
    }
    return l;
}
TensorMap bytes_of(const Layout& l) {
    TensorMap map{};
    std::memcpy(map.data(), &l, sizeof l);
    return map;
}

}  // namespace

std::uint32_t element_bytes(TensorMapRequest::Type type) {
    using enum TensorMapRequest::Type;
    switch (type) {
        case u8:
            return 1;
        case u16:
        case f16:
        case bf16:
            return 2;
        case u64:
        case s64:
        case f64:
            return 8;
        default:
            return 4;
    }
}

std::variant<TensorMap, TensorMapError> encode_tensor_map(const TensorMapRequest& request) {
    if (auto error = exec::check_tensor_map(request)) return std::move(*error);
    return bytes_of(layout_of(request));
}

namespace exec {

static std::optional<TensorMapError> check_im2col(const TensorMapRequest& r) {
    const TensorMapRequest::Im2col& m = *r.im2col;
    const std::size_t rank = r.dims.size();
    if (rank < 3)
        return TensorMapError{"rank", fmt::format("im2col takes 3 to {} dimensions, not {}", kMaxRank, rank)};
    if (m.lower.size() != rank - 2 || m.upper.size() != rank - 2)
        return TensorMapError{
            "corners", fmt::format("the corners have {} and {} coordinates: with {} dimensions they have {}",
                                   m.lower.size(), m.upper.size(), rank, rank - 2)};
    const std::int32_t limit = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
    for (std::size_t i = 0; i < rank - 2; ++i) {
        if (m.lower[i] < -limit || m.lower[i] >= limit || m.upper[i] < -limit || m.upper[i] >= limit)
            return TensorMapError{
                "corners", fmt::format("the corners have {} and {} in dimension {}: {} to {} are possible",
                                       m.lower[i], m.upper[i], i + 1, -limit, limit - 1)};
        if (static_cast<std::int64_t>(r.dims[i + 1]) + m.upper[i] <= m.lower[i])
            return TensorMapError{"corners",
                                  fmt::format("between the corners lies nothing of dimension {}", i + 1)};
    }
    if (m.channels == 0 || m.channels > 256)
        return TensorMapError{"channels", fmt::format("{} channels: 1 to 256 are possible", m.channels)};
    if (m.pixels == 0 || m.pixels > 1024)
        return TensorMapError{"pixels", fmt::format("{} pixels: 1 to 1024 are possible", m.pixels)};
    return std::nullopt;
}

std::optional<TensorMapError> check_tensor_map(const TensorMapRequest& r) {
    const auto no = [](const char* rule, std::string message) {
        return TensorMapError{rule, std::move(message)};
    };
    const std::size_t rank = r.dims.size();
    const std::uint32_t element = element_bytes(r.type);
    if (rank < 1 || rank > kMaxRank)
        return no("rank", fmt::format("a tensor map has 1 to {} dimensions, not {}", kMaxRank, rank));
    if (r.address % 16 != 0)
        return no("address", fmt::format("the tensor's address {:#x} is not a multiple of 16", r.address));
    for (std::size_t i = 0; i < rank; ++i)
        if (r.dims[i] == 0 || r.dims[i] > (std::uint64_t{1} << 32))
            return no("dims",
                      fmt::format("dimension {} has {} elements: 1 to 2^32 are possible", i, r.dims[i]));
    if (r.strides.size() != rank - 1)
        return no("strides", fmt::format("{} strides for {} dimensions: one fewer is needed, the innermost "
                                         "dimension's is the element",
                                         r.strides.size(), rank));
    for (std::size_t i = 0; i + 1 < rank; ++i)
        if (r.strides[i] % 16 != 0 || r.strides[i] >= (std::uint64_t{1} << 40))
            return no("strides", fmt::format("the stride of dimension {} is {} bytes: a multiple of 16 below "
                                             "2^40 is needed",
                                             i + 1, r.strides[i]));
    if (r.im2col) {
        if (auto error = check_im2col(r)) return error;
    } else {
        if (r.box.size() != rank)
            return no("box", fmt::format("the box has {} dimensions, the tensor {}", r.box.size(), rank));
        for (std::size_t i = 0; i < rank; ++i)
            if (r.box[i] == 0 || r.box[i] > 256)
                return no("box", fmt::format("dimension {} of the box has {} elements: 1 to 256 are possible",
                                             i, r.box[i]));
    }
    const std::uint32_t inner = (r.im2col ? r.im2col->channels : r.box[0]) * element;
    if (inner % 16 != 0)
        return no("box", fmt::format("a row of the box has {} bytes: a multiple of 16 is needed", inner));
    if (!r.element_strides.empty() && r.element_strides.size() != rank)
        return no("element-strides",
                  fmt::format("{} element strides for {} dimensions", r.element_strides.size(), rank));
    for (std::size_t i = 0; i < r.element_strides.size(); ++i)
        if (r.element_strides[i] == 0 || r.element_strides[i] > 8)
            return no("element-strides", fmt::format("the element stride {} of dimension {}: 1 to 8 are "
                                                     "possible",
                                                     r.element_strides[i], i));
    const std::uint32_t span = 16u << static_cast<std::uint32_t>(r.swizzle);
    if (r.swizzle != TensorMapRequest::Swizzle::none && inner > span)
        return no("swizzle", fmt::format("a row of the box has {} bytes: more than the {} that its swizzle "
                                         "mixes",
                                         inner, span));
    using enum TensorMapRequest::Type;
    const bool floating = r.type == f16 || r.type == f32 || r.type == f64 || r.type == bf16;
    if (r.fill == TensorMapRequest::Fill::nan && !floating)
        return no("fill", "only a floating type can be filled with NaN outside the tensor");
    return std::nullopt;
}

std::optional<TensorMapRequest> decode_tensor_map(const TensorMap& map) {
    Layout l;
    std::memcpy(&l, map.data(), sizeof l);
    if (l.magic != kMagic || l.rank < 1 || l.rank > kMaxRank || l.type > 9 || l.swizzle > 3 || l.fill > 1)
        return std::nullopt;
    TensorMapRequest r;
    r.type = static_cast<TensorMapRequest::Type>(l.type);
    r.swizzle = static_cast<TensorMapRequest::Swizzle>(l.swizzle);
    r.fill = static_cast<TensorMapRequest::Fill>(l.fill);
    r.address = l.address;
    r.dims.assign(l.dims, l.dims + l.rank);
    r.strides.assign(l.strides, l.strides + l.rank - 1);
    r.box.assign(l.box, l.box + l.rank);
    r.element_strides.assign(l.element_strides, l.element_strides + l.rank);
    if (l.im2col != 0 && l.rank >= 3) {
        TensorMapRequest::Im2col m;
        m.lower.assign(l.lower, l.lower + l.rank - 2);
        m.upper.assign(l.upper, l.upper + l.rank - 2);
        m.channels = l.channels;
        m.pixels = l.pixels;
        r.im2col = std::move(m);
    }
    return r;
}

bool replace_in_tensor_map(TensorMap& map, TensorMapField field, std::uint32_t ordinal, std::uint64_t value) {
    Layout l;
    std::memcpy(&l, map.data(), sizeof l);
    if (l.magic != kMagic) {
        l = Layout{};
        l.rank = 1;
        for (std::uint8_t& stride : l.element_strides) stride = 1;
    }
    switch (field) {
        case TensorMapField::global_address:
            l.address = value;
            break;
        case TensorMapField::rank:  // PTX counts from zero here
            if (value >= kMaxRank) return false;
            l.rank = static_cast<std::uint8_t>(value + 1);
            break;
        case TensorMapField::box_dim:
            if (value > 0xffff) return false;
            l.box[ordinal] = static_cast<std::uint16_t>(value);
            break;
        case TensorMapField::global_dim:
            l.dims[ordinal] = value;
            break;
        case TensorMapField::global_stride:
            if (ordinal + 1 >= kMaxRank) return false;
            l.strides[ordinal] = value;
            break;
        case TensorMapField::element_stride:
            if (value > 0xff) return false;
            l.element_strides[ordinal] = static_cast<std::uint8_t>(value);
            break;
        case TensorMapField::elemtype: {  // .f32.ftz, .tf32 and .tf32.ftz change values on their way
            using enum TensorMapRequest::Type;
            constexpr int kNone = -1;
            static constexpr int types[] = {static_cast<int>(u8),
                                            static_cast<int>(u16),
                                            static_cast<int>(u32),
                                            static_cast<int>(s32),
                                            static_cast<int>(u64),
                                            static_cast<int>(s64),
                                            static_cast<int>(f16),
                                            static_cast<int>(f32),
                                            kNone,
                                            static_cast<int>(f64),
                                            static_cast<int>(bf16),
                                            kNone,
                                            kNone};
            if (value >= std::size(types) || types[value] == kNone) return false;
            l.type = static_cast<std::uint8_t>(types[value]);
            break;
        }
        case TensorMapField::interleave_layout:
            if (value != 0) return false;
            break;
        case TensorMapField::swizzle_mode:
            if (value > 3) return false;
            l.swizzle = static_cast<std::uint8_t>(value);
            break;
        case TensorMapField::fill_mode:
            if (value > 1) return false;
            l.fill = static_cast<std::uint8_t>(value);
            break;
    }
    map = bytes_of(l);
    return true;
}

}  // namespace exec
}  // namespace emulator

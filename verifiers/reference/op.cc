#include "verifiers/reference/op.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernelwright::reference {

std::vector<std::int64_t> Call::extents(const char* name, std::size_t rank) const {
    const Json& value = params.at(name);
    if (value.is_array()) return value.get<std::vector<std::int64_t>>();
    return std::vector<std::int64_t>(rank, value.get<std::int64_t>());
}

std::size_t Call::axis(std::size_t rank) const {
    const std::int64_t axis = integer("axis");
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

std::vector<std::size_t> Call::axes(std::size_t rank) const {
    std::vector<std::size_t> out;
    const auto add = [&](std::int64_t axis) {
        out.push_back(static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis));
    };
    if (!given("axis") || params.at("axis").is_string()) {
        for (std::size_t i = 0; i < rank; ++i) out.push_back(i);
    } else if (params.at("axis").is_array()) {
        for (const Json& entry : params.at("axis")) add(entry.get<std::int64_t>());
        std::sort(out.begin(), out.end());
    } else {
        add(integer("axis"));
    }
    return out;
}

bool Call::integral() const {
    return std::all_of(specs.begin(), specs.end(),
                       [](const auto& spec) { return !spec || !is_float(spec->dtype); });
}

Precision Call::precision(std::size_t result) const {
    DType widest = DType::i32;
    for (const auto& spec : specs) {
        if (!spec || !is_float(spec->dtype)) continue;
        if (!is_float(widest) || bits(spec->dtype) > bits(widest)) widest = spec->dtype;
    }
    return precision_for(widest, result < results.size() ? results[result] : widest);
}

Error shape_error(const Call& call, const std::string& what) {
    return Error{.message = fmt::format("op `{}`: {}", call.op, what)};
}

Param axis_param(bool required, const std::string& default_text) {
    return {.name = "axis", .kind = ParamKind::axis, .default_text = default_text, .required = required};
}
Param axes_param(bool required, const std::string& default_text) {
    return {.name = "axis", .kind = ParamKind::axes, .default_text = default_text, .required = required};
}
Param eps_param() { return {.name = "eps", .kind = ParamKind::real, .default_text = "1e-05"}; }

Builder::Builder(DType dtype, Shape shape, std::string bound) : rounder_(dtype) {
    expected_.dtype = dtype;
    const auto count = static_cast<std::size_t>(element_count(shape));
    expected_.shape = std::move(shape);
    expected_.value.resize(count);
    expected_.tolerance.resize(count);
    if (!rounder_.floating()) expected_.integer.resize(count);
    expected_.bound = std::move(bound);
}

namespace {

// Two's complement at the width of the type, as PyTorch's integer arithmetic wraps.
std::int64_t wrap(DType dtype, std::int64_t value) {
    const int width = bits(dtype);
    if (dtype == DType::boolean) return value != 0 ? 1 : 0;
    if (width == 64) return value;
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    const std::uint64_t low = static_cast<std::uint64_t>(value) & mask;
    if (dtype == DType::u8) return static_cast<std::int64_t>(low);
    const std::uint64_t sign = std::uint64_t{1} << (width - 1);
    return static_cast<std::int64_t>((low ^ sign) - sign);
}

}  // namespace

void Builder::set_integer(std::int64_t index, std::int64_t value) {
    const auto i = static_cast<std::size_t>(index);
    if (rounder_.floating()) {
        expected_.value[i] = static_cast<double>(value);
        return;
    }
    value = wrap(expected_.dtype, value);
    expected_.value[i] = static_cast<double>(value);
    expected_.integer[i] = value;
}

Expected Builder::take() {
    // Conversions to 8-bit floats saturate on a GPU (cvt has .satfinite only) but not in PyTorch (NaN, or
    // infinity for e5m2): beyond the largest value both are right.
    if (rounder_.floating() && bits(expected_.dtype) <= 8 && expected_.dtype != DType::e2m1) {
        const double largest = rounder_.largest();
        const double overflow = round_to(expected_.dtype, std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < expected_.value.size(); ++i) {
            const double value = expected_.value[i];
            if (std::isnan(value) || std::fabs(value) + expected_.tolerance[i] <= largest) continue;
            const double saturated = std::copysign(largest, value);
            const double other = std::copysign(overflow, value);
            expected_.alternatives.push_back({static_cast<std::int64_t>(i), {saturated, other}});
            if (std::fabs(value) > largest) expected_.value[i] = saturated;
        }
    }
    return std::move(expected_);
}

RowLayout row_layout(const Shape& shape, const std::vector<std::size_t>& axes) {
    RowLayout layout;
    const Shape strides = dense_strides(shape);
    const auto enumerate = [&](const std::vector<std::size_t>& dims) {
        std::vector<std::int64_t> offsets{0};
        for (const std::size_t d : dims) {
            std::vector<std::int64_t> next;
            next.reserve(offsets.size() * static_cast<std::size_t>(shape[d]));
            for (const std::int64_t offset : offsets) {
                for (std::int64_t i = 0; i < shape[d]; ++i) next.push_back(offset + i * strides[d]);
            }
            offsets = std::move(next);
        }
        return offsets;
    };
    std::vector<std::size_t> outer;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (std::find(axes.begin(), axes.end(), d) != axes.end()) continue;
        outer.push_back(d);
        layout.outer.push_back(shape[d]);
    }
    layout.rows = enumerate(outer);
    layout.elements = enumerate(axes);
    layout.contiguous = layout.elements.empty() || layout.elements.back() == layout.n() - 1;
    return layout;
}

Shape reduced_shape(const Shape& shape, const std::vector<std::size_t>& axes, bool keepdims) {
    Shape out;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
            out.push_back(shape[d]);
        } else if (keepdims) {
            out.push_back(1);
        }
    }
    return out;
}

Result<Shape> broadcast_shape(const Call& call, const Shape& a, const Shape& b) {
    Shape out(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) {
            return shape_error(
                call, fmt::format("the shapes {} and {} do not broadcast", to_string(a), to_string(b)));
        }
        out[out.size() - 1 - i] = x == 1 ? y : x;
    }
    return out;
}

std::vector<std::int64_t> broadcast_index(const Shape& from, const Shape& to) {
    const Shape strides = dense_strides(from);
    std::vector<std::int64_t> index{0};
    index.reserve(static_cast<std::size_t>(element_count(to)));
    for (std::size_t d = 0; d < to.size(); ++d) {
        const std::size_t missing = to.size() - from.size();
        const bool moves = d >= missing && from[d - missing] != 1;
        const std::int64_t stride = moves ? strides[d - missing] : 0;
        std::vector<std::int64_t> next;
        next.reserve(index.size() * static_cast<std::size_t>(to[d]));
        for (const std::int64_t base : index) {
            for (std::int64_t i = 0; i < to[d]; ++i) next.push_back(base + i * stride);
        }
        index = std::move(next);
    }
    return index;
}

}  // namespace kernelwright::reference

// Copies: transpose and concat.
#include <fmt/format.h>

#include "verifiers/reference/op.h"

namespace kernelwright::reference {
namespace {

void copy_element(Builder& y, std::int64_t to, const Array& x, std::int64_t from) {
    const auto i = static_cast<std::size_t>(from);
    if (x.integral()) {
        y.set_integer(to, x.integers[i]);
    } else {
        y.set(to, x.values[i], 0);
    }
}

// The permutation; without one, all dimensions are reversed.
Result<std::vector<std::size_t>> permutation(const Call& call) {
    const std::size_t rank = call.shape(0).size();
    std::vector<std::size_t> perm(rank);
    if (!call.given("perm")) {
        for (std::size_t i = 0; i < rank; ++i) perm[i] = rank - 1 - i;
        return perm;
    }
    const std::vector<std::int64_t> given = call.extents("perm", rank);
    std::vector<bool> seen(rank, false);
    const auto wrong = [&] {
        return shape_error(call, fmt::format("perm must name each of the {} axes once", rank));
    };
    if (given.size() != rank) return wrong();
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t axis = given[i] < 0 ? given[i] + static_cast<std::int64_t>(rank) : given[i];
        if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return wrong();
        perm[i] = static_cast<std::size_t>(axis);
        if (seen[perm[i]]) return wrong();
        seen[perm[i]] = true;
    }
    return perm;
}

Result<std::vector<Shape>> transpose_shape(const Call& call) {
    const auto perm = permutation(call);
    if (!perm) return perm.error();
    Shape out;
    for (const std::size_t axis : *perm) out.push_back(call.shape(0)[axis]);
    return std::vector<Shape>{out};
}

Result<std::vector<Expected>> transpose(const Call& call) {
    const Array& x = call.array(0);
    const auto perm = permutation(call);
    Shape shape, strides;
    const Shape x_strides = dense_strides(x.shape);
    for (const std::size_t axis : *perm) {
        shape.push_back(x.shape[axis]);
        strides.push_back(x_strides[axis]);
    }
    Builder y(call.results[0], shape, "exact: a copy");
    y.expected().signed_zero = true;
    std::vector<std::int64_t> position(shape.size(), 0);
    std::int64_t from = 0;
    for (std::int64_t i = 0; i < x.count(); ++i) {
        copy_element(y, i, x, from);
        for (std::size_t d = shape.size(); d-- > 0;) {
            from += strides[d];
            if (++position[d] < shape[d]) break;
            from -= strides[d] * shape[d];
            position[d] = 0;
        }
    }
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Shape>> concat_shape(const Call& call) {
    Shape out = call.shape(0);
    if (out.empty()) return shape_error(call, "scalars have no axis to be joined along");
    const std::size_t axis = call.axis(out.size());
    for (std::size_t i = 1; i < call.specs.size(); ++i) {
        Shape expected = call.shape(i);
        if (expected.size() == out.size()) expected[axis] = out[axis];
        if (expected != out) {
            return shape_error(call, fmt::format("the shapes {} and {} differ outside axis {}",
                                                 to_string(call.shape(0)), to_string(call.shape(i)), axis));
        }
        out[axis] += call.shape(i)[axis];
    }
    return std::vector<Shape>{out};
}

Result<std::vector<Expected>> concat(const Call& call) {
    const auto shapes = concat_shape(call);
    const Shape& shape = (*shapes)[0];
    const std::size_t axis = call.axis(shape.size());
    Builder y(call.results[0], shape, "exact: a copy");
    y.expected().signed_zero = true;
    std::int64_t inner = 1, outer = 1, offset = 0;
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
    for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    for (std::size_t i = 0; i < call.specs.size(); ++i) {
        const Array& x = call.array(i);
        const std::int64_t block = x.shape[axis] * inner;
        for (std::int64_t o = 0; o < outer; ++o) {
            for (std::int64_t k = 0; k < block; ++k) {
                copy_element(y, o * shape[axis] * inner + offset + k, x, o * block + k);
            }
        }
        offset += block;
    }
    return std::vector<Expected>{y.take()};
}

}  // namespace

std::vector<Op> movement_ops() {
    return {Op{.name = "transpose",
               .operands = {{"x"}},
               .results = {{"y", ResultKind::any}},
               .params = {{.name = "perm", .kind = ParamKind::extents}},
               .shapes = transpose_shape,
               .compute = transpose},
            Op{.name = "concat",
               .operands = {{"a"}},
               .results = {{"y", ResultKind::any}},
               .params = {axis_param(false, "0")},
               .shapes = concat_shape,
               .compute = concat,
               .variadic = true}};
}

}  // namespace kernelwright::reference

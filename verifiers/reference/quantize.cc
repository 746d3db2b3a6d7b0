// quantize and dequantize over blocks of the last axis.
//
// scale = max|x| / largest(dtype) may be off by a division's 2 ulp, and x / scale by as much again; q is then
// one of the two neighbours that x/scale (1 +- 8u) rounds to. Away from the midpoints between neighbours that
// is a single value. A scale stored in a short type may be used before or after that rounding.
#include <fmt/format.h>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

// 0 or absent: the whole last axis is one block.
std::int64_t block_size(const Call& call, std::int64_t width) {
    return call.given("block") && call.integer("block") > 0 ? call.integer("block")
                                                            : std::max<std::int64_t>(width, 1);
}

Result<std::vector<Shape>> quantize_shape(const Call& call) {
    const Shape& x = call.shape(0);
    if (x.empty()) return shape_error(call, "x must have an axis");
    const DType dtype = *parse_dtype(call.text("dtype"));
    if (!call.results.empty() && call.results[0] != dtype) {
        return shape_error(call, fmt::format("q is {}, but the parameter dtype says {}",
                                             to_string(call.results[0]), to_string(dtype)));
    }
    if (bits(dtype) > 16)
        return shape_error(call, fmt::format("{} is not a type to quantize to", to_string(dtype)));
    Shape scale = x;
    const std::int64_t block = block_size(call, x.back());
    scale.back() = (x.back() + block - 1) / block;
    return std::vector<Shape>{x, scale};
}

double saturate(const Rounder& q, double lowest, double x) {
    return q.round(std::min(std::max(x, lowest), q.largest()));
}

Result<std::vector<Expected>> quantize(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision(1);
    const auto shapes = quantize_shape(call);
    const DType dtype = call.results[0];
    const Rounder type(dtype), stored(call.results[1]);
    const double largest = largest_finite(dtype), lowest = lowest_finite(dtype);
    const std::int64_t width = x.shape.back(), block = block_size(call, width), blocks = (*shapes)[1].back();
    const std::int64_t rows = width == 0 ? 0 : x.count() / width;
    Builder q(dtype, x.shape, "exact, or either neighbour where x / scale lies within 8 u of their midpoint");
    Builder scale(call.results[1], (*shapes)[1], "division within 2 ulp");
    std::vector<std::vector<Expected::Alternatives>> unclear(static_cast<std::size_t>(rows));
    parallel_for(rows, static_cast<double>(width) * 40, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t cell = begin * blocks; cell < end * blocks; ++cell) {
            const std::int64_t row = cell / blocks, first = row * width + cell % blocks * block;
            const std::int64_t last = std::min(first + block, (row + 1) * width);
            double peak = 0;
            for (std::int64_t i = first; i < last; ++i) {
                const double size = std::fabs(x.values[static_cast<std::size_t>(i)]);
                if (std::isnan(size) || size > peak) peak = size;
            }
            const double s = peak == 0 ? 1 : peak / largest;
            scale.set(cell, s, peak == 0 ? 0 : division_relative(p) * s + p.half_subnormal);
            double slack = 8 * p.u;
            if (s != 1) slack += stored.half_ulp(s) / s;
            for (std::int64_t i = first; i < last; ++i) {
                const double ratio = x.values[static_cast<std::size_t>(i)] / s;
                const double value = saturate(type, lowest, ratio);
                if (type.floating()) {
                    q.set(i, value, 0);
                } else {
                    q.set_integer(i, std::isnan(value) ? 0 : static_cast<std::int64_t>(value));
                }
                const double low = saturate(type, lowest, ratio * (1 - slack));
                const double high = saturate(type, lowest, ratio * (1 + slack));
                if (low != high) unclear[static_cast<std::size_t>(row)].push_back({i, {low, high, value}});
            }
        }
    });
    Expected values = q.take();
    for (auto& row : unclear) {
        values.alternatives.insert(values.alternatives.end(), row.begin(), row.end());
    }
    return std::vector<Expected>{std::move(values), scale.take()};
}

Result<std::vector<Shape>> dequantize_shape(const Call& call) {
    const Shape& q = call.shape(0);
    if (q.empty()) return shape_error(call, "q must have an axis");
    Shape scale = q;
    const std::int64_t block = block_size(call, q.back());
    scale.back() = (q.back() + block - 1) / block;
    for (std::size_t operand = 1; operand < 3; ++operand) {
        if (!call.has(operand) || element_count(call.shape(operand)) == element_count(scale)) continue;
        return shape_error(call, fmt::format("{} {} must be {}", operand == 1 ? "scale" : "zero",
                                             to_string(call.shape(operand)), to_string(scale)));
    }
    return std::vector<Shape>{q};
}

Result<std::vector<Expected>> dequantize(const Call& call) {
    const Array &q = call.array(0), &scale = call.array(1);
    const Precision p = call.precision();
    const Rounder arithmetic(p.type);
    const std::int64_t width = q.shape.back(), block = block_size(call, width);
    const std::int64_t blocks = width == 0 ? 0 : (width + block - 1) / block;
    const bool stored_wide = call.results[0] == p.type;
    Builder y(call.results[0], q.shape, "rounding of q - zero (none for integers) and of the product");
    parallel_for(q.count(), 10, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto cell = static_cast<std::size_t>(i / width * blocks + i % width / block);
            const double zero = call.has(2) ? call.array(2).values[cell] : 0;
            const double difference = q.values[static_cast<std::size_t>(i)] - zero;
            const double value = difference * scale.values[cell];
            double error =
                std::fabs(arithmetic.round(difference) - difference) * std::fabs(scale.values[cell]);
            if (!stored_wide || error > 0) error += std::fabs(arithmetic.round(value) - value);
            y.set(i, value, std::isfinite(error) ? error : 0);
        }
    });
    return std::vector<Expected>{y.take()};
}

template <int flops>
double per_input(const Call& call, const std::vector<OutputSpec>&) {
    return flops * static_cast<double>(element_count(call.shape(0)));
}

}  // namespace

std::vector<Op> quantize_ops() {
    const Param block{.name = "block", .kind = ParamKind::integer, .default_text = "0", .minimum = 0};
    return {Op{.name = "quantize",
               .operands = {{"x"}},
               .results = {{"q", ResultKind::quantized}, {"scale", ResultKind::floating}},
               .params = {{.name = "dtype", .kind = ParamKind::dtype, .required = true}, block},
               .shapes = quantize_shape,
               .compute = quantize,
               .flops = per_input<3>},
            Op{.name = "dequantize",
               .operands = {{"q"}, {"scale"}, {"zero", true}},
               .results = {{"y", ResultKind::floating}},
               .params = {block},
               .shapes = dequantize_shape,
               .compute = dequantize,
               .flops = per_input<2>}};
}

}  // namespace kernelwright::reference

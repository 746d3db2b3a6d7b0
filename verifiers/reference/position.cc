// rope: rotary position embedding. The position is the first axis; pairs are (i, i + D/2), or neighbours when
// interleaved; the angle of pair i at position s is s base^(-2i/D).
//
// A kernel computes the frequency f and the angle in single precision. powf is within 9 ulp; exp2f or expf of
// a product with the logarithm of the base has the error of its argument, 4u |ln f| for two roundings and the
// log, and __expf another 2.35u |ln f|; the angle's product adds a rounding. So the angle is off by (7 |ln f|
// + 20) u of itself, and sine and cosine by 2^-20.5 (sin.approx within [-2 pi, 2 pi]; sinf is better
// everywhere). The bound grows with the position because the formula's conditioning does; not for the first
// pair, whose f is 1 in every form and whose angle is s itself: there sin.approx of a large angle shows.
#include <fmt/format.h>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

constexpr double sine_roundings = 12;

Result<std::vector<Shape>> rope_shape(const Call& call) {
    const Shape& x = call.shape(0);
    if (x.size() < 2) return shape_error(call, fmt::format("x must be [S, H, D], not {}", to_string(x)));
    if (x.back() % 2 != 0) return shape_error(call, fmt::format("the width {} must be even", x.back()));
    if (call.real("base") <= 0) return shape_error(call, "base must be positive");
    return std::vector<Shape>{x};
}

Result<std::vector<Expected>> rope(const Call& call) {
    const Array& x = call.array(0);
    const Precision p = call.precision();
    const double base = call.real("base");
    const bool interleaved = call.flag("interleaved");
    const std::int64_t width = x.shape.back(), half = width / 2, positions = x.shape[0];
    const std::int64_t heads = positions == 0 || width == 0 ? 0 : x.count() / positions / width;
    Builder y(call.results[0], x.shape,
              "angle within (7 |ln f| + 20) u of itself, sine and cosine 2^-20.5, two products and a sum");
    parallel_for(positions, static_cast<double>(heads * half) * 40,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t s = begin; s < end; ++s) {
                         for (std::int64_t i = 0; i < half; ++i) {
                             const double frequency =
                                 std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
                             const double angle = static_cast<double>(s) * frequency;
                             const double c = std::cos(angle), sn = std::sin(angle);
                             const double rounded =
                                 i == 0 ? 0 : (7 * std::fabs(std::log(frequency)) + 20) * p.u * angle;
                             const double off = s == 0 ? 0 : rounded + sine_roundings * p.u;
                             for (std::int64_t h = 0; h < heads; ++h) {
                                 const std::int64_t row = (s * heads + h) * width;
                                 const std::int64_t first = row + (interleaved ? 2 * i : i);
                                 const std::int64_t second = interleaved ? first + 1 : first + half;
                                 const double a = x.values[static_cast<std::size_t>(first)];
                                 const double b = x.values[static_cast<std::size_t>(second)];
                                 const double size = std::fabs(a) + std::fabs(b);
                                 const double error = s == 0 ? 0 : size * (off + 3 * p.u);
                                 y.set(first, a * c - b * sn, error);
                                 y.set(second, a * sn + b * c, error);
                             }
                         }
                     }
                 });
    return std::vector<Expected>{y.take()};
}

double flops(const Call& call, const std::vector<OutputSpec>&) {
    return 3 * static_cast<double>(element_count(call.shape(0)));
}

}  // namespace

std::vector<Op> position_ops() {
    return {Op{.name = "rope",
               .operands = {{"x"}},
               .results = {{"y", ResultKind::floating}},
               .params = {{.name = "base", .kind = ParamKind::real, .default_text = "10000"},
                          {.name = "interleaved", .kind = ParamKind::boolean, .default_text = "false"}},
               .shapes = rope_shape,
               .compute = rope,
               .flops = flops}};
}

}  // namespace kernelwright::reference

// maxpool2d and avgpool2d over NCHW. Padding is -infinity for the maximum and counts as zeros for the
// average, as PyTorch's defaults have it.
#include <fmt/format.h>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

struct Window {
    std::int64_t planes = 0, height = 0, width = 0, out_h = 0, out_w = 0;
    std::vector<std::int64_t> kernel, stride, padding;
    Shape out;
};

Result<Window> window(const Call& call) {
    Window w;
    const Shape& x = call.shape(0);
    if (x.size() < 3) return shape_error(call, fmt::format("x must be [N, C, H, W], not {}", to_string(x)));
    for (const char* name : {"kernel", "stride", "padding"}) {
        if (call.given(name) && call.params.at(name).is_array() && call.params.at(name).size() != 2) {
            return shape_error(call, fmt::format("`{}` must have 2 entries", name));
        }
    }
    w.kernel = call.extents("kernel", 2);
    w.stride = call.given("stride") ? call.extents("stride", 2) : w.kernel;
    w.padding = call.extents("padding", 2);
    w.height = x[x.size() - 2], w.width = x.back();
    w.planes = 1;
    for (std::size_t d = 0; d + 2 < x.size(); ++d) w.planes *= x[d];
    const std::int64_t in[2] = {w.height, w.width};
    std::int64_t out[2] = {0, 0};
    for (std::size_t d = 0; d < 2; ++d) {
        if (2 * w.padding[d] > w.kernel[d])
            return shape_error(call, "the padding must be at most half the kernel");
        const std::int64_t span = in[d] + 2 * w.padding[d] - w.kernel[d];
        if (span < 0)
            return shape_error(call,
                               fmt::format("a window of {} does not fit {} elements", w.kernel[d], in[d]));
        out[d] = span / w.stride[d] + 1;
    }
    w.out_h = out[0], w.out_w = out[1];
    w.out = x;
    w.out[x.size() - 2] = w.out_h;
    w.out.back() = w.out_w;
    return w;
}

Result<std::vector<Shape>> pool_shape(const Call& call) {
    const auto w = window(call);
    if (!w) return w.error();
    return std::vector<Shape>{w->out};
}

// Calls body(output element) with visit(element) called for each input element of the window.
template <class Body>
void each_window(const Window& w, const Body& body) {
    parallel_for(w.planes, static_cast<double>(w.out_h * w.out_w * w.kernel[0] * w.kernel[1]) * 4,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin * w.out_h * w.out_w; i < end * w.out_h * w.out_w; ++i) {
                         const std::int64_t plane = i / (w.out_h * w.out_w);
                         const std::int64_t top = i / w.out_w % w.out_h * w.stride[0] - w.padding[0];
                         const std::int64_t left = i % w.out_w * w.stride[1] - w.padding[1];
                         body(i, [&](const auto& visit) {
                             const std::int64_t bottom = std::min(top + w.kernel[0], w.height);
                             const std::int64_t right = std::min(left + w.kernel[1], w.width);
                             for (std::int64_t y = std::max<std::int64_t>(top, 0); y < bottom; ++y) {
                                 for (std::int64_t x = std::max<std::int64_t>(left, 0); x < right; ++x) {
                                     visit(static_cast<std::size_t>((plane * w.height + y) * w.width + x));
                                 }
                             }
                         });
                     }
                 });
}

Result<std::vector<Expected>> maxpool(const Call& call) {
    const auto w = window(call);
    const Array& x = call.array(0);
    Builder y(call.results[0], w->out, "exact: one of the inputs");
    each_window(*w, [&](std::int64_t i, const auto& visit_all) {
        if (x.integral()) {
            std::int64_t best = std::numeric_limits<std::int64_t>::min();
            visit_all([&](std::size_t at) { best = std::max(best, x.integers[at]); });
            y.set_integer(i, best);
            return;
        }
        double best = -std::numeric_limits<double>::infinity();
        visit_all([&](std::size_t at) {
            if (std::isnan(x.values[at]) || x.values[at] > best) best = x.values[at];
        });
        y.set(i, best, 0);
    });
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Expected>> avgpool(const Call& call) {
    const auto w = window(call);
    const Array& x = call.array(0);
    const Precision p = call.precision();
    const auto area = static_cast<double>(w->kernel[0] * w->kernel[1]);
    Builder y(call.results[0], w->out, "(n+1) u sum|x|/n for any order, plus a division within 2 ulp");
    each_window(*w, [&](std::int64_t i, const auto& visit_all) {
        SumFacts facts;
        visit_all([&](std::size_t at) { facts.add(x.values[at]); });
        const double value = facts.value / area;
        if (area == 1) return y.set(i, value, 0);
        const double error = p.gamma(static_cast<double>(facts.terms) + 1) * facts.magnitude / area;
        y.set(i, value, error + division_relative(p) * std::fabs(value));
    });
    return std::vector<Expected>{y.take()};
}

double pool_flops(const Call& call, const std::vector<OutputSpec>& outputs) {
    const auto w = window(call);
    return w ? static_cast<double>(element_count(outputs[0].shape) * w->kernel[0] * w->kernel[1]) : 0;
}

}  // namespace

std::vector<Op> pool_ops() {
    const auto row = [](const char* name, ComputeRule compute, ResultKind kind) {
        return Op{
            .name = name,
            .operands = {{"x"}},
            .results = {{"y", kind}},
            .params = {{.name = "kernel", .kind = ParamKind::extents, .required = true, .minimum = 1},
                       {.name = "stride",
                        .kind = ParamKind::extents,
                        .default_text = "kernel (as the window)",
                        .minimum = 1},
                       {.name = "padding", .kind = ParamKind::extents, .default_text = "0", .minimum = 0}},
            .shapes = pool_shape,
            .compute = compute,
            .flops = pool_flops};
    };
    return {row("maxpool2d", maxpool, ResultKind::same_domain),
            row("avgpool2d", avgpool, ResultKind::floating)};
}

}  // namespace kernelwright::reference

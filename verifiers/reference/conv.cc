// conv2d, depthwise_conv2d and conv1d_causal, each as a product of matrices: the weights of a group times the
// patches of x (im2col). The bound is that of a dot product with as many terms as a patch has elements; the
// zeros of the padding add nothing to it. Winograd and Fourier forms are not in the bound.
#include <fmt/format.h>

#include "verifiers/reference/op.h"
#include "verifiers/reference/products.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

// One description for the three ops; a 1-d convolution has height 1.
struct Plan {
    std::int64_t batch = 0, channels = 0, height = 1, width = 0;
    std::int64_t outputs = 0, groups = 1, kh = 1, kw = 1;
    std::int64_t stride_h = 1, stride_w = 1, pad_top = 0, pad_left = 0, dilation_h = 1, dilation_w = 1;
    std::int64_t out_h = 1, out_w = 0;
    Shape out;
    std::int64_t taps() const { return channels / groups * kh * kw; }
};

Result<std::int64_t> extent(const Call& call, std::int64_t in, std::int64_t padding, std::int64_t kernel,
                            std::int64_t stride, std::int64_t dilation) {
    const std::int64_t span = in + padding - dilation * (kernel - 1) - 1;
    if (span < 0 || kernel < 1) {
        return shape_error(
            call, fmt::format("a kernel of {} (dilation {}) does not fit {} elements with {} of padding",
                              kernel, dilation, in, padding));
    }
    return span / stride + 1;
}

Status two_at_most(const Call& call, const char* name, std::size_t rank) {
    const Json& value = call.params.at(name);
    if (!value.is_array() || value.size() == rank) return Done{};
    return shape_error(call, fmt::format("`{}` must have {} entr{}", name, rank, rank == 1 ? "y" : "ies"));
}

Result<Plan> finish(const Call& call, Plan p, std::int64_t pad_h, std::int64_t pad_w) {
    if (p.groups == 0 || p.channels % p.groups != 0 || p.outputs % p.groups != 0) {
        return shape_error(call, fmt::format("{} input and {} output channels do not divide into {} groups",
                                             p.channels, p.outputs, p.groups));
    }
    const auto h = extent(call, p.height, pad_h, p.kh, p.stride_h, p.dilation_h);
    if (!h) return h.error();
    const auto w = extent(call, p.width, pad_w, p.kw, p.stride_w, p.dilation_w);
    if (!w) return w.error();
    p.out_h = *h;
    p.out_w = *w;
    if (call.has(2) && element_count(call.shape(2)) != p.outputs) {
        return shape_error(call,
                           fmt::format("bias {} must have {} elements", to_string(call.shape(2)), p.outputs));
    }
    return p;
}

Result<Plan> plan(const Call& call) {
    const Shape &x = call.shape(0), &w = call.shape(1);
    const bool causal = call.op == "conv1d_causal", depthwise = call.op == "depthwise_conv2d";
    const std::size_t dims = causal ? 1 : 2;
    for (const char* name : {"stride", "padding", "dilation"}) {
        if (!call.given(name)) continue;
        if (const Status status = two_at_most(call, name, dims); !status) return status.error();
    }
    if (x.size() != dims + 2) {
        return shape_error(
            call, fmt::format("x must be {}, not {}", causal ? "[N, C, L]" : "[N, C, H, W]", to_string(x)));
    }
    Plan p;
    p.batch = x[0], p.channels = x[1], p.width = x.back();
    const auto stride = call.extents("stride", dims), dilation = call.extents("dilation", dims);
    p.groups = call.given("groups") ? call.integer("groups") : 1;
    if (causal) {
        // w [out, C/groups, K], or [C, K] for one filter per channel
        if (w.size() != 3 && w.size() != 2)
            return shape_error(call, "w must be [out, C/groups, K] or [C, K]");
        if (w.size() == 2) p.groups = p.channels;
        if (w.size() == 3 && !call.given("groups") && w[1] == 1) p.groups = p.channels;
        p.outputs = w[0], p.kw = w.back();
        p.stride_w = stride[0], p.dilation_w = dilation[0];
        p.pad_left = call.given("padding") ? call.extents("padding", 1)[0] : p.dilation_w * (p.kw - 1);
        if (w.size() == 3 && w[1] * p.groups != p.channels) {
            return shape_error(call,
                               fmt::format("x {} has {} channels; w {} with {} groups takes {}", to_string(x),
                                           p.channels, to_string(w), p.groups, w[1] * p.groups));
        }
        auto out = finish(call, p, 0, p.pad_left);
        if (out) out->out = {p.batch, p.outputs, out->out_w};
        return out;
    }
    const bool flat = depthwise && w.size() == 3;  // [C, kh, kw]
    if (w.size() != 4 && !flat) return shape_error(call, "w must be [out, C/groups, kh, kw]");
    p.height = x[2];
    p.outputs = w[0], p.kh = w[w.size() - 2], p.kw = w.back();
    if (depthwise) p.groups = p.channels;
    const std::int64_t per_group = flat ? 1 : w[1];
    if (per_group * p.groups != p.channels) {
        return shape_error(
            call, fmt::format("x {} has {} channels; w {} with {} groups takes {}", to_string(x), p.channels,
                              to_string(w), p.groups, per_group * p.groups));
    }
    const auto padding = call.extents("padding", 2);
    p.stride_h = stride[0], p.stride_w = stride[1];
    p.dilation_h = dilation[0], p.dilation_w = dilation[1];
    p.pad_top = padding[0], p.pad_left = padding[1];
    auto out = finish(call, p, 2 * padding[0], 2 * padding[1]);
    if (out) out->out = {p.batch, p.outputs, out->out_h, out->out_w};
    return out;
}

Result<std::vector<Shape>> conv_shape(const Call& call) {
    const auto p = plan(call);
    if (!p) return p.error();
    return std::vector<Shape>{p->out};
}

// The patches of one group for output rows [first, last): [taps, positions].
template <class T>
std::vector<T> patches(const Plan& p, const T* image, std::int64_t group, std::int64_t first,
                       std::int64_t last) {
    const std::int64_t per_group = p.channels / p.groups, positions = (last - first) * p.out_w;
    std::vector<T> out(static_cast<std::size_t>(p.taps() * positions), T{0});
    std::int64_t tap = 0;
    for (std::int64_t c = 0; c < per_group; ++c) {
        const T* plane = image + (group * per_group + c) * p.height * p.width;
        for (std::int64_t i = 0; i < p.kh; ++i) {
            for (std::int64_t j = 0; j < p.kw; ++j, ++tap) {
                T* row = out.data() + tap * positions;
                for (std::int64_t oy = first; oy < last; ++oy) {
                    const std::int64_t y = oy * p.stride_h - p.pad_top + i * p.dilation_h;
                    if (y < 0 || y >= p.height) continue;
                    for (std::int64_t ox = 0; ox < p.out_w; ++ox) {
                        const std::int64_t x = ox * p.stride_w - p.pad_left + j * p.dilation_w;
                        if (x >= 0 && x < p.width) row[(oy - first) * p.out_w + ox] = plane[y * p.width + x];
                    }
                }
            }
        }
    }
    return out;
}

Result<std::vector<Expected>> convolve(const Call& call) {
    const auto prepared = plan(call);
    const Plan& p = *prepared;
    const Array &x = call.array(0), &w = call.array(1);
    const Precision precision = call.precision();
    const ProductRounding rounding = product_rounding(precision, call.dtype(0), call.dtype(1));
    const bool integers = call.integral() && !is_float(call.results[0]);
    const bool stored_wide = call.results[0] == precision.type;
    const std::int64_t taps = p.taps(), per_group = p.outputs / p.groups;
    const std::int64_t pixels = p.out_h * p.out_w, terms = taps + (call.has(2) ? 1 : 0);
    // A strip of output rows at a time keeps the patches small.
    const std::int64_t strip =
        std::max<std::int64_t>(1, (std::int64_t{1} << 20) / std::max<std::int64_t>(1, taps * p.out_w));
    Builder y(call.results[0], p.out,
              "dot product of a patch in any order: (taps-1) u sum|x w| and a rounding per product (Higham "
              "sec. 3.1)");
    for (std::int64_t n = 0; n < p.batch; ++n) {
        const std::int64_t image = n * p.channels * p.height * p.width;
        for (std::int64_t g = 0; g < p.groups; ++g) {
            for (std::int64_t first = 0; first < p.out_h; first += strip) {
                const std::int64_t last = std::min(first + strip, p.out_h), count = (last - first) * p.out_w;
                const auto base = [&](std::int64_t o) {
                    return (n * p.outputs + g * per_group + o) * pixels + first * p.out_w;
                };
                if (integers) {
                    const auto columns = patches(p, x.integers.data() + image, g, first, last);
                    const auto product = multiply_integers(w.integers.data() + g * per_group * taps,
                                                           columns.data(), per_group, count, taps);
                    for (std::int64_t i = 0; i < per_group * count; ++i) {
                        const std::int64_t o = i / count;
                        const std::int64_t bias =
                            call.has(2) ? call.array(2).integers[static_cast<std::size_t>(g * per_group + o)]
                                        : 0;
                        y.set_integer(base(o) + i % count, product[static_cast<std::size_t>(i)] + bias);
                    }
                    continue;
                }
                const auto columns = patches(p, x.values.data() + image, g, first, last);
                const Product product =
                    multiply(w.values.data() + g * per_group * taps, columns.data(), per_group, count, taps);
                for (std::int64_t i = 0; i < per_group * count; ++i) {
                    const std::int64_t o = i / count;
                    const auto at = static_cast<std::size_t>(i);
                    double value = product.value[at], magnitude = product.magnitude[at];
                    int quantum = product.quantum(o, i % count);
                    if (call.has(2)) {
                        const double bias = call.array(2).values[static_cast<std::size_t>(g * per_group + o)];
                        value += bias;
                        magnitude += std::fabs(bias);
                        quantum = std::min(quantum, quantum_exponent(bias));
                    }
                    y.set(base(o) + i % count, value,
                          sum_error(precision, magnitude, quantum, terms, rounding.extra, stored_wide,
                                    rounding.per_addition));
                }
            }
        }
    }
    return std::vector<Expected>{y.take()};
}

double conv_flops(const Call& call, const std::vector<OutputSpec>& outputs) {
    const auto p = plan(call);
    return p ? 2.0 * static_cast<double>(element_count(outputs[0].shape)) * static_cast<double>(p->taps())
             : 0;
}

}  // namespace

std::vector<Op> conv_ops() {
    const auto extents = [](const char* name, const char* absent, std::int64_t minimum) {
        return Param{.name = name, .kind = ParamKind::extents, .default_text = absent, .minimum = minimum};
    };
    const auto row = [&](const char* name, const char* padding, const char* groups, bool matrix) {
        return Op{
            .name = name,
            .operands = {{"x"}, {"w"}, {"bias", true}},
            .results = {{"y"}},
            .params = {extents("stride", "1", 1),
                       extents("padding", padding, 0),
                       extents("dilation", "1", 1),
                       {.name = "groups", .kind = ParamKind::integer, .default_text = groups, .minimum = 1}},
            .shapes = conv_shape,
            .compute = convolve,
            .flops = conv_flops,
            .matrix = matrix};
    };
    return {row("conv2d", "0", "1", true), row("depthwise_conv2d", "0", "channels(x)", false),
            row("conv1d_causal", "dilation (K - 1)", "1", false)};
}

}  // namespace kernelwright::reference

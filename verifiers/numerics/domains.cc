#include "verifiers/numerics/domains.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

// Extent along the params' axis (or all reduced axes) of the first input.
std::int64_t reduced_extent(const Task& task, const Shape& x) {
    const auto rank = static_cast<std::int64_t>(x.size());
    const auto extent = [&](std::int64_t axis) {
        if (axis < 0) axis += rank;
        return axis >= 0 && axis < rank ? x[static_cast<std::size_t>(axis)] : std::int64_t{1};
    };
    if (!task.params.is_object() || !task.params.contains("axis")) {
        const bool all = task.op == "sum" || task.op == "mean" || task.op == "prod" || task.op == "logsumexp";
        return all ? element_count(x) : extent(-1);
    }
    const Json& axis = task.params["axis"];
    if (axis.is_number_integer()) return extent(axis.get<std::int64_t>());
    if (!axis.is_array()) return element_count(x);
    std::int64_t n = 1;
    for (const Json& entry : axis) {
        if (entry.is_number_integer()) n *= extent(entry.get<std::int64_t>());
    }
    return n;
}

std::int64_t last(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

double param(const Task& task, const char* name, double absent) {
    if (!task.params.is_object() || !task.params.contains(name) || !task.params[name].is_number())
        return absent;
    return task.params[name].get<double>();
}

std::int64_t terms_of(const Task& task, const std::vector<Shape>& shapes) {
    const std::string& op = task.op;
    if (shapes.empty()) return 1;
    const Shape& x = shapes[0];
    const auto at = [&](std::size_t input, std::size_t from_end) {
        const Shape& s = shapes[input];
        return from_end <= s.size() ? s[s.size() - from_end] : std::int64_t{1};
    };
    if (op == "sum" || op == "mean" || op == "cumsum" || op == "prod" || op == "logsumexp" ||
        op == "softmax" || op == "log_softmax" || op == "cross_entropy" || op == "layernorm" ||
        op == "rmsnorm" || op == "add_rmsnorm") {
        return reduced_extent(task, x);
    }
    if (op == "groupnorm") {
        const auto groups = std::max<std::int64_t>(1, static_cast<std::int64_t>(param(task, "groups", 1)));
        return x.empty() || x[0] == 0 ? 1 : element_count(x) / x[0] / groups;
    }
    if (op == "matmul") {
        const bool turned = task.params.is_object() && task.params.value("transpose_a", false);
        return x.size() < 2 || !turned ? last(x) : at(0, 2);
    }
    if (op == "linear" || op == "matmul_scaled") return last(x) + 1;
    if (op == "conv2d" || op == "depthwise_conv2d" || op == "conv1d_causal") {
        if (shapes.size() < 2 || shapes[1].empty() || shapes[1][0] == 0) return 1;
        return element_count(shapes[1]) / shapes[1][0] + 1;
    }
    if (op == "avgpool2d") return element_count(x);
    if (op == "scatter_add") return shapes.size() > 2 ? element_count(shapes[2]) + 1 : 1;
    if (op == "attention" || op == "attention_decode")
        return shapes.size() > 1 ? element_count(shapes[1]) : 1;
    if (op == "kmeans_assign" || op == "gated_delta_rule" || op == "rope") return last(x);
    return 2;
}

}  // namespace

OpClass op_class(const std::string& op) {
    static const std::map<std::string, OpClass> classes = [] {
        std::map<std::string, OpClass> out;
        for (const char* name : {"relu", "abs", "neg", "maximum", "minimum", "max", "min", "argmax", "argmin",
                                 "topk", "sort", "transpose", "concat", "gather", "embedding", "maxpool2d"}) {
            out[name] = OpClass::copy;
        }
        for (const char* name : {"add", "sub", "axpy", "sum", "cumsum", "scatter_add"})
            out[name] = OpClass::linear;
        for (const char* name : {"mul", "square", "matmul", "linear", "conv2d", "depthwise_conv2d",
                                 "conv1d_causal", "matmul_scaled", "dequantize"}) {
            out[name] = OpClass::product;
        }
        for (const char* name : {"sigmoid", "silu", "tanh", "gelu", "swiglu", "rsqrt", "div", "mean",
                                 "avgpool2d", "rope", "exp"}) {
            out[name] = OpClass::smooth;
        }
        for (const char* name :
             {"softmax", "log_softmax", "logsumexp", "cross_entropy", "attention", "attention_decode"}) {
            out[name] = OpClass::exponential;
        }
        for (const char* name : {"layernorm", "rmsnorm", "add_rmsnorm", "groupnorm", "kmeans_assign"}) {
            out[name] = OpClass::normaliser;
        }
        out["histogram"] = OpClass::index_only;
        return out;
    }();
    const auto it = classes.find(op);
    return it == classes.end() ? OpClass::other : it->second;
}

int seeks(const std::string& op) {
    if (op == "min" || op == "argmin") return -1;
    if (op == "sort") return 2;
    for (const char* name : {"max", "argmax", "topk", "maxpool2d"}) {
        if (op == name) return 1;
    }
    return op_class(op) == OpClass::exponential ? 1 : 0;
}

std::string operand_of(const Task& task, std::size_t input) {
    if (input >= task.inputs.size()) return {};
    if (!task.inputs[input].operand.empty()) return task.inputs[input].operand;
    std::vector<std::string> names = operand_names(task.op);
    for (std::string& name : names) {
        if (!name.empty() && name.back() == '?') name.pop_back();
    }
    // the named ones are taken; the others follow in order
    std::vector<std::string> open;
    for (const std::string& name : names) {
        const bool taken = std::any_of(task.inputs.begin(), task.inputs.end(),
                                       [&](const TensorSpec& spec) { return spec.operand == name; });
        if (!taken) open.push_back(name);
    }
    std::size_t place = 0;
    for (std::size_t i = 0; i < input; ++i) place += task.inputs[i].operand.empty() ? 1 : 0;
    return place < open.size() ? open[place] : std::string{};
}

std::vector<Domain> domains(const Task& task, const std::vector<Shape>& shapes) {
    const std::string& op = task.op;
    bool wide = false;
    double out_largest = 1e300;
    for (const TensorSpec& spec : task.inputs) wide = wide || spec.dtype == DType::f64;
    const bool integers = std::none_of(task.inputs.begin(), task.inputs.end(),
                                       [](const TensorSpec& spec) { return is_float(spec.dtype); });
    for (const TensorSpec& spec : task.outputs) {
        if (is_float(spec.dtype) || integers) out_largest = std::min(out_largest, largest_finite(spec.dtype));
    }
    const double accumulate = largest_finite(wide ? DType::f64 : DType::f32);
    const double room = std::min(accumulate, out_largest) / 4;
    const double significand = std::ldexp(1.0, wide ? 53 : 24);
    const std::int64_t terms = std::max<std::int64_t>(terms_of(task, shapes), 1);
    const auto n = static_cast<double>(terms);
    const OpClass kind = op_class(op);
    std::vector<Domain> out;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const DType dtype = task.inputs[i].dtype;
        const std::string operand = operand_of(task, i);
        Domain d;
        d.terms = terms;
        const double own = largest_finite(dtype);
        const double own_integers =
            is_float(dtype) ? std::ldexp(1.0, std::min(significand_bits(dtype), 24)) : own;
        const double budget = significand / n;
        switch (kind) {
            case OpClass::copy:
                d.limit = std::min(own, out_largest) * 0.99;
                break;
            case OpClass::linear:
                d.limit = room / n / (1 + std::fabs(param(task, "alpha", 1)));
                d.integer_limit = std::max(1.0, std::min(8.0, budget));
                d.wide_limit = std::min(own_integers, budget);
                break;
            case OpClass::product:
                d.limit = std::sqrt(room / n);
                if (op == "mul" || op == "dequantize") d.limit = std::sqrt(room);
                d.integer_limit = std::max(1.0, std::min(8.0, std::sqrt(budget)));
                d.wide_limit = std::min(own_integers, budget);
                break;
            case OpClass::smooth:
                d.limit = std::min({own / 4, room / 4, 1e4});
                break;
            case OpClass::exponential:
                d.limit = std::min(own / 4, 1e4);
                break;
            case OpClass::normaliser:
                d.limit = std::min(own / 4, std::sqrt(accumulate / 16 / n));
                if (op == "add_rmsnorm" || op == "kmeans_assign")
                    d.limit = std::min(d.limit, out_largest / 8);
                if (op == "kmeans_assign") d.limit = std::min(d.limit, std::sqrt(room / 4 / n));
                d.integer_limit = std::max(1.0, std::min(8.0, std::sqrt(budget / 4)));
                break;
            case OpClass::index_only:
            case OpClass::other:
                d.limit = std::min(own / 4, 1e3);
                break;
        }
        // Elementwise rows that combine two numbers, whatever the number of elements.
        if (op == "add" || op == "sub") d.limit = std::min(own / 2, room);
        if (op == "exp") d.limit = 0.9 * std::log(std::min(accumulate, out_largest));
        if (op == "rsqrt") {
            d.positive = true;
            d.floor = std::max(1 / std::pow(out_largest / 2, 2), smallest_normal(dtype));
            d.limit = own / 4;
        }
        if (op == "div" && operand == "b") d.floor = 0x1p-5;
        if (op == "mean" || op == "avgpool2d") d.limit = std::min(own / 4, accumulate / 4 / n);
        if (op == "rope") d.limit = std::min(own, out_largest) / 4;
        if (op == "swiglu" && operand == "up") d.limit = std::sqrt(room);
        if (op == "swiglu" && operand == "gate") d.limit = std::min(d.limit, std::sqrt(room));
        if (op == "prod") {
            // |x| within 2^+-(50/n): no partial product of any order leaves the range
            d.limit = std::exp2(std::min(1.0, 50 / n));
            if (out_largest < 1e6) d.limit = std::exp2(std::min(1.0, 10 / n));
            d.floor = 1 / d.limit;
            d.integer_limit = 1;
        }
        if (operand == "gamma" || operand == "beta" || operand == "weight") {
            if (kind == OpClass::normaliser)
                d.limit = std::min({own / 4, out_largest / 8 / std::sqrt(n), 1e3});
        }
        if (seeks(op) != 0 && i == 0) {
            const bool kept = kind == OpClass::copy || op == "logsumexp";  // the result is of that size too
            d.extreme = seeks(op) == -1 ? own : -own;
            if (is_float(dtype) && kept) d.extreme = std::copysign(std::min(own, out_largest), d.extreme);
            if (kind == OpClass::copy && seeks(op) != 2) d.zero_side = -seeks(op);
        }
        if (op == "attention" || op == "attention_decode") {
            const double width =
                static_cast<double>(std::max<std::int64_t>(shapes.empty() ? 1 : last(shapes[0]), 1));
            const double scale = std::fabs(param(task, "scale", 1 / std::sqrt(width)));
            if (i < 2) d.limit = std::min(own / 4, std::sqrt(2e4 / std::max(scale * width, 1e-6)));
            if (i == 2) d.limit = std::min({own / 4, out_largest / 4, 1e6});
            // Scores near -5e5, each an exact sum of integers: lower ones would not be known to within 1.
            const double product = std::min(0x1p23, 5e5 / std::max(scale, 1e-6)) / width;
            const double side = std::floor(std::min(std::sqrt(product), std::exp2(significand_bits(dtype))));
            d.extreme = i == 0 ? side : i == 1 ? -side : 0;
            d.whole_extreme = true;
        }
        if (operand == "scale" || operand == "scale_a" || operand == "scale_b") {
            d.positive = true;
            d.typical = 0.5;
            d.floor = 0x1p-7;
            double values = 1;
            for (const TensorSpec& spec : task.inputs) {
                if (&spec != &task.inputs[i] && spec.operand.empty()) {
                    values = std::max(values, std::min(largest_finite(spec.dtype), 65536.0));
                }
            }
            d.limit = op == "matmul_scaled" ? std::sqrt(room / n) / 448 : room / 2 / values;
            d.wide_limit = 0;
        }
        if (op == "matmul_scaled" && i < 2) {
            d.limit = own;
            d.typical = is_float(dtype) && own > 16 ? 4 : 1;
        }
        if (op == "quantize") d.limit = std::min(own / 4, accumulate / 8);
        if (op == "gated_delta_rule") {
            if (i < 2) d.unit_rows = true;
            if (i == 2) d.limit = std::min(own / 4, 1e3);
            if (operand == "beta") d.unit = true;
            if (operand == "g") d.nonpositive = true, d.limit = 4;
        }
        if (op.empty()) d.limit = std::min(own / 4, 1e3);  // an unknown formula: moderate values only
        if (is_float(dtype)) {
            d.limit = std::min(d.limit, own);
            d.integer_limit = std::min(d.integer_limit, own_integers / 2);
            if (dtype == DType::e2m1) d.integer_limit = std::min(d.integer_limit, 4.0);
        }
        out.push_back(d);
    }
    return out;
}

}  // namespace kernelwright

// matmul, linear and matmul_scaled.
//
// A dot product of K terms in any order is within K u sum|a b| when products are rounded, (K-1) u when they
// are exact in the arithmetic (short types) or fused (Higham sec. 3.1). Tensor cores align and truncate the
// terms of a step instead of rounding each addition, so short types are given 2u an addition.
#include <fmt/format.h>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/products.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

constexpr const char* dot_bound =
    "K-term dot product in any order: (K-1) u sum|a b| and a rounding per product (Higham sec. 3.1), 0 where "
    "exact";

// The operands as stacks of matrices.
struct Matrices {
    std::int64_t m = 0, n = 0, k = 0;
    Shape batch;  // broadcast
    Shape a_batch, b_batch;
    Shape out;
};

Result<Matrices> matrices(const Call& call) {
    Matrices out;
    Shape a = call.shape(0), b = call.shape(1);
    const bool ta = call.flag("transpose_a"), tb = call.flag("transpose_b");
    if (a.empty() || b.empty()) return shape_error(call, "a scalar is no matrix");
    const bool a_vector = a.size() == 1, b_vector = b.size() == 1;
    if (a_vector) a.insert(ta ? a.end() : a.begin(), 1);
    if (b_vector) b.insert(tb ? b.begin() : b.end(), 1);
    const std::size_t ra = a.size(), rb = b.size();
    out.m = ta ? a[ra - 1] : a[ra - 2];
    out.k = ta ? a[ra - 2] : a[ra - 1];
    out.n = tb ? b[rb - 2] : b[rb - 1];
    const std::int64_t kb = tb ? b[rb - 1] : b[rb - 2];
    if (out.k != kb) {
        return shape_error(call, fmt::format("the inner extents of {}{} and {}{} differ: {} and {}",
                                             to_string(call.shape(0)), ta ? " (transposed)" : "",
                                             to_string(call.shape(1)), tb ? " (transposed)" : "", out.k, kb));
    }
    out.a_batch.assign(a.begin(), a.end() - 2);
    out.b_batch.assign(b.begin(), b.end() - 2);
    const auto batch = broadcast_shape(call, out.a_batch, out.b_batch);
    if (!batch) return batch.error();
    out.batch = *batch;
    out.out = out.batch;
    if (!a_vector) out.out.push_back(out.m);
    if (!b_vector) out.out.push_back(out.n);
    return out;
}

template <class T>
std::vector<T> transposed(const T* from, std::int64_t rows, std::int64_t columns) {
    std::vector<T> out(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j)
            out[static_cast<std::size_t>(j * rows + i)] = from[i * columns + j];
    }
    return out;
}

// Matrix number `index` of a stack, laid out as [rows, columns].
template <class T>
std::vector<T> matrix(const std::vector<T>& stack, std::int64_t index, std::int64_t rows,
                      std::int64_t columns, bool is_transposed) {
    const T* from = stack.data() + index * rows * columns;
    if (is_transposed) return transposed(from, columns, rows);
    return std::vector<T>(from, from + rows * columns);
}

void set_products(Builder& c, std::int64_t base, const Product& product, const Precision& p,
                  const Call& call) {
    const ProductRounding rounding = product_rounding(p, call.dtype(0), call.dtype(1));
    const bool stored_wide = call.results[0] == p.type;
    for (std::int64_t i = 0; i < product.m; ++i) {
        for (std::int64_t j = 0; j < product.n; ++j) {
            const auto at = static_cast<std::size_t>(i * product.n + j);
            const double error = sum_error(p, product.magnitude[at], product.quantum(i, j), product.k,
                                           rounding.extra, stored_wide, rounding.per_addition);
            c.set(base + static_cast<std::int64_t>(at), product.value[at], error);
        }
    }
}

Result<std::vector<Shape>> matmul_shape(const Call& call) {
    const auto m = matrices(call);
    if (!m) return m.error();
    return std::vector<Shape>{m->out};
}

Result<std::vector<Expected>> matmul(const Call& call) {
    const auto prepared = matrices(call);
    const Matrices& s = *prepared;
    const Array& a = call.array(0);
    const Array& b = call.array(1);
    const bool ta = call.flag("transpose_a"), tb = call.flag("transpose_b");
    const std::vector<std::int64_t> ia = broadcast_index(s.a_batch, s.batch),
                                    ib = broadcast_index(s.b_batch, s.batch);
    Builder c(call.results[0], s.out, dot_bound);
    const Precision p = call.precision();
    for (std::int64_t batch = 0; batch < element_count(s.batch); ++batch) {
        const std::int64_t na = ia[static_cast<std::size_t>(batch)], nb = ib[static_cast<std::size_t>(batch)];
        const std::int64_t base = batch * s.m * s.n;
        if (call.integral()) {
            const auto left = matrix(a.integers, na, s.m, s.k, ta),
                       right = matrix(b.integers, nb, s.k, s.n, tb);
            const auto product = multiply_integers(left.data(), right.data(), s.m, s.n, s.k);
            for (std::int64_t i = 0; i < s.m * s.n; ++i)
                c.set_integer(base + i, product[static_cast<std::size_t>(i)]);
            continue;
        }
        const auto left = matrix(a.values, na, s.m, s.k, ta), right = matrix(b.values, nb, s.k, s.n, tb);
        set_products(c, base, multiply(left.data(), right.data(), s.m, s.n, s.k), p, call);
    }
    return std::vector<Expected>{c.take()};
}

double matmul_flops(const Call& call, const std::vector<OutputSpec>& outputs) {
    const auto m = matrices(call);
    return m ? 2.0 * static_cast<double>(element_count(outputs[0].shape)) * static_cast<double>(m->k) : 0;
}

Result<std::vector<Shape>> linear_shape(const Call& call) {
    const Shape& x = call.shape(0);
    const Shape& weight = call.shape(1);
    if (x.empty() || weight.size() != 2) return shape_error(call, "x must be [..., in] and weight [out, in]");
    if (x.back() != weight[1]) {
        return shape_error(call, fmt::format("x {} has {} features, weight {} takes {}", to_string(x),
                                             x.back(), to_string(weight), weight[1]));
    }
    if (call.has(2) && element_count(call.shape(2)) != weight[0]) {
        return shape_error(call,
                           fmt::format("bias {} must have {} elements", to_string(call.shape(2)), weight[0]));
    }
    Shape out = x;
    out.back() = weight[0];
    return std::vector<Shape>{out};
}

Result<std::vector<Expected>> linear(const Call& call) {
    const Array& x = call.array(0);
    const Array& weight = call.array(1);
    const auto shapes = linear_shape(call);
    const std::int64_t k = x.shape.back(), n = weight.shape[0];
    const std::int64_t m =
        k == 0 ? element_count((*shapes)[0]) / std::max<std::int64_t>(n, 1) : x.count() / k;
    const std::string activation = call.text("activation");
    Builder y(call.results[0], (*shapes)[0],
              std::string(dot_bound) + "; then the activation's slope and own error");
    const Precision p = call.precision();
    if (call.integral() && !is_float(call.results[0])) {
        if (activation != "none" && activation != "relu") {
            return Error{.message = "op `linear`: the activation of integers must be none or relu"};
        }
        const auto right = transposed(weight.integers.data(), n, k);
        const auto product = multiply_integers(x.integers.data(), right.data(), m, n, k);
        for (std::int64_t i = 0; i < m * n; ++i) {
            std::int64_t value = product[static_cast<std::size_t>(i)];
            if (call.has(2)) value += call.array(2).integers[static_cast<std::size_t>(i % n)];
            y.set_integer(i, activation == "relu" ? std::max<std::int64_t>(value, 0) : value);
        }
        return std::vector<Expected>{y.take()};
    }
    const auto right = transposed(weight.values.data(), n, k);
    const Product product = multiply(x.values.data(), right.data(), m, n, k);
    const ProductRounding rounding = product_rounding(p, call.dtype(0), call.dtype(1));
    const bool plain = activation == "none" || activation == "relu";
    const bool stored_wide = plain && call.results[0] == p.type;
    for (std::int64_t i = 0; i < m * n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        double value = product.value[at], magnitude = product.magnitude[at];
        int quantum = product.quantum(i / n, i % n);
        std::int64_t terms = k;
        if (call.has(2)) {
            const double bias = call.array(2).values[static_cast<std::size_t>(i % n)];
            value += bias;
            magnitude += std::fabs(bias);
            quantum = std::min(quantum, quantum_exponent(bias));
            ++terms;
        }
        const double error =
            sum_error(p, magnitude, quantum, terms, rounding.extra, stored_wide, rounding.per_addition);
        if (activation == "none") {
            y.set(i, value, error);
        } else if (activation == "relu") {
            y.set(i, std::isnan(value) || value > 0 ? value : 0.0, value > -error || error == 0 ? error : 0);
        } else {
            const bool gelu = activation == "gelu";
            const Estimate e =
                through(p, gelu ? Activated{gelu_slope, gelu_estimate} : Activated{silu_slope, silu_estimate},
                        value, error);
            y.set(i, e.value, e.error);
        }
    }
    return std::vector<Expected>{y.take()};
}

double linear_flops(const Call& call, const std::vector<OutputSpec>& outputs) {
    return 2.0 * static_cast<double>(element_count(outputs[0].shape)) *
           static_cast<double>(call.shape(0).back());
}

struct Scaled {
    std::int64_t m = 0, n = 0, k = 0, blocks = 0;
    bool scale_b_transposed = false;
};

Result<Scaled> scaled(const Call& call) {
    Scaled s;
    const Shape &a = call.shape(0), &b = call.shape(1), &sa = call.shape(2), &sb = call.shape(3);
    const bool tb = call.flag("transpose_b");
    const std::int64_t block = call.integer("block");
    if (a.size() != 2 || b.size() != 2) return shape_error(call, "a and b must be matrices");
    s.m = a[0], s.k = a[1], s.n = tb ? b[0] : b[1];
    if ((tb ? b[1] : b[0]) != s.k) {
        return shape_error(
            call, fmt::format("the inner extents of a {} and b {} differ", to_string(a), to_string(b)));
    }
    s.blocks = (s.k + block - 1) / block;
    const Shape want_a{s.m, s.blocks}, want_b{s.blocks, s.n}, turned{s.n, s.blocks};
    if (sa != want_a) {
        return shape_error(call, fmt::format("scale_a {} must be {}", to_string(sa), to_string(want_a)));
    }
    s.scale_b_transposed = tb && sb != want_b && sb == turned;
    if (sb != want_b && !s.scale_b_transposed) {
        return shape_error(call, fmt::format("scale_b {} must be {}", to_string(sb), to_string(want_b)));
    }
    return s;
}

Result<std::vector<Shape>> scaled_shape(const Call& call) {
    const auto s = scaled(call);
    if (!s) return s.error();
    return std::vector<Shape>{{s->m, s->n}};
}

bool power_of_two_or_zero(double x) { return x == 0 || std::fabs(x) == std::ldexp(1.0, quantum_exponent(x)); }

Result<std::vector<Expected>> matmul_scaled(const Call& call) {
    const auto prepared = scaled(call);
    const Scaled& s = *prepared;
    const std::int64_t block = call.integer("block");
    const Array &scale_a = call.array(2), &scale_b = call.array(3);
    // Scaled operands are exact in double: a short significand times 24 bits.
    std::vector<double> a = call.array(0).values;
    std::vector<double> b = matrix(call.array(1).values, 0, s.k, s.n, call.flag("transpose_b"));
    bool plain_scales = true;
    for (const Array* scales : {&scale_a, &scale_b}) {
        for (const double scale : scales->values) plain_scales = plain_scales && power_of_two_or_zero(scale);
    }
    for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t k = 0; k < s.k; ++k) {
            a[static_cast<std::size_t>(i * s.k + k)] *=
                scale_a.values[static_cast<std::size_t>(i * s.blocks + k / block)];
        }
    }
    for (std::int64_t k = 0; k < s.k; ++k) {
        for (std::int64_t j = 0; j < s.n; ++j) {
            const std::int64_t at = s.scale_b_transposed ? j * s.blocks + k / block : k / block * s.n + j;
            b[static_cast<std::size_t>(k * s.n + j)] *= scale_b.values[static_cast<std::size_t>(at)];
        }
    }
    const Product product = multiply(a.data(), b.data(), s.m, s.n, s.k);
    const Precision p = call.precision();
    Builder c(
        call.results[0], {s.m, s.n},
        "K-term dot product in any order (Higham sec. 3.1) and three roundings of the scales per block");
    for (std::int64_t i = 0; i < s.m * s.n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const int quantum = plain_scales ? product.quantum(i / s.n, i % s.n) : no_quantum;
        c.set(i, product.value[at], sum_error(p, product.magnitude[at], quantum, s.k, 3, false, 2));
    }
    return std::vector<Expected>{c.take()};
}

double scaled_flops(const Call& call, const std::vector<OutputSpec>& outputs) {
    return 2.0 * static_cast<double>(element_count(outputs[0].shape)) * static_cast<double>(call.shape(0)[1]);
}

}  // namespace

std::vector<Op> matmul_ops() {
    const auto flag = [](const char* name) {
        return Param{.name = name, .kind = ParamKind::boolean, .default_text = "false"};
    };
    return {Op{.name = "matmul",
               .operands = {{"a"}, {"b"}},
               .results = {{"c"}},
               .params = {flag("transpose_a"), flag("transpose_b")},
               .shapes = matmul_shape,
               .compute = matmul,
               .flops = matmul_flops,
               .matrix = true},
            Op{.name = "linear",
               .operands = {{"x"}, {"weight"}, {"bias", true}},
               .results = {{"y"}},
               .params = {{.name = "activation",
                           .kind = ParamKind::choice,
                           .default_text = "none",
                           .choices = {"none", "relu", "gelu", "silu"}}},
               .shapes = linear_shape,
               .compute = linear,
               .flops = linear_flops,
               .matrix = true},
            Op{.name = "matmul_scaled",
               .operands = {{"a"}, {"b"}, {"scale_a"}, {"scale_b"}},
               .results = {{"c", ResultKind::floating}},
               .params = {{.name = "block", .kind = ParamKind::integer, .required = true, .minimum = 1},
                          flag("transpose_b")},
               .shapes = scaled_shape,
               .compute = matmul_scaled,
               .flops = scaled_flops,
               .matrix = true}};
}

}  // namespace kernelwright::reference

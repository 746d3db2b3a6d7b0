// gated_delta_rule: per head, S starts at 0 and at each step
//   S = exp(g) S;  S = S + beta k (v - S^T k)^T;  o = scale S^T q.
//
// The error of a column of S is followed in the 2-norm. One step multiplies it by exp(g) (I - beta k k^T),
// whose norm is exp(g) max(1, |1 - beta k.k|), and adds what the step rounds: the decay, the dot product S^T
// k, the outer product, the sum. Chunked forms that work with several steps at once round differently but as
// often; the factor `any_form` of 4 stands for them.
#include <fmt/format.h>

#include "verifiers/reference/functions.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"
#include "verifiers/reference/products.h"

namespace kernelwright::reference {
namespace {

constexpr double any_form = 4;

Result<std::vector<Shape>> delta_shape(const Call& call) {
    const Shape &q = call.shape(0), &k = call.shape(1), &v = call.shape(2), &beta = call.shape(3),
                &g = call.shape(4);
    if (q.size() != 3 || k != q || v.size() != 3 || v[0] != q[0] || v[1] != q[1]) {
        return shape_error(call, fmt::format("q and k must be [T, H, Dk] and v [T, H, Dv], not {}, {} and {}",
                                             to_string(q), to_string(k), to_string(v)));
    }
    const Shape gates{q[0], q[1]};
    if (beta != gates || g != gates) {
        return shape_error(call, fmt::format("beta and g must be {}, not {} and {}", to_string(gates),
                                             to_string(beta), to_string(g)));
    }
    if (q[2] == 0) return shape_error(call, "the keys have no width");
    return std::vector<Shape>{v, {q[1], q[2], v[2]}};
}

struct Head {
    const Call& call;
    Precision p;
    double scale, per_addition;
    std::int64_t steps, heads, dk, dv;

    void run(std::int64_t h, Builder& o, Builder& state) const {
        const auto nk = static_cast<std::size_t>(dk), nv = static_cast<std::size_t>(dv);
        std::vector<double> s(nk * nv, 0), error(nv, 0), residual(nv), size(nv);
        const double dot = p.gamma(per_addition * static_cast<double>(dk) + 2);
        for (std::int64_t t = 0; t < steps; ++t) {
            const std::int64_t gate = t * heads + h;
            const double* q = call.array(0).values.data() + gate * dk;
            const double* k = call.array(1).values.data() + gate * dk;
            const double* v = call.array(2).values.data() + gate * dv;
            const double beta = call.array(3).values[static_cast<std::size_t>(gate)];
            const double g = call.array(4).values[static_cast<std::size_t>(gate)];
            const double decay = std::exp(g);
            double kk = 0, qq = 0;
            for (std::size_t i = 0; i < nk; ++i) {
                kk += k[i] * k[i];
                qq += q[i] * q[i];
            }
            const double growth = std::max(1.0, std::fabs(1 - beta * kk));
            for (std::size_t j = 0; j < nv; ++j) {
                double dot_value = 0, magnitude = 0, norm = 0;
                for (std::size_t i = 0; i < nk; ++i) {
                    double& x = s[i * nv + j];
                    x *= decay;
                    dot_value += x * k[i];
                    magnitude += std::fabs(x * k[i]);
                    norm += x * x;
                }
                residual[j] = v[j] - dot_value;
                const double decayed = decay * error[j] + (exp_relative(p, g) + p.u) * std::sqrt(norm);
                const double local = std::fabs(beta) * std::sqrt(kk) *
                                     (dot * (magnitude + std::fabs(v[j])) + 4 * p.u * std::fabs(residual[j]));
                error[j] = growth * decayed + local;
            }
            for (std::size_t j = 0; j < nv; ++j) {
                double value = 0, magnitude = 0, norm = 0;
                for (std::size_t i = 0; i < nk; ++i) {
                    double& x = s[i * nv + j];
                    x += beta * k[i] * residual[j];
                    value += x * q[i];
                    magnitude += std::fabs(x * q[i]);
                    norm += x * x;
                }
                error[j] += p.u * std::sqrt(norm);
                const double bound =
                    std::fabs(scale) * (std::sqrt(qq) * error[j] + (dot + 2 * p.u) * magnitude);
                set(o, gate * dv + static_cast<std::int64_t>(j), scale * value, any_form * bound);
            }
        }
        for (std::size_t i = 0; i < nk; ++i) {
            for (std::size_t j = 0; j < nv; ++j) {
                const std::int64_t at =
                    (h * dk + static_cast<std::int64_t>(i)) * dv + static_cast<std::int64_t>(j);
                set(state, at, s[i * nv + j], any_form * error[j]);
            }
        }
    }
    void set(Builder& out, std::int64_t at, double value, double bound) const {
        out.set(at, value, std::isfinite(bound) && steps > 0 ? bound + p.smallest_normal : 0);
    }
};

Result<std::vector<Expected>> delta_rule(const Call& call) {
    const auto shapes = delta_shape(call);
    const Shape& q = call.array(0).shape;
    const Precision p = call.precision();
    const double scale = call.given("scale") ? call.real("scale") : 1 / std::sqrt(static_cast<double>(q[2]));
    const ProductRounding rounding = product_rounding(p, call.dtype(0), call.dtype(1));
    const char* bound =
        "errors of each step carried through (I - beta k k^T) in the 2-norm, times 4 for chunked forms";
    Builder o(call.results[0], (*shapes)[0], bound);
    Builder state(call.results.size() > 1 ? call.results[1] : p.type, (*shapes)[1], bound);
    const Head head{call, p, scale, rounding.per_addition, q[0], q[1], q[2], call.array(2).shape[2]};
    parallel_for(q[1], static_cast<double>(q[0] * head.dk * head.dv) * 8,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t h = begin; h < end; ++h) head.run(h, o, state);
                 });
    return std::vector<Expected>{o.take(), state.take()};
}

double flops(const Call& call, const std::vector<OutputSpec>&) {
    return 7 * static_cast<double>(element_count(call.shape(0)) * call.shape(2).back());
}

}  // namespace

std::vector<Op> recurrent_ops() {
    return {Op{.name = "gated_delta_rule",
               .operands = {{"q"}, {"k"}, {"v"}, {"beta"}, {"g"}},
               .results = {{"o", ResultKind::floating}, {"S", ResultKind::floating, true}},
               .params = {{.name = "scale", .kind = ParamKind::real, .default_text = "1/sqrt(Dk)"}},
               .shapes = delta_shape,
               .compute = delta_rule,
               .flops = flops}};
}

}  // namespace kernelwright::reference

// attention and attention_decode.
//
// For one query: scores s_j = scale q.k_j carry a dot product's error; p_j = exp(s_j - m) / sum carries that,
// the exponential's and the sum's (exp_sums.h); the output is a weighted sum of rows of v, in any order, with
// a rescaling at each step of a one-pass kernel. Tasks in 16-bit types may round p_j to that type before the
// second product, as every tensor core kernel does.
#include <fmt/format.h>

#include "verifiers/reference/exp_sums.h"
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"
#include "verifiers/reference/products.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

constexpr const char* attention_bound =
    "scores: D-term dot product; exp and online sum as softmax; n-term weighted sum of v (Higham sec. 3.1)";

// Where one query finds its keys and values.
struct View {
    const double* q = nullptr;
    const double* k = nullptr;
    const double* v = nullptr;
    std::int64_t keys = 0, width = 0, value_width = 0;
    std::int64_t k_stride = 0, v_stride = 0;
};

struct Rules {
    Precision p;
    ProductRounding scores, values;
    double scale = 1;
    double weight_roundoff = 0;  // of p_j in the task's short type
    double weight_floor = 0;
};

Rules rules_of(const Call& call, double scale) {
    Rules r;
    r.p = call.precision();
    r.scores = product_rounding(r.p, call.dtype(0), call.dtype(1));
    r.values = {1, r.scores.per_addition};
    r.scale = scale;
    if (is_float(call.dtype(2)) && significand_bits(call.dtype(2)) <= 11) {
        r.weight_roundoff = unit_roundoff(call.dtype(2));
        r.weight_floor = smallest_positive(call.dtype(2)) / 2;
    }
    return r;
}

// Scratch of one thread.
struct Scratch {
    std::vector<double> score, score_error, weight, weight_error, sum, magnitude, spread;
};

void attend(const View& view, const Rules& r, Scratch& t, Builder& o, std::int64_t base) {
    const auto n = static_cast<std::size_t>(view.keys);
    const Precision& p = r.p;
    if (n == 0) {
        // No key at all: 0/0 in the formula. Zero and NaN are both in use; neither is refused.
        for (std::int64_t c = 0; c < view.value_width; ++c) {
            o.set(base + c, 0, 0);
            o.expected().tolerance[static_cast<std::size_t>(base + c)] =
                std::numeric_limits<double>::infinity();
        }
        return;
    }
    t.score.resize(n);
    t.score_error.resize(n);
    int q_quantum = any_quantum;
    for (std::int64_t d = 0; d < view.width; ++d)
        q_quantum = std::min(q_quantum, quantum_exponent(view.q[d]));
    for (std::size_t j = 0; j < n; ++j) {
        const double* k = view.k + static_cast<std::int64_t>(j) * view.k_stride;
        double dot = 0, magnitude = 0;
        int k_quantum = any_quantum;
        for (std::int64_t d = 0; d < view.width; ++d) {
            const double term = view.q[d] * k[d];
            dot += term;
            magnitude += std::fabs(term);
            k_quantum = std::min(k_quantum, quantum_exponent(k[d]));
        }
        const bool zero = q_quantum == any_quantum || k_quantum == any_quantum;
        const int quantum = zero ? any_quantum : std::max(no_quantum, q_quantum + k_quantum);
        t.score[j] = dot * r.scale;
        // scale itself is rounded, and may be folded into q before the product
        const double dot_error =
            sum_error(p, magnitude, quantum, view.width, r.scores.extra, false, r.scores.per_addition);
        t.score_error[j] = std::fabs(r.scale) * (dot_error + 3 * p.u * magnitude);
        if (!std::isfinite(t.score_error[j])) t.score_error[j] = 0;
    }
    const auto score = [&](std::int64_t j) { return t.score[static_cast<std::size_t>(j)]; };
    const ExpSum s = exp_sum(p, view.keys, score, [&](std::int64_t j) {
        return std::expm1(t.score_error[static_cast<std::size_t>(j)]);
    });
    const double steps = p.gamma(online_step * static_cast<double>(n) * r.values.per_addition);
    t.sum.assign(static_cast<std::size_t>(view.value_width), 0);
    t.magnitude = t.spread = t.sum;
    for (std::size_t j = 0; j < n; ++j) {
        const double d = t.score[j] - s.shift;
        const double w = s.exponentials[j] / s.sum;
        const double relative = w > 0 ? shifted_exp_relative(p, d) + std::expm1(t.score_error[j]) : 0;
        const double* v = view.v + static_cast<std::int64_t>(j) * view.v_stride;
        for (std::int64_t c = 0; c < view.value_width; ++c) {
            const auto i = static_cast<std::size_t>(c);
            const double term = w * v[c];
            t.sum[i] += term;
            t.magnitude[i] += std::fabs(term);
            t.spread[i] += std::fabs(term) * relative + std::fabs(v[c]) * r.weight_floor;
        }
    }
    for (std::int64_t c = 0; c < view.value_width; ++c) {
        const auto i = static_cast<std::size_t>(c);
        const double error =
            t.spread[i] + (steps + r.weight_roundoff) * t.magnitude[i] +
            (s.relative + r.weight_roundoff + (division_ulps + 1) * p.u) * std::fabs(t.sum[i]);
        o.set(base + c, t.sum[i], std::isfinite(error) ? error + p.smallest_normal : 0);
    }
}

double scale_of(const Call& call) {
    if (call.given("scale")) return call.real("scale");
    return 1.0 / std::sqrt(static_cast<double>(call.shape(0).back()));
}

struct Heads {
    std::int64_t batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
};

Result<Heads> heads_of(const Call& call) {
    const Shape &q = call.shape(0), &k = call.shape(1), &v = call.shape(2);
    const std::size_t rank = q.size();
    if (rank < 2 || rank > 4 || k.size() != rank || v.size() != rank) {
        return shape_error(call,
                           fmt::format("q, k and v must all be [S, D] or [B, H, S, D], not {}, {} and {}",
                                       to_string(q), to_string(k), to_string(v)));
    }
    Heads h;
    if (rank == 4) {
        h.batch = q[0];
        if (k[0] != q[0] || v[0] != q[0]) return shape_error(call, "q, k and v differ in their batch extent");
    }
    if (rank >= 3) h.heads = q[rank - 3], h.kv_heads = k[rank - 3];
    h.queries = q[rank - 2], h.keys = k[rank - 2], h.width = q[rank - 1], h.value_width = v[rank - 1];
    if (k[rank - 1] != h.width) {
        return shape_error(call,
                           fmt::format("q {} and k {} differ in their width", to_string(q), to_string(k)));
    }
    if (v[rank - 2] != h.keys || (rank >= 3 && v[rank - 3] != h.kv_heads)) {
        return shape_error(call, fmt::format("k {} and v {} differ", to_string(k), to_string(v)));
    }
    if (h.kv_heads == 0 || h.heads % h.kv_heads != 0) {
        return shape_error(call,
                           fmt::format("{} heads do not divide among {} of k and v", h.heads, h.kv_heads));
    }
    if (h.width == 0) return shape_error(call, "the heads have no width");
    return h;
}

Result<std::vector<Shape>> attention_shape(const Call& call) {
    const auto h = heads_of(call);
    if (!h) return h.error();
    Shape out = call.shape(0);
    out.back() = h->value_width;
    return std::vector<Shape>{out};
}

Result<std::vector<Expected>> attention(const Call& call) {
    const auto prepared = heads_of(call);
    const Heads& h = *prepared;
    const bool causal = call.flag("causal");
    const Rules rules = rules_of(call, scale_of(call));
    Builder o(call.results[0], (*attention_shape(call))[0], attention_bound);
    const double* q = call.array(0).values.data();
    const double* k = call.array(1).values.data();
    const double* v = call.array(2).values.data();
    const std::int64_t shared = h.heads / h.kv_heads;
    parallel_for(h.batch * h.heads * h.queries, static_cast<double>(h.keys * (h.width + h.value_width)) * 4,
                 [&](std::int64_t begin, std::int64_t end) {
                     Scratch scratch;
                     for (std::int64_t row = begin; row < end; ++row) {
                         const std::int64_t query = row % h.queries, head = row / h.queries % h.heads;
                         const std::int64_t batch = row / h.queries / h.heads;
                         const std::int64_t kv = batch * h.kv_heads + head / shared;
                         View view;
                         view.q = q + row * h.width;
                         view.k = k + kv * h.keys * h.width;
                         view.v = v + kv * h.keys * h.value_width;
                         view.keys = causal ? std::min(query + 1, h.keys) : h.keys;
                         view.width = view.k_stride = h.width;
                         view.value_width = view.v_stride = h.value_width;
                         attend(view, rules, scratch, o, row * h.value_width);
                     }
                 });
    return std::vector<Expected>{o.take()};
}

double attention_flops(const Call& call, const std::vector<OutputSpec>&) {
    const auto h = heads_of(call);
    if (!h) return 0;
    const auto s = static_cast<double>(h->queries), t = static_cast<double>(h->keys);
    const double pairs =
        call.flag("causal") ? std::min(s, t) * (std::min(s, t) + 1) / 2 + std::max(0.0, s - t) * t : s * t;
    return static_cast<double>(h->batch * h->heads) * pairs *
           static_cast<double>(2 * h->width + 2 * h->value_width);  // both products
}

// q [B, H, D], caches [B, T, Hkv, D], lengths [B].
Result<std::vector<Shape>> decode_shape(const Call& call) {
    const Shape &q = call.shape(0), &k = call.shape(1), &v = call.shape(2), &lengths = call.shape(3);
    if (q.size() != 3 || k.size() != 4 || v.size() != 4) {
        return shape_error(call,
                           fmt::format("q must be [B, H, D] and the caches [B, T, Hkv, D], not {}, {} and {}",
                                       to_string(q), to_string(k), to_string(v)));
    }
    if (is_float(call.dtype(3))) return shape_error(call, "lengths must hold integers");
    if (k[0] != q[0] || v[0] != q[0] || element_count(lengths) != q[0]) {
        return shape_error(call, "q, the caches and lengths differ in their batch extent");
    }
    if (k[3] != q[2] || v[1] != k[1] || v[2] != k[2]) {
        return shape_error(call, fmt::format("q {}, k_cache {} and v_cache {} do not fit", to_string(q),
                                             to_string(k), to_string(v)));
    }
    if (k[2] == 0 || q[1] % k[2] != 0) {
        return shape_error(call, fmt::format("{} heads do not divide among {} of the cache", q[1], k[2]));
    }
    if (q[2] == 0) return shape_error(call, "the heads have no width");
    return std::vector<Shape>{{q[0], q[1], v[3]}};
}

Result<std::vector<Expected>> decode(const Call& call) {
    const Array &q = call.array(0), &k = call.array(1), &v = call.array(2), &lengths = call.array(3);
    const Rules rules = rules_of(call, scale_of(call));
    const std::int64_t heads = q.shape[1], width = q.shape[2], rows = k.shape[1], kv_heads = k.shape[2];
    const std::int64_t value_width = v.shape[3];
    for (const std::int64_t length : lengths.integers) {
        if (length < 0 || length > rows) {
            return Error{
                .message = fmt::format("op `attention_decode`: length {} is outside 0 .. {}", length, rows)};
        }
    }
    Builder o(call.results[0], (*decode_shape(call))[0], attention_bound);
    parallel_for(q.shape[0] * heads, static_cast<double>(rows * (width + value_width)) * 4,
                 [&](std::int64_t begin, std::int64_t end) {
                     Scratch scratch;
                     for (std::int64_t row = begin; row < end; ++row) {
                         const std::int64_t batch = row / heads, kv = row % heads / (heads / kv_heads);
                         View view;
                         view.q = q.values.data() + row * width;
                         view.k = k.values.data() + (batch * rows * kv_heads + kv) * width;
                         view.v = v.values.data() + (batch * rows * kv_heads + kv) * value_width;
                         view.keys = lengths.integers[static_cast<std::size_t>(batch)];
                         view.width = width;
                         view.value_width = value_width;
                         view.k_stride = kv_heads * width;
                         view.v_stride = kv_heads * value_width;
                         attend(view, rules, scratch, o, row * value_width);
                     }
                 });
    return std::vector<Expected>{o.take()};
}

double decode_flops(const Call& call, const std::vector<OutputSpec>& outputs) {
    return static_cast<double>(element_count(outputs[0].shape)) * static_cast<double>(call.shape(1)[1]) * 4;
}

}  // namespace

std::vector<Op> attention_ops() {
    const Param scale{.name = "scale", .kind = ParamKind::real, .default_text = "1/sqrt(D)"};
    return {Op{.name = "attention",
               .operands = {{"q"}, {"k"}, {"v"}},
               .results = {{"o", ResultKind::floating}},
               .params = {{.name = "causal", .kind = ParamKind::boolean, .default_text = "false"}, scale},
               .shapes = attention_shape,
               .compute = attention,
               .flops = attention_flops,
               .matrix = true},
            Op{.name = "attention_decode",
               .operands = {{"q"}, {"k_cache"}, {"v_cache"}, {"lengths"}},
               .results = {{"o", ResultKind::floating}},
               .params = {scale},
               .shapes = decode_shape,
               .compute = decode,
               .flops = decode_flops}};
}

}  // namespace kernelwright::reference

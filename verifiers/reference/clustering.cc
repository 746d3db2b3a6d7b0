// kmeans_assign: the nearest centroid of each row and its squared distance, the first of equals.
//
// Distances are sums of squared differences: a rounding for the difference, which the square doubles, one for
// the square and D-1 additions, so (D+2) u relative. |x|^2 - 2 x.c + |c|^2 is no such form: it loses small
// distances of points far from the origin. The index is right when its centroid can be the nearest within
// those errors; where the arithmetic is exact (small integers) only the first nearest is.
#include <fmt/format.h>

#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> assign_shape(const Call& call) {
    const Shape &x = call.shape(0), &c = call.shape(1);
    if (x.size() != 2 || c.size() != 2 || x[1] != c[1]) {
        return shape_error(call, fmt::format("x must be [N, D] and centroids [K, D], not {} and {}",
                                             to_string(x), to_string(c)));
    }
    if (c[0] == 0) return shape_error(call, "there are no centroids");
    return std::vector<Shape>{{x[0]}, {x[0]}};
}

Result<std::vector<Expected>> assign(const Call& call) {
    const Array &x = call.array(0), &centroids = call.array(1);
    const std::int64_t n = x.shape[0], width = x.shape[1], k = centroids.shape[0];
    const Precision p = call.precision();
    const DType distance_type = call.results.size() > 1 ? call.results[1] : p.type;
    Builder index(call.results[0], {n},
                  "exact where distances are; else any centroid that rounding can make the nearest");
    Builder distance(distance_type, {n},
                     "(D+2) u d: difference, square and D-1 additions of positive terms (Higham sec. 3.1)");
    std::vector<std::vector<double>> others(static_cast<std::size_t>(n));
    parallel_for(n, static_cast<double>(k * width) * 5, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> d(static_cast<std::size_t>(k)), error(static_cast<std::size_t>(k));
        for (std::int64_t i = begin; i < end; ++i) {
            std::size_t best = 0;
            for (std::int64_t j = 0; j < k; ++j) {
                double sum = 0, magnitude = 0;
                int quantum = any_quantum;
                for (std::int64_t l = 0; l < width; ++l) {
                    const double a = x.values[static_cast<std::size_t>(i * width + l)];
                    const double b = centroids.values[static_cast<std::size_t>(j * width + l)];
                    sum += (a - b) * (a - b);
                    magnitude += a * a + 2 * std::fabs(a * b) + b * b;
                    const int q = std::min(quantum_exponent(a), quantum_exponent(b));
                    quantum = std::min(quantum, q == any_quantum ? any_quantum : std::max(2 * q, no_quantum));
                }
                const auto at = static_cast<std::size_t>(j);
                d[at] = sum;
                const bool exact = !std::isfinite(magnitude) || p.exact_sum(magnitude, quantum);
                error[at] = exact ? 0
                                  : p.gamma(static_cast<double>(width) + 2) * sum +
                                        static_cast<double>(width) * p.half_subnormal;
                if (d[at] < d[best]) best = at;
            }
            index.set_integer(i, static_cast<std::int64_t>(best));
            double distance_error = error[best];
            std::vector<double> near;
            const auto row = [&](std::size_t j) {
                return centroids.values.begin() + static_cast<std::int64_t>(j) * width;
            };
            for (std::size_t j = 0; j < d.size(); ++j) {
                // Equal centroids have equal computed distances: the first of them wins in every form.
                if (j > best && std::equal(row(j), row(j) + width, row(best))) continue;
                if (j != best && error[j] + error[best] > 0 && d[j] - error[j] <= d[best] + error[best]) {
                    near.push_back(static_cast<double>(j));
                    distance_error =
                        std::max(distance_error, error[j]);  // the other's distance comes with it
                }
            }
            distance.set(i, d[best], distance_error);
            if (!near.empty()) near.push_back(static_cast<double>(best));
            others[static_cast<std::size_t>(i)] = std::move(near);
        }
    });
    Expected indices = index.take();
    for (std::int64_t i = 0; i < n; ++i) {
        auto& near = others[static_cast<std::size_t>(i)];
        if (!near.empty()) indices.alternatives.push_back({i, std::move(near)});
    }
    return std::vector<Expected>{std::move(indices), distance.take()};
}

double flops(const Call& call, const std::vector<OutputSpec>&) {
    // |x|^2 - 2 x.c + |c|^2: the products are what grows with N K D.
    return 2 * static_cast<double>(element_count(call.shape(0)) * call.shape(1)[0]);
}

}  // namespace

std::vector<Op> clustering_ops() {
    return {Op{.name = "kmeans_assign",
               .operands = {{"x"}, {"centroids"}},
               .results = {{"index", ResultKind::index}, {"distance", ResultKind::floating, true}},
               .params = {},
               .shapes = assign_shape,
               .compute = assign,
               .flops = flops,
               .matrix = true}};
}

}  // namespace kernelwright::reference

// Selections by comparison: argmax, argmin, topk, sort. All compare stored values, so all are exact, ties
// included: the first of equals wins, sorting is stable, and NaN is larger than everything (PyTorch).
#include <algorithm>
#include <numeric>

#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

// a before b in ascending order; NaN last.
bool less(double a, double b) {
    if (std::isnan(b)) return !std::isnan(a);
    return a < b;
}

// i64 values above 2^53 need their own comparison.
struct Keys {
    const Array& x;
    bool less_at(std::size_t i, std::size_t j) const {
        return x.integral() ? x.integers[i] < x.integers[j] : less(x.values[i], x.values[j]);
    }
};

void copy_element(Builder& y, std::int64_t to, const Array& x, std::size_t from) {
    if (x.integral()) {
        y.set_integer(to, x.integers[from]);
    } else {
        y.set(to, x.values[from], 0);
    }
}

Result<std::vector<Shape>> index_shape(const Call& call) {
    const Shape& x = call.shape(0);
    const auto axes = call.axes(x.size());
    for (const std::size_t axis : axes) {
        if (x[axis] == 0) return shape_error(call, "the axis has no elements, so there is nothing to select");
    }
    return std::vector<Shape>{reduced_shape(x, axes, call.flag("keepdims"))};
}

template <bool largest>
Result<std::vector<Expected>> arg_extreme(const Call& call) {
    const Array& x = call.array(0);
    const auto axes = call.axes(x.shape.size());
    const RowLayout layout = row_layout(x.shape, axes);
    Builder y(call.results[0], reduced_shape(x.shape, axes, call.flag("keepdims")),
              "exact: the first of the extreme elements");
    const Keys keys{x};
    parallel_for(
        layout.count(), static_cast<double>(layout.n()) * 4, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) {
                const auto at = [&](std::int64_t k) {
                    return static_cast<std::size_t>(layout.rows[static_cast<std::size_t>(r)] +
                                                    layout.elements[static_cast<std::size_t>(k)]);
                };
                std::int64_t best = 0;
                for (std::int64_t k = 1; k < layout.n(); ++k) {
                    const double value = x.values[at(best)];
                    if (!x.integral() && std::isnan(value)) break;
                    const bool nan = !x.integral() && std::isnan(x.values[at(k)]);
                    if (nan || (largest ? keys.less_at(at(best), at(k)) : keys.less_at(at(k), at(best))))
                        best = k;
                }
                y.set_integer(r, best);
            }
        });
    return std::vector<Expected>{y.take()};
}

// The rows of x along `axis`, and the position of row r's k-th output among outputs with extent `extent`
// there.
struct AxisRows {
    AxisRows(const Shape& shape, std::size_t axis, std::int64_t extent) : n(shape[axis]), out_n(extent) {
        for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
        for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    }
    std::int64_t rows() const { return outer * inner; }
    std::size_t in(std::int64_t r, std::int64_t k) const {
        return static_cast<std::size_t>((r / inner * n + k) * inner + r % inner);
    }
    std::int64_t out(std::int64_t r, std::int64_t k) const {
        return (r / inner * out_n + k) * inner + r % inner;
    }
    std::int64_t n, out_n, inner = 1, outer = 1;
};

std::vector<Expected> ranked(const Call& call, std::size_t axis, std::int64_t keep, bool descending) {
    const Array& x = call.array(0);
    Shape shape = x.shape;
    shape[axis] = keep;
    const AxisRows rows(x.shape, axis, keep);
    std::vector<Builder> results;
    results.emplace_back(call.results[0], shape, "exact: stored values in order");
    if (call.results.size() > 1)
        results.emplace_back(call.results[1], shape, "exact: stable order of stored values");
    const Keys keys{x};
    parallel_for(rows.rows(), static_cast<double>(rows.n) * 60, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(rows.n));
        for (std::int64_t r = begin; r < end; ++r) {
            std::iota(order.begin(), order.end(), 0);
            const auto before = [&](std::int64_t i, std::int64_t j) {
                const std::size_t a = rows.in(r, i), b = rows.in(r, j);
                if (descending ? keys.less_at(b, a) : keys.less_at(a, b)) return true;
                if (descending ? keys.less_at(a, b) : keys.less_at(b, a)) return false;
                return i < j;
            };
            if (keep == rows.n) {
                std::sort(order.begin(), order.end(), before);
            } else {
                std::partial_sort(order.begin(), order.begin() + keep, order.end(), before);
            }
            for (std::int64_t k = 0; k < keep; ++k) {
                const std::int64_t from = order[static_cast<std::size_t>(k)];
                copy_element(results[0], rows.out(r, k), x, rows.in(r, from));
                if (results.size() > 1) results[1].set_integer(rows.out(r, k), from);
            }
        }
    });
    std::vector<Expected> out;
    for (Builder& result : results) out.push_back(result.take());
    return out;
}

Result<std::vector<Shape>> topk_shape(const Call& call) {
    Shape x = call.shape(0);
    if (x.empty()) return shape_error(call, "the input is a scalar");
    const std::size_t axis = call.axis(x.size());
    const std::int64_t k = call.integer("k");
    if (k > x[axis]) {
        return shape_error(call, "k is " + std::to_string(k) + ", but the axis has " +
                                     std::to_string(x[axis]) + " elements");
    }
    x[axis] = k;
    return std::vector<Shape>{x, x};
}

Result<std::vector<Expected>> topk(const Call& call) {
    return ranked(call, call.axis(call.array(0).shape.size()), call.integer("k"), true);
}

Result<std::vector<Shape>> sort_shape(const Call& call) {
    if (call.shape(0).empty()) return shape_error(call, "the input is a scalar");
    return std::vector<Shape>{call.shape(0), call.shape(0)};
}

Result<std::vector<Expected>> sort(const Call& call) {
    const Shape& shape = call.array(0).shape;
    const std::size_t axis = call.axis(shape.size());
    return ranked(call, axis, shape[axis], call.flag("descending"));
}

double comparisons(const Call& call, const std::vector<OutputSpec>&) {
    return static_cast<double>(element_count(call.shape(0)));
}

double sorting(const Call& call, const std::vector<OutputSpec>&) {
    const Shape& shape = call.shape(0);
    const auto n = static_cast<double>(shape.empty() ? 1 : shape[call.axis(shape.size())]);
    return static_cast<double>(element_count(shape)) * std::max(1.0, std::ceil(std::log2(std::max(n, 1.0))));
}

}  // namespace

std::vector<Op> selection_ops() {
    const Param keepdims{.name = "keepdims", .kind = ParamKind::boolean, .default_text = "false"};
    const auto arg = [&](const char* name, ComputeRule compute) {
        return Op{.name = name,
                  .operands = {{"x"}},
                  .results = {{"index", ResultKind::index}},
                  .params = {axes_param(false, "all"), keepdims},
                  .shapes = index_shape,
                  .compute = compute,
                  .flops = comparisons};
    };
    std::vector<Op> ops{arg("argmax", arg_extreme<true>), arg("argmin", arg_extreme<false>)};
    ops.push_back({.name = "topk",
                   .operands = {{"x"}},
                   .results = {{"values", ResultKind::any}, {"indices", ResultKind::index, true}},
                   .params = {axis_param(false, "-1"),
                              {.name = "k", .kind = ParamKind::integer, .required = true, .minimum = 0}},
                   .shapes = topk_shape,
                   .compute = topk,
                   .flops = comparisons});
    ops.push_back({.name = "sort",
                   .operands = {{"x"}},
                   .results = {{"y", ResultKind::any}, {"indices", ResultKind::index, true}},
                   .params = {axis_param(false, "-1"),
                              {.name = "descending", .kind = ParamKind::boolean, .default_text = "false"}},
                   .shapes = sort_shape,
                   .compute = sort,
                   .flops = sorting});
    return ops;
}

}  // namespace kernelwright::reference

// Reads and writes at positions that data decides: gather, scatter_add, embedding, histogram.
#include <fmt/format.h>

#include <algorithm>

#include "verifiers/reference/op.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

Status check_indices(const Call& call, const Array& index, const char* name, std::int64_t extent) {
    for (const std::int64_t i : index.integers) {
        if (i < 0 || i >= extent) {
            return Error{.message =
                             fmt::format("op `{}`: {} {} is outside 0 .. {}", call.op, name, i, extent - 1)};
        }
    }
    return Done{};
}

Status check_integers(const Call& call, std::size_t operand, const char* name) {
    if (!is_float(call.dtype(operand))) return Done{};
    return shape_error(call,
                       fmt::format("{} must hold integers, not {}", name, to_string(call.dtype(operand))));
}

void copy_element(Builder& y, std::int64_t to, const Array& x, std::int64_t from) {
    const auto i = static_cast<std::size_t>(from);
    if (x.integral()) {
        y.set_integer(to, x.integers[i]);
    } else {
        y.set(to, x.values[i], 0);
    }
}

// The element of `x` at the position of `index`'s element i with the coordinate along `axis` replaced.
class Picker {
  public:
    Picker(const Shape& x, const Shape& index, std::size_t axis)
        : strides_(dense_strides(x)), index_(index), position_(index.size(), 0), axis_(axis) {}
    std::int64_t at(std::int64_t picked) const {
        std::int64_t offset = picked * strides_[axis_];
        for (std::size_t d = 0; d < position_.size(); ++d) {
            if (d != axis_) offset += position_[d] * strides_[d];
        }
        return offset;
    }
    void next() {
        for (std::size_t d = index_.size(); d-- > 0;) {
            if (++position_[d] < index_[d]) break;
            position_[d] = 0;
        }
    }

  private:
    Shape strides_, index_, position_;
    std::size_t axis_;
};

// index has x's rank; outside the axis its extents are at most x's (PyTorch's gather and scatter).
Status check_index_shape(const Call& call) {
    const Shape& x = call.shape(0);
    const Shape& index = call.shape(1);
    if (const Status status = check_integers(call, 1, "index"); !status) return status;
    if (x.empty() || index.size() != x.size()) {
        return shape_error(call, fmt::format("index {} must have as many dimensions as x {}",
                                             to_string(index), to_string(x)));
    }
    const std::size_t axis = call.axis(x.size());
    for (std::size_t d = 0; d < x.size(); ++d) {
        if (d == axis || index[d] <= x[d]) continue;
        return shape_error(call, fmt::format("index {} is larger than x {} along axis {}", to_string(index),
                                             to_string(x), d));
    }
    return Done{};
}

Result<std::vector<Shape>> gather_shape(const Call& call) {
    if (const Status status = check_index_shape(call); !status) return status.error();
    return std::vector<Shape>{call.shape(1)};
}

Result<std::vector<Expected>> gather(const Call& call) {
    const Array& x = call.array(0);
    const Array& index = call.array(1);
    const std::size_t axis = call.axis(x.shape.size());
    if (const Status status = check_indices(call, index, "index", x.shape[axis]); !status)
        return status.error();
    Builder y(call.results[0], index.shape, "exact: a copy");
    y.expected().signed_zero = true;
    Picker picker(x.shape, index.shape, axis);
    for (std::int64_t i = 0; i < index.count(); ++i, picker.next()) {
        copy_element(y, i, x, picker.at(index.integers[static_cast<std::size_t>(i)]));
    }
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Shape>> scatter_shape(const Call& call) {
    if (const Status status = check_index_shape(call); !status) return status.error();
    if (call.shape(2) != call.shape(1)) {
        return shape_error(call, fmt::format("src {} must have the shape of index {}",
                                             to_string(call.shape(2)), to_string(call.shape(1))));
    }
    return std::vector<Shape>{call.shape(0)};
}

Result<std::vector<Expected>> scatter_add(const Call& call) {
    const Array& x = call.array(0);
    const Array& index = call.array(1);
    const Array& src = call.array(2);
    const std::size_t axis = call.axis(x.shape.size());
    if (const Status status = check_indices(call, index, "index", x.shape[axis]); !status)
        return status.error();
    const Precision p = call.precision();
    const bool integers = call.integral() && !is_float(call.results[0]);
    // Atomic additions to a short type round to it each time; that is what such a task asks for.
    Precision adding = p;
    if (is_float(call.results[0]) && significand_bits(call.results[0]) < p.significand) {
        adding = p;
        adding.u = unit_roundoff(call.results[0]);
        adding.significand = significand_bits(call.results[0]);
        adding.lowest_quantum = quantum_exponent(smallest_positive(call.results[0]));
        adding.largest = largest_finite(call.results[0]);
    }
    Builder y(call.results[0], x.shape,
              "terms u sum|terms| in any order of additions, 0 where they are exact");
    std::vector<SumFacts> facts(static_cast<std::size_t>(x.count()));
    std::vector<std::int64_t> totals = x.integers;
    for (std::size_t i = 0; i < facts.size(); ++i) facts[i].add(x.values[i]);
    Picker picker(x.shape, index.shape, axis);
    for (std::int64_t i = 0; i < index.count(); ++i, picker.next()) {
        const auto k = static_cast<std::size_t>(i);
        const auto to = static_cast<std::size_t>(picker.at(index.integers[k]));
        facts[to].add(src.values[k]);
        if (integers) {
            totals[to] = static_cast<std::int64_t>(static_cast<std::uint64_t>(totals[to]) +
                                                   static_cast<std::uint64_t>(src.integers[k]));
        }
    }
    for (std::int64_t i = 0; i < x.count(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (integers) {
            y.set_integer(i, totals[k]);
        } else {
            y.set(i, facts[k].value,
                  sum_error(adding, facts[k].magnitude, facts[k].quantum, facts[k].terms, 0, true) +
                      atomic_flush(adding, facts[k].quantum, facts[k].terms));
        }
    }
    return std::vector<Expected>{y.take()};
}

Result<std::vector<Shape>> embedding_shape(const Call& call) {
    if (const Status status = check_integers(call, 1, "indices"); !status) return status.error();
    const Shape& table = call.shape(0);
    if (table.empty()) return shape_error(call, "table must have rows");
    Shape out = call.shape(1);
    out.insert(out.end(), table.begin() + 1, table.end());
    return std::vector<Shape>{out};
}

Result<std::vector<Expected>> embedding(const Call& call) {
    const Array& table = call.array(0);
    const Array& indices = call.array(1);
    if (const Status status = check_indices(call, indices, "index", table.shape[0]); !status)
        return status.error();
    const auto shape = embedding_shape(call);
    const std::int64_t width = table.shape[0] == 0 ? 0 : table.count() / table.shape[0];
    Builder y(call.results[0], (*shape)[0], "exact: a copy");
    y.expected().signed_zero = true;
    for (std::int64_t i = 0; i < indices.count(); ++i) {
        const std::int64_t row = indices.integers[static_cast<std::size_t>(i)];
        for (std::int64_t k = 0; k < width; ++k) copy_element(y, i * width + k, table, row * width + k);
    }
    return std::vector<Expected>{y.take()};
}

// The number of bins is not in the inputs: the task's declared shape says it.
Result<std::vector<Shape>> histogram_shape(const Call& call) {
    if (const Status status = check_integers(call, 0, "x"); !status) return status.error();
    if (call.given("bins")) return std::vector<Shape>{{call.integer("bins")}};
    if (!call.declared.empty() && call.declared[0]) return std::vector<Shape>{*call.declared[0]};
    return std::vector<Shape>{{-1}};
}

Result<std::vector<Expected>> histogram(const Call& call) {
    const Array& x = call.array(0);
    Shape shape = (*histogram_shape(call))[0];
    if (element_count(shape) < 0) {
        const auto largest = std::max_element(x.integers.begin(), x.integers.end());
        shape = {largest == x.integers.end() ? 0 : *largest + 1};
        if (shape[0] > (std::int64_t{1} << 32)) return Error{.message = "op `histogram`: too many bins"};
    }
    const std::int64_t bins = element_count(shape);
    if (const Status status = check_indices(call, x, "bin", bins); !status) return status.error();
    Builder y(call.results[0], shape, "exact: a count");
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), 0);
    for (const std::int64_t bin : x.integers) ++counts[static_cast<std::size_t>(bin)];
    for (std::int64_t i = 0; i < bins; ++i) y.set_integer(i, counts[static_cast<std::size_t>(i)]);
    return std::vector<Expected>{y.take()};
}

template <std::size_t operand>
double one_per_entry(const Call& call, const std::vector<OutputSpec>&) {
    return static_cast<double>(element_count(call.shape(operand)));
}

}  // namespace

std::vector<Op> indexing_ops() {
    return {Op{.name = "gather",
               .operands = {{"x"}, {"index"}},
               .results = {{"y", ResultKind::any}},
               .params = {axis_param(true)},
               .shapes = gather_shape,
               .compute = gather,
               .reads_table = true},
            Op{.name = "scatter_add",
               .operands = {{"x"}, {"index"}, {"src"}},
               .results = {{"y"}},
               .params = {axis_param(true)},
               .shapes = scatter_shape,
               .compute = scatter_add,
               .flops = one_per_entry<1>},
            Op{.name = "embedding",
               .operands = {{"table"}, {"indices"}},
               .results = {{"y", ResultKind::any}},
               .params = {},
               .shapes = embedding_shape,
               .compute = embedding,
               .reads_table = true},
            Op{.name = "histogram",
               .operands = {{"x"}},
               .results = {{"counts", ResultKind::index}},
               .params = {{.name = "bins", .kind = ParamKind::integer, .minimum = 1}},
               .shapes = histogram_shape,
               .compute = histogram,
               .flops = one_per_entry<0>}};
}

}  // namespace kernelwright::reference

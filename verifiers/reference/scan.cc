// cumsum, inclusive or exclusive, in either direction.
#include "verifiers/reference/op.h"
#include "verifiers/reference/parallel.h"
#include "verifiers/reference/sums.h"

namespace kernelwright::reference {
namespace {

Result<std::vector<Shape>> scan_shape(const Call& call) {
    if (call.shape(0).empty()) return shape_error(call, "the input is a scalar");
    return std::vector<Shape>{call.shape(0)};
}

Result<std::vector<Expected>> cumsum(const Call& call) {
    const Array& x = call.array(0);
    const RowLayout layout = row_layout(x.shape, {call.axis(x.shape.size())});
    const std::int64_t n = layout.n();
    const bool exclusive = call.flag("exclusive"), reverse = call.flag("reverse");
    const bool integers = call.integral() && !is_float(call.results[0]);
    const Precision p = call.precision();
    const bool stored_wide = call.results[0] == p.type;
    Builder y(call.results[0], x.shape,
              "i-1 additions before element i in any order: (i-1) u sum|x| (Higham eq. 4.4), 0 where exact");
    parallel_for(layout.count(), static_cast<double>(n) * 10, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            SumFacts facts;
            std::uint64_t total = 0;
            for (std::int64_t step = 0; step < n; ++step) {
                const std::int64_t k = reverse ? n - 1 - step : step;
                const std::int64_t at =
                    layout.rows[static_cast<std::size_t>(r)] + layout.elements[static_cast<std::size_t>(k)];
                const SumFacts before = facts;
                const std::uint64_t total_before = total;
                facts.add(x.values[static_cast<std::size_t>(at)]);
                if (integers) {
                    total += static_cast<std::uint64_t>(x.integers[static_cast<std::size_t>(at)]);
                    y.set_integer(at, static_cast<std::int64_t>(exclusive ? total_before : total));
                    continue;
                }
                // An exclusive scan may be the inclusive one less its own term: one more term and rounding.
                const double error = sum_error(p, facts.magnitude, facts.quantum,
                                               facts.terms + (exclusive ? 1 : 0), 0, stored_wide);
                y.set(at, exclusive ? before.value : facts.value, exclusive && step == 0 ? 0 : error);
            }
        }
    });
    return std::vector<Expected>{y.take()};
}

double flops(const Call& call, const std::vector<OutputSpec>&) {
    return static_cast<double>(element_count(call.shape(0)));
}

}  // namespace

std::vector<Op> scan_ops() {
    return {Op{.name = "cumsum",
               .operands = {{"x"}},
               .results = {{"y"}},
               .params = {axis_param(true),
                          {.name = "exclusive", .kind = ParamKind::boolean, .default_text = "false"},
                          {.name = "reverse", .kind = ParamKind::boolean, .default_text = "false"}},
               .shapes = scan_shape,
               .compute = cumsum,
               .flops = flops}};
}

}  // namespace kernelwright::reference

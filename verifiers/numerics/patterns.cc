#include "verifiers/numerics/patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelwright {
namespace {

struct View {
    const Expected& expected;
    const std::vector<double>& got;
    std::int64_t count, columns, rows;

    double want(std::int64_t i) const { return expected.value[static_cast<std::size_t>(i)]; }
    double have(std::int64_t i) const { return got[static_cast<std::size_t>(i)]; }
    // Near enough to call a pattern, not to pass.
    bool close(double a, double b) const {
        if (std::isnan(a) || std::isnan(b)) return false;
        return a == b || std::fabs(a - b) <= 1e-3 * std::max(std::fabs(a), std::fabs(b));
    }
};

template <class Test>
bool all(std::int64_t count, const Test& test) {
    for (std::int64_t i = 0; i < count; ++i) {
        if (!test(i)) return false;
    }
    return count > 0;
}

bool varied(const View& v) {
    return !all(v.count, [&](std::int64_t i) { return v.want(i) == v.want(0); });
}

Pattern whole(const View& v, const CompareOptions& options) {
    if (all(v.count, [&](std::int64_t i) { return v.have(i) == 0; })) {
        return {.what = "the output is all zeros", .where = {}, .hint = {}};
    }
    if (all(v.count, [&](std::int64_t i) { return std::isnan(v.have(i)); })) {
        return {.what = "every element is NaN",
                .where = {},
                .hint = "look for 0/0, inf - inf, or reads of undefined memory"};
    }
    for (const auto& [name, tensor] : options.inputs) {
        if (tensor == nullptr || tensor->count() != v.count || !varied(v)) continue;
        const std::vector<double> values = tensor->values();
        if (all(v.count, [&](std::int64_t i) {
                const double x = values[static_cast<std::size_t>(i)];
                return x == v.have(i) || (std::isnan(x) && std::isnan(v.have(i)));
            })) {
            return {.what = fmt::format("the output equals the input `{}`", name), .where = {}, .hint = {}};
        }
    }
    if (v.count > 1 && varied(v) && all(v.count, [&](std::int64_t i) { return v.have(i) == v.have(0); })) {
        return {.what = "every element has the same value", .where = {}, .hint = {}};
    }
    return {};
}

Pattern rearranged(const View& v) {
    if (v.count < 4 || !varied(v)) return {};
    // Either the store's index or the load's is exchanged.
    const auto stored = [&](std::int64_t i) { return i % v.rows * v.columns + i / v.rows; };
    const auto loaded = [&](std::int64_t i) { return i % v.columns * v.rows + i / v.columns; };
    if (v.rows > 1 && v.columns > 1 &&
        (all(v.count, [&](std::int64_t i) { return v.close(v.have(i), v.want(stored(i))); }) ||
         all(v.count, [&](std::int64_t i) { return v.close(v.have(i), v.want(loaded(i))); }))) {
        return {.what = "the values are right but transposed",
                .where = {},
                .hint = "rows and columns are exchanged in the store's or the load's index"};
    }
    for (const int step : {1, -1}) {
        const auto fits = [&](std::int64_t i) {
            const std::int64_t j = i + step;
            return j < 0 || j >= v.count || v.close(v.have(i), v.want(j));
        };
        if (all(v.count, fits)) {
            return {.what = fmt::format("the values are right but shifted by one element {}",
                                        step > 0 ? "towards the start" : "towards the end"),
                    .where = {},
                    .hint = "an index is off by one"};
        }
    }
    if (all(v.count,
            [&](std::int64_t i) {
                const std::int64_t mirrored = i / v.columns * v.columns + (v.columns - 1 - i % v.columns);
                return v.close(v.have(i), v.want(mirrored));
            }) &&
        v.columns > 1) {
        return {.what = "each row is reversed", .where = {}, .hint = {}};
    }
    return {};
}

// got = factor * expected, by row or for the whole output.
Pattern scaled(const View& v) {
    if (!is_float(v.expected.dtype) || v.count < 3) return {};
    std::vector<double> factors;
    for (std::int64_t r = 0; r < v.rows; ++r) {
        double factor = std::nan("");
        for (std::int64_t c = 0; c < v.columns; ++c) {
            const double want = v.want(r * v.columns + c), have = v.have(r * v.columns + c);
            if (!std::isfinite(want) || !std::isfinite(have)) return {};
            if (want == 0) {
                if (have != 0) return {};
                continue;
            }
            if (std::isnan(factor)) factor = have / want;
            if (std::fabs(have - factor * want) > 1e-3 * std::fabs(factor * want)) return {};
        }
        if (!std::isnan(factor)) factors.push_back(factor);
    }
    if (factors.empty()) return {};
    const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
    if (std::fabs(*high - *low) <= 2e-3 * std::fabs(*high)) {
        if (std::fabs(*high - 1) < 2e-3) return {};
        if (std::fabs(*high + 1) < 2e-3) return {.what = "the sign is wrong", .where = {}, .hint = {}};
        return {.what = fmt::format("every element is {:.4g} times the expected value", *high),
                .where = {},
                .hint = {}};
    }
    if (v.columns > 1 && v.rows > 1) {
        return {.what = "each row is off by a constant factor of its own",
                .where = {},
                .hint = "a row's normaliser (sum, norm, scale) is wrong"};
    }
    return {};
}

Pattern precision(const View& v, const std::vector<bool>& wrong) {
    if (!is_float(v.expected.dtype)) return {};
    double largest = 0;
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < v.count; ++i) {
        if (!wrong[static_cast<std::size_t>(i)]) continue;
        const double want = v.want(i), have = v.have(i);
        if (!std::isfinite(want) || !std::isfinite(have) || want == 0) return {};
        largest = std::max(largest, std::fabs(have - want) / std::fabs(want));
        ++number;
    }
    // bfloat16, the coarsest type that stands in for f32 and f16, errs by 0.4 % in one rounding.
    const double coarsest = significand_bits(v.expected.dtype) > 8 ? 1e-2 : 5e-2;
    if (number == 0 || largest > coarsest) return {};
    return {
        .what = fmt::format(
            "the relative errors are at most {:.2g}: too little precision rather than a wrong formula",
            largest),
        .where = {},
        .hint =
            "keep operands and accumulators in the task's precision; look for half or tf32 intermediates, "
            "sums in a narrow type, fast intrinsics outside their range"};
}

std::string where_wrong(const View& v, const std::vector<bool>& wrong) {
    std::int64_t number = 0, first = -1, last = -1, first_column = v.columns, first_row = -1, last_row = -1;
    std::int64_t last_column = -1, nans = 0;
    for (std::int64_t i = 0; i < v.count; ++i) {
        if (!wrong[static_cast<std::size_t>(i)]) continue;
        ++number;
        if (first < 0) first = i;
        last = i;
        first_column = std::min(first_column, i % v.columns);
        last_column = std::max(last_column, i % v.columns);
        if (first_row < 0) first_row = i / v.columns;
        last_row = i / v.columns;
        if (std::isnan(v.have(i)) && !std::isnan(v.want(i))) ++nans;
    }
    if (number == 0 || number == v.count) return {};
    if (number == last - first + 1 && last == v.count - 1 && v.rows == 1) {
        return fmt::format("only the last {} element{} wrong", number, number == 1 ? " is" : "s are");
    }
    const std::int64_t rows_touched = last_row - first_row + 1;
    if (v.columns > 1 && number == rows_touched * v.columns) {
        if (last_row == v.rows - 1)
            return fmt::format("only the last {} of {} rows are wrong", rows_touched, v.rows);
        return fmt::format("only rows {} to {} are wrong", first_row, last_row);
    }
    if (v.rows > 1 && first_column > 0 && last_column == v.columns - 1) {
        return fmt::format("only columns from {} on are wrong", first_column);
    }
    if (v.columns > 1 && last_column == 0) return "only the first column is wrong";
    if (nans == number) return fmt::format("{} NaN where a number is expected", nans);
    return {};
}

}  // namespace

Pattern recognise(const Expected& expected, const Tensor& got, const std::vector<bool>& wrong,
                  const CompareOptions& options) {
    const std::vector<double> values = got.values();
    View v{expected, values, static_cast<std::int64_t>(values.size()), 1, 1};
    v.columns = expected.shape.empty() ? 1 : std::max<std::int64_t>(expected.shape.back(), 1);
    v.rows = std::max<std::int64_t>(v.count / v.columns, 1);
    const bool partial = options.written != nullptr;
    Pattern found;
    const bool complete = !partial || std::all_of(options.written->begin(), options.written->end(),
                                                  [](bool written) { return written; });
    if (complete) {
        found = whole(v, options);
        if (found.what.empty()) found = rearranged(v);
        if (found.what.empty()) found = scaled(v);
        if (found.what.empty()) found = precision(v, wrong);
    }
    if (found.where.empty()) found.where = where_wrong(v, wrong);
    return found;
}

}  // namespace kernelwright

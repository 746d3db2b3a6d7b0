#include "verifiers/numerics/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "verifiers/numerics/patterns.h"
#include "verifiers/reference/rounding.h"

namespace kernelwright {
namespace {

using reference::Rounder;

std::string shown(DType dtype, double value) {
    if (!is_float(dtype)) return fmt::format("{:.0f}", value);
    if (std::isnan(value)) return "NaN";
    return fmt::format("{:.9g}", value);
}

Shape position(const Shape& shape, std::int64_t index) {
    Shape out(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
        out[d] = index % shape[d];
        index /= shape[d];
    }
    return out;
}

std::string place(const std::string& name, const Shape& at) {
    if (at.empty()) return name;
    std::string out = name + "[";
    for (std::size_t d = 0; d < at.size(); ++d) out += fmt::format("{}{}", d == 0 ? "" : ",", at[d]);
    return out + "]";
}

class Judge {
  public:
    Judge(const Expected& expected, const Tensor& got, const CompareOptions& options)
        : expected_(expected), got_(got), options_(options), rounder_(expected.dtype) {
        for (const Expected::Alternatives& a : expected.alternatives) alternatives_[a.index] = &a;
    }

    double bound(std::int64_t i) const {
        const double value = expected_.value[static_cast<std::size_t>(i)];
        if (options_.tolerance) return options_.tolerance->abs + options_.tolerance->rel * std::fabs(value);
        return options_.exact ? 0 : expected_.tolerance[static_cast<std::size_t>(i)];
    }

    bool right(std::int64_t i) const {
        const auto k = static_cast<std::size_t>(i);
        if (!expected_.integer.empty()) {
            const std::int64_t got = got_.integer_at(i);
            if (got == expected_.integer[k]) return true;
            if (const auto* alternatives = alternatives_of(i)) {
                for (const double value : alternatives->values) {
                    if (static_cast<double>(got) == value) return true;
                }
            }
            return options_.tolerance && std::fabs(static_cast<double>(got) - expected_.value[k]) <= bound(i);
        }
        if (const auto* alternatives = alternatives_of(i)) {
            for (const double other : alternatives->values) {
                if (same(got_.at(i), other)) return true;
            }
        }
        if (!expected_.second.empty() && right_by(i, expected_.second[k])) return true;
        return right_by(i, expected_.value[k]);
    }

    bool right_by(std::int64_t i, double value) const {
        const double got = got_.at(i);
        if (std::isnan(value)) return std::isnan(got);
        if (options_.exact && !options_.tolerance) return equal_bits(i, value);
        const double limit = bound(i);
        if (std::isinf(limit)) return true;  // no answer can be asked for: docs/tolerances.md
        if (std::isnan(got)) return false;
        if (std::isinf(value)) return got == value;
        if (limit == 0) return got == rounder_.round(value);
        // An infinity is right where the value may round to it.
        if (std::isinf(got)) return rounder_.round(value + std::copysign(limit, value)) == got;
        return std::fabs(got - value) <= limit;
    }

    double error(std::int64_t i) const {
        const double value = expected_.value[static_cast<std::size_t>(i)];
        const double got = got_.at(i);
        if (std::isnan(value) && std::isnan(got)) return 0;
        if (got == value) return 0;
        const double difference = std::fabs(got - value);
        return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    }

    double ulps(std::int64_t i) const {
        const double difference = error(i);
        if (!rounder_.floating()) return difference;
        const double value = std::fabs(expected_.value[static_cast<std::size_t>(i)]);
        if (difference == 0 || !std::isfinite(value)) return difference;
        return difference / (2 * rounder_.half_ulp(std::min(value, rounder_.largest())));
    }

  private:
    const Expected::Alternatives* alternatives_of(std::int64_t i) const {
        if (alternatives_.empty()) return nullptr;
        const auto it = alternatives_.find(i);
        return it == alternatives_.end() ? nullptr : it->second;
    }
    static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
    bool equal_bits(std::int64_t i, double value) const {
        const double rounded = rounder_.round(value);
        const double got = got_.at(i);
        if (got != rounded) return false;
        return rounded != 0 || !expected_.signed_zero || std::signbit(got) == std::signbit(rounded);
    }

    const Expected& expected_;
    const Tensor& got_;
    const CompareOptions& options_;
    Rounder rounder_;
    std::map<std::int64_t, const Expected::Alternatives*> alternatives_;
};

}  // namespace

Comparison compare(const Expected& expected, const Tensor& got, const CompareOptions& options) {
    const std::int64_t count = element_count(expected.shape);
    if (got.count() != count || got.dtype != expected.dtype) {
        throw std::logic_error("compare: the output's dtype or number of elements is not the expected one");
    }
    Comparison out;
    const Judge judge(expected, got, options);
    std::vector<bool> wrong(static_cast<std::size_t>(count), false);
    double worst = -1;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const bool unwritten =
            options.written != nullptr && k < options.written->size() && !(*options.written)[k];
        if (unwritten && options.ignore_unwritten) continue;
        ++out.compared;
        const bool right = !unwritten && judge.right(i);
        const double error = judge.error(i);
        if (right) {
            if (error > 0) {
                out.largest_ulps = std::max(out.largest_ulps, judge.ulps(i));
                const double bound = judge.bound(i);
                if (bound > 0 && std::isfinite(bound))
                    out.largest_ratio = std::max(out.largest_ratio, error / bound);
            }
            continue;
        }
        wrong[k] = true;
        ++out.wrong;
        out.unwritten += unwritten ? 1 : 0;
        if (out.first < 0) out.first = i;
        const double bound = judge.bound(i);
        const double excess = unwritten ? 0 : error / std::max(bound, 1e-300);
        if (excess > worst) {
            worst = excess;
            out.worst = i;
        }
    }
    if (out.wrong == 0) return out;
    const auto k = static_cast<std::size_t>(out.worst);
    out.worst_index =
        position(got.shape.size() == expected.shape.size() ? got.shape : expected.shape, out.worst);
    out.got = got.at(out.worst);
    out.expected = expected.value[k];
    out.error = judge.error(out.worst);
    out.bound = judge.bound(out.worst);
    out.ulps = judge.ulps(out.worst);
    out.largest_ulps = std::max(out.largest_ulps, out.ulps);

    std::string share =
        out.wrong == out.compared
            ? (out.compared == 1 ? "the only element" : fmt::format("all {} elements", out.compared))
            : fmt::format("{} of {} elements", out.wrong, out.compared);
    if (out.unwritten == out.wrong) {
        out.rule = "unwritten-output";
        out.message = fmt::format("{} was never written; {} unwritten",
                                  place(options.name, position(expected.shape, out.first)), share);
        const Pattern pattern = recognise(expected, got, wrong, options);
        if (!pattern.where.empty()) out.message += ": " + pattern.where;
        out.pattern = pattern.where;
        out.hint =
            "every element of an output must be stored; check the grid's size and the guards of the tail";
        return out;
    }
    out.rule = "wrong-value";
    std::string bound;
    if (options.exact && !options.tolerance) {
        bound = "equal bits asked for";
    } else if (!is_float(expected.dtype)) {
        bound = "exact";
    } else if (out.bound == 0) {
        bound = "the correctly rounded value asked for";
    } else {
        bound = fmt::format("error {:.3g}, bound {:.3g}", out.error, out.bound);
    }
    out.message =
        fmt::format("{} = {}, expected {} ({}); {} wrong", place(options.name, out.worst_index),
                    shown(expected.dtype, out.got), shown(expected.dtype, out.expected), bound, share);
    const Pattern pattern = recognise(expected, got, wrong, options);
    out.pattern = pattern.what;
    if (!pattern.what.empty()) out.message += "; " + pattern.what;
    if (!pattern.where.empty()) {
        out.message += "; " + pattern.where;
        if (out.pattern.empty()) out.pattern = pattern.where;
    }
    out.hint = pattern.hint;
    return out;
}

}  // namespace kernelwright

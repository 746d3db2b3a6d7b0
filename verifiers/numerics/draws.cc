// Each case is a rule for one element, given its position, a stream of random numbers and what the operand
// can bear (domains.h). What the page says about an input (`values`, `range`) binds every case; only plain
// `normal` and `uniform` leave the values free.
#include "verifiers/numerics/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <string_view>

#include "harness/core/text.h"
#include "verifiers/numerics/domains.h"
#include "verifiers/numerics/random.h"

namespace kernelwright {
namespace {

struct Element {
    std::int64_t i, row, column, rows, columns;
};

constexpr std::uint64_t name_hash(std::string_view name) {
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return h;
}

// The name of a draw, hashed by the compiler: it is asked for at every element.
struct CaseName {
    std::uint64_t hash;
    consteval CaseName(const char* name) : hash(name_hash(name)) {}
};

// What one input's elements are made from.
struct Source {
    const TensorSpec& spec;
    const Domain& domain;
    const std::string& case_name;
    RandomStream random;
    std::size_t input = 0;
    std::int64_t integer_lo = 0, integer_hi = 0;  // indices(N), ints(lo,hi)

    std::uint64_t case_hash = name_hash(case_name);

    bool is(CaseName name) const { return case_hash == name.hash; }
};

double clamp(double x, double lo, double hi) { return std::min(std::max(x, lo), hi); }

// Magnitude below which a draw of tiny values lies: products of two stay normal in the accumulation type.
double tiny_scale(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return 0x1p-300;
        case DType::f16:
        case DType::e5m2:
            return 0x1p-8;
        case DType::e4m3:
            return 0x1p-4;
        case DType::e2m1:
            return 1;
        default:
            return 0x1p-40;
    }
}

// The difference of mean squares is off by u mean^2, the bound of a sound variance by n u mean: between the
// two lies a mean that shows the one and does not make the other meaningless.
double large_mean(DType dtype, std::int64_t terms) {
    const int bits = significand_bits(dtype);
    if (bits < 24) return bits == 11 ? 100 : bits == 8 ? 32 : 4;
    return clamp(0x1p21 / static_cast<double>(terms), 3000, 30000);
}

// Integers of full width meet small ones, so that every partial sum still fits the accumulation type.
double wide_integer(const Source& s, const Element& e, bool this_one) {
    if (!this_one) return s.random.integer(e.i, 0, 1) == 0 ? -1 : 1;
    const auto bound = static_cast<std::int64_t>(s.domain.wide_limit);
    return static_cast<double>(s.random.integer(e.i, -bound, bound));
}

double plain(const Source& s, const Element& e) {
    const std::string& kind = s.spec.values.kind;
    const std::vector<double>& a = s.spec.values.arguments;
    if (kind == "uniform") {
        const double lo = !a.empty() ? a[0] : 0, hi = a.size() > 1 ? a[1] : 1;
        return lo + (hi - lo) * s.random.uniform(e.i);
    }
    if (kind == "sparse") {
        const double density = 1 - (a.empty() ? 0.9 : a[0]);
        return s.random.uniform(e.i, 7) < density ? s.random.normal(e.i) : 0.0;
    }
    return s.random.normal(e.i) * s.domain.typical;
}

// The last few numbers before the operand's end: below every constant that a maximum might start from.
double beside_extreme(const Source& s, const Element& e) {
    const double end = s.is("highest") ? std::fabs(s.domain.extreme) : s.domain.extreme;
    if (end == 0) return plain(s, e);
    if (s.domain.whole_extreme) {
        const std::int64_t nearer = e.column == 0 ? s.random.integer(e.i, 0, 1) : 0;
        return end - std::copysign(static_cast<double>(nearer), end);
    }
    const double step = std::ldexp(1.0, std::ilogb(end) + 1 - significand_bits(s.spec.dtype));
    return end - std::copysign(step * static_cast<double>(s.random.integer(e.i, 0, 3)), end);
}

double adversarial(const Source& s, const Element& e) {
    if (s.is("normal")) return plain(s, e);
    const Domain& d = s.domain;
    const double z = s.random.normal(e.i);
    if (s.is("integers")) {
        const auto bound = static_cast<std::int64_t>(d.integer_limit);
        const auto value = s.random.integer(e.i, -bound, bound);
        return static_cast<double>(value);
    }
    if (s.is("wide_integers")) return wide_integer(s, e, s.input == 0 || d.terms <= 2);
    if (s.is("wide_integers_second")) return wide_integer(s, e, s.input == 1);
    if (s.is("ties")) {
        constexpr double few[] = {-1, 0.5, 0.5, 1};
        return few[s.random.integer(e.i, 0, 3)];
    }
    if (s.is("huge")) return z * (d.limit / 4);
    if (s.is("tiny")) return z * tiny_scale(s.spec.dtype);
    if (s.is("large_mean")) {
        const double mean = std::min(large_mean(s.spec.dtype, d.terms), d.limit / 2);
        return mean + z * std::min(1.0, mean / 8);
    }
    if (s.is("constant")) return s.random.normal(-1) + 1.5;
    // Every other row, the first among them, far below any constant that a maximum might start from.
    if (s.is("negative"))
        return e.row % 2 == 0 ? -(0.5 + s.random.uniform(e.i, 3)) * d.limit / 4 : -std::fabs(z) - 0.25;
    if (s.is("one_hot")) {
        const std::int64_t hot = e.columns - 1 - e.row * 37 % e.columns;
        return e.column == hot ? 1 : 0;
    }
    if (s.is("sorted") || s.is("reversed")) {
        const std::int64_t place = s.is("sorted") ? e.column : e.columns - 1 - e.column;
        const double step =
            (static_cast<double>(place) + s.random.uniform(e.i)) / static_cast<double>(e.columns);
        return 6 * step - 3;
    }
    if (s.is("lowest") || s.is("highest")) return beside_extreme(s, e);
    if (s.is("signed_zeros")) {
        if (s.random.integer(e.i, 0, 3, 9) == 0)
            return d.zero_side == 0 || e.row % 2 == 1 ? z : std::copysign(z, d.zero_side);
        return s.random.integer(e.i, 0, 1) == 0 ? 0.0 : -0.0;
    }
    if (s.is("zero_rows")) return e.row % 2 == 0 ? 0 : z;
    if (s.is("subnormal")) {
        const double step = smallest_positive(s.spec.dtype), top = smallest_normal(s.spec.dtype) / step;
        const auto count = static_cast<std::int64_t>(std::min(top, 0x1p50));
        return static_cast<double>(s.random.integer(e.i, -count, count)) * step;
    }
    if (s.is("sparse")) return s.random.integer(e.i, 0, 9, 7) == 0 ? z : 0;
    if (s.is("spike")) {
        // The last and the first column take turns with any other: a lost tail shows in the first row.
        const std::int64_t any = s.random.integer(e.row, 0, e.columns - 1, 5);
        const std::int64_t up = e.row % 3 == 0 ? e.columns - 1 : e.row % 3 == 1 ? 0 : any;
        const double height =
            std::min(d.limit, is_float(s.spec.dtype) && significand_bits(s.spec.dtype) < 24 ? 1e3 : 1e4);
        return e.column == up ? height : z;
    }
    if (s.is("cancellation")) {
        const double size = std::min(d.limit / 8, 1e4) * s.random.normal(e.i / 2 * 2 - e.row % 2);
        return (e.i % 2 == 0 ? size : -size) + 1e-3 * z;
    }
    return plain(s, e);
}

// Into what the operand can bear and the page allows.
double fit(const Source& s, double x) {
    const Domain& d = s.domain;
    if (d.unit) x = x > 0 && x < 1 ? x : 1 / (1 + x * x);
    if (d.nonpositive) x = -std::fabs(x);
    if (d.positive) x = std::fabs(x);
    if (d.floor > 0 && std::fabs(x) < d.floor)
        x = std::signbit(x) ? std::min(x - d.floor, -d.floor) : x + d.floor;
    const bool to_the_end = d.extreme != 0 && (s.is("lowest") || s.is("highest"));
    if (!to_the_end) x = clamp(x, -d.limit, d.limit);
    if (s.spec.range) {
        const double lo = (*s.spec.range)[0], hi = (*s.spec.range)[1];
        if (to_the_end) return clamp(x, lo, hi);
        if (x < lo || x > hi) {  // fold back instead of piling up at the ends
            const double width = hi - lo;
            if (width <= 0 || !std::isfinite(width)) return clamp(x, lo, hi);
            double phase = std::fmod(x - lo, 2 * width);
            if (phase < 0) phase += 2 * width;
            x = lo + (phase <= width ? phase : 2 * width - phase);
        }
        x = clamp(x, lo, hi);
    }
    return x;
}

// indices(N), ints(lo,hi): both ends always occur where there is room for them.
std::int64_t bound_integer(const Source& s, const Element& e, std::int64_t count) {
    const std::int64_t lo = s.integer_lo, hi = s.integer_hi;
    if (s.is("extreme_indices") || s.is("huge")) return s.random.integer(e.i, 0, 1) == 0 ? lo : hi;
    if (s.is("same_index") || s.is("constant")) return s.random.integer(-2, 0, 1) == 0 ? lo : hi;
    if (s.is("sorted")) {
        const double step = count > 1 ? static_cast<double>(e.i) / static_cast<double>(count - 1) : 0;
        return lo + static_cast<std::int64_t>(std::floor(step * static_cast<double>(hi - lo)));
    }
    if (s.is("ties")) return s.random.integer(e.i, lo, std::min(hi, lo + 2));
    if (count > 2 && e.i == s.random.integer(-3, 0, count - 1)) return hi;
    if (count > 2 && e.i == s.random.integer(-4, 0, count - 1)) return lo;
    return s.random.integer(e.i, lo, hi);
}

// The same for integers: the last few of the type, or of the page's range.
std::int64_t integer_beside_extreme(const Source& s, const Element& e) {
    const bool up = s.is("highest"), wide = bits(s.spec.dtype) == 64;
    std::int64_t lo = wide ? INT64_MIN : static_cast<std::int64_t>(lowest_finite(s.spec.dtype));
    std::int64_t hi = wide ? INT64_MAX : static_cast<std::int64_t>(largest_finite(s.spec.dtype));
    if (s.spec.range) {
        if (std::fabs((*s.spec.range)[0]) < 0x1p62)
            lo = static_cast<std::int64_t>(std::ceil((*s.spec.range)[0]));
        if (std::fabs((*s.spec.range)[1]) < 0x1p62)
            hi = static_cast<std::int64_t>(std::floor((*s.spec.range)[1]));
    }
    return up ? s.random.integer(e.i, hi - 3 > lo ? hi - 3 : lo, hi)
              : s.random.integer(e.i, lo, lo + 3 < hi ? lo + 3 : hi);
}

// Free integers (an i8 matrix): the float rules, scaled to the type.
std::int64_t free_integer(const Source& s, const Element& e) {
    const double top = std::min(s.domain.limit, largest_finite(s.spec.dtype));
    const double low = std::max(-s.domain.limit, lowest_finite(s.spec.dtype));
    const double typical = std::max(1.0, std::min(largest_finite(s.spec.dtype) / 3, 1000.0));
    double x = 0;
    if (s.spec.dtype == DType::boolean) return s.random.integer(e.i, 0, 1);
    if (s.domain.extreme != 0 && (s.is("lowest") || s.is("highest"))) return integer_beside_extreme(s, e);
    if (s.is("huge")) {
        x = s.random.integer(e.i, 0, 3) == 0      ? top
            : s.random.integer(e.i, 0, 1, 3) == 0 ? low
                                                  : s.random.normal(e.i) * top / 2;
    } else if (s.is("normal") || s.is("negative") || s.is("sorted") || s.is("reversed")) {
        x = adversarial(s, e) * typical;
    } else if (s.is("wide_integers") || s.is("wide_integers_second")) {
        x = static_cast<double>(
            s.random.integer(e.i, static_cast<std::int64_t>(low), static_cast<std::int64_t>(top)));
    } else {
        x = adversarial(s, e) * 2;
    }
    if (s.spec.range) x = clamp(x, std::ceil((*s.spec.range)[0]), std::floor((*s.spec.range)[1]));
    return static_cast<std::int64_t>(std::nearbyint(clamp(x, low, top)));
}

// Rows along the last axis scaled to length 1 (keys of a delta rule), or to sum 1.
void scale_rows(Tensor& t, std::vector<double>& values, bool to_sum) {
    const std::int64_t columns = t.shape.empty() ? 1 : t.shape.back();
    for (std::int64_t row = 0; columns > 0 && row < t.count() / columns; ++row) {
        double norm = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            double& x = values[static_cast<std::size_t>(row * columns + c)];
            if (to_sum) x = std::fabs(x);
            norm += to_sum ? x : x * x;
        }
        if (!to_sum) norm = std::sqrt(norm);
        for (std::int64_t c = 0; c < columns; ++c) {
            double& x = values[static_cast<std::size_t>(row * columns + c)];
            if (to_sum) {
                x = norm > 0 && std::isfinite(norm) ? x / norm : 1.0 / static_cast<double>(columns);
            } else if (norm > 1) {
                x /= norm;
            }
        }
    }
    for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, values[static_cast<std::size_t>(i)]);
}

void sort_rows(Tensor& t, std::vector<double>& values) {
    const std::int64_t columns = t.shape.empty() ? 1 : t.shape.back();
    for (std::int64_t row = 0; columns > 0 && row < t.count() / columns; ++row) {
        std::sort(values.begin() + row * columns, values.begin() + (row + 1) * columns);
    }
    for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, values[static_cast<std::size_t>(i)]);
}

// A tensor longer than this repeats itself: drawing tens of millions of values would take longer than using
// them. The length is even (two elements of a packed type share a byte) and divides no usual extent.
constexpr std::int64_t repeat_after = (std::int64_t{1} << 21) - 18;

Tensor draw(const Source& s, const Shape& shape) {
    Tensor t = Tensor::zeros(s.spec.dtype, shape);
    const std::int64_t count = t.count();
    const std::int64_t columns = std::max<std::int64_t>(shape.empty() ? 1 : shape.back(), 1);
    const std::int64_t rows = std::max<std::int64_t>(count / columns, 1);
    const std::string& kind = s.spec.values.kind;
    const auto element = [&](std::int64_t i) { return Element{i, i / columns, i % columns, rows, columns}; };
    if (kind == "const") {
        const double value = s.spec.values.arguments.empty() ? 0 : s.spec.values.arguments[0];
        for (std::int64_t i = 0; i < count; ++i) t.set(i, value);
        return t;
    }
    if (kind == "indices" || kind == "ints") {
        for (std::int64_t i = 0; i < count; ++i) t.set_integer(i, bound_integer(s, element(i), count));
        return t;
    }
    if (!is_float(s.spec.dtype)) {
        for (std::int64_t i = 0; i < count; ++i) t.set_integer(i, free_integer(s, element(i)));
        if (kind == "sorted") {
            std::vector<double> values = t.values();
            sort_rows(t, values);
        }
        return t;
    }
    const bool by_rows = kind == "probabilities" || s.domain.unit_rows || kind == "sorted";
    const std::int64_t fresh = by_rows ? count : std::min(count, repeat_after);
    std::vector<double> values(static_cast<std::size_t>(fresh));
    const bool thinned = kind == "sparse" && !s.is("normal");
    // Every element is a function of its place alone, so parts can be drawn side by side.
    const auto fill = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            double x = fit(s, adversarial(s, element(i)));
            if (thinned && s.random.uniform(i, 7) >= 0.1) x = 0;
            values[static_cast<std::size_t>(i)] = x;
        }
    };
    if (fresh < (1 << 16)) {
        fill(0, fresh);
    } else {
        auto half = std::async(std::launch::async, fill, fresh / 2, fresh);
        fill(0, fresh / 2);
        half.get();
    }
    if (kind == "probabilities" || s.domain.unit_rows) {
        scale_rows(t, values, kind == "probabilities");
    } else if (kind == "sorted") {
        sort_rows(t, values);
    } else {
        for (std::int64_t i = 0; i < fresh; ++i) t.set(i, values[static_cast<std::size_t>(i)]);
        const std::size_t period = storage_bytes(s.spec.dtype, fresh);
        for (std::size_t at = period; at < t.data.size(); at += period) {
            std::memcpy(t.data.data() + at, t.data.data(), std::min(period, t.data.size() - at));
        }
    }
    if (s.is("special") && count > 0) {  // NaN and infinities, a few, where the page allows them
        const double infinity = std::numeric_limits<double>::infinity();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t pick = s.random.integer(i, 0, 15, 11);
            if (pick == 0 && s.spec.special_nan) t.set(i, std::nan(""));
            if (pick == 1 && s.spec.special_inf) t.set(i, infinity);
            if (pick == 2 && s.spec.special_inf) t.set(i, -infinity);
        }
    }
    return t;
}

Result<std::vector<Shape>> shapes_of(const std::vector<TensorSpec>& specs, const SymbolValues& symbols) {
    std::vector<Shape> out;
    for (const TensorSpec& spec : specs) {
        auto shape = spec.shape_at(symbols);
        if (!shape) return shape.error();
        out.push_back(std::move(*shape));
    }
    return out;
}

bool free_values(const TensorSpec& spec) {
    const std::string& kind = spec.values.kind;
    return kind != "indices" && kind != "ints" && kind != "const";
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& all_cases() {
    static const std::vector<std::pair<std::string, std::string>> cases{
        {"normal", "the page's own values"},
        {"integers", "small integers whose sums are exact in any order: every dropped or doubled term shows"},
        {"ties", "few distinct values: order and first-of-equals"},
        {"huge", "as large as the op can bear: missing shifts and narrow accumulators overflow"},
        {"large_mean", "a mean far above the spread: cancelling variances"},
        {"spike", "one element of each row towers above the others"},
        {"wide_integers", "full-width integers against small ones: operands rounded to a narrower type show"},
        {"wide_integers_second", "the same with the second operand wide"},
        {"extreme_indices", "the first and the last index only"},
        {"same_index", "one index for all: every update collides"},
        {"negative", "values below zero only: maxima that start at zero"},
        {"lowest", "next to the lowest number that the op can bear: maxima that start at a constant"},
        {"highest", "next to the highest: minima that start at a constant"},
        {"one_hot", "one 1 per row, at its end in the first row: lost tails"},
        {"sorted", "ascending rows"},
        {"reversed", "descending rows"},
        {"cancellation", "pairs that nearly cancel"},
        {"constant", "all elements equal: zero variance"},
        {"tiny", "small magnitudes"},
        {"zero_rows", "every second row is zero: divisions by a zero norm"},
        {"sparse", "nine of ten elements are zero"},
        {"signed_zeros", "zeros of both signs"},
        {"subnormal", "numbers below the smallest normal one"},
        {"special", "NaN and infinities, where the page allows them"},
    };
    return cases;
}

std::vector<std::string> cases_for(const Task& task) {
    const OpClass kind = op_class(task.op);
    std::vector<std::string> wanted{"normal"};
    const auto add = [&](std::initializer_list<const char*> names) {
        for (const char* name : names) {
            if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.emplace_back(name);
        }
    };
    bool any_free = false, any_free_float = false, any_index = false, any_special = false, any_wide = false;
    for (const TensorSpec& spec : task.inputs) {
        any_free = any_free || free_values(spec);
        any_free_float = any_free_float || (free_values(spec) && is_float(spec.dtype));
        any_index = any_index || spec.values.kind == "indices" || spec.values.kind == "ints";
        any_special = any_special || spec.special_nan || spec.special_inf;
        any_wide = any_wide || (is_float(spec.dtype) && significand_bits(spec.dtype) > 8);
    }
    if (any_index) add({"same_index", "extreme_indices"});
    if (any_free) {
        switch (kind) {
            case OpClass::copy:
                add({"ties", "signed_zeros", "negative", "huge", "sorted", "reversed", "constant",
                     "subnormal"});
                break;
            case OpClass::linear:
                add({"integers", "one_hot", "wide_integers", "huge", "cancellation", "negative", "tiny",
                     "constant"});
                break;
            case OpClass::product:
                add({"integers", "wide_integers", "wide_integers_second", "one_hot", "huge", "cancellation",
                     "tiny", "sparse"});
                break;
            case OpClass::smooth:
                add({"huge", "negative", "tiny", "large_mean", "signed_zeros", "constant", "sorted"});
                break;
            case OpClass::exponential:
                add({"huge", "spike", "large_mean", "negative", "sorted", "reversed", "ties", "one_hot",
                     "constant"});
                break;
            case OpClass::normaliser:
                add({"large_mean", "integers", "huge", "constant", "one_hot", "zero_rows", "spike",
                     "negative", "tiny"});
                break;
            case OpClass::index_only:
                break;
            case OpClass::other:
                add({"integers", "ties", "huge", "large_mean", "negative", "one_hot", "zero_rows", "sorted",
                     "constant", "tiny"});
                break;
        }
        if (task.op == "quantize") std::erase(wanted, "tiny");
        const int side = seeks(task.op);
        if (side > 0) wanted.insert(wanted.begin() + 1, "lowest");
        if (side == -1 || side == 2) wanted.insert(wanted.begin() + 1, "highest");
        if (kind == OpClass::linear) add({"subnormal"});
    }
    if (any_index) add({"sorted"});
    if (any_special) add({"special"});
    std::erase_if(wanted, [&](const std::string& name) {
        if (name == "wide_integers" || name == "wide_integers_second") {
            return task.op == "square" || (any_free_float && !any_wide) ||
                   (name.back() == 'd' && task.inputs.size() < 2);
        }
        return !any_free_float && (name == "tiny" || name == "subnormal" || name == "signed_zeros" ||
                                   name == "cancellation" || name == "large_mean" || name == "spike");
    });
    return wanted;
}

std::string tune_case(const Task& task) {
    const OpClass kind = op_class(task.op);
    const std::vector<std::string> cases = cases_for(task);
    const bool exact = (kind == OpClass::linear || kind == OpClass::product) &&
                       std::find(cases.begin(), cases.end(), "integers") != cases.end();
    return exact ? "integers" : "normal";
}

Result<std::vector<Tensor>> draw_inputs(const Task& task, const SymbolValues& symbols,
                                        const std::string& case_name, std::uint64_t seed) {
    std::vector<std::string> known;
    for (const auto& [name, what] : all_cases()) known.push_back(name);
    if (std::find(known.begin(), known.end(), case_name) == known.end()) {
        return Error{.message =
                         fmt::format("there is no case `{}`{}", case_name, did_you_mean(case_name, known))};
    }
    const auto shapes = shapes_of(task.inputs, symbols);
    if (!shapes) return shapes.error();
    const std::vector<Domain> limits = domains(task, *shapes);
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const TensorSpec& spec = task.inputs[i];
        Source source{spec, limits[i], case_name, RandomStream(seed, case_name + "/" + spec.name), i, 0, 0};
        if (spec.values.kind == "indices" || spec.values.kind == "ints") {
            Environment environment;
            environment.integers.insert(symbols.begin(), symbols.end());
            std::vector<std::int64_t> arguments;
            for (const Expression& expression : spec.values.integer_arguments) {
                const auto value = expression.evaluate(environment);
                if (!value) return value.error();
                arguments.push_back(*value);
            }
            const bool indices = spec.values.kind == "indices";
            if (arguments.size() != (indices ? 1U : 2U)) {
                return Error{.message = fmt::format(
                                 "values of `{}`: {} takes {}", spec.name, spec.values.kind,
                                 indices ? "the number of indices" : "the smallest and the largest"),
                             .file = task.file,
                             .line = spec.line};
            }
            source.integer_lo = indices ? 0 : arguments[0];
            source.integer_hi = indices ? arguments[0] - 1 : arguments[1];
            if (source.integer_hi < source.integer_lo && element_count((*shapes)[i]) > 0) {
                return Error{.message = fmt::format("values of `{}`: there is no integer in {} .. {}",
                                                    spec.name, source.integer_lo, source.integer_hi),
                             .file = task.file,
                             .line = spec.line};
            }
        }
        out.push_back(draw(source, (*shapes)[i]));
    }
    return out;
}

Result<std::vector<Expected>> expected_outputs(const Task& task, const SymbolValues& symbols,
                                               const std::vector<Tensor>& inputs) {
    const auto shapes = shapes_of(task.outputs, symbols);
    if (!shapes) return shapes.error();
    std::vector<std::string> operands;
    for (const TensorSpec& spec : task.inputs) operands.push_back(spec.operand);
    std::vector<DType> dtypes;
    for (const TensorSpec& spec : task.outputs) dtypes.push_back(spec.dtype);
    return compute_reference(task.op, task.params, inputs, operands, dtypes, *shapes);
}

Result<Work> task_work(const Task& task, const SymbolValues& symbols) {
    const auto in = shapes_of(task.inputs, symbols);
    if (!in) return in.error();
    const auto out = shapes_of(task.outputs, symbols);
    if (!out) return out.error();
    std::vector<OutputSpec> inputs, outputs;
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < in->size(); ++i) {
        inputs.push_back({task.inputs[i].dtype, (*in)[i]});
        operands.push_back(task.inputs[i].operand);
    }
    for (std::size_t i = 0; i < out->size(); ++i) outputs.push_back({task.outputs[i].dtype, (*out)[i]});
    return reference_work(task.op, task.params, inputs, operands, outputs);
}

}  // namespace kernelwright

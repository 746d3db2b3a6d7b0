#include "harness/tasks/value_spec.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace kernelwright {
namespace {

struct Kind {
    const char* name;
    std::size_t arguments;
    bool integers;  // arguments are integer expressions of symbols
    const char* form;
};

constexpr Kind kinds[] = {
    {"normal", 0, false, "normal"},
    {"uniform", 2, false, "uniform(a, b)"},
    {"ints", 2, true, "ints(lo, hi)"},
    {"indices", 1, true, "indices(N)"},
    {"probabilities", 0, false, "probabilities"},
    {"sorted", 0, false, "sorted"},
    {"sparse", 1, false, "sparse(p)"},
    {"const", 1, false, "const(v)"},
};

std::vector<std::string> split_arguments(std::string_view inside) {
    std::vector<std::string> out;
    int depth = 0;
    std::string current;
    for (const char c : inside) {
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (c == ',' && depth == 0) {
            out.emplace_back(trim(current));
            current.clear();
        } else {
            current += c;
        }
    }
    if (!out.empty() || !trim(current).empty()) out.emplace_back(trim(current));
    return out;
}

std::optional<Error> check_numbers(const ValueSpec& spec, DType dtype) {
    const auto& a = spec.arguments;
    if (spec.kind == "uniform" && !(a[0] < a[1])) {
        return Error{
            fmt::format("uniform({}, {}) is empty", a[0], a[1]), {}, 0, 0, "the first bound is the smaller"};
    }
    if (spec.kind == "sparse" && !(a[0] >= 0 && a[0] <= 1)) {
        return Error{fmt::format("sparse({}): the share of zeros lies between 0 and 1", a[0])};
    }
    for (const double value : a) {
        if (value < lowest_finite(dtype) || value > largest_finite(dtype)) {
            return Error{fmt::format("{} does not fit {}", value, to_string(dtype))};
        }
    }
    if (spec.kind == "indices" && !is_integer(dtype)) {
        return Error{fmt::format("indices are integers, and the tensor is {}", to_string(dtype))};
    }
    if ((spec.kind == "probabilities" || spec.kind == "uniform") && !is_float(dtype)) {
        return Error{
            fmt::format("{} needs a floating dtype, and the tensor is {}", spec.kind, to_string(dtype)),
            {},
            0,
            0,
            spec.kind == "uniform" ? "write ints(lo, hi)" : ""};
    }
    return std::nullopt;
}

}  // namespace

const std::vector<std::string>& value_kinds() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out;
        for (const Kind& kind : kinds) out.emplace_back(kind.name);
        return out;
    }();
    return names;
}

Result<ValueSpec> parse_value_spec(std::string_view text, DType dtype) {
    text = trim(text);
    const std::size_t open = text.find('(');
    const std::string name(trim(text.substr(0, open)));
    const Kind* kind = nullptr;
    std::string forms;
    for (const Kind& k : kinds) {
        if (name == k.name) kind = &k;
        forms += (forms.empty() ? "" : " ") + std::string(k.form);
    }
    if (!kind) {
        return Error{
            fmt::format("unknown kind `{}`{}", one_line(name, 60), did_you_mean(name, value_kinds())),
            {},
            0,
            0,
            "known: " + forms};
    }
    ValueSpec spec;
    spec.kind = name;
    std::vector<std::string> arguments;
    if (open != std::string_view::npos) {
        if (text.back() != ')')
            return Error{fmt::format("`{}` has no closing parenthesis", one_line(std::string(text), 60))};
        arguments = split_arguments(text.substr(open + 1, text.size() - open - 2));
    }
    if (arguments.size() != kind->arguments) {
        return Error{fmt::format("`{}` takes {} argument{}, not {}", name, kind->arguments,
                                 kind->arguments == 1 ? "" : "s", arguments.size()),
                     {},
                     0,
                     0,
                     fmt::format("write {}", kind->form)};
    }
    for (const std::string& argument : arguments) {
        auto expression = Expression::parse(argument);
        if (!expression) return Error{expression.error().message, {}, 0, 0, expression.error().hint};
        if (kind->integers) {
            if (expression->has_real_literal()) return Error{fmt::format("`{}` is not an integer", argument)};
            spec.integer_arguments.push_back(std::move(*expression));
            continue;
        }
        const auto value = expression->evaluate_real({});
        if (!value || !std::isfinite(*value)) {
            return Error{fmt::format("`{}` is not a number", argument)};
        }
        spec.arguments.push_back(*value);
    }
    if (const auto error = check_numbers(spec, dtype)) return *error;
    return spec;
}

}  // namespace kernelwright

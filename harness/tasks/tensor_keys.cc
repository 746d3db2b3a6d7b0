#include "harness/tasks/task_parser.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "harness/core/text.h"
#include "harness/tasks/dtype_text.h"
#include "harness/tasks/value_spec.h"

namespace kernelwright {

MaybeError TaskParser::inputs() { return tensors("inputs", task_.inputs); }

MaybeError TaskParser::outputs() {
    if (auto error = tensors("outputs", task_.outputs)) return error;
    const YamlNode& node = *root_.find("outputs");
    std::set<std::string> taken;
    for (const TensorSpec& tensor : task_.outputs) {
        if (tensor.inplace_of.empty()) continue;
        const YamlNode& at = *node.find(tensor.name)->find("inplace_of");
        const TensorSpec* input = task_.find_input(tensor.inplace_of);
        if (!input) {
            std::vector<std::string> names;
            for (const TensorSpec& i : task_.inputs) names.push_back(i.name);
            return doc_.error(at, fmt::format("`inplace_of: {}` names no input{}", tensor.inplace_of,
                                              did_you_mean(tensor.inplace_of, names)));
        }
        if (input->dtype != tensor.dtype) {
            return doc_.error(
                at, fmt::format("`{}` is {} and `{}` is {}: they cannot share a buffer", tensor.name,
                                to_string(tensor.dtype), input->name, to_string(input->dtype)));
        }
        if (input->strides != tensor.strides) {
            return doc_.error(at,
                              fmt::format("`{}` and `{}` have different strides: they cannot share a buffer",
                                          tensor.name, input->name));
        }
        if (!taken.insert(tensor.inplace_of).second) {
            return doc_.error(at, fmt::format("two outputs in place of `{}`", tensor.inplace_of));
        }
    }
    return std::nullopt;
}

MaybeError TaskParser::tensors(const std::string& key, std::vector<TensorSpec>& out) {
    const YamlNode* node = root_.find(key);
    if (!node)
        return missing(key, fmt::format("write `{}:` and a line `  x: {{dtype: f32, shape: [N]}}`", key));
    if (!node->is_map()) return doc_.wrong_kind(*node, "`" + key + "`", "a map of tensors");
    if (node->entries.empty()) return doc_.error(*node, fmt::format("`{}` is empty", key));
    if (node->entries.size() > TaskLimits::tensors) {
        return doc_.error(*node,
                          fmt::format("{} tensors, more than {}", node->entries.size(), TaskLimits::tensors));
    }
    const bool input = key == "inputs";
    for (const auto& [name, value] : node->entries) {
        if (auto error = claim(name, name.text, input ? "an input" : "an output")) return error;
        TensorSpec tensor;
        tensor.name = name.text;
        tensor.line = name.line;
        if (auto error = this->tensor(name, value, input, tensor)) return error;
        out.push_back(std::move(tensor));
    }
    return std::nullopt;
}

MaybeError TaskParser::tensor(const YamlNode& name, const YamlNode& node, bool input, TensorSpec& out) {
    const std::string what = fmt::format("`{}`", out.name);
    if (!node.is_map()) return doc_.wrong_kind(node, what, "a map such as {dtype: f32, shape: [N]}");
    static const std::vector<std::string> input_keys = {"dtype",   "shape", "strides", "values",
                                                        "special", "range", "operand"};
    static const std::vector<std::string> output_keys = {"dtype", "shape", "strides", "inplace_of",
                                                         "operand"};
    if (auto error = doc_.unknown_key(node, fmt::format("the {} {}", input ? "input" : "output", what),
                                      input ? input_keys : output_keys)) {
        return error;
    }
    const YamlNode* dtype = node.find("dtype");
    if (!dtype) return doc_.error(name, fmt::format("{} has no dtype", what), "write `dtype: f32`");
    if (!dtype->is_scalar()) return doc_.wrong_kind(*dtype, fmt::format("the dtype of {}", what), "a name");
    const auto type = read_dtype(dtype->text, what);
    if (!type) return doc_.error(*dtype, type.error().message, type.error().hint);
    out.dtype = *type;
    const YamlNode* shape = node.find("shape");
    if (!shape) return doc_.error(name, fmt::format("{} has no shape", what), "write `shape: [M, N]`");
    if (auto error = sizes(*shape, fmt::format("the shape of {}", what), out.shape)) return error;
    if (const YamlNode* strides = node.find("strides")) {
        if (auto error = sizes(*strides, fmt::format("the strides of {}", what), out.strides)) return error;
        if (out.strides.size() != out.shape.size()) {
            return doc_.error(*strides, fmt::format("{} has {} strides for {} extents", what,
                                                    out.strides.size(), out.shape.size()));
        }
        if (bits(out.dtype) < 8) {
            return doc_.error(*strides, fmt::format("{} is {}, which is packed and always dense", what,
                                                    to_string(out.dtype)));
        }
    }
    for (const auto& [key, target] : {std::pair<const char*, std::string*>{"operand", &out.operand},
                                      std::pair<const char*, std::string*>{"inplace_of", &out.inplace_of}}) {
        const YamlNode* text = node.find(key);
        if (!text) continue;
        if (!text->is_scalar() || text->text.empty()) {
            return doc_.wrong_kind(*text, fmt::format("`{}` of {}", key, what), "a name");
        }
        *target = text->text;
    }
    return input ? draws(node, out) : std::nullopt;
}

MaybeError TaskParser::sizes(const YamlNode& node, const std::string& what, std::vector<Expression>& out) {
    if (!node.is_sequence()) return doc_.wrong_kind(node, what, "a list such as [M, N]");
    if (node.items.size() > TaskLimits::rank) {
        return doc_.error(
            node, fmt::format("{} has {} entries, more than {}", what, node.items.size(), TaskLimits::rank));
    }
    for (const YamlNode& item : node.items) {
        if (!item.is_scalar())
            return doc_.wrong_kind(item, "an entry of " + what, "an integer or an expression");
        auto expression = this->expression(item, what);
        if (!expression) return expression.error();
        if (const auto constant = item.integer(); constant && *constant < 0) {
            return doc_.error(item, fmt::format("{} holds the negative number {}", what, *constant));
        }
        out.push_back(std::move(*expression));
    }
    return std::nullopt;
}

Result<Expression> TaskParser::expression(const YamlNode& node, const std::string& what) {
    auto parsed = Expression::parse(node.text);
    const int shift = node.column + (node.quoted ? 1 : 0) - 1;
    if (!parsed) {
        Error error =
            doc_.error(node, fmt::format("{}: {}", what, parsed.error().message), parsed.error().hint);
        error.column = parsed.error().column + shift;
        return error;
    }
    for (const std::string& name : parsed->names()) {
        if (task_.find_symbol(name)) continue;
        std::vector<std::string> known;
        for (const SymbolRange& s : task_.symbols) known.push_back(s.name);
        Error error = doc_.error(node, fmt::format("{} uses `{}`, which is not in `symbols`{}", what, name,
                                                   did_you_mean(name, known)));
        error.column = parsed->column_of(name) + shift;
        return error;
    }
    if (!parsed->kernels().empty())
        return doc_.error(node, fmt::format("{} cannot use resident_blocks", what));
    if (parsed->has_real_literal())
        return doc_.error(node, fmt::format("{} is an integer: `{}`", what, node.text));
    return parsed;
}

MaybeError TaskParser::draws(const YamlNode& node, TensorSpec& out) {
    const std::string what = fmt::format("`{}`", out.name);
    if (const YamlNode* values = node.find("values")) {
        if (!values->is_scalar())
            return doc_.wrong_kind(*values, fmt::format("`values` of {}", what), "text such as ints(0, 9)");
        auto spec = parse_value_spec(values->text, out.dtype);
        if (!spec)
            return doc_.error(*values, fmt::format("`values` of {}: {}", what, spec.error().message),
                              spec.error().hint);
        for (const Expression& argument : spec->integer_arguments) {
            for (const std::string& name : argument.names()) {
                if (!task_.find_symbol(name)) {
                    return doc_.error(
                        *values,
                        fmt::format("`values` of {} uses `{}`, which is not in `symbols`", what, name));
                }
            }
        }
        out.values = std::move(*spec);
    }
    if (const YamlNode* special = node.find("special")) {
        if (!special->is_sequence())
            return doc_.wrong_kind(*special, fmt::format("`special` of {}", what),
                                   "a list such as [nan, inf]");
        if (!is_float(out.dtype)) {
            return doc_.error(*special, fmt::format("{} is {}, which has no NaN and no infinity", what,
                                                    to_string(out.dtype)));
        }
        for (const YamlNode& item : special->items) {
            const std::string text = item.is_scalar() ? item.text : item.describe();
            if (text == "nan" || text == ".nan") {
                out.special_nan = true;
            } else if (text == "inf" || text == ".inf") {
                out.special_inf = true;
            } else {
                return doc_.error(item, fmt::format("`special` of {} holds `{}`", what, one_line(text, 60)),
                                  "it may hold nan and inf");
            }
        }
        if (out.special_inf && (out.dtype == DType::e4m3 || out.dtype == DType::e2m1)) {
            return doc_.error(*special, fmt::format("{} has no infinity", to_string(out.dtype)));
        }
        if (out.special_nan && out.dtype == DType::e2m1) return doc_.error(*special, "e2m1 has no NaN");
    }
    if (const YamlNode* range = node.find("range")) {
        if (!range->is_sequence() || range->items.size() != 2 || !range->items[0].real() ||
            !range->items[1].real()) {
            return doc_.error(*range, fmt::format("`range` of {} must be two numbers [lo, hi]", what));
        }
        const double low = *range->items[0].real(), high = *range->items[1].real();
        if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
            return doc_.error(*range,
                              fmt::format("`range` of {} is empty or not finite: [{}, {}]", what, low, high));
        }
        if (low > largest_finite(out.dtype) || high < lowest_finite(out.dtype)) {
            return doc_.error(
                *range, fmt::format("no value of {} lies in [{}, {}]", to_string(out.dtype), low, high));
        }
        out.range = std::array<double, 2>{low, high};
    }
    return std::nullopt;
}

}  // namespace kernelwright

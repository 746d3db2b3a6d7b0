#include "harness/candidate/plan_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"

namespace kernelwright {

void PlanParser::collect_kernel_names(const YamlNode* kernels) {
    if (!kernels) return;
    for (const YamlNode& item : kernels->items) {
        const YamlNode* name = item.find("name");
        if (name && name->is_scalar()) kernels_.push_back(name->text);
    }
}

void PlanParser::kernel(const YamlNode& node, LaunchPlan& plan) {
    if (!node.is_map())
        return wrong_type(node, "an entry of `kernels`", "a map with name, grid, block and args");
    KernelPlan kernel;
    kernel.line = node.line;
    const YamlNode* name = node.find("name");
    if (name && name->is_scalar()) kernel.name = std::string(trim(name->text));
    kernel_ = kernel.name;
    const std::string what = kernel.name.empty() ? "the kernel" : fmt::format("the kernel `{}`", kernel.name);
    known_keys(
        node, what,
        {"name", "grid", "block", "shared", "args", "when", "cluster", "cooperative", "pdl", "constants"});
    if (!name) {
        report("missing-key", node, "a kernel has no `name`",
               "write `name: ` and the symbol of its extern \"C\" function");
    } else if (kernel.name.empty() || kernel.name.size() > 1000 ||
               one_line(kernel.name, 1000) != kernel.name) {
        wrong_type(*name, "`name`", "a kernel's symbol");
    } else if (!kernel.is_name_expression() && !is_identifier(kernel.name)) {
        report("wrong-type", *name, fmt::format("`{}` is no kernel name", one_line(kernel.name, 80)),
               "write the symbol of an extern \"C\" function, or a C++ name such as `scale<4>`");
    }
    for (const auto& [key, out] : {std::pair{"grid", &kernel.grid}, std::pair{"block", &kernel.block}}) {
        const YamlNode* value = node.find(key);
        if (!value) {
            report("missing-key", node, fmt::format("{} has no `{}`", what, key),
                   fmt::format("write `{}: [256, 1, 1]`", key));
        } else {
            *out = triple(*value, fmt::format("`{}`", key));
        }
    }
    if (const YamlNode* value = node.find("cluster"); value && !value->is_null())
        kernel.cluster = triple(*value, "`cluster`");
    if (const YamlNode* value = node.find("shared")) {
        if (auto bytes = expression(*value, "`shared`")) kernel.shared = *bytes;
    }
    if (const YamlNode* value = node.find("when")) kernel.when = guard(*value);
    if (const YamlNode* value = node.find("cooperative"))
        kernel.cooperative = boolean(*value, "`cooperative`");
    if (const YamlNode* value = node.find("pdl")) kernel.pdl = boolean(*value, "`pdl`");
    if (const YamlNode* value = node.find("constants")) constants(*value, kernel);
    if (const YamlNode* value = node.find("args")) {
        if (!value->is_sequence()) {
            wrong_type(*value, "`args`", "a list such as [x, y, N]");
        } else if (value->items.size() > CandidateLimits::arguments) {
            report(
                "too-large", *value,
                fmt::format("{} arguments, more than {}", value->items.size(), CandidateLimits::arguments));
        } else {
            for (std::size_t i = 0; i < value->items.size(); ++i) argument(value->items[i], i + 1, kernel);
        }
    }
    kernel_.clear();
    plan.kernels.push_back(std::move(kernel));
}

void PlanParser::constants(const YamlNode& node, KernelPlan& kernel) {
    if (node.is_null()) return;
    if (!node.is_map()) return wrong_type(node, "`constants`", "a map such as {c_w: w}");
    for (const auto& [symbol, tensor] : node.entries) {
        std::string buffer;
        if (buffer_name(tensor, fmt::format("the constant `{}`", symbol.text), buffer)) {
            kernel.constants[symbol.text] = buffer;
        }
    }
}

void PlanParser::argument(const YamlNode& node, std::size_t number, KernelPlan& kernel) {
    const std::string what = fmt::format("argument {}", number);
    PlanArgument argument;
    argument.line = node.line;
    if (node.is_map() && (node.find("value") || node.find("dtype"))) {
        known_keys(node, what, {"value", "dtype"});
        const YamlNode* value = node.find("value");
        const YamlNode* dtype = node.find("dtype");
        if (!value)
            report("missing-key", node, fmt::format("{} has no value", what),
                   "write {value: alpha, dtype: f16}");
        if (!dtype)
            report("missing-key", node, fmt::format("{} has no dtype", what),
                   "write {value: alpha, dtype: f16}");
        if (!value || !dtype) return;
        argument.dtype = read_dtype(*dtype, what);
        if (!argument.dtype) return;
        if (bits(*argument.dtype) < 8) {
            return report("wrong-type", *dtype,
                          fmt::format("{}: {} is packed and cannot be an argument", what, dtype->text));
        }
        if (!scalar_argument(*value, what, argument)) return;
        if (argument.kind == PlanArgument::Kind::null ||
            (argument.kind == PlanArgument::Kind::name && !argument.expression)) {
            return report("wrong-type", *value,
                          fmt::format("{}: a dtype belongs to a number, not to {}", what, value->describe()));
        }
    } else if (!scalar_argument(node, what, argument)) {
        return;
    }
    kernel.arguments.push_back(std::move(argument));
}

bool PlanParser::scalar_argument(const YamlNode& node, const std::string& what, PlanArgument& out) {
    out.text = node.is_null() ? "null" : node.text;
    if (node.is_null()) {
        out.kind = PlanArgument::Kind::null;
        return true;
    }
    if (!node.is_scalar()) {
        wrong_type(node, what, "a name, a number, an expression, null or {value: ..., dtype: ...}");
        return false;
    }
    if (const auto value = node.integer()) {
        out.kind = PlanArgument::Kind::integer;
        out.integer = *value;
        return true;
    }
    if (const auto value = node.boolean()) {
        out.kind = PlanArgument::Kind::integer;
        out.integer = *value ? 1 : 0;
        return true;
    }
    if (const auto value = node.real()) {
        out.kind = PlanArgument::Kind::real;
        out.real = *value;
        return true;
    }
    const std::string text(trim(node.text));
    out.kind = PlanArgument::Kind::name;
    if (is_identifier(text)) {
        const auto it = names_.find(text);
        out.text = text;
        if (it != names_.end() && (is_buffer(it->second) || it->second == NameKind::tensormap)) return true;
        if (it != names_.end() && it->second == NameKind::other_param) {
            report("wrong-type", node, fmt::format("{}: the param `{}` is not a number", what, text));
            return false;
        }
        if (it == names_.end()) {
            const auto& facts = device_fact_names();
            if (std::find(facts.begin(), facts.end(), text) == facts.end()) {
                report("unknown-name", node,
                       fmt::format("{} of `{}`: unknown name `{}`{}", what, kernel_, text,
                                   did_you_mean(text, all_names())),
                       defines_.count(text) > 0
                           ? "`defines` reach the source only: write the number in the plan"
                           : names_hint());
                return false;
            }
        }
    } else {
        out.kind = PlanArgument::Kind::expression;
    }
    out.expression = expression(node, what, Use::argument);
    return out.expression.has_value();
}

}  // namespace kernelwright

// Launch plans from YAML. Unlike a task page, a candidate is written by a program that mends many things at
// once, so parsing goes on after an error and reports all it finds, each at its line of the .cu file.
#include "harness/candidate/plan_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/candidate/comments.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr std::size_t max_diagnostics = 50;

Diagnostic plan_diagnostic(std::string rule, Error error, const std::string& file) {
    Diagnostic d;
    d.rule = std::move(rule);
    d.stage = Stage::plan;
    d.file = file;
    d.line = error.line;
    d.column = error.column;
    d.message = std::move(error.message);
    d.hint = std::move(error.hint);
    return d;
}

}  // namespace

const char* describe(NameKind kind) {
    switch (kind) {
        case NameKind::tensor:
            return "a tensor";
        case NameKind::symbol:
            return "a symbol";
        case NameKind::integer_param:
        case NameKind::real_param:
        case NameKind::other_param:
            return "a param";
        case NameKind::scratch:
            return "a scratch buffer";
        case NameKind::tensormap:
            return "a tensor map";
    }
    return "a name";
}

std::map<std::string, NameKind> page_names(const Task& task, const DefaultParams& defaults) {
    std::map<std::string, NameKind> names;
    for (const Json* params : {&defaults, &task.params}) {
        for (const auto& [name, value] : params->items()) {
            names[name] = value.is_number_integer() || value.is_boolean() ? NameKind::integer_param
                          : value.is_number()                             ? NameKind::real_param
                                                                          : NameKind::other_param;
        }
    }
    for (const SymbolRange& symbol : task.symbols) names[symbol.name] = NameKind::symbol;
    for (const TensorSpec& tensor : task.inputs) names[tensor.name] = NameKind::tensor;
    for (const TensorSpec& tensor : task.outputs) names[tensor.name] = NameKind::tensor;
    return names;
}

LaunchPlan PlanParser::run(int line) {
    LaunchPlan plan;
    plan.line = line;
    const YamlNode& root = doc_.root();
    if (!root.is_map()) {
        YamlNode at = root;
        if (root.is_null()) at.line = line;
        report("wrong-type", at, fmt::format("a launch plan must be a map of keys, not {}", root.describe()),
               "write `kernels:` and below it `  - name: ...`");
        return plan;
    }
    known_keys(root, "the plan",
               {"kernels", "scratch", "tensormaps", "when", "target", "options", "defines"});
    const YamlNode* kernels = root.find("kernels");
    collect_kernel_names(kernels);
    if (const YamlNode* node = root.find("scratch")) scratch(*node, plan);
    if (const YamlNode* node = root.find("tensormaps")) tensormaps(*node, plan);
    if (const YamlNode* node = root.find("when")) plan.when = guard(*node);
    if (const YamlNode* node = root.find("target")) target(*node, plan);
    if (const YamlNode* node = root.find("options")) options(*node, plan);
    if (const YamlNode* node = root.find("defines")) defines(*node, plan);
    if (!kernels) {
        YamlNode at;
        at.line = line;
        report("missing-key", at, "the plan has no `kernels`", "list the kernels to launch, in order");
    } else if (!kernels->is_sequence()) {
        wrong_type(*kernels, "`kernels`", "a list of kernels, each beginning with `- name:`");
    } else if (kernels->items.empty()) {
        report("missing-key", *kernels, "`kernels` is empty", "list the kernels to launch, in order");
    } else if (kernels->items.size() > CandidateLimits::kernels) {
        report("too-large", *kernels,
               fmt::format("{} kernels, more than {}", kernels->items.size(), CandidateLimits::kernels));
    } else {
        for (const YamlNode& item : kernels->items) kernel(item, plan);
    }
    return plan;
}

void PlanParser::report(const std::string& rule, const YamlNode& at, std::string message, std::string hint) {
    add(rule, doc_.error(at, std::move(message), std::move(hint)));
}

void PlanParser::add(const std::string& rule, Error error) {
    if (out_.size() >= max_diagnostics) return;
    Diagnostic d;
    d.rule = rule;
    d.stage = Stage::plan;
    d.kernel = kernel_;
    d.file = doc_.file();
    d.line = error.line;
    d.column = error.column;
    d.message = std::move(error.message);
    d.hint = std::move(error.hint);
    out_.push_back(std::move(d));
}

void PlanParser::wrong_type(const YamlNode& at, const std::string& what, const std::string& wanted) {
    add("wrong-type", doc_.wrong_kind(at, what, wanted));
}

void PlanParser::known_keys(const YamlNode& map, const std::string& what,
                            const std::vector<std::string>& known) {
    for (const auto& entry : map.entries) {
        YamlNode one;
        one.kind = YamlNode::Kind::map;
        one.entries.push_back({entry.first, {}});
        if (auto error = doc_.unknown_key(one, what, known)) add("unknown-key", *error);
    }
}

bool PlanParser::claim(const YamlNode& at, const std::string& name, NameKind kind) {
    const auto& reserved = reserved_expression_names();
    if (!is_identifier(name) || std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
        report("wrong-type", at, fmt::format("`{}` cannot name {}", one_line(name, 60), describe(kind)),
               "a name is a letter or _, then letters, digits and _, and no function of expressions");
        return false;
    }
    const auto [it, fresh] = names_.emplace(name, kind);
    if (!fresh) {
        report("duplicate-name", at,
               fmt::format("`{}` is already {}; tensors, symbols, params and scratch share one name space",
                           name, describe(it->second)),
               fmt::format("call {} something else", describe(kind)));
        return false;
    }
    return true;
}

std::vector<std::string> PlanParser::all_names() const {
    std::vector<std::string> out = device_fact_names();
    for (const auto& [name, kind] : names_) out.push_back(name);
    return out;
}

std::string PlanParser::names_hint() const {
    std::string buffers, numbers;
    for (const auto& [name, kind] : names_) {
        std::string& list = is_buffer(kind) || kind == NameKind::tensormap ? buffers : numbers;
        if (kind != NameKind::other_param) list += (list.empty() ? "" : " ") + name;
    }
    return fmt::format("known here: buffers {}; numbers {}", buffers, numbers);
}

std::optional<Expression> PlanParser::expression(const YamlNode& node, const std::string& what, Use use) {
    if (!node.is_scalar()) {
        wrong_type(node, what, "a number or an expression");
        return std::nullopt;
    }
    const int shift = node.column + (node.quoted ? 1 : 0) - 1;
    auto parsed = Expression::parse(node.text);
    if (!parsed) {
        Error error = doc_.error(
            node, fmt::format("{}: `{}`: {}", what, one_line(node.text, 80), parsed.error().message),
            parsed.error().hint);
        error.column = shift + std::max(parsed.error().column, 1);
        add("bad-expression", error);
        return std::nullopt;
    }
    bool sound = true;
    for (const std::string& name : parsed->names()) {
        sound = usable(node, *parsed, name, what, use, shift + parsed->column_of(name)) && sound;
    }
    for (const std::string& kernel : parsed->kernels()) {
        if (std::find(kernels_.begin(), kernels_.end(), kernel) != kernels_.end()) continue;
        report("unknown-name", node,
               fmt::format("{}: resident_blocks({}) names no kernel of this plan{}", what, kernel,
                           did_you_mean(kernel, kernels_)));
        sound = false;
    }
    if (use != Use::argument && parsed->has_real_literal()) {
        report("wrong-type", node,
               fmt::format("{} must be an integer: `{}` holds a real number", what, node.text));
        sound = false;
    }
    if (!sound) return std::nullopt;
    return *parsed;
}

bool PlanParser::usable(const YamlNode& node, const Expression& expression, const std::string& name,
                        const std::string& what, Use use, int column) {
    const auto& facts = device_fact_names();
    if (std::find(facts.begin(), facts.end(), name) != facts.end()) return true;
    YamlNode at = node;
    at.column = column;
    const auto it = names_.find(name);
    if (it == names_.end()) {
        if (use == Use::scratch_shape && scratch_names_.count(name) > 0) return true;
        std::string hint = names_hint();
        if (defines_.count(name) > 0) hint = "`defines` reach the source only: write the number in the plan";
        report("unknown-name", at,
               fmt::format("{}: unknown name `{}`{}", what, name, did_you_mean(name, all_names())), hint);
        return false;
    }
    if (it->second == NameKind::symbol || it->second == NameKind::integer_param) return true;
    if (it->second == NameKind::real_param) {
        if (use == Use::argument) return true;
        report("wrong-type", at,
               fmt::format("{} must be an integer, and the param `{}` is real", what, name));
        return false;
    }
    if (use == Use::scratch_shape && it->second == NameKind::scratch)
        return true;  // cyclic-scratch says it better
    const bool buffer = is_buffer(it->second);
    report("wrong-type", at,
           fmt::format("{}: `{}` is {}, which an expression cannot use: `{}`", what, name,
                       describe(it->second), one_line(std::string(expression.text()), 80)),
           buffer && use == Use::argument ? "pass the buffer and the offset as two arguments" : "");
    return false;
}

std::optional<Expression> PlanParser::guard(const YamlNode& node) { return expression(node, "`when`"); }

// Three entries: a scalar, or a list of one to three.
std::vector<Expression> PlanParser::triple(const YamlNode& node, const std::string& what) {
    std::vector<Expression> out;
    if (node.is_sequence()) {
        if (node.items.empty() || node.items.size() > 3) {
            report("wrong-type", node,
                   fmt::format("{} has {} entries; it has one to three", what, node.items.size()));
            return {};
        }
        for (const YamlNode& item : node.items) {
            if (auto e = expression(item, what)) out.push_back(*e);
        }
        if (out.size() < node.items.size()) return {};
    } else if (auto e = expression(node, what)) {
        out.push_back(*e);
    } else {
        return {};
    }
    while (out.size() < 3) out.push_back(Expression::constant(1));
    return out;
}

bool PlanParser::boolean(const YamlNode& node, const std::string& what) {
    const auto value = node.boolean();
    if (!value) wrong_type(node, what, "true or false");
    return value.value_or(false);
}

void PlanParser::target(const YamlNode& node, LaunchPlan& plan) {
    const std::string text = node.is_scalar() ? node.text : "";
    std::size_t digits = 3;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
    const bool numbered = text.starts_with("sm_") && digits >= 5 && digits <= 6;
    const std::string suffix = numbered ? text.substr(digits) : "?";
    if (!suffix.empty() && suffix != "a" && suffix != "f") {
        report(
            "bad-target", node,
            fmt::format("`target` must be an architecture such as sm_80 or sm_90a, not {}", node.describe()));
        return;
    }
    plan.target = text;
}

void PlanParser::options(const YamlNode& node, LaunchPlan& plan) {
    std::vector<const YamlNode*> items;
    if (node.is_scalar()) items.push_back(&node);
    for (const YamlNode& item : node.items) items.push_back(&item);
    if (!node.is_scalar() && !node.is_sequence()) return wrong_type(node, "`options`", "a list");
    for (const YamlNode* item : items) {
        const std::string text = item->is_scalar() ? item->text : item->describe();
        bool legal = text == "--use_fast_math" || text == "--fmad=false";
        if (text.starts_with("--maxrregcount=")) {
            const std::string number = text.substr(15);
            legal = !number.empty() && number.size() <= 3 &&
                    number.find_first_not_of("0123456789") == std::string::npos && std::stoi(number) >= 16 &&
                    std::stoi(number) <= 255;
        }
        if (!legal) {
            report("bad-option", *item,
                   fmt::format("the compiler option `{}` is not allowed", one_line(text, 80)),
                   "allowed: --use_fast_math, --maxrregcount=N (16 to 255), --fmad=false");
            continue;
        }
        plan.options.push_back(text);
    }
}

void PlanParser::defines(const YamlNode& node, LaunchPlan& plan) {
    if (node.is_null()) return;
    if (!node.is_map()) return wrong_type(node, "`defines`", "a map such as {TILE: 64}");
    for (const auto& [name, value] : node.entries) {
        if (!is_identifier(name.text) || name.text.size() > 100) {
            report("wrong-type", name, fmt::format("`{}` is no macro name", one_line(name.text, 60)));
        } else if (!value.is_scalar() && !value.is_null()) {
            wrong_type(value, fmt::format("the macro `{}`", name.text), "a number or text");
        } else if (value.text.find('\n') != std::string::npos || value.text.size() > 1000) {
            report("wrong-type", value,
                   fmt::format("the macro `{}` is not one line of at most 1000 characters", name.text));
        } else {
            plan.defines[name.text] = value.text;
            defines_.insert(name.text);
        }
    }
}

ParsedCandidate parse_candidate(const Task& task, std::string source, std::string file,
                                const DefaultParams& defaults) {
    ParsedCandidate parsed;
    Candidate& candidate = parsed.candidate;
    candidate.file = std::move(file);
    candidate.source = std::move(source);
    const auto refuse = [&](std::string rule, Error error) {
        parsed.diagnostics.push_back(plan_diagnostic(std::move(rule), std::move(error), candidate.file));
    };
    if (candidate.source.size() > CandidateLimits::source_bytes) {
        refuse("too-large", {fmt::format("the source is {} bytes, more than the {} that are read",
                                         candidate.source.size(), CandidateLimits::source_bytes)});
        candidate.source.clear();
        return parsed;
    }
    if (auto error = not_text(candidate.source, candidate.file)) {
        refuse("not-text", *error);
        candidate.source.clear();
        return parsed;
    }
    const auto comments = find_plan_comments(candidate.source, CandidateLimits::plans + 1);
    if (comments.empty()) {
        refuse("no-plan", {"the candidate has no launch plan",
                           {},
                           1,
                           0,
                           "begin it with a comment `/* kernelwright`, YAML with `kernels:`, and `*/`"});
    }
    if (comments.size() > CandidateLimits::plans) {
        refuse("too-large", {fmt::format("more than {} launch plans", CandidateLimits::plans)});
        return parsed;
    }
    for (const PlanComment& comment : comments) {
        if (!comment.closed) {
            refuse("unclosed-comment",
                   {"the launch plan's comment is not closed", {}, comment.line, 0, "end it with */"});
            continue;
        }
        const auto document = YamlDocument::parse(comment.yaml, candidate.file, comment.line);
        if (!document) {
            refuse("yaml", document.error());
            continue;
        }
        candidate.plans.push_back(
            PlanParser(task, defaults, *document, parsed.diagnostics).run(comment.line));
        const std::size_t count = candidate.plans.size();
        if (count > 1 && !candidate.plans[count - 2].when && parsed.ok()) {
            Diagnostic d = plan_diagnostic(
                "unreachable-plan",
                {"this plan is never launched: the plan before it has no `when` and always holds",
                 {},
                 comment.line,
                 0,
                 "put guarded plans first"},
                candidate.file);
            d.severity = Severity::warning;
            parsed.diagnostics.push_back(std::move(d));
        }
    }
    const std::string code = code_only(candidate.source);
    for (LaunchPlan& plan : candidate.plans) {
        for (KernelPlan& kernel : plan.kernels) kernel.parameters = kernel_parameters(code, kernel.name);
    }
    return parsed;
}

}  // namespace kernelwright

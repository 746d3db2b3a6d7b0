// Launch plans from YAML. Unlike a task page, a candidate is written by a program that mends many things at
// once, so parsing goes on after an error and reports all it finds, each at its line of the .cu file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/candidate/candidate.h"
#include "harness/candidate/comments.h"
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace kernelwright {
namespace {

constexpr std::size_t max_diagnostics = 50;

enum class NameKind { tensor, symbol, integer_param, real_param, other_param, scratch, tensormap };

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

bool is_buffer(NameKind kind) { return kind == NameKind::tensor || kind == NameKind::scratch; }

// Names that the page gives to every plan.
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

class PlanParser {
  public:
    PlanParser(const Task& task, const DefaultParams& defaults, const YamlDocument& document,
               std::vector<Diagnostic>& out)
        : doc_(document), names_(page_names(task, defaults)), out_(out) {}

    LaunchPlan run(int line) {
        LaunchPlan plan;
        plan.line = line;
        const YamlNode& root = doc_.root();
        if (!root.is_map()) {
            YamlNode at = root;
            if (root.is_null()) at.line = line;
            report("wrong-type", at,
                   fmt::format("a launch plan must be a map of keys, not {}", root.describe()),
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

  private:
    // ---- reports ----

    void report(const std::string& rule, const YamlNode& at, std::string message, std::string hint = {}) {
        add(rule, doc_.error(at, std::move(message), std::move(hint)));
    }
    void add(const std::string& rule, Error error) {
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
    void wrong_type(const YamlNode& at, const std::string& what, const std::string& wanted) {
        add("wrong-type", doc_.wrong_kind(at, what, wanted));
    }
    void known_keys(const YamlNode& map, const std::string& what, const std::vector<std::string>& known) {
        for (const auto& entry : map.entries) {
            YamlNode one;
            one.kind = YamlNode::Kind::map;
            one.entries.push_back({entry.first, {}});
            if (auto error = doc_.unknown_key(one, what, known)) add("unknown-key", *error);
        }
    }
    bool claim(const YamlNode& at, const std::string& name, NameKind kind) {
        const auto& reserved = reserved_expression_names();
        if (!is_identifier(name) || std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
            report("wrong-type", at, fmt::format("`{}` cannot name {}", one_line(name, 60), describe(kind)),
                   "a name is a letter or _, then letters, digits and _, and no function of expressions");
            return false;
        }
        const auto [it, fresh] = names_.emplace(name, kind);
        if (!fresh) {
            report(
                "duplicate-name", at,
                fmt::format("`{}` is already {}; tensors, symbols, params and scratch share one name space",
                            name, describe(it->second)),
                fmt::format("call {} something else", describe(kind)));
            return false;
        }
        return true;
    }
    std::vector<std::string> all_names() const {
        std::vector<std::string> out = device_fact_names();
        for (const auto& [name, kind] : names_) out.push_back(name);
        return out;
    }
    std::string names_hint() const {
        std::string buffers, numbers;
        for (const auto& [name, kind] : names_) {
            std::string& list = is_buffer(kind) || kind == NameKind::tensormap ? buffers : numbers;
            if (kind != NameKind::other_param) list += (list.empty() ? "" : " ") + name;
        }
        return fmt::format("known here: buffers {}; numbers {}", buffers, numbers);
    }

    // ---- expressions ----

    enum class Use { integer, argument, scratch_shape };

    std::optional<Expression> expression(const YamlNode& node, const std::string& what,
                                         Use use = Use::integer) {
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

    bool usable(const YamlNode& node, const Expression& expression, const std::string& name,
                const std::string& what, Use use, int column) {
        const auto& facts = device_fact_names();
        if (std::find(facts.begin(), facts.end(), name) != facts.end()) return true;
        YamlNode at = node;
        at.column = column;
        const auto it = names_.find(name);
        if (it == names_.end()) {
            if (use == Use::scratch_shape && scratch_names_.count(name) > 0) return true;
            std::string hint = names_hint();
            if (defines_.count(name) > 0)
                hint = "`defines` reach the source only: write the number in the plan";
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

    std::optional<Expression> guard(const YamlNode& node) { return expression(node, "`when`"); }

    // Three entries: a scalar, or a list of one to three.
    std::vector<Expression> triple(const YamlNode& node, const std::string& what) {
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

    bool boolean(const YamlNode& node, const std::string& what) {
        const auto value = node.boolean();
        if (!value) wrong_type(node, what, "true or false");
        return value.value_or(false);
    }

    // ---- the plan's keys ----

    void collect_kernel_names(const YamlNode* kernels) {
        if (!kernels) return;
        for (const YamlNode& item : kernels->items) {
            const YamlNode* name = item.find("name");
            if (name && name->is_scalar()) kernels_.push_back(name->text);
        }
    }

    void scratch(const YamlNode& node, LaunchPlan& plan) {
        if (node.is_null()) return;
        if (!node.is_map())
            return wrong_type(node, "`scratch`", "a map of buffers such as {part: {dtype: f32, shape: [M]}}");
        if (node.entries.size() > CandidateLimits::scratch) {
            return report("too-large", node,
                          fmt::format("{} scratch buffers, more than {}", node.entries.size(),
                                      CandidateLimits::scratch));
        }
        for (const auto& [name, value] : node.entries) scratch_names_.insert(name.text);
        for (const auto& [name, value] : node.entries) {
            const std::string what = fmt::format("the scratch buffer `{}`", name.text);
            ScratchPlan buffer;
            buffer.name = name.text;
            buffer.line = name.line;
            bool sound = claim(name, name.text, NameKind::scratch);
            if (!value.is_map()) {
                wrong_type(value, what, "a map such as {dtype: f32, shape: [M]}");
                continue;
            }
            known_keys(value, what, {"dtype", "shape"});
            const YamlNode* dtype = value.find("dtype");
            const YamlNode* shape = value.find("shape");
            if (!dtype)
                report("missing-key", name, fmt::format("{} has no dtype", what), "write `dtype: f32`");
            if (!shape)
                report("missing-key", name, fmt::format("{} has no shape", what), "write `shape: [M, N]`");
            if (!dtype || !shape) continue;
            if (const auto type = read_dtype(*dtype, what)) {
                buffer.dtype = *type;
            } else {
                sound = false;
            }
            if (shape->is_sequence() && shape->items.size() <= TaskLimits::rank) {
                for (const YamlNode& item : shape->items) {
                    auto extent = expression(item, fmt::format("the shape of {}", what), Use::scratch_shape);
                    if (extent && !reads_scratch(*extent, item, name.text)) {
                        buffer.shape.push_back(*extent);
                    } else {
                        sound = false;
                    }
                }
            } else if (shape->is_scalar()) {
                auto extent = expression(*shape, fmt::format("the shape of {}", what), Use::scratch_shape);
                if (extent && !reads_scratch(*extent, *shape, name.text)) {
                    buffer.shape.push_back(*extent);
                } else {
                    sound = false;
                }
            } else {
                wrong_type(*shape, fmt::format("the shape of {}", what),
                           fmt::format("a list of at most {} sizes", TaskLimits::rank));
                sound = false;
            }
            if (sound) plan.scratch.push_back(std::move(buffer));
        }
    }

    bool reads_scratch(const Expression& extent, const YamlNode& at, const std::string& self) {
        for (const std::string& name : extent.names()) {
            if (scratch_names_.count(name) == 0) continue;
            report(
                "cyclic-scratch", at,
                name == self
                    ? fmt::format("the shape of the scratch buffer `{}` depends on itself", self)
                    : fmt::format("the shape of the scratch buffer `{}` depends on the scratch buffer `{}`",
                                  self, name),
                "a scratch shape reads symbols, params and numbers only");
            return true;
        }
        return false;
    }

    std::optional<DType> read_dtype(const YamlNode& node, const std::string& what) {
        if (!node.is_scalar()) {
            wrong_type(node, fmt::format("the dtype of {}", what), "a name such as f32");
            return std::nullopt;
        }
        const auto dtype = parse_dtype(node.text);
        if (!dtype) {
            std::vector<std::string> known;
            std::string list;
            for (const DType d : all_dtypes()) known.emplace_back(to_string(d));
            for (const std::string& name : known) list += (list.empty() ? "" : " ") + name;
            report("unknown-dtype", node,
                   fmt::format("unknown dtype `{}` of {}{}", one_line(node.text, 60), what,
                               did_you_mean(node.text, known)),
                   "known: " + list);
        }
        return dtype;
    }

    void tensormaps(const YamlNode& node, LaunchPlan& plan) {
        if (node.is_null()) return;
        if (!node.is_map()) return wrong_type(node, "`tensormaps`", "a map of tensor maps");
        if (node.entries.size() > CandidateLimits::tensormaps) {
            return report("too-large", node,
                          fmt::format("{} tensor maps, more than {}", node.entries.size(),
                                      CandidateLimits::tensormaps));
        }
        for (const auto& [name, value] : node.entries) {
            const std::string what = fmt::format("the tensor map `{}`", name.text);
            TensorMapPlan map;
            map.name = name.text;
            map.line = name.line;
            bool sound = claim(name, name.text, NameKind::tensormap);
            if (!value.is_map()) {
                wrong_type(value, what, "a map such as {tensor: x, box: [64, 128]}");
                continue;
            }
            known_keys(value, what, {"tensor", "box", "dims", "strides", "swizzle", "oob"});
            const YamlNode* tensor = value.find("tensor");
            const YamlNode* box = value.find("box");
            if (!tensor)
                report("missing-key", name, fmt::format("{} has no tensor", what), "write `tensor: x`");
            if (!box)
                report("missing-key", name, fmt::format("{} has no box", what),
                       "write `box: [64, 128]`, innermost first");
            if (!tensor || !box) continue;
            sound = buffer_name(*tensor, fmt::format("`tensor` of {}", what), map.tensor) && sound;
            sound = size_list(*box, fmt::format("the box of {}", what), map.box) && sound;
            if (const YamlNode* dims = value.find("dims"))
                sound = size_list(*dims, fmt::format("the dims of {}", what), map.dims) && sound;
            if (const YamlNode* strides = value.find("strides")) {
                sound = size_list(*strides, fmt::format("the strides of {}", what), map.strides) && sound;
            }
            if (sound && !map.dims.empty() && map.dims.size() != map.box.size()) {
                report(
                    "wrong-type", name,
                    fmt::format("{} has {} dims for {} box entries", what, map.dims.size(), map.box.size()));
                sound = false;
            }
            if (sound && value.find("strides") && map.strides.size() + 1 != map.box.size()) {
                report("wrong-type", name,
                       fmt::format("{} has {} strides for {} box entries", what, map.strides.size(),
                                   map.box.size()),
                       "strides leave out the innermost dimension");
                sound = false;
            }
            if (const YamlNode* swizzle = value.find("swizzle")) {
                const std::string text = swizzle->is_scalar() ? swizzle->text : "";
                if (text == "32" || text == "64" || text == "128") {
                    map.swizzle = std::stoi(text);
                } else if (text != "none") {
                    wrong_type(*swizzle, fmt::format("`swizzle` of {}", what), "none, 32, 64 or 128");
                    sound = false;
                }
            }
            if (const YamlNode* oob = value.find("oob")) {
                map.oob_nan = oob->is_scalar() && oob->text == "nan";
                if (!oob->is_scalar() || (oob->text != "nan" && oob->text != "zero")) {
                    wrong_type(*oob, fmt::format("`oob` of {}", what), "zero or nan");
                    sound = false;
                }
            }
            if (sound) plan.tensormaps.push_back(std::move(map));
        }
    }

    bool size_list(const YamlNode& node, const std::string& what, std::vector<Expression>& out) {
        if (!node.is_sequence() || node.items.size() > 5) {
            wrong_type(node, what, "a list of at most five sizes, the innermost first");
            return false;
        }
        for (const YamlNode& item : node.items) {
            auto size = expression(item, what);
            if (!size) return false;
            out.push_back(*size);
        }
        return true;
    }

    bool buffer_name(const YamlNode& node, const std::string& what, std::string& out) {
        if (!node.is_scalar()) {
            wrong_type(node, what, "a buffer's name");
            return false;
        }
        const auto it = names_.find(node.text);
        if (it == names_.end() || !is_buffer(it->second)) {
            std::vector<std::string> buffers;
            for (const auto& [name, kind] : names_) {
                if (is_buffer(kind)) buffers.push_back(name);
            }
            if (it == names_.end()) {
                report("unknown-name", node,
                       fmt::format("{}: unknown name `{}`{}", what, one_line(node.text, 60),
                                   did_you_mean(node.text, buffers)),
                       names_hint());
            } else {
                report("wrong-type", node,
                       fmt::format("{} must be a buffer, and `{}` is {}", what, node.text,
                                   describe(it->second)));
            }
            return false;
        }
        out = node.text;
        return true;
    }

    void target(const YamlNode& node, LaunchPlan& plan) {
        const std::string text = node.is_scalar() ? node.text : "";
        std::size_t digits = 3;
        while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
        const bool numbered = text.starts_with("sm_") && digits >= 5 && digits <= 6;
        const std::string suffix = numbered ? text.substr(digits) : "?";
        if (!suffix.empty() && suffix != "a" && suffix != "f") {
            report("bad-target", node,
                   fmt::format("`target` must be an architecture such as sm_80 or sm_90a, not {}",
                               node.describe()));
            return;
        }
        plan.target = text;
    }

    void options(const YamlNode& node, LaunchPlan& plan) {
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
                        number.find_first_not_of("0123456789") == std::string::npos &&
                        std::stoi(number) >= 16 && std::stoi(number) <= 255;
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

    void defines(const YamlNode& node, LaunchPlan& plan) {
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

    // ---- a kernel ----

    void kernel(const YamlNode& node, LaunchPlan& plan) {
        if (!node.is_map())
            return wrong_type(node, "an entry of `kernels`", "a map with name, grid, block and args");
        KernelPlan kernel;
        kernel.line = node.line;
        const YamlNode* name = node.find("name");
        if (name && name->is_scalar()) kernel.name = std::string(trim(name->text));
        kernel_ = kernel.name;
        const std::string what =
            kernel.name.empty() ? "the kernel" : fmt::format("the kernel `{}`", kernel.name);
        known_keys(node, what,
                   {"name", "grid", "block", "shared", "args", "when", "cluster", "cooperative", "pdl",
                    "constants"});
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
                report("too-large", *value,
                       fmt::format("{} arguments, more than {}", value->items.size(),
                                   CandidateLimits::arguments));
            } else {
                for (std::size_t i = 0; i < value->items.size(); ++i)
                    argument(value->items[i], i + 1, kernel);
            }
        }
        kernel_.clear();
        plan.kernels.push_back(std::move(kernel));
    }

    void constants(const YamlNode& node, KernelPlan& kernel) {
        if (node.is_null()) return;
        if (!node.is_map()) return wrong_type(node, "`constants`", "a map such as {c_w: w}");
        for (const auto& [symbol, tensor] : node.entries) {
            std::string buffer;
            if (buffer_name(tensor, fmt::format("the constant `{}`", symbol.text), buffer)) {
                kernel.constants[symbol.text] = buffer;
            }
        }
    }

    void argument(const YamlNode& node, std::size_t number, KernelPlan& kernel) {
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
                return report(
                    "wrong-type", *value,
                    fmt::format("{}: a dtype belongs to a number, not to {}", what, value->describe()));
            }
        } else if (!scalar_argument(node, what, argument)) {
            return;
        }
        kernel.arguments.push_back(std::move(argument));
    }

    bool scalar_argument(const YamlNode& node, const std::string& what, PlanArgument& out) {
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
            if (it != names_.end() && (is_buffer(it->second) || it->second == NameKind::tensormap))
                return true;
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

    const YamlDocument& doc_;
    std::map<std::string, NameKind> names_;
    std::vector<Diagnostic>& out_;
    std::vector<std::string> kernels_;
    std::set<std::string> scratch_names_, defines_;
    std::string kernel_;  // the one being read
};

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
    const auto comments = find_plan_comments(candidate.source);
    if (comments.empty()) {
        refuse("no-plan", {"the candidate has no launch plan",
                           {},
                           1,
                           0,
                           "begin it with a comment `/* kernelwright`, YAML with `kernels:`, and `*/`"});
    }
    if (comments.size() > CandidateLimits::plans) {
        refuse("too-large",
               {fmt::format("{} launch plans, more than {}", comments.size(), CandidateLimits::plans)});
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
    return parsed;
}

}  // namespace kernelwright

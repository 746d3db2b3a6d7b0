// The page's parser: split into front matter, prose and reference block; then each key by its own function,
// in an order that lets a later one rely on what an earlier one checked (symbols before shapes before draws).
// The first error ends it: a page is written by a person, who mends one line at a time.
#include "harness/tasks/task_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "harness/core/text.h"
#include "harness/tasks/page.h"

namespace kernelwright {
namespace {

const std::vector<std::string>& page_keys() {
    static const std::vector<std::string> keys = {
        "name",         "summary",     "op",        "params",          "symbols",   "inputs", "outputs",
        "check_shapes", "tune_shapes", "reference", "reference_dtype", "tolerance", "exact"};
    return keys;
}

}  // namespace

MaybeError TaskParser::run() {
    if (!root_.is_map()) {
        return doc_.error(root_,
                          fmt::format("the front matter must be a map of keys, not {}", root_.describe()));
    }
    if (auto error = doc_.unknown_key(root_, "the front matter", page_keys())) return error;
    for (const auto step :
         {&TaskParser::name, &TaskParser::summary, &TaskParser::symbols, &TaskParser::params,
          &TaskParser::inputs, &TaskParser::outputs, &TaskParser::reference, &TaskParser::shapes,
          &TaskParser::at_shapes, &TaskParser::accuracy}) {
        if (auto error = (this->*step)()) return error;
    }
    return std::nullopt;
}

MaybeError TaskParser::missing(const std::string& key, const std::string& hint) {
    YamlNode top;
    top.line = root_.line;
    return doc_.error(top, fmt::format("the key `{}` is missing", key), hint);
}

MaybeError TaskParser::string_key(const std::string& key, std::string& out) {
    const YamlNode* node = root_.find(key);
    if (!node) return std::nullopt;
    if (!node->is_scalar()) return doc_.wrong_kind(*node, "`" + key + "`", "text");
    out = node->text;
    return std::nullopt;
}

MaybeError TaskParser::name() {
    const YamlNode* node = root_.find("name");
    if (!node) return missing("name", "write `name: ` and the file's stem");
    if (auto error = string_key("name", task_.name)) return error;
    const bool legal =
        !task_.name.empty() && task_.name.size() <= 100 &&
        task_.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!legal) {
        return doc_.error(
            *node, fmt::format("the name `{}` is not made of a-z, 0-9 and _", one_line(task_.name, 60)));
    }
    const std::filesystem::path path(task_.file);
    if (path.extension() == ".md" && path.stem() != task_.name) {
        return doc_.error(
            *node, fmt::format("the name `{}` is not the file's stem `{}`", task_.name, path.stem().string()),
            fmt::format("write `name: {}`", path.stem().string()));
    }
    return std::nullopt;
}

MaybeError TaskParser::summary() {
    if (!root_.find("summary")) return missing("summary", "one line that says what the kernel computes");
    if (auto error = string_key("summary", task_.summary)) return error;
    if (trim(task_.summary).empty()) return doc_.error(*root_.find("summary"), "`summary` is empty");
    return std::nullopt;
}

// Tensors, symbols, params and scratch share one name space.
MaybeError TaskParser::claim(const YamlNode& at, const std::string& name, const std::string& what) {
    if (!is_identifier(name)) {
        return doc_.error(at, fmt::format("`{}` is not a name for {}", one_line(name, 60), what),
                          "a name is a letter or _, then letters, digits and _");
    }
    if (name.size() > 100) return doc_.error(at, "a name of more than 100 characters");
    const auto& reserved = reserved_expression_names();
    if (std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
        return doc_.error(
            at, fmt::format("`{}` has a meaning of its own in expressions and cannot name {}", name, what));
    }
    const auto [it, fresh] = names_.emplace(name, what);
    if (!fresh) {
        return doc_.error(
            at, fmt::format("`{}` names {} and {}; names of tensors, symbols and params differ", name,
                            it->second == what ? "two things, " + it->second : it->second, what));
    }
    return std::nullopt;
}

MaybeError TaskParser::symbols() {
    const YamlNode* node = root_.find("symbols");
    if (!node) return std::nullopt;
    if (node->is_sequence()) {
        for (const YamlNode& item : node->items) {
            if (!item.is_scalar()) return doc_.wrong_kind(item, "a symbol", "a name");
            if (auto error = claim(item, item.text, "a symbol")) return error;
            task_.symbols.push_back({item.text, 1, std::nullopt, 1});
        }
    } else if (node->is_map()) {
        if (auto error = cyclic_symbols(*node)) return error;
        for (const auto& [key, value] : node->entries) {
            if (auto error = claim(key, key.text, "a symbol")) return error;
            SymbolRange range;
            range.name = key.text;
            if (auto error = symbol_range(value, range)) return error;
            task_.symbols.push_back(range);
        }
    } else {
        return doc_.wrong_kind(*node, "`symbols`", "a list of names or a map with ranges");
    }
    if (task_.symbols.size() > TaskLimits::symbols) {
        return doc_.error(*node,
                          fmt::format("{} symbols, more than {}", task_.symbols.size(), TaskLimits::symbols));
    }
    return std::nullopt;
}

// Symbols are free sizes; a page that defines them by each other has misunderstood them, and hears so.
MaybeError TaskParser::cyclic_symbols(const YamlNode& map) {
    std::map<std::string, std::set<std::string>> reads;
    const auto collect = [&](const std::string& symbol, const YamlNode& node) {
        if (!node.is_scalar() || node.integer()) return;
        if (const auto expression = Expression::parse(node.text)) {
            for (const std::string& name : expression->names()) {
                if (map.find(name)) reads[symbol].insert(name);
            }
        }
    };
    for (const auto& [key, value] : map.entries) {
        collect(key.text, value);
        for (const auto& [name, bound] : value.entries) collect(key.text, bound);
    }
    for (const auto& [key, value] : map.entries) {
        // follow the first symbol read, at most once around
        std::string chain = key.text, current = key.text;
        for (std::size_t step = 0; step <= reads.size() && reads.count(current) > 0; ++step) {
            current = *reads[current].begin();
            chain += " -> " + current;
            if (current == key.text) {
                return doc_.error(key, fmt::format("the symbols are defined by each other: {}", chain),
                                  "a symbol's min, max and multiple_of are integers");
            }
        }
    }
    return std::nullopt;
}

MaybeError TaskParser::symbol_range(const YamlNode& node, SymbolRange& range) {
    if (node.is_null()) return std::nullopt;
    if (!node.is_map()) {
        return doc_.wrong_kind(node, fmt::format("the range of `{}`", range.name), "a map such as {min: 8}");
    }
    if (auto error = doc_.unknown_key(node, fmt::format("the range of `{}`", range.name),
                                      {"min", "max", "multiple_of"})) {
        return error;
    }
    for (const auto& [key, value] : node.entries) {
        const auto integer = value.integer();
        if (!integer)
            return doc_.wrong_kind(value, fmt::format("`{}` of `{}`", key.text, range.name), "an integer");
        if (*integer < 1) {
            return doc_.error(value, fmt::format("`{}` of `{}` is {}; it must be at least 1", key.text,
                                                 range.name, *integer));
        }
        if (key.text == "min") range.min = *integer;
        if (key.text == "max") range.max = *integer;
        if (key.text == "multiple_of") range.multiple_of = *integer;
    }
    // the smallest legal value
    const std::int64_t rest = range.min % range.multiple_of;
    std::int64_t least = range.min;
    if (rest != 0 && __builtin_add_overflow(range.min, range.multiple_of - rest, &least)) least = INT64_MAX;
    if (range.max && *range.max < least) {
        return doc_.error(node, fmt::format("no value of `{}` lies between {} and {} at multiples of {}",
                                            range.name, range.min, *range.max, range.multiple_of));
    }
    return std::nullopt;
}

MaybeError TaskParser::params() {
    if (auto error = string_key("op", task_.op)) return error;
    const YamlNode* node = root_.find("params");
    if (!node || node->is_null()) return std::nullopt;
    if (!node->is_map()) return doc_.wrong_kind(*node, "`params`", "a map");
    for (const auto& [key, value] : node->entries) {
        if (auto error = claim(key, key.text, "a param")) return error;
        if (value.is_null()) return doc_.error(key, fmt::format("the param `{}` has no value", key.text));
        const auto real = value.real();
        if (real && !std::isfinite(*real)) {
            return doc_.error(value,
                              fmt::format("the param `{}` is {}; a param is finite", key.text, value.text));
        }
    }
    task_.params = to_json(*node);
    return std::nullopt;
}

MaybeError TaskParser::reference() {
    const YamlNode* op = root_.find("op");
    if (op && trim(task_.op).empty()) return doc_.error(*op, "`op` is empty");
    const YamlNode* node = root_.find("reference");
    if (node) {
        if (!node->is_map()) return doc_.wrong_kind(*node, "`reference`", "a map {command: ...}");
        if (auto error = doc_.unknown_key(*node, "`reference`", {"command"})) return error;
        const YamlNode* command = node->find("command");
        if (!command) return doc_.error(*node, "`reference` has no command");
        if (!command->is_scalar() || trim(command->text).empty()) {
            return doc_.wrong_kind(*command, "`command`", "text such as \"python3 ref.py\"");
        }
        task_.reference_command = command->text;
    }
    const int count = (op ? 1 : 0) + (node ? 1 : 0) + (task_.reference_code ? 1 : 0);
    if (count == 0) {
        return missing("op",
                       "or give the page a reference of its own: a ```cuda reference block or "
                       "`reference: {command: ...}`");
    }
    if (count > 1) {
        const YamlNode& at = node ? *node : *op;
        return doc_.error(at,
                          fmt::format("the page has more than one reference: {}{}{}", op ? "`op`" : "",
                                      node ? (op ? " and `reference`" : "`reference`") : "",
                                      task_.reference_code ? fmt::format(" and the block on line {}",
                                                                         task_.reference_code->line - 1)
                                                           : ""),
                          "keep one");
    }
    if (task_.reference_code && trim(task_.reference_code->source).empty()) {
        return Error{"the reference block is empty", task_.file, task_.reference_code->line};
    }
    if (const YamlNode* dtype = root_.find("reference_dtype")) {
        if (!dtype->is_scalar() || dtype->text != "f64") {
            return doc_.error(*dtype,
                              fmt::format("`reference_dtype` must be f64, not {}", dtype->describe()));
        }
        if (!task_.reference_code) {
            return doc_.error(
                *dtype, "`reference_dtype` belongs to a ```cuda reference block, which the page has not");
        }
        task_.reference_dtype = DType::f64;
    }
    return std::nullopt;
}

MaybeError TaskParser::accuracy() {
    if (const YamlNode* exact = root_.find("exact")) {
        const auto value = exact->boolean();
        if (!value) return doc_.wrong_kind(*exact, "`exact`", "true or false");
        task_.exact = *value;
    }
    const YamlNode* node = root_.find("tolerance");
    if (!node) return std::nullopt;
    if (!node->is_map())
        return doc_.wrong_kind(*node, "`tolerance`", "a map such as {y: {abs: 1e-5, rel: 1e-5}}");
    if (task_.exact) return doc_.error(*node, "`tolerance` and `exact: true` exclude each other");
    for (const auto& [name, bound] : node->entries) {
        if (!task_.find_output(name.text)) {
            std::vector<std::string> names;
            for (const TensorSpec& o : task_.outputs) names.push_back(o.name);
            return doc_.error(name, fmt::format("`tolerance` names `{}`, which is no output{}",
                                                one_line(name.text, 60), did_you_mean(name.text, names)));
        }
        if (!bound.is_map() || bound.entries.empty()) {
            return doc_.wrong_kind(bound, fmt::format("the tolerance of `{}`", name.text),
                                   "a map {abs: 1e-5, rel: 1e-5}");
        }
        if (auto error = doc_.unknown_key(bound, "the tolerance of `" + name.text + "`", {"abs", "rel"}))
            return error;
        Tolerance tolerance;
        for (const auto& [key, value] : bound.entries) {
            const auto number = value.real();
            if (!number || !std::isfinite(*number) || *number < 0) {
                return doc_.wrong_kind(value, fmt::format("`{}`", key.text), "a number that is not negative");
            }
            (key.text == "abs" ? tolerance.abs : tolerance.rel) = *number;
        }
        task_.tolerance[name.text] = tolerance;
    }
    return std::nullopt;
}

Result<Task> parse_task(const std::string& text, const std::string& file) {
    if (text.size() > TaskLimits::page_bytes) {
        return Error{fmt::format("the page is {} bytes, more than the {} that are read", text.size(),
                                 TaskLimits::page_bytes),
                     file};
    }
    if (const auto error = not_text(text, file)) return *error;
    if (trim(text).empty()) return Error{"the page is empty", file, 1};
    auto parts = split_page(text, file);
    if (!parts) return parts.error();
    const auto document = YamlDocument::parse(parts->front, file, parts->front_line);
    if (!document) return document.error();
    Task task;
    task.file = file;
    task.source = text;
    task.prose = std::move(parts->prose);
    task.reference_code = std::move(parts->reference);
    if (auto error = TaskParser(*document, task).run()) return *error;
    if (task.prose.empty()) {
        const int line = line_of(text, text.size());
        return Error{"the page has no prose: the model would not know what to write", file, line, 0,
                     "describe the computation after the front matter"};
    }
    return task;
}

}  // namespace kernelwright

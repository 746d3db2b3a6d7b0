// The page's parser: split into front matter, prose and reference block; then each key by its own function,
// in an order that lets a later one rely on what an earlier one checked (symbols before shapes before draws).
// The first error ends it: a page is written by a person, who mends one line at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/core/text.h"
#include "harness/core/yaml.h"
#include "harness/tasks/task.h"
#include "harness/tasks/value_spec.h"

namespace kernelwright {
namespace {

using MaybeError = std::optional<Error>;

const std::vector<std::string>& page_keys() {
    static const std::vector<std::string> keys = {
        "name",         "summary",     "op",        "params",          "symbols",   "inputs", "outputs",
        "check_shapes", "tune_shapes", "reference", "reference_dtype", "tolerance", "exact"};
    return keys;
}

// ---- the page's parts -----------------------------------------------------------------------------------

struct Line {
    std::string_view text;  // without its line end
    std::size_t begin = 0, next = 0;
};

Line line_at(std::string_view text, std::size_t begin) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return {line, begin, std::min(end + 1, text.size())};
}

struct PageParts {
    std::string_view front;  // YAML
    int front_line = 2;
    std::string prose;
    std::optional<ReferenceCode> reference;
};

// A fence is three or more backticks or tildes after at most three blanks; its length, or 0.
std::size_t fence_length(std::string_view line, char& mark) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent > 3 || indent >= line.size() || (line[indent] != '`' && line[indent] != '~')) return 0;
    mark = line[indent];
    const std::size_t end = std::min(line.find_first_not_of(mark, indent), line.size());
    return end - indent >= 3 ? end - indent : 0;
}

Result<PageParts> split_page(std::string_view text, const std::string& file) {
    PageParts parts;
    std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    Line line = line_at(text, at);
    if (trim(line.text) != "---") {
        return Error{"the page has no front matter", file, 1, 0,
                     "begin it with a line `---`, then YAML, then another line `---`"};
    }
    at = line.next;
    const std::size_t front_begin = at;
    while (true) {
        if (at >= text.size()) {
            return Error{"the front matter is not closed", file, 1, 0, "end it with a line `---`"};
        }
        line = line_at(text, at);
        if (line.text.starts_with("---") && trim(line.text) == "---") break;
        at = line.next;
    }
    parts.front = text.substr(front_begin, at - front_begin);
    at = line.next;

    // The body: fences are followed so that a ``` inside another block does not open a reference.
    char fence_mark = 0;
    std::size_t fence = 0, reference_begin = 0;
    int fence_line = 0;
    bool in_reference = false;
    while (at < text.size()) {
        line = line_at(text, at);
        char mark = 0;
        const std::size_t length = fence_length(line.text, mark);
        const std::string_view info = length > 0 ? trim(trim(line.text).substr(length)) : std::string_view{};
        const int number = line_of(text, line.begin);
        if (fence > 0 && length >= fence && mark == fence_mark && info.empty()) {
            if (in_reference) {
                parts.reference = ReferenceCode{
                    std::string(text.substr(reference_begin, line.begin - reference_begin)), fence_line + 1};
            } else {
                parts.prose += std::string(line.text) + "\n";
            }
            in_reference = false;
            fence = 0;
        } else if (fence == 0 && length > 0) {
            fence = length;
            fence_mark = mark;
            fence_line = number;
            std::vector<std::string> words;
            for (const std::string& word : split(info, ' ')) {
                if (!word.empty()) words.push_back(word);
            }
            in_reference = words == std::vector<std::string>{"cuda", "reference"};
            if (words.size() == 2 && words[0] == "cuda" && !in_reference) {
                return Error{fmt::format("a fenced block `cuda {}`{}", words[1],
                                         did_you_mean(words[1], {"reference"})),
                             file, number, 0, "a page's own reference is a block ```cuda reference"};
            }
            if (in_reference && parts.reference) {
                return Error{fmt::format("a second reference block; the first begins on line {}",
                                         parts.reference->line - 1),
                             file, number};
            }
            if (in_reference) reference_begin = line.next;
            if (!in_reference) parts.prose += std::string(line.text) + "\n";
        } else if (!in_reference) {
            parts.prose += std::string(line.text) + "\n";
        }
        at = line.next;
    }
    if (fence > 0) {
        return Error{in_reference ? "the reference block is not closed" : "the fenced block is not closed",
                     file, fence_line, 0, "end it with a line ```"};
    }
    parts.prose = std::string(trim(parts.prose));
    return parts;
}

// ---- the keys -------------------------------------------------------------------------------------------

class TaskParser {
  public:
    TaskParser(const YamlDocument& document, Task& task)
        : doc_(document), root_(document.root()), task_(task) {}

    MaybeError run() {
        if (!root_.is_map()) {
            return doc_.error(
                root_, fmt::format("the front matter must be a map of keys, not {}", root_.describe()));
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

  private:
    MaybeError missing(const std::string& key, const std::string& hint) {
        YamlNode top;
        top.line = root_.line;
        return doc_.error(top, fmt::format("the key `{}` is missing", key), hint);
    }
    MaybeError string_key(const std::string& key, std::string& out) {
        const YamlNode* node = root_.find(key);
        if (!node) return std::nullopt;
        if (!node->is_scalar()) return doc_.wrong_kind(*node, "`" + key + "`", "text");
        out = node->text;
        return std::nullopt;
    }

    MaybeError name() {
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
                *node,
                fmt::format("the name `{}` is not the file's stem `{}`", task_.name, path.stem().string()),
                fmt::format("write `name: {}`", path.stem().string()));
        }
        return std::nullopt;
    }

    MaybeError summary() {
        if (!root_.find("summary")) return missing("summary", "one line that says what the kernel computes");
        if (auto error = string_key("summary", task_.summary)) return error;
        if (trim(task_.summary).empty()) return doc_.error(*root_.find("summary"), "`summary` is empty");
        return std::nullopt;
    }

    // Tensors, symbols, params and scratch share one name space.
    MaybeError claim(const YamlNode& at, const std::string& name, const std::string& what) {
        if (!is_identifier(name)) {
            return doc_.error(at, fmt::format("`{}` is not a name for {}", one_line(name, 60), what),
                              "a name is a letter or _, then letters, digits and _");
        }
        if (name.size() > 100) return doc_.error(at, "a name of more than 100 characters");
        const auto& reserved = reserved_expression_names();
        if (std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
            return doc_.error(
                at,
                fmt::format("`{}` has a meaning of its own in expressions and cannot name {}", name, what));
        }
        const auto [it, fresh] = names_.emplace(name, what);
        if (!fresh) {
            return doc_.error(
                at, fmt::format("`{}` names {} and {}; names of tensors, symbols and params differ", name,
                                it->second == what ? "two things, " + it->second : it->second, what));
        }
        return std::nullopt;
    }

    MaybeError symbols() {
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
            return doc_.error(
                *node, fmt::format("{} symbols, more than {}", task_.symbols.size(), TaskLimits::symbols));
        }
        return std::nullopt;
    }

    // Symbols are free sizes; a page that defines them by each other has misunderstood them, and hears so.
    MaybeError cyclic_symbols(const YamlNode& map) {
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

    MaybeError symbol_range(const YamlNode& node, SymbolRange& range) {
        if (node.is_null()) return std::nullopt;
        if (!node.is_map()) {
            return doc_.wrong_kind(node, fmt::format("the range of `{}`", range.name),
                                   "a map such as {min: 8}");
        }
        if (auto error = doc_.unknown_key(node, fmt::format("the range of `{}`", range.name),
                                          {"min", "max", "multiple_of"})) {
            return error;
        }
        for (const auto& [key, value] : node.entries) {
            const auto integer = value.integer();
            if (!integer)
                return doc_.wrong_kind(value, fmt::format("`{}` of `{}`", key.text, range.name),
                                       "an integer");
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
        if (rest != 0 && __builtin_add_overflow(range.min, range.multiple_of - rest, &least))
            least = INT64_MAX;
        if (range.max && *range.max < least) {
            return doc_.error(node, fmt::format("no value of `{}` lies between {} and {} at multiples of {}",
                                                range.name, range.min, *range.max, range.multiple_of));
        }
        return std::nullopt;
    }

    MaybeError params() {
        if (auto error = string_key("op", task_.op)) return error;
        const YamlNode* node = root_.find("params");
        if (!node || node->is_null()) return std::nullopt;
        if (!node->is_map()) return doc_.wrong_kind(*node, "`params`", "a map");
        for (const auto& [key, value] : node->entries) {
            if (auto error = claim(key, key.text, "a param")) return error;
            if (value.is_null()) return doc_.error(key, fmt::format("the param `{}` has no value", key.text));
            const auto real = value.real();
            if (real && !std::isfinite(*real)) {
                return doc_.error(
                    value, fmt::format("the param `{}` is {}; a param is finite", key.text, value.text));
            }
        }
        task_.params = to_json(*node);
        return std::nullopt;
    }

    // ---- tensors ----

    MaybeError inputs() { return tensors("inputs", task_.inputs); }
    MaybeError outputs() {
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
                return doc_.error(
                    at, fmt::format("`{}` and `{}` have different strides: they cannot share a buffer",
                                    tensor.name, input->name));
            }
            if (!taken.insert(tensor.inplace_of).second) {
                return doc_.error(at, fmt::format("two outputs in place of `{}`", tensor.inplace_of));
            }
        }
        return std::nullopt;
    }

    MaybeError tensors(const std::string& key, std::vector<TensorSpec>& out) {
        const YamlNode* node = root_.find(key);
        if (!node)
            return missing(key, fmt::format("write `{}:` and a line `  x: {{dtype: f32, shape: [N]}}`", key));
        if (!node->is_map()) return doc_.wrong_kind(*node, "`" + key + "`", "a map of tensors");
        if (node->entries.empty()) return doc_.error(*node, fmt::format("`{}` is empty", key));
        if (node->entries.size() > TaskLimits::tensors) {
            return doc_.error(
                *node, fmt::format("{} tensors, more than {}", node->entries.size(), TaskLimits::tensors));
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

    MaybeError tensor(const YamlNode& name, const YamlNode& node, bool input, TensorSpec& out) {
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
        if (!dtype->is_scalar())
            return doc_.wrong_kind(*dtype, fmt::format("the dtype of {}", what), "a name");
        const auto type = parse_dtype(dtype->text);
        if (!type) {
            std::vector<std::string> names;
            std::string list;
            for (const DType d : all_dtypes()) names.emplace_back(to_string(d));
            for (const std::string& n : names) list += (list.empty() ? "" : " ") + n;
            return doc_.error(*dtype,
                              fmt::format("unknown dtype `{}` of {}{}", one_line(dtype->text, 60), what,
                                          did_you_mean(dtype->text, names)),
                              "known: " + list);
        }
        out.dtype = *type;
        const YamlNode* shape = node.find("shape");
        if (!shape) return doc_.error(name, fmt::format("{} has no shape", what), "write `shape: [M, N]`");
        if (auto error = sizes(*shape, fmt::format("the shape of {}", what), out.shape)) return error;
        if (const YamlNode* strides = node.find("strides")) {
            if (auto error = sizes(*strides, fmt::format("the strides of {}", what), out.strides))
                return error;
            if (out.strides.size() != out.shape.size()) {
                return doc_.error(*strides, fmt::format("{} has {} strides for {} extents", what,
                                                        out.strides.size(), out.shape.size()));
            }
            if (bits(out.dtype) < 8) {
                return doc_.error(*strides, fmt::format("{} is {}, which is packed and always dense", what,
                                                        to_string(out.dtype)));
            }
        }
        for (const auto& [key, target] :
             {std::pair<const char*, std::string*>{"operand", &out.operand},
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

    MaybeError sizes(const YamlNode& node, const std::string& what, std::vector<Expression>& out) {
        if (!node.is_sequence()) return doc_.wrong_kind(node, what, "a list such as [M, N]");
        if (node.items.size() > TaskLimits::rank) {
            return doc_.error(node, fmt::format("{} has {} entries, more than {}", what, node.items.size(),
                                                TaskLimits::rank));
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

    Result<Expression> expression(const YamlNode& node, const std::string& what) {
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
            Error error = doc_.error(node, fmt::format("{} uses `{}`, which is not in `symbols`{}", what,
                                                       name, did_you_mean(name, known)));
            error.column = parsed->column_of(name) + shift;
            return error;
        }
        if (!parsed->kernels().empty())
            return doc_.error(node, fmt::format("{} cannot use resident_blocks", what));
        if (parsed->has_real_literal())
            return doc_.error(node, fmt::format("{} is an integer: `{}`", what, node.text));
        return parsed;
    }

    MaybeError draws(const YamlNode& node, TensorSpec& out) {
        const std::string what = fmt::format("`{}`", out.name);
        if (const YamlNode* values = node.find("values")) {
            if (!values->is_scalar())
                return doc_.wrong_kind(*values, fmt::format("`values` of {}", what),
                                       "text such as ints(0, 9)");
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
                    return doc_.error(item,
                                      fmt::format("`special` of {} holds `{}`", what, one_line(text, 60)),
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
                return doc_.error(
                    *range, fmt::format("`range` of {} is empty or not finite: [{}, {}]", what, low, high));
            }
            if (low > largest_finite(out.dtype) || high < lowest_finite(out.dtype)) {
                return doc_.error(
                    *range, fmt::format("no value of {} lies in [{}, {}]", to_string(out.dtype), low, high));
            }
            out.range = std::array<double, 2>{low, high};
        }
        return std::nullopt;
    }

    // ---- reference, shapes, accuracy ----

    MaybeError reference() {
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

    MaybeError shapes() {
        if (!root_.find("check_shapes")) {
            return missing("check_shapes",
                           "the sizes at which a kernel is verified, such as [{N: 1}, {N: 1000}]");
        }
        if (auto error = shape_list("check_shapes", TaskLimits::check_elements, task_.check_shapes))
            return error;
        if (root_.find("tune_shapes"))
            return shape_list("tune_shapes", TaskLimits::tune_elements, task_.tune_shapes);
        // Without tune shapes the largest check shape is made fast.
        const auto elements = [&](const SymbolValues& shape) {
            std::int64_t total = 0;
            for (const auto* tensors : {&task_.inputs, &task_.outputs}) {
                for (const TensorSpec& t : *tensors) {
                    if (const auto s = t.shape_at(shape)) total += element_count(*s);
                }
            }
            return total;
        };
        task_.tune_shapes = {*std::max_element(
            task_.check_shapes.begin(), task_.check_shapes.end(),
            [&](const SymbolValues& a, const SymbolValues& b) { return elements(a) < elements(b); })};
        return std::nullopt;
    }

    MaybeError shape_list(const std::string& key, std::int64_t limit, std::vector<SymbolValues>& out) {
        const YamlNode& list = *root_.find(key);
        if (!list.is_sequence())
            return doc_.wrong_kind(list, "`" + key + "`", "a list of maps such as [{N: 1}]");
        if (list.items.empty()) return doc_.error(list, fmt::format("`{}` is empty", key));
        if (list.items.size() > TaskLimits::shapes) {
            return doc_.error(list,
                              fmt::format("{} shapes, more than {}", list.items.size(), TaskLimits::shapes));
        }
        for (const YamlNode& item : list.items) {
            if (!item.is_map())
                return doc_.wrong_kind(item, fmt::format("an entry of `{}`", key), "a map such as {N: 1}");
            SymbolValues shape;
            for (const auto& [name, value] : item.entries) {
                const auto size = value.integer();
                if (!size)
                    return doc_.wrong_kind(value, fmt::format("`{}` in `{}`", name.text, key), "an integer");
                if (*size < 1)
                    return doc_.error(value, fmt::format("`{}` in `{}` is {}; a size is at least 1",
                                                         name.text, key, *size));
                shape[name.text] = *size;
            }
            if (const auto status = check_shape(task_, shape, limit); !status) {
                return doc_.error(item, fmt::format("`{}`: {}", key, status.error().message));
            }
            if (std::find(out.begin(), out.end(), shape) != out.end()) {
                return doc_.error(item, fmt::format("`{}` lists {} twice", key, shape_text(task_, shape)));
            }
            out.push_back(std::move(shape));
        }
        return std::nullopt;
    }

    // What can only be seen with numbers: strides that overlap, draws with an empty range.
    MaybeError at_shapes() {
        std::vector<SymbolValues> all = task_.check_shapes;
        all.insert(all.end(), task_.tune_shapes.begin(), task_.tune_shapes.end());
        for (const SymbolValues& shape : all) {
            for (const auto& [key, tensors] :
                 {std::pair{"inputs", &task_.inputs}, std::pair{"outputs", &task_.outputs}}) {
                for (const TensorSpec& tensor : *tensors) {
                    const YamlNode& at = *root_.find(key)->find(tensor.name);
                    std::string message =
                        tensor.strides.empty() ? "" : stride_fault(tensor, shape, key[0] == 'o');
                    if (message.empty()) message = value_fault(tensor, shape);
                    if (message.empty() && !tensor.inplace_of.empty() &&
                        *tensor.shape_at(shape) != *task_.find_input(tensor.inplace_of)->shape_at(shape)) {
                        message = fmt::format("`{}` and `{}` differ in shape: they cannot share a buffer",
                                              tensor.name, tensor.inplace_of);
                    }
                    if (!message.empty())
                        return doc_.error(at, fmt::format("{} (at {})", message, shape_text(task_, shape)));
                }
            }
        }
        return std::nullopt;
    }

    static std::string stride_fault(const TensorSpec& tensor, const SymbolValues& shape, bool output) {
        const auto extents = tensor.shape_at(shape), steps = tensor.strides_at(shape);
        if (!extents || !steps) return (extents ? steps : extents).error().message;
        if (!output) return {};
        // Sorted by stride, each must step over all that the smaller ones reach.
        std::vector<std::pair<std::int64_t, std::int64_t>> order;
        for (std::size_t i = 0; i < extents->size(); ++i) {
            if ((*extents)[i] > 1) order.emplace_back((*steps)[i], (*extents)[i]);
        }
        std::sort(order.begin(), order.end());
        std::int64_t reach = 0;
        for (const auto& [step, extent] : order) {
            if (step <= reach)
                return fmt::format("the strides of the output `{}` let elements overlap", tensor.name);
            reach += step * (extent - 1);
        }
        return {};
    }

    static std::string value_fault(const TensorSpec& tensor, const SymbolValues& shape) {
        std::vector<std::int64_t> numbers;
        for (const Expression& argument : tensor.values.integer_arguments) {
            const auto value = argument.evaluate({shape, {}, {}});
            if (!value) return fmt::format("`values` of `{}`: {}", tensor.name, value.error().message);
            numbers.push_back(*value);
        }
        if (numbers.empty()) return {};
        const std::int64_t low = tensor.values.kind == "indices" ? 0 : numbers[0];
        const std::int64_t high = tensor.values.kind == "indices" ? numbers[0] - 1 : numbers[1];
        if (low > high) return fmt::format("`values` of `{}` is empty: {} .. {}", tensor.name, low, high);
        if (static_cast<double>(low) < lowest_finite(tensor.dtype) ||
            static_cast<double>(high) > largest_finite(tensor.dtype)) {
            return fmt::format("`values` of `{}` go from {} to {}, which {} cannot hold", tensor.name, low,
                               high, to_string(tensor.dtype));
        }
        return {};
    }

    MaybeError accuracy() {
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
                    return doc_.wrong_kind(value, fmt::format("`{}`", key.text),
                                           "a number that is not negative");
                }
                (key.text == "abs" ? tolerance.abs : tolerance.rel) = *number;
            }
            task_.tolerance[name.text] = tolerance;
        }
        return std::nullopt;
    }

    const YamlDocument& doc_;
    const YamlNode& root_;
    Task& task_;
    std::map<std::string, std::string> names_;  // name -> what it names
};

}  // namespace

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

// Three steps. A pre-pass replaces commas, `: ` and `?` inside the parentheses of flow entries by control
// characters, byte for byte, so that no line or column moves; yaml-cpp's event parser reads the result; a
// builder turns the events into YamlNodes, puts the characters back, and enforces the bounds as it goes, so
// that a document which would grow without end is left at the first node too many.
#include "harness/core/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "harness/core/text.h"
#include "harness/core/yaml_parentheses.h"

namespace kernelwright {
namespace {

// ---- events to nodes ------------------------------------------------------------------------------------

// Carries an Error out of yaml-cpp's parser; never leaves this file.
struct Refused {
    Error error;
    bool torn = false;  // quoting the line would mend it
};

class Builder : public YAML::EventHandler {
  public:
    Builder(const std::string& file, int first_line, const YamlLimits& limits)
        : file_(file), first_line_(first_line), limits_(limits) {}

    YamlNode take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(node_at(mark), anchor); }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        YamlNode node = node_at(mark);
        node.kind = YamlNode::Kind::scalar;
        node.text = reveal_parentheses(value);
        node.quoted = tag != "?" && !tag.empty();
        if (tag != "?" && tag != "!" && !tag.empty() && tag != "tag:yaml.org,2002:str") refuse_tag(node);
        leaf(std::move(node), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlNode::Kind::sequence);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, YamlNode::Kind::map);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto it = anchors_.find(anchor);
        YamlNode node = node_at(mark);
        if (it == anchors_.end()) refuse(node, "an alias inside the node that it names");
        count_ += node_count(it->second);
        if (static_cast<int>(open_.size()) + node_depth(it->second) > limits_.depth) refuse_depth(node);
        check_count(node);
        YamlNode copy = it->second;
        copy.line = node.line;
        copy.column = node.column;
        add(std::move(copy));
    }

  private:
    struct Open {
        YamlNode node;
        std::optional<YamlNode> key;  // of a map: read, its value still to come
        YAML::anchor_t anchor = 0;
    };

    [[noreturn]] void refuse(const YamlNode& at, std::string message, std::string hint = {}) const {
        throw Refused{Error{one_line(std::move(message)), file_, at.line, at.column, std::move(hint)}};
    }
    [[noreturn]] void refuse_tag(const YamlNode& at) const {
        throw Refused{
            Error{"`!` begins a YAML tag, and tags have no meaning here", file_, at.line, at.column}, true};
    }
    [[noreturn]] void refuse_depth(const YamlNode& at) const {
        refuse(at, fmt::format("more than {} lists and maps are nested here", limits_.depth));
    }
    void check_count(const YamlNode& at) const {
        if (count_ > limits_.nodes) {
            refuse(at,
                   fmt::format("the block has more than {} entries, aliases counted in full", limits_.nodes));
        }
    }

    YamlNode node_at(const YAML::Mark& mark) const {
        YamlNode node;
        node.line = first_line_ + std::max(mark.line, 0);
        node.column = std::max(mark.column, 0) + 1;
        return node;
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
        Open next{node_at(mark), std::nullopt, anchor};
        next.node.kind = kind;
        if (tag != "?" && !tag.empty()) refuse_tag(next.node);
        if (static_cast<int>(open_.size()) >= limits_.depth) refuse_depth(next.node);
        ++count_;
        check_count(next.node);
        open_.push_back(std::move(next));
    }

    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        if (done.anchor != 0) anchors_[done.anchor] = done.node;
        add(std::move(done.node));
    }

    void leaf(YamlNode node, YAML::anchor_t anchor) {
        ++count_;
        check_count(node);
        if (anchor != 0) anchors_[anchor] = node;
        add(std::move(node));
    }

    void add(YamlNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.is_sequence()) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.key) {
            if (node.is_null()) {  // `~: ...` and `null: ...`, or a key that was left out
                refuse(node, "a key is missing here");
            }
            if (!node.is_scalar()) refuse(node, fmt::format("a key must be a name, not {}", node.describe()));
            if (const YamlNode* value = parent.node.find(node.text)) {
                refuse(node, fmt::format("the key `{}` occurs twice; the first is on line {}", node.text,
                                         value->line));
            }
            parent.key = std::move(node);
        } else {
            parent.node.entries.emplace_back(std::move(*parent.key), std::move(node));
            parent.key.reset();
        }
    }

    static std::size_t node_count(const YamlNode& node) {
        std::size_t count = 1;
        for (const YamlNode& item : node.items) count += node_count(item);
        for (const auto& [key, value] : node.entries) count += 1 + node_count(value);
        return count;
    }
    static int node_depth(const YamlNode& node) {
        int depth = 0;
        for (const YamlNode& item : node.items) depth = std::max(depth, node_depth(item));
        for (const auto& [key, value] : node.entries) depth = std::max(depth, node_depth(value));
        return depth + (node.is_sequence() || node.is_map() ? 1 : 0);
    }

    const std::string& file_;
    int first_line_;
    YamlLimits limits_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, YamlNode> anchors_;
    std::size_t count_ = 0;
    YamlNode root_;
};

struct ParseFailure {
    Error error;
    bool torn = false;  // quoting a line may mend it
};

std::variant<YamlNode, ParseFailure> parse_block(std::string_view block, const std::string& file,
                                                 int first_line, const YamlLimits& limits) {
    std::istringstream stream(hide_in_parentheses(std::string(block)));
    Builder builder(file, first_line, limits);
    try {
        YAML::Parser parser(stream);
        parser.HandleNextDocument(builder);
        YamlNode root = builder.take_root();
        Builder rest(file, first_line, limits);
        if (parser.HandleNextDocument(rest)) {
            const YamlNode second = rest.take_root();
            return ParseFailure{Error{"a second YAML document begins here; one is read", file, second.line,
                                      second.column, "remove the `---` line"}};
        }
        return root;
    } catch (const Refused& refused) {
        return ParseFailure{refused.error, refused.torn};
    } catch (const YAML::Exception& e) {
        return ParseFailure{Error{"the YAML is torn: " + e.msg, file,
                                  e.mark.is_null() ? first_line : first_line + e.mark.line,
                                  e.mark.is_null() ? 0 : e.mark.column + 1},
                            true};
    }
}

// ---- the quoted form of a line --------------------------------------------------------------------------

std::string quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

bool is_safe_plain(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
               c == '+';
    });
}

// The entries of a flow list, split at the commas outside parentheses, brackets and quotes.
std::vector<std::string> flow_entries(std::string_view inside) {
    std::vector<std::string> out;
    std::string current;
    int depth = 0;
    char quote_open = 0;
    for (const char c : inside) {
        if (quote_open != 0) {
            if (c == quote_open) quote_open = 0;
        } else if (c == '"' || c == '\'') {
            quote_open = c;
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if (c == ')' || c == ']' || c == '}') {
            --depth;
        } else if (c == ',' && depth <= 0) {
            out.emplace_back(trim(current));
            current.clear();
            continue;
        }
        current += c;
    }
    if (!trim(current).empty()) out.emplace_back(trim(current));
    return out;
}

std::string quote_value(std::string_view value, int depth = 0);

std::string quote_entry(const std::string& entry, bool in_map, int depth) {
    if (entry.empty()) return entry;
    const std::size_t colon = entry.find(": ");
    if (in_map && colon != std::string::npos) {
        return entry.substr(0, colon + 2) +
               quote_value(trim(std::string_view(entry).substr(colon + 2)), depth + 1);
    }
    return quote_value(entry, depth + 1);
}

std::string quote_value(std::string_view value, int depth) {
    if (value.empty() || depth > 8) return std::string(value);
    if (value[0] == '"' || value[0] == '\'' || is_safe_plain(value)) return std::string(value);
    const bool list = value[0] == '[', map = value[0] == '{';
    if (!list && !map) return quote(value);
    std::string_view inside = value.substr(1);
    const char closing = list ? ']' : '}';
    if (!inside.empty() && inside.back() == closing) inside.remove_suffix(1);
    std::string out(1, value[0]);
    for (const std::string& entry : flow_entries(inside)) {
        out += (out.size() > 1 ? ", " : "") + quote_entry(entry, map, depth);
    }
    return out + closing;
}

// ---- indentation ----------------------------------------------------------------------------------------

struct Misplaced {
    int index = 0;  // of the line
    bool tab = false;
    std::string hint;
};

std::size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool is_blank_line(std::string_view line) {
    const std::string_view words = trim(line);
    return words.empty() || words[0] == '#';
}

// The columns in which an entry may begin: that of an earlier line which is still open, also behind its dash.
std::vector<std::size_t> open_columns(const std::vector<std::string>& lines, int index) {
    std::vector<std::size_t> columns;
    std::size_t least = std::string::npos;
    for (int i = index - 1; i >= 0; --i) {
        std::string_view line = lines[static_cast<std::size_t>(i)];
        if (is_blank_line(line)) continue;
        std::size_t column = indentation(line);
        if (column >= least) continue;
        least = column;
        columns.push_back(column);
        while (line.substr(column).starts_with("- ")) {
            column = std::min(line.find_first_not_of(' ', column + 1), line.size());
            columns.push_back(column);
        }
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

// A line up to `last` that is indented with a tab, or one at `last` or just before that begins in a column of
// its own.
std::optional<Misplaced> misplaced_line(const std::vector<std::string>& lines, int last) {
    for (int i = 0; i <= last; ++i) {
        const std::string& line = lines[static_cast<std::size_t>(i)];
        const std::size_t first = line.find_first_not_of(" \t");
        if (first != std::string::npos && line.find('\t') < first)
            return Misplaced{i, true, "the line is indented with a tab; YAML takes blanks only"};
    }
    for (int i = last; i > 0 && i >= last - 1; --i) {
        const std::string& line = lines[static_cast<std::size_t>(i)];
        int before = i - 1;
        while (before >= 0 && is_blank_line(lines[static_cast<std::size_t>(before)])) --before;
        if (before < 0 || is_blank_line(line)) continue;
        const std::size_t column = indentation(line);
        const std::string_view above = trim(lines[static_cast<std::size_t>(before)]);
        const std::vector<std::size_t> open = open_columns(lines, i);
        if (std::find(open.begin(), open.end(), column) != open.end()) continue;
        if (column > open.back() && (above.ends_with(":") || above.ends_with("-"))) continue;
        std::string list;
        for (const std::size_t c : open) list += (list.empty() ? "" : " or ") + std::to_string(c);
        return Misplaced{i, false,
                         fmt::format("the line is indented by {} blanks; an entry here needs {}, as those "
                                     "that it belongs to",
                                     column, list)};
    }
    return std::nullopt;
}

}  // namespace

// ---- nodes ----------------------------------------------------------------------------------------------

std::optional<bool> YamlNode::boolean() const {
    if (!is_scalar() || quoted) return std::nullopt;
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    return std::nullopt;
}

std::optional<std::int64_t> YamlNode::integer() const {
    if (!is_scalar() || quoted || text.empty()) return std::nullopt;
    std::string_view digits = text;
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0o")) {
        base = digits[1] == 'x' ? 16 : 8;
        digits.remove_prefix(2);
        if (digits.empty() || digits[0] == '-') return std::nullopt;
    } else if (digits[0] == '+') {
        digits.remove_prefix(1);
        if (digits.empty() || digits[0] == '-') return std::nullopt;
    }
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

std::optional<double> YamlNode::real() const {
    if (const auto value = integer()) return static_cast<double>(*value);
    if (!is_scalar() || quoted || text.empty()) return std::nullopt;
    std::string_view rest = text;
    const bool negative = rest[0] == '-';
    if (rest[0] == '-' || rest[0] == '+') rest.remove_prefix(1);
    if (rest == ".inf" || rest == ".Inf" || rest == ".INF") {
        const double infinity = std::numeric_limits<double>::infinity();
        return negative ? -infinity : infinity;
    }
    if (text == ".nan" || text == ".NaN" || text == ".NAN") return std::nan("");
    // from_chars takes "inf", "nan" and hexadecimal floats too; the core schema does not.
    if (rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
    if (rest.empty() || (std::isdigit(static_cast<unsigned char>(rest[0])) == 0 && rest[0] != '.')) {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (end != rest.data() + rest.size()) return std::nullopt;
    if (code == std::errc::result_out_of_range) {
        const std::size_t e = rest.find_first_of("eE");
        const bool tiny = e != std::string_view::npos && e + 1 < rest.size() && rest[e + 1] == '-';
        value = tiny ? 0 : std::numeric_limits<double>::infinity();
    } else if (code != std::errc{}) {
        return std::nullopt;
    }
    return negative ? -value : value;
}

const YamlNode* YamlNode::find(std::string_view key) const {
    for (const auto& [name, value] : entries) {
        if (name.text == key) return &value;
    }
    return nullptr;
}

std::string YamlNode::describe() const {
    switch (kind) {
        case Kind::null:
            return "nothing";
        case Kind::sequence:
            return "a list";
        case Kind::map:
            return "a map";
        case Kind::scalar:
            break;
    }
    const std::string shown = one_line(text, 60);
    if (boolean() || real()) return shown;
    return "the text `" + shown + "`";
}

Json to_json(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::null:
            return nullptr;
        case YamlNode::Kind::sequence: {
            Json out = Json::array();
            for (const YamlNode& item : node.items) out.push_back(to_json(item));
            return out;
        }
        case YamlNode::Kind::map: {
            Json out = Json::object();
            for (const auto& [key, value] : node.entries) out[key.text] = to_json(value);
            return out;
        }
        case YamlNode::Kind::scalar:
            break;
    }
    if (const auto value = node.boolean()) return *value;
    if (const auto value = node.integer()) return *value;
    if (const auto value = node.real()) return *value;
    return node.text;
}

// ---- documents ------------------------------------------------------------------------------------------

Result<YamlDocument> YamlDocument::parse(std::string_view block, std::string file, int first_line,
                                         const YamlLimits& limits) {
    YamlDocument document;
    document.file_ = std::move(file);
    document.first_line_ = first_line;
    if (block.size() > limits.bytes) {
        return Error{
            fmt::format("the YAML is {} bytes, more than the {} that are read", block.size(), limits.bytes),
            document.file_, first_line};
    }
    if (auto error = not_text(block, document.file_)) {
        error->line += first_line - 1;
        return *error;
    }
    document.lines_ = split(block, '\n');
    auto parsed = parse_block(block, document.file_, first_line, limits);
    if (auto* failure = std::get_if<ParseFailure>(&parsed)) {
        if (!failure->torn) return failure->error;
        // Which line, quoted as it should be, makes the block whole? The one complained of, or one before it:
        // a list that is torn is often noticed only where the next key begins.
        const int reported = failure->error.line - first_line;
        const int last = std::min(reported, static_cast<int>(document.lines_.size()) - 1);
        const auto misplaced = misplaced_line(document.lines_, last);
        const auto blame = [&] {
            failure->error.line = first_line + misplaced->index;
            failure->error.column = 0;
            failure->error.hint = misplaced->hint;
            return failure->error;
        };
        if (misplaced && misplaced->tab) return blame();
        for (int i = last; i >= 0 && i > last - 8; --i) {
            const std::string fixed = document.quoted_line(first_line + i);
            if (fixed.empty()) continue;
            std::string mended;
            for (std::size_t k = 0; k < document.lines_.size(); ++k) {
                mended += (static_cast<int>(k) == i ? fixed : document.lines_[k]) + "\n";
            }
            if (std::holds_alternative<YamlNode>(parse_block(mended, document.file_, first_line, limits))) {
                failure->error.line = first_line + i;
                if (i != last) failure->error.column = 0;
                failure->error.hint = "write the line as `" + std::string(trim(fixed)) + "`";
                return failure->error;
            }
        }
        if (misplaced) return blame();
        failure->error.hint =
            "quote values that hold `: `, ` #`, a bracket, or begin with one of & * ! | > % @ `";
        return failure->error;
    }
    document.root_ = std::get<YamlNode>(std::move(parsed));
    return document;
}

std::string YamlDocument::quoted_line(int line) const {
    const int index = line - first_line_;
    if (index < 0 || index >= static_cast<int>(lines_.size())) return {};
    std::string text = lines_[static_cast<std::size_t>(index)];
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.size() > 400) return {};
    // indentation and list dashes, then an optional key
    std::size_t start = 0;
    while (start < text.size() && (text[start] == ' ' || (text[start] == '-' && start + 1 < text.size() &&
                                                          text[start + 1] == ' '))) {
        ++start;
    }
    std::size_t value = start;
    std::size_t key = start;
    while (key < text.size() && is_safe_plain(std::string_view(text).substr(key, 1))) ++key;
    if (key > start && key + 1 < text.size() && text[key] == ':' && text[key + 1] == ' ') value = key + 2;
    std::string_view rest = trim(std::string_view(text).substr(value));
    std::string comment;
    if (const std::size_t hash = rest.find(" #"); hash != std::string_view::npos && rest[0] != '"') {
        comment = "  " + std::string(trim(rest.substr(hash)));
        rest = trim(rest.substr(0, hash));
    }
    if (rest.empty() || rest[0] == '|' || rest[0] == '>') return {};
    const std::string fixed = text.substr(0, value) + quote_value(rest) + comment;
    return fixed == text ? std::string{} : fixed;
}

Error YamlDocument::error(const YamlNode& at, std::string message, std::string hint) const {
    return Error{one_line(std::move(message)), file_, at.line, at.column, one_line(std::move(hint))};
}

Error YamlDocument::wrong_kind(const YamlNode& at, const std::string& what, const std::string& wanted) const {
    Error error = this->error(at, fmt::format("{} must be {}, not {}", what, wanted, at.describe()));
    // `[x, N > 4 ? 2 : 1]` is a list with a map in it: show what was meant.
    if (at.is_map() && at.entries.size() == 1 && wanted.find("map") == std::string::npos) {
        const std::string fixed = quoted_line(at.line);
        if (!fixed.empty()) error.hint = "write the line as `" + std::string(trim(fixed)) + "`";
    }
    return error;
}

std::optional<Error> YamlDocument::unknown_key(const YamlNode& map, const std::string& what,
                                               const std::vector<std::string>& known) const {
    for (const auto& [key, value] : map.entries) {
        if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
        std::string list;
        for (const std::string& name : known) list += (list.empty() ? "" : " ") + name;
        return error(key,
                     fmt::format("unknown key `{}` in {}{}", key.text.substr(0, 60), what,
                                 did_you_mean(key.text, known)),
                     "known keys: " + list);
    }
    return std::nullopt;
}

// ---- text or not ----------------------------------------------------------------------------------------

std::string one_line(std::string text, std::size_t limit) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t' || c == '\f'; },
        ' ');
    if (text.size() <= limit) return text;
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;  // whole characters
    return text.substr(0, end) + "...";
}

std::optional<Error> not_text(std::string_view content, const std::string& file) {
    for (std::size_t i = 0; i < content.size();) {
        const auto byte = static_cast<unsigned char>(content[i]);
        const bool control =
            (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f') || byte == 0x7f;
        const std::size_t length = control ? 0 : utf8_length(content, i);
        if (length == 0) {
            return Error{fmt::format("not a text file: byte 0x{:02x} at offset {} is {}", byte, i,
                                     control ? "a control character" : "not UTF-8"),
                         file, line_of(content, i), 0, "save it as plain UTF-8 text"};
        }
        i += length;
    }
    return std::nullopt;
}

}  // namespace kernelwright

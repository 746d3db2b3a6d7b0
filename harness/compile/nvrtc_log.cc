#include "harness/compile/nvrtc_log.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        out.push_back(line);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return out;
}

// Takes a number from the front of `text`; -1: none there.
long take_number(std::string_view& text) {
    long value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end == text.data()) return -1;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

struct Keyword {
    std::string_view text;
    Severity severity;
    bool catastrophic;
};
constexpr Keyword keywords[] = {{"catastrophic error", Severity::error, true},
                                {"internal error", Severity::error, true},
                                {"error", Severity::error, false},
                                {"warning", Severity::warning, false},
                                {"remark", Severity::note, false},
                                {"note", Severity::note, false}};

// "error #123-D: text" or "error: text" -> severity, number, text.
bool take_severity(std::string_view text, LogEntry& entry, bool& is_note) {
    for (const Keyword& keyword : keywords) {
        std::string_view rest = text;
        if (!take(rest, keyword.text)) continue;
        if (take(rest, " #")) {
            const long number = take_number(rest);
            if (number < 0) continue;
            entry.number = static_cast<int>(std::min(number, 1'000'000L));
            take(rest, "-D");
        }
        if (!take(rest, ":")) continue;
        entry.severity = keyword.severity;
        entry.catastrophic = keyword.catastrophic;
        entry.message = std::string(trim(rest));
        is_note = keyword.text == "note";
        return true;
    }
    return false;
}

// "name.cu(4): error: text". A file name may hold parentheses, so every "(N): " is tried.
bool parse_header(std::string_view line, LogEntry& entry, bool& is_note) {
    if (line.empty() || line[0] == ' ' || line[0] == '\t') return false;
    for (std::size_t open = line.find('('); open != std::string_view::npos; open = line.find('(', open + 1)) {
        std::string_view rest = line.substr(open + 1);
        const long number = take_number(rest);
        if (number < 0 || !take(rest, "): ")) continue;
        if (!take_severity(rest, entry, is_note)) continue;
        entry.file = std::string(line.substr(0, open));
        entry.line = static_cast<int>(std::min(number, 100'000'000L));
        return true;
    }
    return false;
}

bool is_caret(std::string_view line) { return line.size() > 2 && trim(line) == "^"; }

// "          detected during instantiation of "..." at line 8" (several lines belong to one context).
void add_context(std::string_view text, LogEntry& entry) {
    Related related;
    related.file = entry.file;
    related.note = std::string(text);
    if (const std::size_t at = text.rfind(" at line "); at != std::string_view::npos) {
        std::string_view rest = text.substr(at + 9);
        const long number = take_number(rest);
        if (number > 0) related.line = static_cast<int>(std::min(number, 100'000'000L));
        if (take(rest, " of ")) related.file = std::string(trim(rest));
        related.note = std::string(text.substr(0, at));
    }
    entry.related.push_back(std::move(related));
}

// The lines below a header: more of the message, the source line and its caret, contexts.
void read_body(const std::vector<std::string_view>& lines, std::size_t first, std::size_t last,
               LogEntry& entry) {
    std::size_t caret = last;
    for (std::size_t i = first; i < last; ++i) {
        if (is_caret(lines[i])) {
            caret = i;
            break;
        }
    }
    const std::size_t message_end = caret == last ? last : caret - std::min<std::size_t>(caret - first, 1);
    for (std::size_t i = first; i < message_end; ++i) {
        const std::string_view text = trim(lines[i]);
        if (!text.empty()) entry.message += (entry.message.empty() ? "" : " ") + std::string(text);
    }
    if (caret == last) return;
    // The source line is echoed behind two blanks.
    const std::size_t position = lines[caret].find('^');
    if (position >= 2) entry.column = static_cast<int>(position - 2) + 1;
    std::string context;
    for (std::size_t i = caret + 1; i < last; ++i) {
        const std::string_view text = trim(lines[i]);
        if (text.empty()) continue;
        const bool starts = text.rfind("detected during", 0) == 0 || text.rfind("instantiation of", 0) == 0;
        if (starts && !context.empty()) {
            add_context(context, entry);
            context.clear();
        }
        if (text == "detected during:") continue;
        context += (context.empty() ? "" : " ") + std::string(text);
    }
    if (!context.empty()) add_context(context, entry);
}

bool ends_entry(std::string_view line) { return line.empty() || (line[0] != ' ' && line[0] != '\t'); }

// "ptxas application ptx input, line 36; error   : text", "ptxas fatal   : text".
bool parse_ptxas(std::string_view line, LogEntry& entry) {
    if (!take(line, "ptxas ")) return false;
    std::string_view rest = line;
    if (const std::size_t at = rest.find(", line "); at != std::string_view::npos) {
        std::string_view tail = rest.substr(at + 7);
        const long number = take_number(tail);
        if (number > 0 && take(tail, ";")) {
            entry.ptx_line = static_cast<int>(std::min(number, 100'000'000L));
            rest = trim(tail);
        }
    }
    for (const auto& [word, severity] : {std::pair<std::string_view, Severity>{"error", Severity::error},
                                         {"fatal", Severity::error},
                                         {"warning", Severity::warning}}) {
        std::string_view tail = rest;
        if (!take(tail, word)) continue;
        tail = trim(tail);
        if (!take(tail, ":")) continue;
        entry.severity = severity;
        entry.message = std::string(trim(tail));
        entry.from_ptxas = true;
        return true;
    }
    return false;
}

// The number in front of `unit` in "..., 256 bytes smem, ..."; 0: not there.
std::uint32_t amount(std::string_view line, std::string_view unit) {
    const std::size_t at = line.find(unit);
    if (at == std::string_view::npos) return 0;
    std::size_t start = at;
    while (start > 0 && std::isdigit(static_cast<unsigned char>(line[start - 1])) != 0) --start;
    std::string_view digits = line.substr(start, at - start);
    const long value = take_number(digits);
    return value < 0 ? 0 : static_cast<std::uint32_t>(std::min(value, 0xffffffffL));
}

std::uint32_t constant_bytes(std::string_view line) {
    std::uint32_t sum = 0;
    constexpr std::string_view unit = " bytes cmem[";
    for (std::size_t at = line.find(unit); at != std::string_view::npos; at = line.find(unit, at + 1)) {
        const std::size_t start = line.rfind(' ', at - 1);
        sum += amount(line.substr(start == std::string_view::npos ? 0 : start), unit);
    }
    return sum;
}

}  // namespace

std::vector<LogEntry> parse_nvrtc_log(std::string_view log) {
    const std::vector<std::string_view> lines = lines_of(log);
    std::vector<LogEntry> out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        LogEntry entry;
        bool is_note = false;
        if (parse_ptxas(lines[i], entry)) {
            out.push_back(std::move(entry));
            continue;
        }
        if (!parse_header(lines[i], entry, is_note)) continue;
        std::size_t end = i + 1;
        while (end < lines.size() && !ends_entry(lines[end])) ++end;
        read_body(lines, i + 1, end, entry);
        i = end - 1;
        // A note follows the error it belongs to.
        if (is_note && !out.empty() && !out.back().from_ptxas) {
            out.back().related.push_back({entry.file, entry.line, entry.message});
            for (Related& context : entry.related) out.back().related.push_back(std::move(context));
        } else {
            out.push_back(std::move(entry));
        }
    }
    return out;
}

std::map<std::string, KernelResources> parse_ptxas_facts(std::string_view log) {
    std::map<std::string, KernelResources> out;
    KernelResources* kernel = nullptr;
    std::string current, properties_of;
    for (const std::string_view line : lines_of(log)) {
        if (line.rfind("ptxas", 0) != 0 && properties_of.empty()) continue;
        constexpr std::string_view compiling = "Compiling entry function '";
        constexpr std::string_view properties = "Function properties for ";
        if (const std::size_t at = line.find(compiling); at != std::string_view::npos) {
            const std::string_view rest = line.substr(at + compiling.size());
            current = std::string(rest.substr(0, rest.find('\'')));
            kernel = &(out[current] = KernelResources{});
            properties_of.clear();
        } else if (const std::size_t at = line.find(properties); at != std::string_view::npos) {
            properties_of = std::string(trim(line.substr(at + properties.size())));
        } else if (line.find(" bytes stack frame") != std::string_view::npos) {
            if (kernel != nullptr && properties_of == current) {
                kernel->stack_bytes = amount(line, " bytes stack frame");
                kernel->spill_store_bytes = amount(line, " bytes spill stores");
                kernel->spill_load_bytes = amount(line, " bytes spill loads");
            }
            properties_of.clear();
        } else if (line.find(": Used ") != std::string_view::npos && kernel != nullptr) {
            kernel->registers = static_cast<int>(amount(line, " registers"));
            kernel->barriers = static_cast<int>(amount(line, " barriers"));
            kernel->static_shared = amount(line, " bytes smem");
            kernel->constant_bytes = constant_bytes(line);
            kernel = nullptr;
        }
    }
    return out;
}

}  // namespace kernelwright

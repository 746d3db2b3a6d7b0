#include "harness/compile/ptx_lines.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

std::string_view leading_word(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_word(text[end])) ++end;
    return text.substr(0, end);
}

// The symbol that ".visible .entry NAME(" or ".func (.param ...) NAME(" defines or declares; "" for other
// lines.
std::string function_symbol(std::string_view line, bool& entry) {
    std::size_t at = line.find(".entry ");
    entry = at != std::string_view::npos;
    if (entry) return std::string(leading_word(trim(line.substr(at + 7))));
    at = line.find(".func");
    if (at == std::string_view::npos || line.find(".loc") != std::string_view::npos) return "";
    std::string_view rest = trim(line.substr(at + 5));
    if (!rest.empty() && rest[0] == '(') {
        const std::size_t close = rest.find(')');
        if (close == std::string_view::npos) return "";
        rest = trim(rest.substr(close + 1));
    }
    return std::string(leading_word(rest));
}

// The three numbers of "1 5 3".
bool read_place(std::string_view text, int& file, int& line, int& column) {
    const std::string copy(text.substr(0, 64));
    char* end = nullptr;
    file = static_cast<int>(std::strtol(copy.c_str(), &end, 10));
    line = static_cast<int>(std::strtol(end, &end, 10));
    const char* before = end;
    column = static_cast<int>(std::strtol(end, &end, 10));
    return end != before;
}

// ".loc 1 5 3", not ".local".
bool is_loc(std::string_view line) {
    return line.rfind(".loc", 0) == 0 && line.size() > 4 && (line[4] == ' ' || line[4] == '\t');
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

PtxLines::PtxLines(std::string_view ptx, std::string source_name) : source_name_(std::move(source_name)) {
    lines_ = split(ptx, '\n');
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const std::string_view line = trim(lines_[i]);
        const int number = static_cast<int>(i) + 1;
        if (line.rfind(".file", 0) == 0) {
            const std::size_t open = line.find('"'), close = line.rfind('"');
            if (open != std::string_view::npos && close > open) {
                files_[std::atoi(std::string(trim(line.substr(5, open - 5))).c_str())] =
                    std::string(line.substr(open + 1, close - open - 1));
            }
        } else if (!line.empty() && line[0] == '.') {
            bool entry = false;
            const std::string symbol = function_symbol(line, entry);
            if (!symbol.empty()) {
                if (!functions_.empty() && functions_.back().last == 0) functions_.back().last = number - 1;
                functions_.push_back({symbol, number, 0});
                if (entry) entries_.push_back(symbol);
            }
        } else if (line == "}" && !lines_[i].empty() && lines_[i][0] == '}') {
            if (!functions_.empty() && functions_.back().last == 0) functions_.back().last = number;
        }
    }
}

SourcePlace PtxLines::place_of(int ptx_line) const {
    const int count = static_cast<int>(lines_.size());
    for (int number = std::min(ptx_line, count); number >= 1; --number) {
        const std::string_view line = trim(lines_[static_cast<std::size_t>(number) - 1]);
        if (number < ptx_line && (line == "}" && lines_[static_cast<std::size_t>(number) - 1][0] == '}'))
            break;
        if (!is_loc(line)) continue;
        int file = 0;
        SourcePlace place, first;
        std::string_view rest = line.substr(4);
        for (bool more = true; more;) {
            if (!read_place(rest, file, place.line, place.column)) break;
            const auto name = files_.find(file);
            place.file = name == files_.end() ? "" : name->second;
            if (first.line == 0) first = place;
            if (base_name(place.file) == source_name_) return place;
            const std::size_t at = rest.find("inlined_at ");
            more = at != std::string_view::npos;
            if (more) rest = rest.substr(at + 11);
        }
        return first;
    }
    return {};
}

std::string PtxLines::text_of(int ptx_line) const {
    if (ptx_line < 1 || ptx_line > static_cast<int>(lines_.size())) return "";
    return std::string(trim(lines_[static_cast<std::size_t>(ptx_line) - 1]));
}

std::string PtxLines::function_at(int ptx_line) const {
    for (const Function& function : functions_) {
        if (ptx_line >= function.first && (function.last == 0 || ptx_line <= function.last))
            return function.symbol;
    }
    return "";
}

SourcePlace PtxLines::place_of_function(const std::string& symbol) const {
    for (const Function& function : functions_) {
        if (function.symbol != symbol) continue;
        const int last = function.last == 0 ? static_cast<int>(lines_.size()) : function.last;
        for (int number = function.first; number <= last; ++number) {
            if (is_loc(trim(lines_[static_cast<std::size_t>(number) - 1]))) return place_of(number);
        }
    }
    return {};
}

int PtxLines::first_call_of(const std::string& symbol) const {
    bool in_call = false;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const std::string& line = lines_[i];
        if (trim(line).rfind("call", 0) == 0) in_call = true;
        if (!in_call) continue;
        for (std::size_t at = line.find(symbol); at != std::string::npos; at = line.find(symbol, at + 1)) {
            const std::size_t end = at + symbol.size();
            if ((at == 0 || !is_word(line[at - 1])) && (end >= line.size() || !is_word(line[end]))) {
                return static_cast<int>(i) + 1;
            }
        }
        if (line.find(';') != std::string::npos) in_call = false;
    }
    return 0;
}

std::string strip_working_directory(std::string ptx, const std::string& source_name) {
    const std::string tail = "/" + source_name + "\"";
    for (std::size_t at = ptx.find("\t.file\t"); at != std::string::npos;
         at = ptx.find("\t.file\t", at + 1)) {
        const std::size_t end = ptx.find('\n', at);
        const std::size_t open = ptx.find('"', at);
        if (open == std::string::npos || end == std::string::npos || open > end) continue;
        const std::size_t found = ptx.find(tail, open);
        if (found == std::string::npos || found > end) continue;
        ptx.erase(open + 1, found - open);
    }
    return ptx;
}

}  // namespace kernelwright

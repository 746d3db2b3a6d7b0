#include "harness/report/table.h"

#include <algorithm>

#include "harness/core/text.h"

namespace kernelwright::report {
namespace {

std::string markdown_cell(const std::string& text) {
    std::string out;
    for (const char c : printable(text)) {
        if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') out += '\\';
        out += c;
    }
    return out;
}

bool is_right(const Table& table, std::size_t column) {
    return column < table.right.size() && table.right[column];
}

}  // namespace

std::size_t display_width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string plain_table(const Table& table) {
    std::vector<std::size_t> width;
    for (const std::string& name : table.header) width.push_back(display_width(name));
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size() && i < width.size(); ++i) {
            width[i] = std::max(width[i], display_width(row[i]));
        }
    }
    std::string out;
    const auto put = [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size() && i < width.size(); ++i) {
            const std::string text = printable(row[i]);
            const std::string fill(width[i] - std::min(width[i], display_width(text)), ' ');
            if (i > 0) line += "  ";
            line += is_right(table, i) ? fill + text : text + fill;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    put(table.header);
    std::vector<std::string> rule;
    for (const std::size_t w : width) rule.emplace_back(w, '-');
    put(rule);
    for (const auto& row : table.rows) put(row);
    return out;
}

std::string markdown_table(const Table& table) {
    std::string out = "|";
    for (const std::string& name : table.header) out += " " + markdown_cell(name) + " |";
    out += "\n|";
    for (std::size_t i = 0; i < table.header.size(); ++i) out += is_right(table, i) ? "---:|" : "---|";
    out += "\n";
    for (const auto& row : table.rows) {
        out += "|";
        for (const std::string& cell : row) out += " " + markdown_cell(cell) + " |";
        out += "\n";
    }
    return out;
}

std::string html_table(const Table& table) {
    std::string out = "<table>\n<tr>";
    for (std::size_t i = 0; i < table.header.size(); ++i) {
        out += is_right(table, i) ? "<th class=\"r\">" : "<th>";
        out += escape_html(table.header[i]) + "</th>";
    }
    out += "</tr>\n";
    for (const auto& row : table.rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            out += (is_right(table, i) ? "<td class=\"r\">" : "<td>") + escape_html(row[i]) + "</td>";
        }
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

std::string escape_html(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default: {
                const auto byte = static_cast<unsigned char>(c);
                const bool kept = byte >= 0x20 || c == '\n' || c == '\t';
                if (kept && byte != 0x7f) out += c;
            }
        }
    }
    return out;
}

}  // namespace kernelwright::report

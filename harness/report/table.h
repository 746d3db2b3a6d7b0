// Rows of text in columns as wide as they need to be.
#pragma once

#include <string>
#include <vector>

namespace kernelwright::report {

struct Table {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  // as many cells each as the header has
    std::vector<bool> right;                     // columns set flush right; shorter than the header: left
};

// For a terminal: two blanks between columns, a rule under the header.
std::string plain_table(const Table& table);
// GitHub's Markdown; `|` and line ends in cells are escaped.
std::string markdown_table(const Table& table);
std::string html_table(const Table& table);

// Columns that `text` takes on a terminal, counting characters, not bytes.
std::size_t display_width(const std::string& text);

std::string escape_html(const std::string& text);

}  // namespace kernelwright::report

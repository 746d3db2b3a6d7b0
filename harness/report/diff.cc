// Line differences by the longest common subsequence. Candidates are some hundred lines; beyond a bound the
// whole text is shown as replaced, for the table grows with the product of the two lengths.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/core/text.h"
#include "harness/report/report.h"

namespace kernelwright::report {
namespace {

constexpr std::size_t max_cells = 4'000'000;

struct Row {
    char mark;
    const std::string* text;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
}

std::vector<Row> rows_of(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<Row> rows;
    const std::size_t width = b.size() + 1;
    if ((a.size() + 1) * width > max_cells) {
        for (const std::string& line : a) rows.push_back({'-', &line});
        for (const std::string& line : b) rows.push_back({'+', &line});
        return rows;
    }
    // common[i][j]: the length of the longest common subsequence of a[i..] and b[j..]
    std::vector<std::uint32_t> common((a.size() + 1) * width, 0);
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;) {
            common[i * width + j] = a[i] == b[j]
                                        ? common[(i + 1) * width + j + 1] + 1
                                        : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
        }
    }
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        if (i < a.size() && j < b.size() && a[i] == b[j]) {
            rows.push_back({' ', &a[i]});
            ++i, ++j;
        } else if (j == b.size() ||
                   (i < a.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
            rows.push_back({'-', &a[i++]});
        } else {
            rows.push_back({'+', &b[j++]});
        }
    }
    return rows;
}

}  // namespace

std::string line_diff(const std::string& before, const std::string& after, int around) {
    const std::vector<std::string> a = lines_of(before), b = lines_of(after);
    const std::vector<Row> rows = rows_of(a, b);
    // How far each row is from the nearest change.
    constexpr int far = 1 << 20;
    std::vector<int> distance(rows.size(), far);
    int since = far;
    bool any = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        since = rows[i].mark != ' ' ? 0 : since + 1;
        any = any || since == 0;
        distance[i] = std::min(distance[i], since);
    }
    if (!any) return {};
    since = far;
    for (std::size_t i = rows.size(); i-- > 0;) {
        since = rows[i].mark != ' ' ? 0 : since + 1;
        distance[i] = std::min(distance[i], since);
    }
    std::string out;
    bool skipping = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (distance[i] > around) {
            if (!skipping) out += "...\n";
            skipping = true;
            continue;
        }
        skipping = false;
        out += rows[i].mark;
        out += *rows[i].text;
        out += '\n';
    }
    return out;
}

}  // namespace kernelwright::report

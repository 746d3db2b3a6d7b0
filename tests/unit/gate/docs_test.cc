// The rules that the documentation names are rules that the program has, under the stage that it gives them.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "harness/core/files.h"
#include "harness/core/text.h"
#include "verifiers/gate/execution.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

const fs::path root = KW_SOURCE_DIR;

std::string sources_of(std::initializer_list<const char*> folders) {
    std::string all;
    for (const char* folder : folders) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.path().extension() == ".cc") all += *read_file(entry.path());
        }
    }
    return all;
}

bool has_literal(const std::string& sources, const std::string& rule) {
    if (sources.find("\"" + rule + "\"") != std::string::npos) return true;
    // bad-grid, bad-block and bad-cluster are put together from the key.
    const std::string key = rule.starts_with("bad-") ? rule.substr(4) : "";
    return !key.empty() && sources.find("\"bad-{}\"") != std::string::npos &&
           sources.find("\"" + key + "\"") != std::string::npos;
}

// What stands in backticks in one column of the tables below a heading.
struct Row {
    std::string first;  // the row's first cell
    std::vector<std::string> names;
};
std::vector<Row> rows_of(const std::string& page, const std::string& header, std::size_t column) {
    std::istringstream lines(*read_file(root / "docs" / page));
    std::vector<Row> rows;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(header)) {
            inside = true;
            continue;
        }
        if (!line.starts_with("|")) inside = false;
        if (!inside || line.starts_with("|--")) continue;
        const std::vector<std::string> cells = split(line, '|');
        Row row{std::string(trim(cells.at(1))), {}};
        const std::vector<std::string> parts = split(cells.at(column), '`');
        for (std::size_t i = 1; i < parts.size(); i += 2) row.names.push_back(parts[i]);
        rows.push_back(std::move(row));
    }
    return rows;
}

TEST(Docs, RulesOfVerdictsExistUnderTheirStage) {
    const std::string all = sources_of({"harness", "emulator", "verifiers"});
    const std::string emulator = sources_of({"emulator"});
    const std::vector<Row> rows = rows_of("verdicts.md", "| stage |", 3);
    EXPECT_EQ(rows.size(), 8U);
    for (const Row& row : rows) {
        const auto stage = parse_stage(row.first);
        ASSERT_TRUE(stage) << row.first;
        EXPECT_FALSE(row.names.empty()) << row.first;
        for (const std::string& rule : row.names) {
            EXPECT_TRUE(has_literal(all, rule)) << rule;
            if (has_literal(emulator, rule)) {
                EXPECT_EQ(to_string(stage_of_rule(rule)), row.first) << rule;
            }
        }
    }
}

// Both ways: the page lists what the plan's parser and binder report, and nothing else.
TEST(Docs, RulesOfPlansAreThoseOfTheProgram) {
    const std::string all = sources_of({"harness/candidate", "harness/device", "emulator", "verifiers/gate"});
    std::set<std::string> listed;
    for (const Row& row : rows_of("candidates.md", "| rule |", 1)) {
        for (const std::string& rule : row.names) {
            EXPECT_TRUE(has_literal(all, rule)) << rule;
            listed.insert(rule);
        }
    }
    EXPECT_GT(listed.size(), 25U);
    const std::string parser = sources_of({"harness/candidate"});
    int found = 0;
    for (const char* call : {"report(", "refuse(", "plan_diagnostic("}) {
        for (std::size_t at = parser.find(call); at != std::string::npos; at = parser.find(call, at + 1)) {
            const std::size_t open = parser.find_first_not_of(" \n", at + std::string(call).size());
            if (parser[open] != '"') continue;
            const std::string rule = parser.substr(open + 1, parser.find('"', open + 1) - open - 1);
            ++found;
            EXPECT_TRUE(listed.contains(rule)) << "docs/candidates.md does not list " << rule;
        }
    }
    EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace kernelwright

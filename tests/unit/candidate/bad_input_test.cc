// The broken pages and candidates of tests/cases/bad_input, as far as the parsers alone can judge them: each
// is refused with one line that holds the expected text.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "harness/candidate/candidate.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

const std::filesystem::path cases = std::filesystem::path(KW_SOURCE_DIR) / "tests/cases/bad_input";

std::vector<std::filesystem::path> files(const char* folder, const char* extension) {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(cases / folder)) {
        if (entry.path().extension() == extension) out.push_back(entry.path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

// "key: value" lines, with or without `// ` and `expect-`; stops at the first other line.
std::map<std::string, std::string> expectations(const std::filesystem::path& file) {
    std::filesystem::path sidecar = file.string() + ".expect";
    if (file.extension() == ".md") sidecar = std::filesystem::path(file).replace_extension(".expect");
    const bool beside = std::filesystem::exists(sidecar);
    const auto text = read_file(beside ? sidecar : file);
    EXPECT_TRUE(text.ok());
    std::map<std::string, std::string> out;
    std::istringstream lines(text.ok() ? *text : "");
    for (std::string line; std::getline(lines, line);) {
        if (!beside) {
            if (!line.starts_with("// ")) break;
            line.erase(0, 3);
        }
        const std::size_t colon = std::min(line.find(':'), line.size());
        std::string key = line.substr(0, colon);
        if (key == "expect") key = "text";
        if (key.starts_with("expect-")) key.erase(0, 7);
        out[key] = colon < line.size() ? std::string(trim(line.substr(colon + 1))) : "yes";
    }
    return out;
}

TEST(BadInput, ThereAreEnoughOfThem) {
    EXPECT_GE(files("pages", ".md").size() + files("candidates", ".cu").size(), 60U);
}

TEST(BadInput, Pages) {
    for (const auto& file : files("pages", ".md")) {
        const auto expect = expectations(file);
        ASSERT_TRUE(expect.count("text") > 0 && expect.at("exit") == "2") << file;
        const auto task = load_task(file);
        if (expect.count("reference") > 0) {
            EXPECT_TRUE(task.ok()) << task.error().str();
            continue;
        }
        ASSERT_FALSE(task.ok()) << file;
        const std::string line = task.error().str();
        EXPECT_NE(line.find(expect.at("text")), std::string::npos)
            << line << "\nwanted: " << expect.at("text");
        EXPECT_TRUE(line.starts_with(file.string() + ":")) << line;
        EXPECT_GE(task.error().line, 1) << line;
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
}

TEST(BadInput, Candidates) {
    for (const auto& file : files("candidates", ".cu")) {
        const auto expect = expectations(file);
        ASSERT_TRUE(expect.count("exit") > 0 && expect.count("stage") > 0) << file;
        const std::string stem = file.stem().string();
        const auto task = load_task(std::filesystem::path(KW_SOURCE_DIR) / "tasks" /
                                    (stem.substr(0, stem.find("__")) + ".md"));
        ASSERT_TRUE(task.ok()) << task.error().str();
        const auto source = load_candidate(file);
        ASSERT_TRUE(source.ok()) << source.error().str();
        const auto parsed = parse_candidate(*task, *source, file.filename().string());
        if (expect.count("parser") == 0) {
            EXPECT_TRUE(parsed.ok()) << file << ": " << (parsed.ok() ? "" : to_line(parsed.diagnostics[0]));
            continue;
        }
        ASSERT_FALSE(parsed.ok()) << file;
        const Diagnostic& first = parsed.diagnostics[0];
        EXPECT_EQ(first.rule, expect.at("rule")) << to_line(first);
        EXPECT_EQ(to_string(first.stage), expect.at("stage"));
        EXPECT_NE(to_line(first).find(expect.at("text")), std::string::npos)
            << to_line(first) << "\nwanted: " << expect.at("text");
        EXPECT_GE(first.line, 1) << to_line(first);
        EXPECT_EQ(to_line(first).find('\n'), std::string::npos) << to_line(first);
    }
}

// Sparse files: nothing is read of them.
TEST(BadInput, HugeFilesAreRefusedUnread) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("kernelwright-bad-input-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    for (const char* name : {"huge.md", "huge.cu"}) {
        ASSERT_TRUE(write_file_atomic(folder / name, "x").ok());
        std::filesystem::resize_file(folder / name, 100'000'000);
    }
    const auto page = load_task(folder / "huge.md");
    ASSERT_FALSE(page.ok());
    EXPECT_NE(page.error().str().find("the file is 100000000 bytes, more than the 1048576 that are read"),
              std::string::npos);
    const auto candidate = load_candidate(folder / "huge.cu");
    ASSERT_FALSE(candidate.ok());
    EXPECT_NE(candidate.error().str().find("the file is 100000000 bytes"), std::string::npos);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kernelwright

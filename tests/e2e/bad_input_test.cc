// Broken pages and candidates (tests/cases/bad_input): one clear line or diagnostic, the right exit code, no
// crash. Faults too large to keep as files are made here.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/e2e/program.h"

namespace kernelwright::e2e {
namespace {

const std::filesystem::path cases = source_dir() / "tests/cases/bad_input";

// "key: value" lines, with a leading "//" left out.
std::map<std::string, std::string> expectations(const std::string& text) {
    std::map<std::string, std::string> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::size_t start = 0;
        if (line.rfind("//", 0) == 0) start = 2;
        start = line.find_first_not_of(' ', start);
        const std::size_t colon = line.find(':');
        if (start == std::string::npos || colon == std::string::npos || colon < start) continue;
        const std::size_t value = line.find_first_not_of(' ', colon + 1);
        out.emplace(line.substr(start, colon - start), value == std::string::npos ? "" : line.substr(value));
    }
    return out;
}

bool crashed(const Ran& ran) { return ran.exit >= 124 || ran.exit == 70; }

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class BrokenPage : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenPage, OneClearLine) {
    auto expect_file = GetParam();
    expect_file.replace_extension(".expect");
    const auto expected = expectations(slurp(expect_file));
    const Ran ran = run_program({"tasks", "check", GetParam().string()});
    ASSERT_FALSE(crashed(ran)) << ran.exit << ran.err;
    EXPECT_EQ(ran.exit, std::stoi(expected.at("exit"))) << ran.err;
    EXPECT_NE(ran.err.find(expected.at("text")), std::string::npos) << ran.err;
    EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    EXPECT_NE(ran.err.find(GetParam().filename().string()), std::string::npos)
        << "the line names the file: " << ran.err;
    const Ran check = run_program(
        {"check", GetParam().string(), (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string()});
    EXPECT_EQ(check.exit, 2) << check.out << check.err;
}

class BrokenCandidate : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenCandidate, OneDiagnostic) {
    const std::filesystem::path sidecar = GetParam().string() + ".expect";
    const bool beside = std::filesystem::exists(sidecar);
    const auto read = expectations(slurp(beside ? sidecar : GetParam()));
    const auto expected = [&](const std::string& key) {
        const auto it = read.find(beside ? key : key == "text" ? "expect" : "expect-" + key);
        return it == read.end() ? std::string() : it->second;
    };
    ASSERT_NE(expected("exit"), "") << "the case says no exit code";
    const std::string stem = GetParam().stem().string();
    const std::string task = (source_dir() / "tasks" / (stem.substr(0, stem.find("__")) + ".md")).string();
    const Ran ran = run_program({"check", task, GetParam().string(), "--json"});
    ASSERT_FALSE(crashed(ran)) << ran.exit << ran.err;
    EXPECT_EQ(ran.exit, std::stoi(expected("exit"))) << ran.out << ran.err;
    const Json json = ran.json();
    ASSERT_FALSE(json.is_discarded()) << ran.out;
    std::string said = ran.err;
    if (json.contains("diagnostics")) {
        for (const Json& d : json["diagnostics"])
            said += d.value("message", "") + " " + d.value("hint", "") + "\n";
    }
    EXPECT_NE(said.find(expected("text")), std::string::npos) << said;
    if (ran.exit == 1) {
        ASSERT_FALSE(json["diagnostics"].empty());
        EXPECT_EQ(json["diagnostics"][0]["severity"], "error");
        if (!expected("stage").empty()) {
            EXPECT_EQ(json["stage"], expected("stage")) << ran.out;
        }
        if (!expected("rule").empty()) {
            EXPECT_EQ(json["diagnostics"][0]["rule"], expected("rule")) << ran.out;
        }
    } else {
        EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    }
}

std::string name(const testing::TestParamInfo<std::filesystem::path>& info) { return test_name(info.param); }
INSTANTIATE_TEST_SUITE_P(BadInput, BrokenPage, testing::ValuesIn(files_in(cases / "pages", ".md")), name);
INSTANTIATE_TEST_SUITE_P(BadInput, BrokenCandidate, testing::ValuesIn(files_in(cases / "candidates", ".cu")),
                         name);

TEST(BadInput, HundredMegabytes) {
    const Scratch scratch;
    const auto file = scratch.path() / "huge.cu";
    std::ofstream(file) << "x";
    std::filesystem::resize_file(file, 100U << 20);
    const Ran candidate = run_program({"check", "vector_add", file.string()});
    EXPECT_EQ(candidate.exit, 2);
    EXPECT_EQ(lines_in(candidate.err), 1U) << candidate.err;
    const Ran page = run_program({"tasks", "check", file.string()});
    EXPECT_EQ(page.exit, 2);
    EXPECT_EQ(lines_in(page.err), 1U) << page.err;
}

TEST(BadInput, FilesThatAreNoFiles) {
    for (const char* path : {"/nonexistent/k.cu", "/dev/zero", "/"}) {
        const Ran ran = run_program({"check", "vector_add", path});
        EXPECT_EQ(ran.exit, 2) << path << ran.out << ran.err;
        EXPECT_EQ(lines_in(ran.err), 1U) << path << ran.err;
    }
}

TEST(BadInput, CallsThatAreWrong) {
    const std::string naive = (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string();
    const std::vector<std::vector<std::string>> calls{
        {},
        {"chekc"},
        {"check"},
        {"check", "vector_add"},
        {"check", "vector_ad", naive},
        {"check", "vector_add", naive, "--shape", "N=0"},
        {"check", "vector_add", naive, "--shape", "M=3"},
        {"check", "vector_add", naive, "--shape", "N=99999999999"},
        {"check", "vector_add", naive, "--case", "nomral"},
        {"check", "vector_add", naive, "--seed", "minus"},
        {"check", "vector_add", naive, "--target", "sm_12"},
        {"check", "vector_add", naive, "--sandbox", "perhaps"},
        {"check", "vector_add", naive, "--device", "toaster"},
        {"run"},
        {"run", "vector_add", "--author", "nobody"},
        {"run", "vector_add", "--author", "replay:/nonexistent.jsonl"},
        {"run", "vector_add", "--budget", "evals=many", "--author", "replay:/nonexistent.jsonl"},
        {"run", "--resume", "no-such-run"},
        {"report", "no-such-run"},
        {"skills", "show", "no.such-skill"},
        {"skills", "dance"},
        {"tasks", "dance"},
    };
    const Scratch scratch;
    for (std::vector<std::string> call : calls) {
        if (!call.empty() && (call[0] == "run" || call[0] == "report")) {
            call.push_back("--results");
            call.push_back((scratch.path() / "results").string());
        }
        const Ran ran = run_program(call);
        EXPECT_EQ(ran.exit, 2) << Json(call).dump() << "\n" << ran.out << ran.err;
        EXPECT_EQ(lines_in(ran.err), 1U) << Json(call).dump() << "\n" << ran.err;
        EXPECT_EQ(ran.out, "") << Json(call).dump();
    }
}

TEST(BadInput, WhatIsNotBuiltSaysSo) {
    for (const char* command : {"calibrate", "new", "ir", "mcp", "nightly"}) {
        const Ran ran = run_program({command, "x"});
        EXPECT_EQ(ran.exit, 3) << command;
        EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    }
}

TEST(BadInput, NoCompiler) {
    const std::string naive = (source_dir() / "tests/cases/tasks/vector_add/naive.cu").string();
    const Ran ran = run_program({"check", "vector_add", naive}, "KERNELWRIGHT_NVRTC=/nonexistent");
    EXPECT_EQ(ran.exit, 3) << ran.out << ran.err;
    EXPECT_EQ(lines_in(ran.err), 1U) << ran.err;
    EXPECT_NE(ran.err.find("NVRTC"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace kernelwright::e2e

// Runs the built program and collects what it said.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "tests/support/temp_folder.h"

namespace kernelwright::e2e {

struct Ran {
    int exit = -1;
    std::string out, err;
    double seconds = 0;
    Json json() const { return Json::parse(out, nullptr, false); }
};

inline std::filesystem::path source_dir() { return KW_SOURCE_DIR; }

inline std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

using Scratch = TempFolder;

inline std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// `arguments` are quoted one by one; `environment` is put before the command ("NAME=value").
inline Ran run_program(const std::vector<std::string>& arguments, const std::string& environment = "") {
    const Scratch scratch;
    std::string command =
        environment + " timeout 900 " + quoted(std::string(KW_BINARY_DIR) + "/bin/kernelwright");
    for (const std::string& argument : arguments) command += " " + quoted(argument);
    const auto out = scratch.path() / "out";
    const auto err = scratch.path() / "err";
    command += " >" + quoted(out.string()) + " 2>" + quoted(err.string()) + " </dev/null";
    const auto start = std::chrono::steady_clock::now();
    const int status = std::system(command.c_str());
    Ran ran;
    ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.out = slurp(out);
    ran.err = slurp(err);
    return ran;
}

inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   const std::string& extension) {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::is_directory(folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

// A name that GoogleTest takes.
inline std::string test_name(const std::filesystem::path& path) {
    std::string name = path.stem().string();
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name;
}

}  // namespace kernelwright::e2e

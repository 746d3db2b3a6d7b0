#include "harness/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "harness/core/environment.h"
#include "harness/core/process.h"
#include "harness/core/text.h"

namespace kernelwright::cli {
namespace fs = std::filesystem;

fs::path program_path() {
    std::error_code ec;
    const fs::path path = fs::read_symlink("/proc/self/exe", ec);
    return ec ? fs::path("kernelwright") : path;
}

Result<fs::path> data_folder() {
    const auto complete = [](const fs::path& folder) {
        std::error_code ec;
        return fs::is_directory(folder / "devices", ec) && fs::is_directory(folder / "skills", ec);
    };
    if (const char* set = std::getenv("KERNELWRIGHT_DATA"); set != nullptr && *set != '\0') {
        if (complete(set)) return fs::path(set);
        return Error{fmt::format("KERNELWRIGHT_DATA={} has no devices/ and skills/", set)};
    }
    const fs::path program = program_path();
    for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        if (complete(folder)) return folder;
        if (complete(folder / "share" / "kernelwright")) return folder / "share" / "kernelwright";
    }
    return Error{"the data folder (tasks/, skills/, devices/) was not found above the program",
                 {},
                 0,
                 0,
                 "set KERNELWRIGHT_DATA to the source tree, or run `make install`"};
}

std::string called_as(const std::string& typed) {
    constexpr const char* name = "kernelwright";
    std::error_code ec;
    const std::string found = find_program(name, read_environment("PATH").value_or(""));
    if (!found.empty() && fs::canonical(found, ec) == program_path()) return name;
    return typed.find('/') != std::string::npos ? shell_word(typed) : typed.empty() ? name : typed;
}

std::string shell_word(const std::string& text) {
    static constexpr const char* plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string runnable(const Global& global, const std::string& command) {
    constexpr std::string_view name = "kernelwright ";
    return command.starts_with(name) ? global.program + " " + command.substr(name.size()) : command;
}

std::vector<std::string> library_names() {
    std::vector<std::string> names;
    std::error_code ec;
    const auto data = data_folder();
    if (!data) return names;
    for (const auto& entry : fs::directory_iterator(*data / "tasks", ec)) {
        if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

fs::path resolve_task(const std::string& given) {
    std::error_code ec;
    if (fs::exists(given, ec) || given.find('/') != std::string::npos) return given;
    if (const auto data = data_folder()) {
        const std::string stem = given.ends_with(".md") ? given.substr(0, given.size() - 3) : given;
        const fs::path page = *data / "tasks" / (stem + ".md");
        if (fs::exists(page, ec)) return page;
    }
    return given;
}

void print_json(const Json& json) {
    // Invalid UTF-8 from a candidate or a log is replaced, never an exception.
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw std::system_error(errno, std::generic_category(), "standard output");
}

Exit fail(const Global& global, Exit exit, const Error& error) {
    fmt::print(stderr, "kernelwright: {}\n", printable(error.str()));
    if (global.json) {
        Json e;
        e["message"] = error.message;
        if (!error.file.empty()) e["file"] = error.file;
        if (error.line > 0) e["line"] = error.line;
        if (!error.hint.empty()) e["hint"] = error.hint;
        Json out;
        out["schema"] = "kernelwright.error/1";
        out["exit"] = static_cast<int>(exit);
        out["error"] = std::move(e);
        print_json(out);
    }
    return exit;
}

RunPlace run_place(const std::string& given, const std::string& results) {
    std::error_code ec;
    const fs::path folder = fs::weakly_canonical(given, ec);
    if (given.find('/') == std::string::npos || ec || !fs::is_directory(folder, ec)) return {results, given};
    return {folder.parent_path().parent_path(), folder.filename().string()};
}

}  // namespace kernelwright::cli

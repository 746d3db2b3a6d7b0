#include "harness/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

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
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

Exit fail(const Global& global, Exit exit, const Error& error) {
    fmt::print(stderr, "kernelwright: {}\n", error.str());
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

Result<std::map<std::string, std::int64_t>> parse_shape(const std::string& text) {
    std::map<std::string, std::int64_t> out;
    for (const std::string& part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string name(trim(part.substr(0, equals)));
        const std::string number(equals == std::string::npos ? "" : trim(part.substr(equals + 1)));
        std::int64_t value = 0;
        const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (equals == std::string::npos || name.empty() || ec != std::errc() ||
            end != number.data() + number.size() || value < 1) {
            return Error{fmt::format("--shape {}: `{}` is not NAME=POSITIVE", text, part),
                         {},
                         0,
                         0,
                         "write --shape M=3,N=17"};
        }
        out[name] = value;
    }
    return out;
}

}  // namespace kernelwright::cli

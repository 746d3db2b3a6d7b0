// A scan of items at namespace scope, by brackets alone. An item is a preprocessor line, a function, a class,
// a variable or an alias; namespaces and extern "C" are entered. What has a device keyword (__global__,
// __device__, __constant__, or a macro that expands to one), is a type, an alias or a constant is kept.
#include "tests/public/device_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>

namespace kernelwright::public_sources {
namespace {

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words of `text`, comments and literals left out.
std::vector<std::string> words(std::string_view text);

// Where the comment, literal or preprocessor line that starts at `at` ends; `at` itself when none starts.
std::size_t skip_opaque(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) == "//") {
        const std::size_t end = text.find('\n', at);
        return end == std::string_view::npos ? text.size() : end;
    }
    if (text.substr(at, 2) == "/*") {
        const std::size_t end = text.find("*/", at + 2);
        return end == std::string_view::npos ? text.size() : end + 2;
    }
    if (text.substr(at, 3) == "R\"(") {
        const std::size_t end = text.find(")\"", at + 3);
        return end == std::string_view::npos ? text.size() : end + 2;
    }
    if (text[at] == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) return at;
    if (text[at] == '"' || text[at] == '\'') {
        std::size_t end = at + 1;
        while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
        return std::min(end + 1, text.size());
    }
    return at;
}

std::size_t line_end(std::string_view text, std::size_t at) {
    for (;; ++at) {
        at = text.find('\n', at);
        if (at == std::string_view::npos) return text.size();
        std::size_t last = at;
        while (last > 0 && text[last - 1] == '\r') --last;
        if (last == 0 || text[last - 1] != '\\') return at;
    }
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        if (const std::size_t next = skip_opaque(text, at); next != at) {
            at = next;
        } else if (word_character(text[at])) {
            const std::size_t begin = at;
            while (at < text.size() && word_character(text[at])) ++at;
            out.emplace_back(text.substr(begin, at - begin));
        } else {
            ++at;
        }
    }
    return out;
}

std::string blank(std::string_view text) {
    return std::string(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
}

// Headers that NVRTC finds: the toolkit's that it takes and the compile path's stand-ins.
bool known_header(const std::string& name) {
    static constexpr std::array prefixes{"cuda_fp16",     "cuda_bf16",      "cuda_fp8", "cooperative_groups",
                                         "cuda_pipeline", "cuda_awbarrier", "cuda/",    "cub/block/",
                                         "cub/warp/"};
    static constexpr std::array names{"mma.h",
                                      "curand_kernel.h",
                                      "cuda_runtime.h",
                                      "cuda_runtime_api.h",
                                      "vector_types.h",
                                      "cuda.h",
                                      "math_constants.h",
                                      "cuComplex.h",
                                      "stdint.h",
                                      "cstdint",
                                      "inttypes.h",
                                      "math.h",
                                      "cmath",
                                      "float.h",
                                      "cfloat",
                                      "limits.h",
                                      "climits",
                                      "assert.h",
                                      "cassert",
                                      "stddef.h",
                                      "cstddef",
                                      "stdio.h",
                                      "cstdio",
                                      "stdlib.h",
                                      "cstdlib",
                                      "string.h",
                                      "cstring",
                                      "utility",
                                      "algorithm",
                                      "limits",
                                      "type_traits",
                                      "stdbool.h",
                                      "device_launch_parameters.h"};
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const char* p) { return name.starts_with(p); }) ||
           std::find(names.begin(), names.end(), name) != names.end();
}

class Extractor {
  public:
    explicit Extractor(const DevicePartOptions& options) : options_(options) {}

    std::string file(const std::string& path, const std::string& text) {
        seen_.insert(path);
        return scope(path, text);
    }

  private:
    bool device_word(const std::string& word) const {
        return word == "__global__" || word == "__device__" || word == "__constant__" ||
               word == "__shared__" || device_macros_.contains(word);
    }

    std::string include(const std::string& path, std::string_view line, std::size_t number) {
        const std::size_t open = line.find_first_of("<\"");
        if (open == std::string_view::npos) return std::string(line);
        const std::size_t close = line.find_first_of(">\"", open + 1);
        const std::string name(line.substr(open + 1, close - open - 1));
        std::vector<std::string> folders{std::filesystem::path(path).parent_path().string()};
        folders.insert(folders.end(), options_.include_folders.begin(), options_.include_folders.end());
        for (const std::string& folder : folders) {
            const std::string candidate = (std::filesystem::path(folder) / name).lexically_normal().string();
            if (seen_.contains(candidate)) return "";
            if (const auto text = options_.read(candidate)) {
                return fmt::format("\n#line 1 \"{}\"\n{}\n#line {} \"{}\"", candidate, file(candidate, *text),
                                   number, path);
            }
        }
        return known_header(name) ? std::string(line) : "";
    }

    std::string directive(const std::string& path, std::string_view line, std::size_t number) {
        std::size_t at = 1;
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
        const std::string_view rest = line.substr(at);
        if (rest.starts_with("include")) return include(path, line, number);
        if (rest.starts_with("pragma once")) return "";
        if (rest.starts_with("define")) {
            const auto all = words(rest);
            if (all.size() > 1 && std::any_of(all.begin() + 2 - (all.size() < 3), all.end(),
                                              [&](const std::string& w) { return device_word(w); }))
                device_macros_.insert(all[1]);
        }
        return std::string(line);
    }

    // The end of the item that starts at `at`; `body` becomes the place of its first brace at depth 0.
    static std::size_t item_end(std::string_view text, std::size_t at, std::size_t& body) {
        int depth = 0;
        bool assigned = false, type = false;
        body = std::string_view::npos;
        const auto head = words(text.substr(at, std::min<std::size_t>(text.size() - at, 400)));
        std::size_t first = 0;
        while (first < head.size() && (head[first] == "static" || head[first] == "const")) ++first;
        if (first < head.size()) {
            const std::string& w = head[first];
            type = w == "struct" || w == "class" || w == "union" || w == "enum" || w == "typedef";
        }
        bool closed_parameters = false;
        while (at < text.size()) {
            if (const std::size_t next = skip_opaque(text, at); next != at) {
                at = next;
                continue;
            }
            const char c = text[at];
            if (c == '#' && (at == 0 || text.find_last_not_of(" \t", at - 1) == std::string_view::npos ||
                             text[text.find_last_not_of(" \t", at - 1)] == '\n')) {
                at = line_end(text, at);
                continue;
            }
            if (c == '=' && depth == 0) assigned = true;
            if (c == ')' && depth == 1) closed_parameters = true;
            if (c == '{' && depth == 0 && body == std::string_view::npos) body = at;
            if (c == '(' || c == '{' || c == '[') ++depth;
            if (c == ')' || c == '}' || c == ']') --depth;
            if (c == ';' && depth <= 0) return at + 1;
            if (c == '}' && depth <= 0 && !assigned && closed_parameters && !type) return at + 1;
            if (c == '}' && depth < 0) return at;
            ++at;
        }
        return text.size();
    }

    bool keep(std::string_view item, std::size_t body) const {
        for (const std::string& text : options_.drop)
            if (item.find(text) != std::string_view::npos) return false;
        for (const char* text : {"std::string", "std::vector", "std::map", "std::unordered_map",
                                 "std::exception", "std::runtime_error", "std::ostream", "std::ofstream",
                                 "std::function", "using std::", "cudaStream_t", "cublasHandle_t", "torch::",
                                 "FILE *", "timeval", "pid_t", "std::cerr", "std::cout", "StopWatch"})
            if (item.find(text) != std::string_view::npos) return false;
        const std::string_view head = item.substr(0, body == std::string_view::npos ? item.size() : body);
        const std::vector<std::string> all = words(head);
        if (all.empty()) return true;
        if (std::any_of(all.begin(), all.end(), [&](const std::string& w) { return device_word(w); }))
            return true;
        std::size_t first = 0;
        if (all[0] == "template") {
            int depth = 0;
            std::size_t at = head.find('<');
            for (; at != std::string_view::npos && at < head.size(); ++at) {
                if (head[at] == '<') ++depth;
                if (head[at] == '>' && --depth == 0) break;
            }
            if (at == std::string_view::npos || at >= head.size()) return true;
            return keep(item.substr(at + 1), body == std::string_view::npos ? body : body - at - 1);
        }
        while (first < all.size() && (all[first] == "static" || all[first] == "inline")) ++first;
        if (first == all.size()) return false;
        const std::string& w = all[first];
        if (w == "typedef" || w == "using" || w == "static_assert" || w == "enum" || w == "namespace")
            return true;
        // A class; a function that returns one has its parameters before the body.
        if (w == "struct" || w == "class" || w == "union") {
            const std::size_t last = head.find_last_not_of(" \t\r\n");
            return last == std::string_view::npos || head[last] != ')' || head.find("__align__") != head.npos;
        }
        return std::any_of(all.begin(), all.end(),
                           [](const std::string& x) { return x == "constexpr" || x == "const"; }) &&
               (head.find('(') == std::string_view::npos || head.find('(') > head.find('=') ||
                std::find(all.begin(), all.end(), "constexpr") != all.end());
    }

    std::string scope(const std::string& path, std::string_view text) {
        std::string out;
        std::size_t line = 1;
        const auto put = [&](std::string_view original, const std::string& replacement) {
            out += replacement;
            line += static_cast<std::size_t>(std::count(original.begin(), original.end(), '\n'));
        };
        for (std::size_t at = 0; at < text.size();) {
            const char c = text[at];
            if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '}' || c == ';') {
                put(text.substr(at, 1), std::string(1, c));
                ++at;
                continue;
            }
            if (const std::size_t next = skip_opaque(text, at); next != at) {
                put(text.substr(at, next - at), blank(text.substr(at, next - at)));
                at = next;
                continue;
            }
            if (c == '#') {
                const std::size_t end = line_end(text, at);
                const std::string_view original = text.substr(at, end - at);
                const std::string kept = directive(path, original, line);
                put(original, kept.empty() ? blank(original) : kept);
                at = end;
                continue;
            }
            std::size_t body = 0;
            const std::size_t end = std::max(item_end(text, at, body), at + 1);
            const std::string_view item = text.substr(at, end - at);
            const std::string_view head = text.substr(at, body == std::string_view::npos ? 0 : body - at);
            const auto all = words(head);
            const bool linkage = !all.empty() && all[0] == "extern" && all.size() == 1 && body < end &&
                                 head.find('"') != std::string_view::npos;
            if (body < end && !all.empty() && (all[0] == "namespace" || linkage)) {
                put(text.substr(at, body + 1 - at), std::string(text.substr(at, body + 1 - at)));
                at = body + 1;  // its closing brace is met as a character of this scope
                continue;
            }
            const bool kept = keep(item, body == std::string_view::npos ? body : body - at);
            put(item, kept ? std::string(item) : blank(item));
            at = end;
        }
        return out;
    }

    const DevicePartOptions& options_;
    std::set<std::string> seen_, device_macros_;
};

}  // namespace

std::string device_part(const std::string& path, const DevicePartOptions& options) {
    const auto text = options.read(path);
    if (!text) throw std::runtime_error(fmt::format("`{}` is not in the repository", path));
    return Extractor(options).file(path, *text);
}

}  // namespace kernelwright::public_sources

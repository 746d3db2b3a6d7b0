#include "verifiers/gate/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/candidate/comments.h"

namespace kernelwright {
namespace {

struct Token {
    std::string text;
    int line = 1;
};

std::vector<Token> tokens_of(const std::string& code) {
    std::vector<Token> tokens;
    int line = 1;
    for (std::size_t i = 0; i < code.size();) {
        const auto c = static_cast<unsigned char>(code[i]);
        if (c == '\n') ++line;
        if (std::isalpha(c) != 0 || c == '_') {
            std::size_t end = i + 1;
            while (end < code.size() &&
                   (std::isalnum(static_cast<unsigned char>(code[end])) != 0 || code[end] == '_'))
                ++end;
            tokens.push_back({code.substr(i, end - i), line});
            i = end;
        } else if (std::isdigit(c) != 0) {
            std::size_t end = i + 1;
            while (end < code.size() &&
                   (std::isalnum(static_cast<unsigned char>(code[end])) != 0 || code[end] == '.'))
                ++end;
            tokens.push_back({code.substr(i, end - i), line});
            i = end;
        } else if (code.compare(i, 3, "<<<") == 0) {
            tokens.push_back({"<<<", line});
            i += 3;
        } else {
            if (std::isspace(c) == 0) tokens.push_back({std::string(1, code[i]), line});
            ++i;
        }
    }
    return tokens;
}

Diagnostic finding(const Candidate& candidate, const char* rule, Severity severity, int line,
                   std::string message, std::string hint) {
    Diagnostic d;
    d.rule = rule;
    d.stage = Stage::policy;
    d.severity = severity;
    d.file = candidate.file;
    d.line = line;
    d.message = std::move(message);
    d.hint = std::move(hint);
    return d;
}

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// What the source calls the page's symbols: by their names in either case, and by those of the parameters
// that the plans bind to them.
std::set<std::string> names_of_symbols(const Candidate& candidate, const Task& task) {
    std::set<std::string> out;
    for (const SymbolValues& shape : task.check_shapes) {
        for (const auto& [symbol, value] : shape) out.insert(lower(symbol));
    }
    const std::set<std::string> symbols = out;
    for (const LaunchPlan& plan : candidate.plans) {
        for (const KernelPlan& kernel : plan.kernels) {
            for (std::size_t i = 0; i < std::min(kernel.arguments.size(), kernel.parameters.size()); ++i) {
                if (!symbols.contains(lower(kernel.arguments[i].text))) continue;
                const std::vector<Token> declared = tokens_of(kernel.parameters[i]);
                if (!declared.empty()) out.insert(lower(declared.back().text));
            }
        }
    }
    return out;
}

// Is the token compared with one of the names: `N == 1031`, `1031 <= n`?
bool compared_with(const std::vector<Token>& tokens, std::size_t at, const std::set<std::string>& names) {
    const auto is_operator = [&](std::size_t i) {
        return i < tokens.size() &&
               std::string_view("=!<>").find(tokens[i].text[0]) != std::string_view::npos;
    };
    // A lone `=` assigns.
    const auto named = [&](std::size_t i, std::size_t first, std::size_t operators) {
        const bool assigns = operators == 1 && tokens[first].text == "=";
        return operators > 0 && !assigns && i < tokens.size() && names.contains(lower(tokens[i].text));
    };
    std::size_t after = at + 1, before = at - 1;  // `before` wraps around at the start, and is then too large
    while (is_operator(after)) ++after;
    while (is_operator(before)) --before;
    return named(after, at + 1, after - at - 1) || named(before, before + 1, at - before - 1);
}

}  // namespace

std::vector<Diagnostic> check_policy(const Candidate& candidate, const Task& task) {
    std::vector<Diagnostic> out;
    const std::vector<Token> tokens = tokens_of(code_only(candidate.source));
    std::set<std::string> sizes;  // of the check shapes, where they are too odd to be a tile size
    for (const SymbolValues& shape : task.check_shapes) {
        for (const auto& [symbol, value] : shape) {
            if (value > 64 && (value & (value - 1)) != 0 && value % 32 != 0)
                sizes.insert(std::to_string(value));
        }
    }
    const std::set<std::string> symbols = names_of_symbols(candidate, task);
    std::set<std::string> seen;
    const auto once = [&](Diagnostic d) {
        if (seen.insert(d.rule + std::to_string(d.line)).second) out.push_back(std::move(d));
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string& t = tokens[i].text;
        const int line = tokens[i].line;
        const std::string previous = i > 0 ? tokens[i - 1].text : "";
        const std::string next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
        if (t == "<<<") {
            once(finding(candidate, "dynamic-parallelism", Severity::error, line,
                         "a kernel launch inside the candidate; the launch plan launches the kernels",
                         "list the kernel in the `kernelwright` comment"));
        } else if (t == "main" && next == "(" &&
                   (previous == "int" || previous == "void" || previous == "auto")) {
            once(finding(candidate, "host-code", Severity::error, line,
                         "host code: `main` has no place in a candidate",
                         "keep the kernels, and describe their launch in the `kernelwright` comment"));
        } else if (t == "clock" || t == "clock64" || t == "globaltimer" || t == "globaltimer_lo") {
            once(finding(candidate, "reads-clock", Severity::warning, line,
                         fmt::format("reads a clock (`{}`); a result must not depend on time", t), ""));
        } else if (sizes.contains(t)) {
            const bool size = compared_with(tokens, i, symbols);
            once(finding(candidate, "hard-coded-size", size ? Severity::warning : Severity::note, line,
                         size ? fmt::format("compares a symbol with {}, a size of a check shape; a kernel "
                                            "must be right on every shape of the page's ranges",
                                            t)
                              : fmt::format("the number {} is also a size of a check shape", t),
                         size ? "use the symbol instead" : "where it stands for that size, use the symbol"));
        }
    }
    return out;
}

}  // namespace kernelwright

#include "verifiers/gate/policy.h"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string>

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
            once(finding(candidate, "hard-coded-size", Severity::warning, line,
                         fmt::format("the number {} is a size of a check shape; a kernel must be right on "
                                     "every shape of the page's ranges",
                                     t),
                         "use the symbol instead"));
        }
    }
    return out;
}

}  // namespace kernelwright

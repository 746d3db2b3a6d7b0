// tests/cases/compile/*.cu: each file says in its first comments what compiling it must say.
//
//   // expect: pass                      it compiles
//   // expect: RULE|RULE LINE COLUMN     an error of one of the rules; line and column as far as given (0:
//   none)
//   // warn: RULE LINE                   it compiles with this warning
//   // kernel: NAME                      an error bears this kernel     // related: LINE   and names this
//   line
//   // message: TEXT, hint: TEXT         an error's message, hint holds the text
//   // secret: TEXT                      nothing that comes out holds it
//   // kernels: A B                      the build's kernels, all of them
//   // name: EXPR, target: SM, option: O, define: N=V, time: MS, memory: MiB   what is asked for
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "harness/compile/nvrtc_compiler.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

struct Place {
    std::vector<std::string> rules;
    int line = -1, column = -1;
};

struct Case {
    CompileRequest request;
    bool pass = false;
    std::vector<Place> errors, warnings;
    std::vector<std::string> kernels, messages, hints, secrets, kernel_of_error;
    std::vector<int> related;
};

Place parse_place(const std::string& text) {
    std::istringstream in(text);
    std::string rules;
    Place place;
    in >> rules;
    place.rules = split(rules, '|');
    in >> place.line >> place.column;
    if (in.fail() && place.line == 0 && text.find('0') == std::string::npos) place.line = -1;
    if (place.column == 0) place.column = -1;
    return place;
}

Case read_case(const fs::path& path) {
    Case out;
    auto source = read_file(path);
    EXPECT_TRUE(source);
    out.request.source = source ? *source : "";
    out.request.file = path.filename().string();
    for (const std::string& line : split(out.request.source, '\n')) {
        if (line.rfind("// ", 0) != 0 && line != "//") break;
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        const std::string key = line.substr(3, colon - 3), value(trim(line.substr(colon + 2)));
        if (key == "expect" && value == "pass") {
            out.pass = true;
        } else if (key == "expect") {
            out.errors.push_back(parse_place(value));
        } else if (key == "warn") {
            out.warnings.push_back(parse_place(value));
        } else if (key == "kernel") {
            out.kernel_of_error.push_back(value);
        } else if (key == "kernels") {
            out.kernels = split(value, ' ');
        } else if (key == "message") {
            out.messages.push_back(value);
        } else if (key == "hint") {
            out.hints.push_back(value);
        } else if (key == "secret") {
            out.secrets.push_back(value);
        } else if (key == "related") {
            out.related.push_back(std::stoi(value));
        } else if (key == "name") {
            out.request.name_expressions.push_back(value);
        } else if (key == "target") {
            out.request.target = value;
        } else if (key == "option") {
            out.request.options.push_back(value);
        } else if (key == "define") {
            out.request.defines[value.substr(0, value.find('='))] = value.substr(value.find('=') + 1);
        } else if (key == "time") {
            out.request.time_limit = std::chrono::milliseconds(std::stoi(value));
        } else if (key == "memory") {
            out.request.memory_limit = static_cast<std::size_t>(std::stoul(value)) << 20;
        }
    }
    EXPECT_NE(out.pass, !out.errors.empty()) << "a case expects either pass or errors";
    return out;
}

std::vector<fs::path> case_files() {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(fs::path(KW_SOURCE_DIR) / "tests/cases/compile")) {
        if (entry.path().extension() == ".cu") out.push_back(entry.path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::string lines(const std::vector<Diagnostic>& diagnostics) {
    std::string out;
    for (const Diagnostic& d : diagnostics) out += to_line(d) + "\n";
    return out.empty() ? "nothing" : out;
}

bool fits(const Diagnostic& d, const Place& place) {
    return std::find(place.rules.begin(), place.rules.end(), d.rule) != place.rules.end() &&
           (place.line < 0 || d.line == place.line) && (place.column < 0 || d.column == place.column);
}

template <class Condition>
bool any(const std::vector<Diagnostic>& list, Condition condition) {
    return std::any_of(list.begin(), list.end(), condition);
}

Compiler& shared_compiler() {
    static const std::unique_ptr<Compiler> compiler = [] {
        CompilerConfig config;
        config.cache_folder = fs::path();
        return make_compiler(config);
    }();
    return *compiler;
}

class CompileCase : public testing::TestWithParam<fs::path> {};

TEST_P(CompileCase, SaysWhatItsCommentsSay) {
    const Case expected = read_case(GetParam());
    const auto begun = std::chrono::steady_clock::now();
    const CompileOutcome outcome = shared_compiler().compile(expected.request);
    ASSERT_FALSE(outcome.environment) << outcome.environment->str();
    EXPECT_LT(std::chrono::steady_clock::now() - begun,
              expected.request.time_limit + std::chrono::seconds(10));
    ASSERT_EQ(outcome.build.has_value(), expected.pass) << lines(outcome.diagnostics);
    if (expected.pass) {
        EXPECT_TRUE(outcome.diagnostics.empty()) << lines(outcome.diagnostics);
        EXPECT_FALSE(outcome.build->ptx.empty());
        EXPECT_FALSE(outcome.build->cubin.empty());
        EXPECT_FALSE(outcome.build->kernels.empty());
        for (const auto& [name, facts] : outcome.build->kernels) {
            EXPECT_GT(facts.registers, 0) << name;
            EXPECT_GT(facts.code_bytes, 0U) << name;
        }
        for (const std::string& name : expected.request.name_expressions) {
            const auto symbol = kernel_symbol(*outcome.build, name, "x.cu");
            ASSERT_TRUE(symbol) << name;
            EXPECT_EQ(outcome.build->kernels.count(*symbol), 1U) << *symbol;
        }
        for (const std::string& name : expected.kernels)
            EXPECT_EQ(outcome.build->kernels.count(name), 1U) << name;
        if (!expected.kernels.empty()) {
            EXPECT_EQ(outcome.build->kernels.size(), expected.kernels.size());
        }
        for (const Place& place : expected.warnings) {
            EXPECT_TRUE(any(outcome.build->warnings, [&](const Diagnostic& d) { return fits(d, place); }))
                << place.rules[0] << " " << place.line << "\n"
                << lines(outcome.build->warnings);
        }
        if (expected.warnings.empty()) {
            EXPECT_TRUE(outcome.build->warnings.empty()) << lines(outcome.build->warnings);
        }
        return;
    }
    const auto& found = outcome.diagnostics;
    for (const Place& place : expected.errors) {
        EXPECT_TRUE(any(found, [&](const Diagnostic& d) { return fits(d, place); }))
            << place.rules[0] << " " << place.line << ":" << place.column << "\n"
            << lines(found);
    }
    for (const Diagnostic& d : found) {
        EXPECT_EQ(d.severity, Severity::error);
        EXPECT_FALSE(d.message.empty());
        EXPECT_EQ(d.message.find('\n'), std::string::npos);
        EXPECT_TRUE(d.stage == Stage::compile || d.stage == Stage::limits);
        EXPECT_EQ(d.file, expected.request.file);
        for (const std::string& secret : expected.secrets) {
            EXPECT_EQ(to_json(d).dump().find(secret), std::string::npos) << to_line(d);
        }
    }
    for (const std::string& text : expected.messages) {
        EXPECT_TRUE(
            any(found, [&](const Diagnostic& d) { return d.message.find(text) != std::string::npos; }))
            << text << "\n"
            << lines(found);
    }
    for (const std::string& text : expected.hints) {
        EXPECT_TRUE(any(found, [&](const Diagnostic& d) { return d.hint.find(text) != std::string::npos; }))
            << text << "\n"
            << lines(found);
    }
    for (const std::string& kernel : expected.kernel_of_error) {
        EXPECT_TRUE(any(found, [&](const Diagnostic& d) { return d.kernel == kernel; })) << kernel << "\n"
                                                                                         << lines(found);
    }
    for (const int line : expected.related) {
        EXPECT_TRUE(any(found,
                        [&](const Diagnostic& d) {
                            return std::any_of(d.related.begin(), d.related.end(),
                                               [&](const Related& r) { return r.line == line; });
                        }))
            << line << "\n"
            << lines(found);
    }
}

std::string case_name(const testing::TestParamInfo<fs::path>& info) { return info.param.stem().string(); }

INSTANTIATE_TEST_SUITE_P(Files, CompileCase, testing::ValuesIn(case_files()), case_name);

}  // namespace
}  // namespace kernelwright

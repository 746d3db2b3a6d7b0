// A finding about a candidate, in the form that `check --json` prints (schema kernelwright.check/1).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

// Where a rule belongs, in the order in which a check meets them.
enum class Stage { plan, policy, compile, launch, sanitize, numerics, integrity, limits };
enum class Severity { error, warning, note };

const char* to_string(Stage stage);
const char* to_string(Severity severity);
std::optional<Stage> parse_stage(const std::string& name);
std::optional<Severity> parse_severity(const std::string& name);

// The second party of a finding ("the write it races with").
struct Related {
    std::string file;  // empty: the diagnostic's own file
    int line = 0;
    std::string note;
    bool operator==(const Related&) const = default;
};

struct Diagnostic {
    std::string rule;  // kebab-case, stable: "shared-race", "out-of-bounds", "unknown-name" ...
    Stage stage = Stage::plan;
    Severity severity = Severity::error;
    std::string kernel;  // empty: not about one kernel
    std::string file;
    int line = 0;    // 1-based; 0: no source place
    int column = 0;  // 1-based; 0: unknown
    std::vector<Related> related;
    std::string message;
    std::string hint;
    std::map<std::string, std::int64_t> shape;  // the symbols' values; empty: not about one shape
    std::string case_name;                      // the draw ("normal", "ties"); empty: none
    std::optional<std::uint64_t> seed;
    std::optional<std::array<std::uint32_t, 3>> block;
    std::optional<std::array<std::uint32_t, 3>> thread;

    bool operator==(const Diagnostic&) const = default;
};

Json to_json(const Diagnostic& diagnostic);
Result<Diagnostic> diagnostic_from_json(const Json& json);

// One line for a terminal or a prompt: "file:line: error: message [rule] ...".
std::string to_line(const Diagnostic& diagnostic);

}  // namespace kernelwright

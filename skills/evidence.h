// What became of an attempt that followed a skill: one line of an append-only file, never inside the rule. A
// rule is credited only when the kernel got faster and the counters moved as the rule had said; faster with
// counters that did not move is luck.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"
#include "harness/profile/profile.h"
#include "skills/skill.h"

namespace kernelwright {

struct CounterMove {
    std::string metric;
    bool predicted_up = false;
    std::optional<double> before, after;  // nothing: one of the profiles has no such metric
    bool moved = false;                   // as predicted, and by enough
    bool operator==(const CounterMove&) const = default;
};

enum class SkillOutcome {
    credited,  // faster, and every expected counter that both profiles have moved as predicted
    lucky,     // faster, though they did not
    no_gain,   // within the noise
    worse,     // slower
    failed     // the attempt was not right
};
const char* to_string(SkillOutcome outcome);

struct Evidence {
    std::string skill;
    std::string version_hash;         // of the rule's text; evidence of another text is void
    std::string parent_id, child_id;  // attempts
    std::string task, device, target;
    std::string shape_class;  // see shape_class()
    std::string phase;
    std::map<std::string, bool> gates;  // "correct", "faster"
    std::string failure_code;           // the diagnostic's rule, when it failed
    double speedup = 0;                 // time before / time after; 0: failed
    How how = How::modelled;            // how the times were obtained
    std::vector<CounterMove> moves;
    SkillOutcome outcome = SkillOutcome::failed;
    std::string time;  // RFC 3339
    bool operator==(const Evidence&) const = default;
};

struct Attempted {
    std::string parent_id, child_id, phase, time;
    std::string failure_code;  // of an attempt that was not right
};

// Changes of time below this are noise.
inline constexpr double speedup_that_counts = 1.02;

Evidence judge(const Skill& skill, const Profile& before, const Profile& after, const Attempted& attempt);
// The attempt was not right: there is no profile of it.
Evidence judge_failure(const Skill& skill, const Profile& before, const Attempted& attempt);

// Rounded log2 of each symbol, and which are not multiples of 32: "M=2^12,N=2^10*".
std::string shape_class(const SymbolValues& shape);

Json to_json(const Evidence& evidence);
Result<Evidence> evidence_from_json(const Json& json);

// One line at the end of `file`.
Status append_evidence(const std::filesystem::path& file, const Evidence& evidence);

struct EvidenceBook {
    std::vector<Evidence> records;
    std::vector<Error> skipped;  // lines that are not records; a torn last line is expected after a crash
};
// A file that is not there is an empty book.
Result<EvidenceBook> read_evidence(const std::filesystem::path& file);

}  // namespace kernelwright

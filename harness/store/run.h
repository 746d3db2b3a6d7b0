// The record of a run as plain values: what was asked, what was answered, what became of it. Nothing here
// knows where it is stored; run_events.h folds the events of a log into a Run, and to_json / from_json are
// the two ways between a value and its stored form.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/diagnostic.h"
#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright::record {

// One counter of a candidate, under Nsight Compute's name where a GPU has it too.
struct Counter {
    std::string name;
    std::string unit;
    double value = 0;
    std::string how;   // "measured" | "exact" | "modelled"
    std::string note;  // what it means for this kernel, one line; may be empty
    bool operator==(const Counter&) const = default;
};

// A time and how it was obtained; never one without the other.
struct TimeEstimate {
    double seconds = 0;
    std::string how = "modelled";  // "modelled" | "measured"
    std::string bound;             // what limits it: "dram", "fma", "latency" ...; empty: unknown
    double roofline_seconds = 0;   // no kernel for this task is faster on this device; 0: unknown
    bool operator==(const TimeEstimate&) const = default;
};

// What the verifiers and the profiler said about one candidate.
struct Evaluation {
    bool pass = false;
    std::optional<Stage> stage;  // the first that failed
    std::vector<Diagnostic> diagnostics;
    int shapes_checked = 0, cases_checked = 0;
    std::string depth;  // how far validation went: "smallest shape", "check shapes", "tune shapes"
    std::optional<TimeEstimate> time;
    std::vector<Counter> counters;         // those worth showing, most telling first
    std::vector<std::string> bottlenecks;  // ranked, one line each
    Json profile;                          // the whole profile document; null: not profiled
    std::string replay;                    // the command that shows the failure again
    bool operator==(const Evaluation&) const = default;
};

// What an author's answer cost. Keys in the record follow OpenTelemetry's GenAI conventions.
struct TurnUsage {
    std::int64_t input_tokens = 0;  // all of them, cached ones included
    std::int64_t output_tokens = 0;
    std::int64_t cache_read_tokens = 0, cache_creation_tokens = 0;
    std::int64_t reasoning_tokens = 0;  // part of output_tokens
    double usd = 0;
    bool usd_known = false;

    std::int64_t total_tokens() const { return input_tokens + output_tokens; }
    TurnUsage& operator+=(const TurnUsage& other);
    bool operator==(const TurnUsage&) const = default;
};

// What the author is asked for.
enum class State { draft, repair, optimise, restart };

// What came of one answered turn. Only `evaluated` attempts have an evaluation.
enum class AttemptKind {
    evaluated,
    duplicate,  // the same source as an earlier attempt: not evaluated again
    none,       // the answer holds no candidate
    several,    // ... more than one
    unclosed,   // ... one whose fence never closes
    truncated,  // the answer was cut off at the token limit
    refused,    // the author declined
};

const char* to_string(State state);
const char* to_string(AttemptKind kind);
std::optional<State> parse_state(const std::string& name);
std::optional<AttemptKind> parse_attempt_kind(const std::string& name);

// A skill as it was offered in a prompt.
struct SkillOffer {
    std::string id;
    std::string version;  // hash or number: evidence is void when the skill changes
    std::string advice;
    std::string evidence;         // one line: what earlier uses did; empty: never used
    Json expect = Json::array();  // the counter changes that it predicts
    bool operator==(const SkillOffer&) const = default;
};

// One answered turn and what came of it: never changed once finished. Numbers start at 1; an attempt has its
// turn's number.
struct Attempt {
    int number = 0;
    State state = State::draft;  // what was asked
    AttemptKind kind = AttemptKind::none;
    std::string source;                     // artifact hash; empty: no candidate
    std::string plan;                       // artifact hash of the author's plan; empty: none given
    std::string idea;                       // one line out of the plan
    std::string prompt, reply;              // artifact hashes
    int base = 0;                           // the attempt it was asked to start from; 0: none
    int duplicate_of = 0;                   // 0: not one
    std::vector<SkillOffer> skills;         // offered in its prompt
    std::vector<std::string> skills_named;  // those that the author says it followed
    std::optional<Evaluation> evaluation;
    std::string note;  // why there is no candidate; empty otherwise
    TurnUsage usage;
    bool profiled = false, finished = false;  // recorded so
    bool operator==(const Attempt&) const = default;

    bool passed() const { return evaluation && evaluation->pass; }
    // The modelled or measured time of a passing candidate; nullopt otherwise.
    std::optional<double> seconds() const;
};

// The error that decided a verdict: the first of the stage that failed; null: none.
const Diagnostic* first_error(const Evaluation& evaluation);

// "pass", "compile error", "race", "out of bounds", "wrong answer", "no candidate" ...: the outcome in a
// table's words.
std::string outcome_label(const Attempt& attempt);

// A request that was sent and, when there is one, its answer.
struct Turn {
    int number = 0;
    State state = State::draft;
    int base = 0;
    std::string prompt;  // artifact hash
    std::vector<SkillOffer> skills;
    Json budget_left;
    bool answered = false;
    std::string outcome;  // "complete", "truncated", "refused"; empty while unanswered
    std::string reply;    // artifact hash
    TurnUsage usage;
    int failures = 0;        // requests for it that ended in an error of the endpoint
    int failed_answers = 0;  // of these, those that had begun to answer
    bool operator==(const Turn&) const = default;
};

// One use of a skill and what moved.
struct Evidence {
    std::string key;  // RUN/ATTEMPT/SKILL: appending the same key twice is one use
    Json document;
    bool operator==(const Evidence&) const = default;
};

struct Run {
    std::string id;
    std::string task;            // its name
    std::string task_hash;       // artifact hash of its page
    std::string system, prefix;  // artifact hashes of the prompt's unchanging part
    Json config = Json::object();
    Json budget = Json::object();
    Json versions = Json::object();
    std::string started;            // RFC 3339
    std::string finished;           // empty: not finished
    std::string why;                // why it ended or paused, in a word or two ...
    std::string reason;             // ... and as a line for people; may be empty
    std::string state = "running";  // "running", "paused", "interrupted", "finished"
    std::vector<Turn> turns;
    std::vector<Attempt> attempts;
    std::vector<Evidence> evidence;
    std::vector<std::string> notes;
    Json spent;          // what the budgets were charged, as last recorded
    double seconds = 0;  // time spent working, over all sittings up to the last event
    int sittings = 0;

    TurnUsage usage() const;  // over all answered turns
    int evaluations() const;  // attempts that were evaluated
    // The passing finished attempt with the least time (the earlier of equals); null: none passes. A run has
    // one device, so its times are all modelled or all measured.
    const Attempt* best() const;
    const Attempt* first_passing() const;
    const Attempt* find(int number) const;
};

// "12.3 us"; three significant digits, from ns to s.
std::string format_time(double seconds);
// "12.3 us (modelled)": the only way in which a time is shown.
std::string format_time(const TimeEstimate& time);

Json to_json(const Counter& counter);
Json to_json(const TimeEstimate& time);
Json to_json(const Evaluation& evaluation);
Json to_json(const SkillOffer& offer);
Json to_json(const TurnUsage& usage);  // gen_ai.usage.* keys
Json to_json(const Run& run);          // for `report --json`
Result<Evaluation> evaluation_from_json(const Json& json);
Result<SkillOffer> skill_offer_from_json(const Json& json);
TurnUsage usage_from_json(const Json& json);

}  // namespace kernelwright::record

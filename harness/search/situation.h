// The decision of what to ask next, as a pure function of the record: repair after a failure, optimise after
// a pass, restart from another idea when stuck, stop at a limit. Being a function of the record alone, it
// says the same after a crash as before it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/store/run.h"

namespace kernelwright::search {

struct Policy {
    int repairs_without_progress = 3;    // then another idea
    int optimisations_without_gain = 3;  // then another idea
    int restarts_without_gain = 3;       // then the end
    int answers_without_candidate = 5;   // in a row: then the end
    double min_gain = 0.01;              // a time less than this much better is no gain
    double target_roofline = 1.1;        // done within this factor of the roofline; 0: never done by it
    bool operator==(const Policy&) const = default;
};
Json to_json(const Policy& policy);
Policy policy_from_json(const Json& json);

// What an author is told.
struct Situation {
    record::State state = record::State::draft;
    const record::Attempt* best = nullptr;  // the passing one with the least time
    const record::Attempt* base = nullptr;  // the one to start from; null: none
    const record::Attempt* last = nullptr;  // the last attempt; null: the first turn
    std::string reason;                     // why this state, one line
};

struct Decision {
    std::optional<Situation> ask;
    // When nothing is asked: "target", "stalled", "no candidate"
    std::string stop;
    std::string stop_reason;  // one line for people
};

// Budgets are not looked at here: see loop.h.
Decision decide(const record::Run& run, const Policy& policy);

}  // namespace kernelwright::search

// A search is a sequence of lines: a line begins with a draft or a restart and follows one idea. Within a
// line a failure is repaired, a pass is optimised; a line that stops moving gives way to a restart, and
// restarts that bring nothing end the search. decide() replays the attempts through those rules, so that its
// answer depends on the record and on nothing else.
#include "harness/search/situation.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernelwright::search {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::State;

bool has_candidate(const Attempt& attempt) {
    return attempt.kind == AttemptKind::evaluated || attempt.kind == AttemptKind::duplicate;
}

int errors_of(const Attempt& attempt) {
    return static_cast<int>(std::count_if(attempt.evaluation->diagnostics.begin(),
                                          attempt.evaluation->diagnostics.end(),
                                          [](const Diagnostic& d) { return d.severity == Severity::error; }));
}

bool better(const Attempt& attempt, const Attempt* than, double min_gain) {
    if (than == nullptr) return true;
    const auto mine = attempt.seconds(), theirs = than->seconds();
    return mine && (!theirs || *mine < *theirs * (1 - min_gain));
}

struct Replay {
    int barren = 0;       // answers without a candidate, in a row
    int no_progress = 0;  // repairs in a row that did not get further
    int no_gain = 0;      // passing candidates of the line since it last got faster
    int restarts = 0;     // since the best candidate last got faster
    int stage = -1;       // the furthest that a failure of the line got ...
    int errors = 0;       // ... and the fewest errors there
    const Attempt* line_best = nullptr;
    const Attempt* best = nullptr;
    const Attempt* last = nullptr;       // of any kind
    const Attempt* effective = nullptr;  // the last with a candidate; for a duplicate the original

    void fail(const Attempt& attempt) {
        const int reached = attempt.evaluation->stage ? static_cast<int>(*attempt.evaluation->stage) : 0;
        const int count = errors_of(attempt);
        const bool first = stage < 0;
        if (first || reached > stage || (reached == stage && count < errors)) {
            stage = reached;
            errors = count;
            no_progress = 0;
        } else {
            ++no_progress;
        }
    }

    void pass(const Attempt& attempt, double min_gain) {
        stage = -1;
        no_progress = 0;
        if (better(attempt, line_best, min_gain)) {
            line_best = &attempt;
            no_gain = 0;
        } else {
            ++no_gain;
        }
        if (better(attempt, best, min_gain)) restarts = 0;
        if (better(attempt, best, 0)) best = &attempt;
    }

    void take(const record::Run& run, const Attempt& attempt, double min_gain) {
        const bool again = last != nullptr && !has_candidate(*last) && last->state == State::restart;
        if (attempt.state == State::restart && !again) {
            ++restarts;
            no_progress = no_gain = 0;
            stage = -1;
            line_best = nullptr;
        }
        last = &attempt;
        if (!has_candidate(attempt)) {
            ++barren;
            return;
        }
        barren = 0;
        if (attempt.kind == AttemptKind::duplicate) {
            effective = run.find(attempt.duplicate_of);
            if (effective != nullptr && effective->passed())
                ++no_gain;
            else
                ++no_progress;
            return;
        }
        effective = &attempt;
        if (attempt.passed())
            pass(attempt, min_gain);
        else if (attempt.evaluation)
            fail(attempt);
    }
};

Decision stop(std::string why, std::string reason) { return Decision{{}, std::move(why), std::move(reason)}; }

}  // namespace

Decision decide(const record::Run& run, const Policy& policy) {
    Replay replay;
    for (const Attempt& attempt : run.attempts) {
        if (attempt.finished) replay.take(run, attempt, policy.min_gain);
    }
    Situation next;
    next.best = replay.best;
    next.last = replay.last;
    const auto ask = [&](State state, const Attempt* base, std::string reason) {
        next.state = state;
        next.base = base;
        next.reason = std::move(reason);
        return Decision{next, {}, {}};
    };

    if (replay.last == nullptr) return ask(State::draft, nullptr, "nothing has been tried yet");
    if (replay.best != nullptr && policy.target_roofline > 0) {
        const auto& time = replay.best->evaluation->time;
        if (time && time->roofline_seconds > 0 &&
            time->seconds <= policy.target_roofline * time->roofline_seconds) {
            return stop("target", fmt::format("attempt {} is within {:.2f}x of the roofline",
                                              replay.best->number, time->seconds / time->roofline_seconds));
        }
    }
    if (replay.barren >= policy.answers_without_candidate) {
        return stop("no candidate", fmt::format("{} answers in a row held no candidate", replay.barren));
    }
    if (replay.barren > 0) {
        return ask(replay.last->state, run.find(replay.last->base), "the last answer held no candidate");
    }

    const bool failing = replay.effective == nullptr || !replay.effective->passed();
    const bool stuck = failing ? replay.no_progress >= policy.repairs_without_progress
                               : replay.no_gain >= policy.optimisations_without_gain;
    if (stuck) {
        const std::string reason = failing
                                       ? fmt::format("{} repairs got no further", replay.no_progress)
                                       : fmt::format("{} correct candidates brought no gain", replay.no_gain);
        if (replay.restarts >= policy.restarts_without_gain) {
            return stop("stalled", fmt::format("{}, and so did {} other ideas", reason, replay.restarts));
        }
        return ask(State::restart, nullptr, reason);
    }
    if (failing) return ask(State::repair, replay.effective, "the last candidate failed");
    const Attempt* base = replay.line_best != nullptr ? replay.line_best : replay.effective;
    return ask(State::optimise, base, "the candidate is correct");
}

namespace {

template <class T>
std::optional<T> get(const Json& json, const char* key) {
    const auto it = json.find(key);
    if (it == json.end() || !it->is_number()) return std::nullopt;
    return it->template get<T>();
}

}  // namespace

Json to_json(const Policy& policy) {
    return Json{{"repairs_without_progress", policy.repairs_without_progress},
                {"optimisations_without_gain", policy.optimisations_without_gain},
                {"restarts_without_gain", policy.restarts_without_gain},
                {"answers_without_candidate", policy.answers_without_candidate},
                {"min_gain", policy.min_gain},
                {"target_roofline", policy.target_roofline}};
}

Policy policy_from_json(const Json& json) {
    Policy policy;
    if (!json.is_object()) return policy;
    const auto take = [&](const char* key, auto& value) {
        if (const auto found = get<std::decay_t<decltype(value)>>(json, key)) value = *found;
    };
    take("repairs_without_progress", policy.repairs_without_progress);
    take("optimisations_without_gain", policy.optimisations_without_gain);
    take("restarts_without_gain", policy.restarts_without_gain);
    take("answers_without_candidate", policy.answers_without_candidate);
    take("min_gain", policy.min_gain);
    take("target_roofline", policy.target_roofline);
    return policy;
}

}  // namespace kernelwright::search

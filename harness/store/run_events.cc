#include "harness/store/run_events.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>

namespace kernelwright::record {
namespace {

std::optional<double> seconds_of(const std::string& rfc3339) {
    // The form that to_rfc3339 writes: 2026-01-31T12:00:00.123Z
    int year = 0, month = 0, day = 0, hour = 0, minute = 0;
    double second = 0;
    if (std::sscanf(rfc3339.c_str(), "%d-%d-%dT%d:%d:%lfZ", &year, &month, &day, &hour, &minute, &second) !=
        6) {
        return std::nullopt;
    }
    struct tm parts {};
    parts.tm_year = year - 1900;
    parts.tm_mon = month - 1;
    parts.tm_mday = day;
    parts.tm_hour = hour;
    parts.tm_min = minute;
    return static_cast<double>(::timegm(&parts)) + second;
}

// One event's fields, with the complaint that a missing one deserves.
class Fields {
  public:
    explicit Fields(const Json& event) : event_(event) {}

    std::string text(const char* key, bool needed = false) {
        const auto it = event_.find(key);
        if (it != event_.end() && it->is_string()) return it->get<std::string>();
        if (needed) missing(key);
        return {};
    }
    std::int64_t integer(const char* key, bool needed = false) {
        const auto it = event_.find(key);
        if (it != event_.end() && it->is_number_integer()) return it->get<std::int64_t>();
        if (needed) missing(key);
        return 0;
    }
    Json object(const char* key) {
        const auto it = event_.find(key);
        return it != event_.end() ? *it : Json();
    }
    std::vector<std::string> texts(const char* key) {
        std::vector<std::string> out;
        const auto it = event_.find(key);
        if (it == event_.end() || !it->is_array()) return out;
        for (const Json& entry : *it) {
            if (entry.is_string()) out.push_back(entry.get<std::string>());
        }
        return out;
    }
    void missing(const char* key) {
        if (!error_) {
            error_ = Error{fmt::format("event {} ({}) lacks `{}`", event_.value("seq", std::int64_t{0}),
                                       event_.value("event", ""), key)};
        }
    }
    const std::optional<Error>& error() const { return error_; }

  private:
    const Json& event_;
    std::optional<Error> error_;
};

class Fold {
  public:
    explicit Fold(const ArtifactReader& artifacts) : artifacts_(artifacts) {}

    Status take(const Json& event) {
        Fields fields(event);
        const std::string kind = fields.text("event", true);
        time_passes(kind, fields.text("time"));
        if (Json spent = fields.object("spent"); spent.is_object()) run_.spent = std::move(spent);
        if (kind == "run.started")
            started(fields);
        else if (kind == "turn.requested")
            requested(fields);
        else if (kind == "turn.answered")
            answered(fields);
        else if (kind == "turn.failed")
            failed(fields);
        else if (kind == "attempt.started")
            attempt_started(fields);
        else if (kind == "attempt.verdict")
            verdict(fields);
        else if (kind == "attempt.profiled")
            profiled(fields);
        else if (kind == "attempt.finished")
            attempt_finished(fields);
        else if (kind == "skill.evidence")
            evidence(fields);
        else if (kind == "run.note")
            run_.notes.push_back(fields.text("note"));
        else if (kind == "run.paused")
            ended(fields, "paused");
        else if (kind == "run.interrupted")
            ended(fields, "interrupted");
        else if (kind == "run.finished")
            ended(fields, "finished");
        else if (kind == "run.resumed")
            resumed(fields);
        if (fields.error()) return *fields.error();
        if (error_) return *error_;
        return Done{};
    }

    Run result() && { return std::move(run_); }

  private:
    // A sitting is the time from a start or a resume to the last event before the next resume.
    void time_passes(const std::string& kind, const std::string& time) {
        const std::optional<double> now = seconds_of(time);
        if (!now) return;
        if (kind == "run.started" || kind == "run.resumed") {
            before_ = run_.seconds;
            sitting_start_ = *now;
            ++run_.sittings;
        }
        // Times of events are in milliseconds; what doubles of this size add to that is noise.
        run_.seconds = std::round(1000 * (before_ + std::max(0.0, *now - sitting_start_))) / 1000;
    }

    void started(Fields& fields) {
        run_.id = fields.text("run", true);
        run_.task = fields.text("task", true);
        run_.task_hash = fields.text("task_hash", true);
        run_.system = fields.text("system");
        run_.prefix = fields.text("prefix");
        run_.config = fields.object("config");
        run_.budget = fields.object("budget");
        run_.versions = fields.object("versions");
        if (!run_.config.is_object() && !run_.config.is_null()) fields.missing("config");
        run_.started = fields.text("time");
    }

    void resumed(Fields& fields) {
        run_.state = "running";
        run_.why.clear();
        run_.reason.clear();
        run_.finished.clear();
        if (const Json budget = fields.object("budget"); budget.is_object()) run_.budget = budget;
        if (const Json config = fields.object("config"); config.is_object()) run_.config.update(config);
    }

    void ended(Fields& fields, const char* state) {
        run_.state = state;
        run_.why = fields.text("why");
        run_.reason = fields.text("reason");
        if (run_.state == "finished") run_.finished = fields.text("time");
    }

    Turn* turn_of(Fields& fields) {
        const auto number = fields.integer("turn", true);
        for (Turn& turn : run_.turns) {
            if (turn.number == number) return &turn;
        }
        if (!fields.error())
            error_ = Error{fmt::format("the log answers turn {}, which it never asked", number)};
        return nullptr;
    }

    Attempt* attempt_of(Fields& fields) {
        const auto number = fields.integer("attempt", true);
        for (Attempt& attempt : run_.attempts) {
            if (attempt.number == number) return &attempt;
        }
        if (!fields.error()) {
            error_ = Error{fmt::format("the log judges attempt {}, which it never started", number)};
        }
        return nullptr;
    }

    void requested(Fields& fields) {
        Turn turn;
        turn.number = static_cast<int>(fields.integer("turn", true));
        turn.prompt = fields.text("prompt", true);
        const auto state = parse_state(fields.text("state", true));
        if (!state) fields.missing("state");
        turn.state = state.value_or(State::draft);
        turn.base = static_cast<int>(fields.integer("base"));
        turn.budget_left = fields.object("budget_left");
        for (const Json& entry : fields.object("skills")) {
            if (auto offer = skill_offer_from_json(entry)) turn.skills.push_back(*offer);
        }
        // Asked again after a crash or a failed request: the same turn.
        for (Turn& earlier : run_.turns) {
            if (earlier.number == turn.number) {
                turn.failures = earlier.failures;
                turn.failed_answers = earlier.failed_answers;
                turn.usage = earlier.usage;
                earlier = std::move(turn);
                return;
            }
        }
        run_.turns.push_back(std::move(turn));
    }

    void answered(Fields& fields) {
        Turn* turn = turn_of(fields);
        if (turn == nullptr) return;
        turn->answered = true;
        turn->outcome = fields.text("outcome", true);
        turn->reply = fields.text("reply", true);
        turn->usage += usage_from_json(fields.object("usage"));
    }

    void failed(Fields& fields) {
        Turn* turn = turn_of(fields);
        if (turn == nullptr) return;
        ++turn->failures;
        if (const Json begun = fields.object("answer_begun"); begun.is_boolean() && begun.get<bool>()) {
            ++turn->failed_answers;
        }
        turn->usage += usage_from_json(fields.object("usage"));  // a broken stream costs too
    }

    void attempt_started(Fields& fields) {
        const int number = static_cast<int>(fields.integer("attempt", true));
        Attempt attempt;
        attempt.number = number;
        const auto kind = parse_attempt_kind(fields.text("kind", true));
        if (!kind) fields.missing("kind");
        attempt.kind = kind.value_or(AttemptKind::none);
        attempt.source = fields.text("source");
        attempt.plan = fields.text("plan");
        attempt.idea = fields.text("idea");
        attempt.note = fields.text("note");
        attempt.duplicate_of = static_cast<int>(fields.integer("duplicate_of"));
        attempt.skills_named = fields.texts("skills_named");
        for (const Turn& turn : run_.turns) {
            if (turn.number != number) continue;
            attempt.state = turn.state;
            attempt.base = turn.base;
            attempt.prompt = turn.prompt;
            attempt.reply = turn.reply;
            attempt.skills = turn.skills;
            attempt.usage = turn.usage;
        }
        // Started again after a crash before its verdict: the same attempt.
        for (Attempt& earlier : run_.attempts) {
            if (earlier.number != number) continue;
            if (earlier.finished) {
                error_ = Error{fmt::format("the log starts attempt {} again after it was finished", number)};
                return;
            }
            earlier = std::move(attempt);
            return;
        }
        run_.attempts.push_back(std::move(attempt));
    }

    void verdict(Fields& fields) {
        Attempt* attempt = attempt_of(fields);
        const std::string hash = fields.text("evaluation", true);
        if (attempt == nullptr || hash.empty()) return;
        const auto text = artifacts_(hash);
        if (!text) {
            error_ = text.error();
            return;
        }
        const Json json = Json::parse(*text, nullptr, false);
        auto evaluation = evaluation_from_json(json);
        if (!evaluation) {
            error_ = Error{fmt::format("artifact {}: {}", hash, evaluation.error().message)};
            return;
        }
        attempt->evaluation = std::move(*evaluation);
    }

    void profiled(Fields& fields) {
        if (Attempt* attempt = attempt_of(fields)) attempt->profiled = true;
    }

    void attempt_finished(Fields& fields) {
        if (Attempt* attempt = attempt_of(fields)) attempt->finished = true;
    }

    void evidence(Fields& fields) {
        Evidence evidence;
        evidence.key = fields.text("key", true);
        evidence.document = fields.object("evidence");
        const bool known = std::any_of(run_.evidence.begin(), run_.evidence.end(),
                                       [&](const Evidence& e) { return e.key == evidence.key; });
        if (!known) run_.evidence.push_back(std::move(evidence));
    }

    const ArtifactReader& artifacts_;
    Run run_;
    std::optional<Error> error_;
    double before_ = 0, sitting_start_ = 0;
};

}  // namespace

Result<Run> fold_events(const std::vector<Json>& events, const ArtifactReader& artifacts,
                        const std::string& file) {
    Fold fold(artifacts);
    int line = 0;
    for (const Json& event : events) {
        ++line;
        const Status status = fold.take(event);
        if (status.ok()) continue;
        Error error = status.error();
        if (error.file.empty()) {  // else it is about an artifact
            error.file = file;
            error.line = line;
        }
        return error;
    }
    return std::move(fold).result();
}

}  // namespace kernelwright::record

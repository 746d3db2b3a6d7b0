#include "harness/store/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kernelwright::record {
namespace {

constexpr std::array<const char*, 4> state_names{"draft", "repair", "optimise", "restart"};
constexpr std::array<const char*, 7> kind_names{"evaluated", "duplicate", "none",   "several",
                                                "unclosed",  "truncated", "refused"};

template <class Enum, std::size_t N>
std::optional<Enum> parse_name(const std::array<const char*, N>& names, const std::string& name) {
    for (std::size_t i = 0; i < N; ++i) {
        if (name == names[i]) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

// A rule's family in a table's words. Rules are kebab-case and grow in number; what they contain is stable.
struct RuleWord {
    const char* part;
    const char* word;
};
constexpr RuleWord rule_words[] = {
    {"race", "race"},
    {"out-of-bounds", "out of bounds"},
    {"misaligned", "misaligned access"},
    {"uninit", "uninitialised read"},
    {"barrier", "barrier divergence"},
    {"deadlock", "deadlock"},
    {"unsupported", "unsupported instruction"},
};

std::string stage_word(Stage stage) {
    switch (stage) {
        case Stage::plan:
            return "bad plan";
        case Stage::policy:
            return "refused by policy";
        case Stage::compile:
            return "compile error";
        case Stage::launch:
            return "cannot launch";
        case Stage::sanitize:
            return "memory fault";
        case Stage::numerics:
            return "wrong answer";
        case Stage::integrity:
            return "integrity";
        case Stage::limits:
            return "over a limit";
    }
    return "failed";
}

std::string text_at(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

double number_at(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_number() ? it->get<double>() : 0.0;
}

std::int64_t integer_at(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

}  // namespace

const char* to_string(State state) { return state_names[static_cast<std::size_t>(state)]; }
const char* to_string(AttemptKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::optional<State> parse_state(const std::string& name) { return parse_name<State>(state_names, name); }
std::optional<AttemptKind> parse_attempt_kind(const std::string& name) {
    return parse_name<AttemptKind>(kind_names, name);
}

TurnUsage& TurnUsage::operator+=(const TurnUsage& other) {
    input_tokens += other.input_tokens;
    output_tokens += other.output_tokens;
    cache_read_tokens += other.cache_read_tokens;
    cache_creation_tokens += other.cache_creation_tokens;
    reasoning_tokens += other.reasoning_tokens;
    usd += other.usd;
    usd_known = usd_known || other.usd_known;
    return *this;
}

std::optional<double> Attempt::seconds() const {
    if (!passed() || !evaluation->time) return std::nullopt;
    return evaluation->time->seconds;
}

const Diagnostic* first_error(const Evaluation& evaluation) {
    const Diagnostic* first = nullptr;
    for (const Diagnostic& diagnostic : evaluation.diagnostics) {
        if (diagnostic.severity != Severity::error) continue;
        if (evaluation.stage && diagnostic.stage == *evaluation.stage) return &diagnostic;
        if (first == nullptr) first = &diagnostic;
    }
    return first;
}

std::string outcome_label(const Attempt& attempt) {
    switch (attempt.kind) {
        case AttemptKind::duplicate:
            return "same as #" + std::to_string(attempt.duplicate_of);
        case AttemptKind::none:
            return "no candidate";
        case AttemptKind::several:
            return "several candidates";
        case AttemptKind::unclosed:
            return "unclosed candidate";
        case AttemptKind::truncated:
            return "answer cut off";
        case AttemptKind::refused:
            return "answer refused";
        case AttemptKind::evaluated:
            break;
    }
    if (!attempt.evaluation) return "not evaluated";
    if (attempt.evaluation->pass) return "pass";
    if (const Diagnostic* error = first_error(*attempt.evaluation)) {
        for (const RuleWord& word : rule_words) {
            if (error->rule.find(word.part) != std::string::npos) return word.word;
        }
    }
    return attempt.evaluation->stage ? stage_word(*attempt.evaluation->stage) : "failed";
}

std::string format_time(double seconds) {
    struct Unit {
        double size;
        const char* name;
    };
    static constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    for (const Unit& unit : units) {
        // 0.9995 of a unit would round to 1.00 of it.
        if (seconds >= 0.9995 * unit.size) {
            const double value = seconds / unit.size;
            const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
            return fmt::format("{:.{}f} {}", value, decimals, unit.name);
        }
    }
    return fmt::format("{:.2f} ns", seconds / 1e-9);
}

std::string format_time(const TimeEstimate& time) {
    return fmt::format("{} ({})", format_time(time.seconds), time.how);
}

TurnUsage Run::usage() const {
    TurnUsage sum;
    for (const Turn& turn : turns) sum += turn.usage;
    return sum;
}

int Run::evaluations() const {
    return static_cast<int>(
        std::count_if(attempts.begin(), attempts.end(), [](const Attempt& a) { return bool(a.evaluation); }));
}

const Attempt* Run::best() const {
    const Attempt* best = nullptr;
    for (const Attempt& attempt : attempts) {
        if (!attempt.finished || !attempt.passed()) continue;
        if (best == nullptr) {
            best = &attempt;
            continue;
        }
        const auto mine = attempt.seconds(), theirs = best->seconds();
        if (mine && (!theirs || *mine < *theirs)) best = &attempt;
    }
    return best;
}

const Attempt* Run::first_passing() const {
    for (const Attempt& attempt : attempts) {
        if (attempt.finished && attempt.passed()) return &attempt;
    }
    return nullptr;
}

const Attempt* Run::find(int number) const {
    for (const Attempt& attempt : attempts) {
        if (attempt.number == number) return &attempt;
    }
    return nullptr;
}

Json to_json(const Counter& counter) {
    Json json{{"name", counter.name}, {"unit", counter.unit}, {"value", counter.value}, {"how", counter.how}};
    if (!counter.note.empty()) json["note"] = counter.note;
    return json;
}

Json to_json(const TimeEstimate& time) {
    Json json{{"seconds", time.seconds}, {"how", time.how}};
    if (!time.bound.empty()) json["bound"] = time.bound;
    if (time.roofline_seconds > 0) json["roofline_seconds"] = time.roofline_seconds;
    return json;
}

Json to_json(const Evaluation& evaluation) {
    Json json{{"verdict", evaluation.pass ? "pass" : "fail"}};
    json["stage"] = evaluation.stage ? Json(to_string(*evaluation.stage)) : Json(nullptr);
    json["shapes_checked"] = evaluation.shapes_checked;
    json["cases_checked"] = evaluation.cases_checked;
    if (!evaluation.depth.empty()) json["depth"] = evaluation.depth;
    json["diagnostics"] = Json::array();
    for (const Diagnostic& diagnostic : evaluation.diagnostics) {
        json["diagnostics"].push_back(to_json(diagnostic));
    }
    if (evaluation.time) json["time"] = to_json(*evaluation.time);
    if (!evaluation.counters.empty()) {
        json["counters"] = Json::array();
        for (const Counter& counter : evaluation.counters) json["counters"].push_back(to_json(counter));
    }
    if (!evaluation.bottlenecks.empty()) json["bottlenecks"] = evaluation.bottlenecks;
    if (!evaluation.replay.empty()) json["replay"] = evaluation.replay;
    if (!evaluation.profile.is_null()) json["profile"] = evaluation.profile;
    return json;
}

Result<Evaluation> evaluation_from_json(const Json& json) {
    if (!json.is_object()) return Error{"an evaluation must be an object"};
    Evaluation evaluation;
    const std::string verdict = text_at(json, "verdict");
    if (verdict != "pass" && verdict != "fail") return Error{"an evaluation needs a verdict: pass or fail"};
    evaluation.pass = verdict == "pass";
    if (const std::string name = text_at(json, "stage"); !name.empty()) {
        evaluation.stage = parse_stage(name);
        if (!evaluation.stage) return Error{"unknown stage `" + name + "`"};
    }
    evaluation.shapes_checked = static_cast<int>(integer_at(json, "shapes_checked"));
    evaluation.cases_checked = static_cast<int>(integer_at(json, "cases_checked"));
    evaluation.depth = text_at(json, "depth");
    evaluation.replay = text_at(json, "replay");
    if (const auto it = json.find("diagnostics"); it != json.end() && it->is_array()) {
        for (const Json& entry : *it) {
            auto diagnostic = diagnostic_from_json(entry);
            if (!diagnostic) return diagnostic.error();
            evaluation.diagnostics.push_back(*diagnostic);
        }
    }
    if (const auto it = json.find("time"); it != json.end() && it->is_object()) {
        TimeEstimate time;
        time.seconds = number_at(*it, "seconds");
        time.how = text_at(*it, "how");
        time.bound = text_at(*it, "bound");
        time.roofline_seconds = number_at(*it, "roofline_seconds");
        evaluation.time = time;
    }
    if (const auto it = json.find("counters"); it != json.end() && it->is_array()) {
        for (const Json& entry : *it) {
            if (!entry.is_object()) continue;
            Counter counter;
            counter.name = text_at(entry, "name");
            counter.unit = text_at(entry, "unit");
            counter.value = number_at(entry, "value");
            counter.how = text_at(entry, "how");
            counter.note = text_at(entry, "note");
            evaluation.counters.push_back(std::move(counter));
        }
    }
    if (const auto it = json.find("bottlenecks"); it != json.end() && it->is_array()) {
        for (const Json& entry : *it) {
            if (entry.is_string()) evaluation.bottlenecks.push_back(entry.get<std::string>());
        }
    }
    if (const auto it = json.find("profile"); it != json.end()) evaluation.profile = *it;
    return evaluation;
}

Json to_json(const SkillOffer& offer) {
    Json json{{"id", offer.id}, {"version", offer.version}, {"advice", offer.advice}};
    if (!offer.evidence.empty()) json["evidence"] = offer.evidence;
    if (!offer.expect.empty()) json["expect"] = offer.expect;
    return json;
}

Result<SkillOffer> skill_offer_from_json(const Json& json) {
    if (!json.is_object()) return Error{"a skill offer must be an object"};
    SkillOffer offer;
    offer.id = text_at(json, "id");
    if (offer.id.empty()) return Error{"a skill offer needs an id"};
    offer.version = text_at(json, "version");
    offer.advice = text_at(json, "advice");
    offer.evidence = text_at(json, "evidence");
    if (const auto it = json.find("expect"); it != json.end()) offer.expect = *it;
    return offer;
}

Json to_json(const TurnUsage& usage) {
    Json json{{"gen_ai.usage.input_tokens", usage.input_tokens},
              {"gen_ai.usage.output_tokens", usage.output_tokens}};
    if (usage.cache_read_tokens > 0) json["gen_ai.usage.cache_read.input_tokens"] = usage.cache_read_tokens;
    if (usage.cache_creation_tokens > 0) {
        json["gen_ai.usage.cache_creation.input_tokens"] = usage.cache_creation_tokens;
    }
    if (usage.reasoning_tokens > 0) json["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning_tokens;
    if (usage.usd_known) json["kernelwright.usage.usd"] = usage.usd;
    return json;
}

TurnUsage usage_from_json(const Json& json) {
    TurnUsage usage;
    if (!json.is_object()) return usage;
    usage.input_tokens = integer_at(json, "gen_ai.usage.input_tokens");
    usage.output_tokens = integer_at(json, "gen_ai.usage.output_tokens");
    usage.cache_read_tokens = integer_at(json, "gen_ai.usage.cache_read.input_tokens");
    usage.cache_creation_tokens = integer_at(json, "gen_ai.usage.cache_creation.input_tokens");
    usage.reasoning_tokens = integer_at(json, "gen_ai.usage.reasoning.output_tokens");
    if (json.contains("kernelwright.usage.usd")) {
        usage.usd = number_at(json, "kernelwright.usage.usd");
        usage.usd_known = true;
    }
    return usage;
}

Json to_json(const Run& run) {
    Json json{{"schema", "kernelwright.report/1"},
              {"run", run.id},
              {"task", run.task},
              {"state", run.state},
              {"why", run.why},
              {"reason", run.reason},
              {"started", run.started},
              {"finished", run.finished.empty() ? Json(nullptr) : Json(run.finished)},
              {"seconds", run.seconds},
              {"sittings", run.sittings},
              {"config", run.config},
              {"budget", run.budget},
              {"versions", run.versions},
              {"usage", to_json(run.usage())},
              {"evaluations", run.evaluations()}};
    const Attempt* best = run.best();
    json["best"] = best != nullptr ? Json(best->number) : Json(nullptr);
    json["attempts"] = Json::array();
    for (const Attempt& attempt : run.attempts) {
        Json entry{{"number", attempt.number},        {"asked", to_string(attempt.state)},
                   {"kind", to_string(attempt.kind)}, {"outcome", outcome_label(attempt)},
                   {"finished", attempt.finished},    {"base", attempt.base},
                   {"source", attempt.source},        {"idea", attempt.idea},
                   {"usage", to_json(attempt.usage)}};
        if (!attempt.note.empty()) entry["note"] = attempt.note;
        entry["skills"] = Json::array();
        for (const SkillOffer& offer : attempt.skills) entry["skills"].push_back(offer.id);
        entry["skills_named"] = attempt.skills_named;
        if (attempt.evaluation) {
            Json evaluation = to_json(*attempt.evaluation);
            evaluation.erase("profile");  // its own artifact; a report need not carry it twice
            entry["evaluation"] = std::move(evaluation);
        }
        json["attempts"].push_back(std::move(entry));
    }
    json["evidence"] = Json::array();
    for (const Evidence& evidence : run.evidence) json["evidence"].push_back(evidence.document);
    json["notes"] = run.notes;
    return json;
}

}  // namespace kernelwright::record

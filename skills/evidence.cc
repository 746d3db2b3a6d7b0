#include "skills/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/files.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr double smallest_move = 0.01;  // of counters without a smallest change of their own

Evidence begin(const Skill& skill, const Profile& before, const Attempted& attempt) {
    Evidence e;
    e.skill = skill.id;
    e.version_hash = skill.hash;
    e.parent_id = attempt.parent_id;
    e.child_id = attempt.child_id;
    e.task = before.task;
    e.device = before.device;
    e.target = before.target;
    e.shape_class = shape_class(before.shape);
    e.phase = attempt.phase;
    e.time = attempt.time;
    return e;
}

bool is_time(const std::string& metric) { return metric == "gpu__time_duration.sum"; }

CounterMove compare(const Expectation& expectation, const Profile& before, const Profile& after) {
    CounterMove move{expectation.metric, expectation.up, before.metric(expectation.metric),
                     after.metric(expectation.metric), false};
    if (!move.before || !move.after) return move;
    const double change = *move.after - *move.before;
    const double least = std::max(smallest_move, expectation.min_relative) * std::abs(*move.before);
    move.moved = expectation.up ? change > 0 && change >= least : change < 0 && -change >= least;
    return move;
}

}  // namespace

const char* to_string(SkillOutcome outcome) {
    switch (outcome) {
        case SkillOutcome::credited:
            return "credited";
        case SkillOutcome::lucky:
            return "lucky";
        case SkillOutcome::no_gain:
            return "no gain";
        case SkillOutcome::worse:
            return "worse";
        case SkillOutcome::failed:
            return "failed";
    }
    return "failed";
}

std::string shape_class(const SymbolValues& shape) {
    std::string text;
    for (const auto& [name, value] : shape)
        text +=
            fmt::format("{}{}=2^{}{}", text.empty() ? "" : ",", name,
                        value > 0 ? std::lround(std::log2(double(value))) : 0, value % 32 != 0 ? "*" : "");
    return text;
}

Evidence judge(const Skill& skill, const Profile& before, const Profile& after, const Attempted& attempt) {
    Evidence e = begin(skill, before, attempt);
    e.how =
        before.time_how == How::measured && after.time_how == How::measured ? How::measured : How::modelled;
    e.speedup = after.estimate.us > 0 ? before.estimate.us / after.estimate.us : 0;
    const bool faster = e.speedup >= speedup_that_counts;
    e.gates = {{"correct", true}, {"faster", faster}};
    // That the time goes down is what every rule hopes; it proves nothing about the rule's explanation.
    bool seen = false, as_predicted = true;
    for (const Expectation& expectation : skill.expect) {
        e.moves.push_back(compare(expectation, before, after));
        const CounterMove& move = e.moves.back();
        if (is_time(move.metric) || !move.before || !move.after) continue;
        seen = true;
        as_predicted = as_predicted && move.moved;
    }
    if (faster)
        e.outcome = seen && as_predicted ? SkillOutcome::credited : SkillOutcome::lucky;
    else
        e.outcome = e.speedup * speedup_that_counts > 1 ? SkillOutcome::no_gain : SkillOutcome::worse;
    return e;
}

Evidence judge_failure(const Skill& skill, const Profile& before, const Attempted& attempt) {
    Evidence e = begin(skill, before, attempt);
    e.how = before.time_how;
    e.gates = {{"correct", false}};
    e.failure_code = attempt.failure_code;
    e.outcome = SkillOutcome::failed;
    return e;
}

Json to_json(const Evidence& e) {
    Json moves = Json::array();
    for (const CounterMove& move : e.moves)
        moves.push_back({{"metric", move.metric},
                         {"predicted", move.predicted_up ? "up" : "down"},
                         {"before", move.before ? Json(*move.before) : Json()},
                         {"after", move.after ? Json(*move.after) : Json()},
                         {"moved", move.moved}});
    return {{"schema", "kernelwright.evidence/1"},
            {"skill", e.skill},
            {"version_hash", e.version_hash},
            {"parent_id", e.parent_id},
            {"child_id", e.child_id},
            {"task", e.task},
            {"device", e.device},
            {"target", e.target},
            {"shape_class", e.shape_class},
            {"phase", e.phase},
            {"gates", Json(e.gates)},
            {"failure_code", e.failure_code},
            {"speedup", e.speedup},
            {"how", to_string(e.how)},
            {"expected_moved", moves},
            {"outcome", to_string(e.outcome)},
            {"time", e.time}};
}

Result<Evidence> evidence_from_json(const Json& json) {
    try {
        if (json.at("schema") != "kernelwright.evidence/1")
            return Error{"not a kernelwright.evidence/1 record"};
        Evidence e;
        json.at("skill").get_to(e.skill);
        json.at("version_hash").get_to(e.version_hash);
        json.at("parent_id").get_to(e.parent_id);
        json.at("child_id").get_to(e.child_id);
        json.at("task").get_to(e.task);
        json.at("device").get_to(e.device);
        json.at("target").get_to(e.target);
        json.at("shape_class").get_to(e.shape_class);
        json.at("phase").get_to(e.phase);
        json.at("gates").get_to(e.gates);
        json.at("failure_code").get_to(e.failure_code);
        json.at("speedup").get_to(e.speedup);
        if (!std::isfinite(e.speedup) || e.speedup < 0)
            return Error{"an evidence record has an impossible speedup"};
        const auto how = parse_how(json.at("how").get<std::string>());
        if (!how) return Error{"an evidence record says how in a way that is not known"};
        e.how = *how;
        for (const Json& move : json.at("expected_moved")) {
            CounterMove m;
            move.at("metric").get_to(m.metric);
            m.predicted_up = move.at("predicted") == "up";
            if (!move.at("before").is_null()) m.before = move.at("before").get<double>();
            if (!move.at("after").is_null()) m.after = move.at("after").get<double>();
            move.at("moved").get_to(m.moved);
            e.moves.push_back(std::move(m));
        }
        const auto outcome = json.at("outcome").get<std::string>();
        bool known = false;
        for (SkillOutcome o : {SkillOutcome::credited, SkillOutcome::lucky, SkillOutcome::no_gain,
                               SkillOutcome::worse, SkillOutcome::failed})
            if (outcome == to_string(o)) {
                e.outcome = o;
                known = true;
            }
        if (!known) return Error{"an evidence record has the unknown outcome `" + outcome + "`"};
        json.at("time").get_to(e.time);
        return e;
    } catch (const Json::exception& e) {
        return Error{std::string("not an evidence record: ") + e.what()};
    }
}

Status append_evidence(const std::filesystem::path& file, const Evidence& evidence) {
    return append_line(file, to_json(evidence).dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<EvidenceBook> read_evidence(const std::filesystem::path& file) {
    EvidenceBook book;
    std::error_code failure;
    if (!std::filesystem::exists(file, failure)) return book;
    auto text = read_file(file, std::uintmax_t{256} << 20);
    if (!text) return text.error();
    int number = 0;
    for (const std::string& line : split(*text, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        const Json json = Json::parse(line, nullptr, false);
        if (json.is_discarded()) {
            book.skipped.push_back(Error{"a torn line", file.string(), number});
            continue;
        }
        auto record = evidence_from_json(json);
        if (record) {
            book.records.push_back(std::move(*record));
        } else {
            Error error = record.error();
            error.file = file.string();
            error.line = number;
            book.skipped.push_back(std::move(error));
        }
    }
    return book;
}

}  // namespace kernelwright

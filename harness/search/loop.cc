// One step of a turn is one event, and the order of the events is the protocol that makes a run survive being
// killed anywhere:
//
//   turn.requested    the prompt is stored; the request may or may not have been sent
//   turn.answered     the reply is stored: it is never asked for again
//   attempt.started   the reply was taken apart; a candidate, if any, is stored
//   attempt.verdict   the evaluation is stored whole: it is never done again
//   attempt.profiled  the time and the counters, for readers of the log
//   skill.evidence    one for each skill that was offered on the way
//   attempt.finished  the attempt counts
//
// After each event the run is loaded from the log again and the next step is chosen from what it says. There
// is no other state to lose (the author's place in a recorded conversation is counted from the log as well),
// so going on after a crash is the same code as going on.
#include "harness/search/loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/authors/answer.h"
#include "harness/authors/tokens.h"
#include "harness/core/files.h"
#include "harness/core/hash.h"
#include "harness/search/answer.h"
#include "harness/search/evidence.h"

namespace kernelwright::search {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::Run;
using record::Turn;

constexpr const char* candidate_file = "candidate.cu";

Json budgets_json(const Budgets& budgets) {
    Json json = Json::object();
    if (budgets.evals) json["evals"] = *budgets.evals;
    if (budgets.tokens) json["tokens"] = *budgets.tokens;
    if (budgets.minutes) json["minutes"] = *budgets.minutes;
    if (budgets.usd) json["usd"] = *budgets.usd;
    return json;
}

Budgets budgets_from(const Json& json) {
    Budgets budgets;
    const auto number = [&](const char* key, auto& out) {
        const auto it = json.find(key);
        if (it != json.end() && it->is_number())
            out = it->get<typename std::decay_t<decltype(out)>::value_type>();
    };
    if (!json.is_object()) return budgets;
    number("evals", budgets.evals);
    number("tokens", budgets.tokens);
    number("minutes", budgets.minutes);
    number("usd", budgets.usd);
    return budgets;
}

Json left_json(const BudgetMeter& meter) {
    const Budgets& budgets = meter.budgets();
    const Spent spent = meter.spent();
    Json json = Json::object();
    if (budgets.evals) json["evals"] = *budgets.evals - spent.evals;
    if (budgets.tokens) json["tokens"] = *budgets.tokens - spent.tokens();
    if (budgets.minutes) json["minutes"] = *budgets.minutes - spent.seconds / 60;
    if (budgets.usd) json["usd"] = *budgets.usd - spent.usd;
    return json;
}

record::TurnUsage usage_of(const Reply& reply, std::int64_t estimate, const std::optional<Price>& price) {
    const Usage charged = charged_usage(reply, estimate);
    record::TurnUsage usage;
    usage.input_tokens = charged.input_tokens;
    usage.output_tokens = charged.output_tokens;
    usage.cache_read_tokens = charged.cached_input_tokens;
    usage.cache_creation_tokens = charged.cache_write_tokens;
    usage.reasoning_tokens = charged.reasoning_tokens;
    if (price) {
        usage.usd = cost_usd(charged, *price);
        usage.usd_known = true;
    }
    return usage;
}

// What a reply says about itself.
Json response_json(const Reply& reply) {
    Json json{{"gen_ai.operation.name", "chat"}};
    if (!reply.model.empty()) json["gen_ai.response.model"] = reply.model;
    if (!reply.request_id.empty()) json["gen_ai.response.id"] = reply.request_id;
    if (!reply.finish_reason.empty()) {
        json["gen_ai.response.finish_reasons"] = Json::array({reply.finish_reason});
    }
    json["latency_ms"] = reply.latency.count();
    json["requests"] = reply.attempts;
    return json;
}

// Why the loop was left: every step may end the run.
struct Ended {
    std::string why, reason;
    Error error;
    std::optional<int> exit_code;
};

template <class T>
using Step = Result<T, Ended>;

class Search {
  public:
    Search(const SearchParts& parts, const SearchConfig& config) : parts_(parts), config_(config) {}

    SearchOutcome run() {
        Step<Done> begun = begin();
        while (begun.ok()) begun = step();
        return outcome(begun.error());
    }

  private:
    // ---- beginnings and ends --------------------------------------------------------------------------

    Step<Done> begin() {
        if (auto loaded = load(); !loaded) return loaded.error();
        const bool fresh = run_.task.empty();
        config_.budget = merged(budgets_from(run_.budget), config_.budget);
        auto meter = BudgetMeter::make(config_.budget, config_.price, *parts_.clock);
        if (!meter) return Ended{"call", meter.error().message, meter.error(), 2};
        meter_.emplace(std::move(*meter));
        if (auto begun = fresh ? begin_fresh() : begin_again(); !begun) return begun;
        int answers = 0;
        for (const Turn& turn : run_.turns) answers += (turn.answered ? 1 : 0) + turn.failed_answers;
        parts_.author->skip_turns(answers);
        return Done{};
    }

    Step<Done> begin_fresh() {
        fixed_ = fixed_prompt(*parts_.task, parts_.device);
        Json config = config_.facts;
        config["policy"] = to_json(config_.policy);
        Json fields{{"task", parts_.task->name}};
        if (auto s = put(fields, "task_hash", parts_.task->source); !s) return s;
        if (auto s = put(fields, "system", fixed_.system); !s) return s;
        if (auto s = put(fields, "prefix", fixed_.prefix); !s) return s;
        fields["config"] = std::move(config);
        fields["budget"] = budgets_json(config_.budget);
        fields["versions"] = config_.versions;
        return append("run.started", std::move(fields));
    }

    Step<Done> begin_again() {
        if (run_.task_hash != sha256_hex(parts_.task->source)) {
            const Error error{"the task page is not the one that this run was started with",
                              parts_.task->file, 0, 0, "start a new run"};
            return Ended{"call", error.message, error, 2};
        }
        config_.policy = policy_from_json(run_.config.value("policy", Json()));
        for (const auto& [hash, text] :
             {std::pair{&run_.system, &fixed_.system}, std::pair{&run_.prefix, &fixed_.prefix}}) {
            auto stored = parts_.run->get(*hash);
            if (!stored) return broken_record(stored.error());
            *text = std::move(*stored);
        }
        if (run_.spent.is_object()) {
            if (Status s = meter_->restore(run_.spent); !s) return broken_record(s.error());
        }
        if (auto kept = keep_winner(); !kept) return kept;
        Json fields{{"budget", budgets_json(config_.budget)}, {"versions", config_.versions}};
        return append("run.resumed", std::move(fields));
    }

    // What was stored cannot be had back: the record is a wrong input.
    static Ended broken_record(const Error& error) { return {"record", error.message, error, 2}; }
    // The record cannot be written.
    static Ended unwritable(const Error& error) { return {"record", error.message, error, 3}; }

    SearchOutcome outcome(const Ended& ended) {
        // The event that says why is the last; a record that cannot be written has already said so.
        const bool wrong_call = ended.why == "call";
        if (!wrong_call && ended.why != "record") {
            Json fields{{"why", ended.why}, {"reason", ended.reason}};
            const char* kind = "run.finished";
            if (ended.why == "interrupted") kind = "run.interrupted";
            if (ended.why == "author failed" || ended.why == "missing") kind = "run.paused";
            if (!ended.error.message.empty()) fields["error"] = ended.error.str();
            const Step<Done> recorded = append(kind, std::move(fields));
            if (!recorded.ok()) message("warning: " + recorded.error().error.str());
        }
        SearchOutcome outcome;
        outcome.run = std::move(run_);
        outcome.why = ended.why;
        outcome.reason = ended.reason;
        outcome.error = ended.error;
        if (ended.why == "budget") outcome.exhausted = exhausted_;
        outcome.exit_code = ended.exit_code.value_or(outcome.run.best() != nullptr ? 0 : 1);
        return outcome;
    }

    // ---- the record ------------------------------------------------------------------------------------

    Step<Done> load() {
        auto run = parts_.run->load();
        if (!run) return broken_record(run.error());
        run_ = std::move(*run);
        return Done{};
    }

    Step<Done> put(Json& fields, const char* key, const std::string& text) {
        auto hash = parts_.run->put(text);
        if (!hash) return unwritable(hash.error());
        fields[key] = *hash;
        return Done{};
    }

    Step<Done> append(const std::string& kind, Json fields) {
        if (meter_) fields["spent"] = meter_->to_json();
        if (Status s = parts_.run->append(kind, std::move(fields)); !s) return unwritable(s.error());
        if (auto loaded = load(); !loaded) return loaded;
        if (parts_.index != nullptr && (kind.starts_with("run.") || kind == "attempt.finished")) {
            if (Status s = parts_.index->update(run_); !s && !index_warned_) {
                index_warned_ = true;
                message("warning: " + s.error().str());
            }
        }
        return Done{};
    }

    Step<std::string> source_of(const Attempt* attempt) {
        if (attempt == nullptr || attempt->source.empty()) return std::string();
        auto text = parts_.run->get(attempt->source);
        if (!text) return broken_record(text.error());
        return std::move(*text);
    }

    // ---- one step ----------------------------------------------------------------------------------------

    Step<Done> step() {
        if (!run_.attempts.empty() && !run_.attempts.back().finished)
            return attempt_step(run_.attempts.back());
        if (!run_.turns.empty()) {
            const Turn& turn = run_.turns.back();
            if (!turn.answered) return ask(turn);
            if (run_.find(turn.number) == nullptr) return take_answer(turn);
        }
        return next_turn();
    }

    Step<Done> next_turn() {
        if (parts_.stop.stop_requested()) return interrupted();
        const Decision decision = decide(run_, config_.policy);
        if (!decision.ask) return Ended{decision.stop, decision.stop_reason, {}, {}};
        const Situation& situation = *decision.ask;
        PromptInputs inputs;
        inputs.run = &run_;
        inputs.situation = situation;
        for (const auto& [attempt, text] :
             {std::pair{situation.best, &inputs.best_source}, std::pair{situation.base, &inputs.base_source},
              std::pair{situation.last, &inputs.last_source}}) {
            auto source = source_of(attempt);
            if (!source) return source.error();
            *text = std::move(*source);
        }
        inputs.skills = select_skills(inputs);
        const std::string body = situation_prompt(inputs, config_.prompt);
        // The budget is asked before the turn is opened, so that a turn is one that could be paid for.
        if (auto permit = permit_for(body); !permit) return permit.error();
        Json fields{{"turn", run_.turns.empty() ? 1 : run_.turns.back().number + 1},
                    {"state", to_string(situation.state)},
                    {"reason", situation.reason},
                    {"base", situation.base != nullptr ? situation.base->number : 0}};
        if (auto s = put(fields, "prompt", body); !s) return s;
        fields["skills"] = Json::array();
        for (const record::SkillOffer& offer : inputs.skills) fields["skills"].push_back(to_json(offer));
        fields["budget_left"] = left_json(*meter_);
        return append("turn.requested", std::move(fields));
    }

    std::vector<record::SkillOffer> select_skills(const PromptInputs& inputs) {
        if (parts_.skills == nullptr) return {};
        const Situation& situation = inputs.situation;
        SkillQuery query;
        query.state = situation.state;
        const Attempt* base = situation.base != nullptr ? situation.base : situation.best;
        if (base != nullptr && base->evaluation) query.base = &*base->evaluation;
        if (situation.last != nullptr && situation.last->evaluation)
            query.last = &*situation.last->evaluation;
        query.base_source = situation.base != nullptr ? inputs.base_source : inputs.best_source;
        const int since = situation.best != nullptr ? situation.best->number : 0;
        for (const Turn& turn : run_.turns) {
            if (turn.number <= since) continue;
            for (const record::SkillOffer& offer : turn.skills) query.already_offered.push_back(offer.id);
        }
        std::vector<record::SkillOffer> skills = parts_.skills->select(query);
        const auto most = static_cast<std::size_t>(config_.prompt.skills);
        if (skills.size() > most) skills.resize(most);
        return skills;
    }

    Step<RequestPermit> permit_for(const std::string& body) {
        const std::int64_t estimate = estimate_tokens(make_prompt(fixed_, body));
        const RequestPermit permit = meter_->check_before_request(estimate, config_.max_output_tokens);
        if (!permit.allowed) {
            exhausted_ = permit.exhausted;
            return Ended{"budget", permit.message, {}, {}};
        }
        return permit;
    }

    Ended interrupted() { return {"interrupted", "interrupted; the run can be resumed", {}, 130}; }

    // ---- the author --------------------------------------------------------------------------------------

    Step<Done> ask(const Turn& turn) {
        if (parts_.stop.stop_requested()) return interrupted();
        const auto body = parts_.run->get(turn.prompt);
        if (!body) return broken_record(body.error());
        auto permit = permit_for(*body);
        if (!permit) return permit.error();
        const Prompt prompt = make_prompt(fixed_, *body);
        const std::int64_t estimate = estimate_tokens(prompt);
        AskLimits limits;
        limits.max_output_tokens = permit->max_output_tokens;
        limits.time = permit->time;
        limits.stop = parts_.stop;
        const std::string title = fmt::format("#{} {}: ", turn.number, to_string(turn.state));
        status(title + "asking");
        const Reply reply = parts_.author->ask(prompt, limits, [&](const AskProgress& p) {
            if (p.phase == AskProgress::Phase::waiting) {
                status(fmt::format("{}waiting {:.1f} s ({})", title,
                                   static_cast<double>(p.wait.count()) / 1000, p.why));
            } else {
                status(fmt::format("{}{} ({} bytes)", title, p.text_bytes > 0 ? "answering" : "thinking",
                                   p.text_bytes + p.reasoning_bytes));
            }
        });
        for (const std::string& warning : reply.warnings) message("warning: " + warning);
        if (reply.outcome == Outcome::cancelled) return interrupted();
        if (reply.outcome == Outcome::exhausted) {
            message(title + "no further answer");
            return Ended{"author exhausted", "the recorded conversation has no further answer", {}, {}};
        }
        if (is_answer(reply.outcome) || reply.usage.reported) meter_->charge_reply(reply, estimate);
        Json fields{{"turn", turn.number}, {"outcome", to_string(reply.outcome)}};
        const Json stored{{"text", reply.text}, {"reasoning", reply.reasoning}};
        const std::string text = stored.dump(1, ' ', false, Json::error_handler_t::replace);
        if (auto s = put(fields, "reply", text); !s) return s;
        fields["usage"] = to_json(usage_of(reply, estimate, config_.price));
        fields.update(response_json(reply));
        fields["prompt_sha256"] = prompt_sha256(prompt);
        if (is_answer(reply.outcome) && reply.outcome != Outcome::broken_stream) {
            return append("turn.answered", std::move(fields));
        }
        return failed_ask(turn, reply, std::move(fields));
    }

    Step<Done> failed_ask(const Turn& turn, const Reply& reply, Json fields) {
        const int failures = turn.failures + 1;
        fields["answer_begun"] = is_answer(reply.outcome);
        fields["error"] = reply.error.str();
        if (!is_answer(reply.outcome) && !reply.usage.reported) fields.erase("usage");  // nothing was charged
        if (auto s = append("turn.failed", std::move(fields)); !s) return s;
        // A broken stream may hold the next time, and a time-out may be the budget's own: the permit will
        // say.
        const bool again = reply.outcome == Outcome::broken_stream || reply.outcome == Outcome::timed_out;
        if (again && failures % config_.asks_of_one_turn != 0) {
            message(fmt::format("#{}: {}, asked again", run_.turns.back().number, to_string(reply.outcome)));
            return Done{};
        }
        return Ended{"author failed", reply.error.message, reply.error, exit_code(reply.outcome).value_or(3)};
    }

    Step<Reply> stored_reply(const Turn& turn) {
        const auto text = parts_.run->get(turn.reply);
        if (!text) return broken_record(text.error());
        const Json json = Json::parse(*text, nullptr, false);
        Reply reply;
        const auto outcome = parse_outcome(turn.outcome);
        if (!json.is_object() || !json.contains("text") || !json["text"].is_string() || !outcome) {
            return broken_record(Error{fmt::format("the reply of turn {} is not readable", turn.number)});
        }
        reply.text = json["text"].get<std::string>();
        reply.outcome = *outcome;
        return reply;
    }

    Step<Done> take_answer(const Turn& turn) {
        const auto reply = stored_reply(turn);
        if (!reply) return reply.error();
        ParsedAnswer answer = parse_answer(*reply);
        Json fields{{"attempt", turn.number}};
        if (answer.kind == AttemptKind::evaluated) {
            const std::string hash = candidate_hash(answer.source);
            for (const Attempt& earlier : run_.attempts) {
                if (earlier.kind != AttemptKind::evaluated) continue;
                const auto source = source_of(&earlier);
                if (!source) return source.error();
                if (candidate_hash(*source) != hash) continue;
                answer.kind = AttemptKind::duplicate;
                fields["duplicate_of"] = earlier.number;
                break;
            }
            if (auto s = put(fields, "source", answer.source); !s) return s;
        }
        fields["kind"] = to_string(answer.kind);
        if (!answer.plan.empty()) {
            if (auto s = put(fields, "plan", answer.plan); !s) return s;
        }
        fields["idea"] = answer.idea;
        fields["skills_named"] = answer.skills;
        if (!answer.note.empty()) fields["note"] = answer.note;
        return append("attempt.started", std::move(fields));
    }

    // ---- the attempt
    // ---------------------------------------------------------------------------------------

    Step<Done> attempt_step(const Attempt& attempt) {
        if (attempt.kind == AttemptKind::evaluated) {
            if (!attempt.evaluation) return evaluate(attempt);
            if (!attempt.profiled && attempt.evaluation->time) return profiled(attempt);
            if (parts_.skills != nullptr) {
                for (const record::Evidence& evidence : evidence_of(run_, attempt, *parts_.skills)) {
                    const auto known = [&](const record::Evidence& e) { return e.key == evidence.key; };
                    if (std::any_of(run_.evidence.begin(), run_.evidence.end(), known)) continue;
                    return add_evidence(evidence);
                }
            }
        }
        return finish(attempt);
    }

    Step<Done> evaluate(const Attempt& attempt) {
        if (parts_.stop.stop_requested()) return interrupted();
        const auto source = source_of(&attempt);
        if (!source) return source.error();
        const std::string title = fmt::format("#{} {}: ", attempt.number, to_string(attempt.state));
        status(title + "checking");
        const EvaluateOutcome done = parts_.evaluator->evaluate(
            *source, candidate_file, [&](const std::string& phase) { status(title + phase); }, parts_.stop);
        if (done.abandoned) return interrupted();
        if (done.missing) return Ended{"missing", done.missing->message, *done.missing, 3};
        if (!done.evaluation) {
            const Error error{"the evaluator gave no verdict"};
            return Ended{"missing", error.message, error, 3};
        }
        meter_->charge_eval();
        const record::Evaluation& evaluation = *done.evaluation;
        Json fields{{"attempt", attempt.number},
                    {"verdict", evaluation.pass ? "pass" : "fail"},
                    {"stage", evaluation.stage ? Json(to_string(*evaluation.stage)) : Json(nullptr)},
                    {"shapes_checked", evaluation.shapes_checked},
                    {"cases_checked", evaluation.cases_checked}};
        if (const Diagnostic* error = first_error(evaluation)) fields["first_error"] = to_line(*error);
        const std::string text = to_json(evaluation).dump(1, ' ', false, Json::error_handler_t::replace);
        if (auto s = put(fields, "evaluation", text); !s) return s;
        return append("attempt.verdict", std::move(fields));
    }

    Step<Done> profiled(const Attempt& attempt) {
        const record::Evaluation& evaluation = *attempt.evaluation;
        Json fields{{"attempt", attempt.number}, {"estimate", to_json(*evaluation.time)}};
        fields["counters"] = Json::array();
        for (const record::Counter& counter : evaluation.counters)
            fields["counters"].push_back(to_json(counter));
        return append("attempt.profiled", std::move(fields));
    }

    // First the file that outlives the run, then the event: appending the same key again changes nothing.
    Step<Done> add_evidence(const record::Evidence& evidence) {
        if (Status s = parts_.skills->append_evidence(evidence); !s) {
            message("warning: the evidence was not kept: " + s.error().str());
        }
        return append("skill.evidence", {{"key", evidence.key}, {"evidence", evidence.document}});
    }

    Step<Done> finish(const Attempt& attempt) {
        const int number = attempt.number;
        if (auto s = append("attempt.finished", {{"attempt", number}, {"outcome", outcome_label(attempt)}});
            !s) {
            return s;
        }
        if (auto s = keep_winner(); !s) return s;
        message(finished_line(*run_.find(number)));
        return Done{};
    }

    // A copy of the winner for people; the record holds the source. Made again where a crash came before it.
    Step<Done> keep_winner() {
        const Attempt* best = run_.best();
        if (best == nullptr) return Done{};
        const auto source = source_of(best);
        if (!source) return source.error();
        const auto file = parts_.run->folder() / "winner.cu";
        const auto there = read_file(file);
        if (there.ok() && *there == *source) return Done{};
        if (Status s = write_file_atomic(file, *source); !s) message("warning: " + s.error().str());
        return Done{};
    }

    std::string finished_line(const Attempt& attempt) const {
        std::string line =
            fmt::format("#{} {}: {}", attempt.number, to_string(attempt.state), outcome_label(attempt));
        if (!attempt.evaluation) return line;
        if (attempt.passed()) {
            if (attempt.evaluation->time) line += ", " + format_time(*attempt.evaluation->time);
            const Attempt* best = run_.best();
            if (best != nullptr && best->number == attempt.number) line += ", the best so far";
        } else if (const Diagnostic* error = first_error(*attempt.evaluation)) {
            line += ": " + to_line(*error);
        }
        return line;
    }

    void status(const std::string& line) {
        if (parts_.progress != nullptr) parts_.progress->status(line);
    }
    void message(const std::string& line) {
        if (parts_.progress != nullptr) parts_.progress->message(line);
    }

    const SearchParts& parts_;
    SearchConfig config_;
    FixedPrompt fixed_;
    std::optional<BudgetMeter> meter_;
    Run run_;
    std::string exhausted_;  // the budget that ended the run
    bool index_warned_ = false;
};

}  // namespace

SearchOutcome run_search(const SearchParts& parts, const SearchConfig& config) {
    return Search(parts, config).run();
}

}  // namespace kernelwright::search

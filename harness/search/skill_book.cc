#include "harness/search/skill_book.h"

#include <algorithm>
#include <utility>

#include "harness/profile/profile.h"
#include "skills/context.h"
#include "skills/evidence.h"
#include "skills/select.h"
#include "verifiers/numerics/draws.h"

namespace kernelwright::search {
namespace {

std::string text_of(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

SkillTask skill_task(const Task& task) {
    SkillTask out;
    out.name = task.name;
    out.op = task.op;
    out.params = task.params;
    const auto& shapes = task.tune_shapes.empty() ? task.check_shapes : task.tune_shapes;
    if (!shapes.empty()) out.symbols = shapes.front();
    for (const auto& [from, to] :
         {std::pair{&task.inputs, &out.inputs}, std::pair{&task.outputs, &out.outputs}}) {
        for (const TensorSpec& spec : *from) {
            const auto shape = spec.shape_at(out.symbols);
            to->push_back({spec.dtype, shape ? *shape : Shape{}});
        }
    }
    if (const auto work = task_work(task, out.symbols)) out.work = *work;
    return out;
}

RuleBook::RuleBook(SkillLibrary library, std::filesystem::path evidence_file, const Task& task,
                   DeviceFacts facts, const Clock& clock)
    : library_(std::move(library)),
      evidence_file_(std::move(evidence_file)),
      task_(task),
      facts_(std::move(facts)),
      clock_(&clock) {}

Json RuleBook::context_of(const SkillQuery& query) const {
    std::map<std::string, int> history;
    if (query.last != nullptr) {
        for (const Diagnostic& d : query.last->diagnostics) ++history[d.rule];
    }
    if (query.base != nullptr && query.base->profile.is_object()) {
        const auto profile = profile_from_json(query.base->profile);
        if (profile) return make_context(skill_task(task_), *profile, facts_, history);
    }
    return make_context(skill_task(task_), facts_, history);
}

std::vector<record::SkillOffer> RuleBook::select(const SkillQuery& query) {
    const Json context = context_of(query);
    const auto book = read_evidence(evidence_file_);
    // More than the prompt takes are asked for, so that some remain when those that were offered already are
    // left out.
    const std::vector<Chosen> chosen = kernelwright::select(
        evaluate(library_, context), context, book ? book->records : std::vector<Evidence>{}, 16);
    std::vector<record::SkillOffer> fresh, again;
    for (const Chosen& c : chosen) {
        record::SkillOffer offer;
        offer.id = c.verdict.skill->id;
        offer.version = c.verdict.skill->hash;
        offer.advice = c.verdict.advice;
        offer.evidence = standing_text(c);
        const Json described = to_json(*c.verdict.skill);
        if (const auto it = described.find("expect"); it != described.end()) offer.expect = *it;
        const bool offered = std::find(query.already_offered.begin(), query.already_offered.end(),
                                       offer.id) != query.already_offered.end();
        (offered ? again : fresh).push_back(std::move(offer));
    }
    fresh.insert(fresh.end(), again.begin(), again.end());
    return fresh;
}

Json RuleBook::judge(const record::SkillOffer& offer, const record::Evaluation& parent,
                     const record::Evaluation& child) {
    const Skill* skill = library_.find(offer.id);
    if (skill == nullptr || skill->hash != offer.version)
        return {{"expected_moved", false}, {"note", "the rule has changed since"}};
    const auto before = profile_from_json(parent.profile);
    const auto after = profile_from_json(child.profile);
    if (!before || !after) return {{"expected_moved", false}, {"note", "not profiled"}};
    const Evidence evidence =
        kernelwright::judge(*skill, *before, *after, Attempted{{}, {}, "refine", {}, {}});
    Json moved = Json::array();
    bool all = !evidence.moves.empty();
    for (const CounterMove& move : evidence.moves) {
        moved.push_back({{"metric", move.metric},
                         {"predicted", move.predicted_up ? "up" : "down"},
                         {"before", move.before ? Json(*move.before) : Json(nullptr)},
                         {"after", move.after ? Json(*move.after) : Json(nullptr)},
                         {"moved", move.moved}});
        if (move.before && move.after) all = all && move.moved;
    }
    return {{"expected_moved", all}, {"moved", std::move(moved)}, {"judgement", to_json(evidence)}};
}

Status RuleBook::append_evidence(const record::Evidence& evidence) {
    const auto book = read_evidence(evidence_file_);
    if (book) {
        for (const Evidence& e : book->records) {
            if (e.child_id == evidence.key) return Done{};
        }
    }
    const Json& document = evidence.document;
    Evidence line;
    if (const auto it = document.find("judgement"); it != document.end()) {
        const auto parsed = evidence_from_json(*it);
        if (parsed) line = *parsed;
    } else {
        if (text_of(document, "outcome") != "failed")
            return Done{};  // nothing to compare with: says nothing about the skill
        line.skill = text_of(document, "skill");
        line.version_hash = text_of(document, "version");
        line.task = text_of(document, "task");
        line.device = text_of(document, "device");
        line.target = text_of(document, "target");
        line.phase = "refine";
        line.gates = {{"correct", false}, {"faster", false}};
        line.failure_code = text_of(document, "failure_code");
    }
    // Advice that the author did not follow says nothing either.
    const auto followed = document.find("followed");
    if (followed != document.end() && followed->is_boolean() && !followed->get<bool>()) return Done{};
    line.child_id = evidence.key;
    if (const auto parent = document.find("parent");
        parent != document.end() && parent->is_number_integer()) {
        line.parent_id = text_of(document, "run") + "/" + std::to_string(parent->get<int>());
    }
    line.time = to_rfc3339(clock_->wall());
    std::error_code ec;
    if (evidence_file_.has_parent_path())
        std::filesystem::create_directories(evidence_file_.parent_path(), ec);
    return kernelwright::append_evidence(evidence_file_, line);
}

}  // namespace kernelwright::search

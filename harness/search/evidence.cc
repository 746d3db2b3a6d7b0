#include "harness/search/evidence.h"

#include <algorithm>

#include "skills/evidence.h"

namespace kernelwright::search {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::Evidence;
using record::State;

// The passing candidate that the prompt of `attempt` started from, or offered as the best.
const Attempt* parent_of(const record::Run& run, const Attempt& attempt) {
    if (const Attempt* base = run.find(attempt.base); base != nullptr && base->passed()) return base;
    const Attempt* best = nullptr;
    for (const Attempt& earlier : run.attempts) {
        if (earlier.number >= attempt.number || !earlier.passed()) continue;
        if (best == nullptr || earlier.seconds().value_or(1e300) < best->seconds().value_or(1e300)) {
            best = &earlier;
        }
    }
    return best;
}

std::string config_text(const record::Run& run, const char* key) {
    const auto it = run.config.find(key);
    return it != run.config.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

std::vector<OpenOffer> open_offers(const record::Run& run, const Attempt& attempt) {
    // The chain of repairs, newest first; an attempt repairs an earlier one, so it ends.
    std::vector<const Attempt*> chain{&attempt};
    while (chain.back()->state == State::repair) {
        const Attempt* base = run.find(chain.back()->base);
        if (base == nullptr || base->number >= chain.back()->number || base->passed()) break;
        chain.push_back(base);
    }
    std::vector<OpenOffer> open;
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        for (const record::SkillOffer& offer : (*at)->skills) {
            const auto& names = (*at)->skills_named;
            const bool named = std::find(names.begin(), names.end(), offer.id) != names.end();
            const auto known = std::find_if(open.begin(), open.end(),
                                            [&](const OpenOffer& o) { return o.offer.id == offer.id; });
            if (known != open.end()) {
                known->named = known->named || named;
            } else {
                open.push_back({offer, (*at)->number, named, parent_of(run, **at)});
            }
        }
    }
    return open;
}

std::vector<Evidence> evidence_of(const record::Run& run, const Attempt& attempt, SkillBook& book) {
    std::vector<Evidence> out;
    if (attempt.kind != AttemptKind::evaluated || !attempt.evaluation) return out;
    for (const OpenOffer& open : open_offers(run, attempt)) {
        Evidence evidence;
        evidence.key = run.id + "/" + std::to_string(attempt.number) + "/" + open.offer.id;
        Json document{{"schema", "kernelwright.evidence/1"},
                      {"key", evidence.key},
                      {"skill", open.offer.id},
                      {"version", open.offer.version},
                      {"run", run.id},
                      {"task", run.task},
                      {"target", config_text(run, "target")},
                      {"device", config_text(run, "device")},
                      {"attempt", attempt.number},
                      {"offered_at", open.offered_at},
                      {"parent", open.parent != nullptr ? Json(open.parent->number) : Json(nullptr)},
                      {"followed", open.named}};
        if (!attempt.passed()) {
            document["outcome"] = "failed";
            const Diagnostic* error = first_error(*attempt.evaluation);
            document["failure_code"] = error != nullptr ? Json(error->rule) : Json(nullptr);
        } else if (open.parent == nullptr) {
            document["outcome"] = "no-baseline";
        } else {
            document["outcome"] = "judged";
            const auto before = open.parent->seconds(), after = attempt.seconds();
            const bool comparable = before && after && *after > 0 &&
                                    open.parent->evaluation->time->how == attempt.evaluation->time->how;
            const double speedup = comparable ? *before / *after : 0;
            document["speedup"] = comparable ? Json(speedup) : Json(nullptr);
            document["how"] = comparable ? Json(attempt.evaluation->time->how) : Json(nullptr);
            const bool faster = speedup >= speedup_that_counts;
            document["faster"] = faster;
            const Json judgement = book.judge(open.offer, *open.parent->evaluation, *attempt.evaluation);
            bool moved = false;
            if (judgement.is_object()) {
                for (const auto& [key, value] : judgement.items()) document[key] = value;
                const auto it = judgement.find("expected_moved");
                moved = it != judgement.end() && it->is_boolean() && it->get<bool>();
            }
            // Faster with unmoved counters is luck or a wrong explanation; unnamed advice was not followed.
            document["credited"] = faster && moved && open.named;
        }
        evidence.document = std::move(document);
        out.push_back(std::move(evidence));
    }
    return out;
}

}  // namespace kernelwright::search

// What an attempt says about the skills that were offered on the way to it.
#pragma once

#include <vector>

#include "harness/search/interfaces.h"
#include "harness/store/run.h"

namespace kernelwright::search {

// A skill that was offered in the prompt of an attempt's line, and the candidate from which it was to lead.
struct OpenOffer {
    record::SkillOffer offer;
    int offered_at = 0;                       // the attempt whose prompt held it
    bool named = false;                       // the author said that it followed it
    const record::Attempt* parent = nullptr;  // null: nothing correct was there yet
};
// The offers that `attempt` answers: those of its own prompt, and, when it is a repair, those of the attempts
// that it repairs. A skill offered twice counts once, from where it was first offered.
std::vector<OpenOffer> open_offers(const record::Run& run, const record::Attempt& attempt);

// One line of evidence for each open offer of an evaluated attempt; none for others. `book` judges whether
// the predicted counters moved.
std::vector<record::Evidence> evidence_of(const record::Run& run, const record::Attempt& attempt,
                                          SkillBook& book);

}  // namespace kernelwright::search

// What the loop asks of the world besides an Author, each with a fake in the tests: someone who judges
// kernels (Evaluator), someone who knows tricks (SkillBook), and a listener (Progress).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/result.h"
#include "harness/store/run.h"

namespace kernelwright::search {

// ---- the evaluator ----------------------------------------------------------------------------------------

// Told while a candidate is judged: "compile", "smallest shape", "check shapes 3/8", "tune shapes",
// "profile".
using PhaseSink = std::function<void(const std::string& phase)>;

struct EvaluateOutcome {
    std::optional<record::Evaluation> evaluation;
    bool abandoned = false;        // the stop token fired: nothing is known about the candidate
    std::optional<Error> missing;  // the machine lacks something (no NVRTC): not the candidate's fault
};

class Evaluator {
  public:
    virtual ~Evaluator() = default;
    // Judges a candidate: progressive validation (smallest shape first, the full set only after), and for one
    // that passes the profile and the time. `file` is the name that diagnostics carry.
    virtual EvaluateOutcome evaluate(const std::string& source, const std::string& file,
                                     const PhaseSink& phase, const std::stop_token& stop) = 0;
};

// ---- skills -----------------------------------------------------------------------------------------------

// What a skill's conditions may look at: the evaluation that the next attempt starts from.
struct SkillQuery {
    record::State state = record::State::draft;
    const record::Evaluation* base = nullptr;  // null: nothing evaluated yet
    const record::Evaluation* last = nullptr;  // the last attempt's, passing or not
    std::string base_source;
    std::vector<std::string> already_offered;  // ids offered since the best candidate last improved
};

class SkillBook {
  public:
    virtual ~SkillBook() = default;
    // Skills whose conditions hold, best first; the prompt takes at most three.
    virtual std::vector<record::SkillOffer> select(const SkillQuery& query) = 0;
    // Did the counters that the skill predicts move, from the parent to the child? A JSON object with at
    // least
    // {"expected_moved": bool, "moved": [...]}.
    virtual Json judge(const record::SkillOffer& offer, const record::Evaluation& parent,
                       const record::Evaluation& child) = 0;
    // Appends one line of evidence. Called again with the same `key` after a crash, it must not append twice.
    virtual Status append_evidence(const record::Evidence& evidence) = 0;
};

// ---- progress ---------------------------------------------------------------------------------------------

class Progress {
  public:
    virtual ~Progress() = default;
    virtual void status(const std::string& line) = 0;   // what is going on now; replaces the one before
    virtual void message(const std::string& line) = 0;  // stays
};

}  // namespace kernelwright::search

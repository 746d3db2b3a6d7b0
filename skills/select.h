// Which of the skills that hold go into the prompt.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skills/evidence.h"
#include "skills/skill.h"

namespace kernelwright {

// What the evidence says of a skill's text as it is now. `log_speedup` is the posterior mean: the skill's own
// records, shrunk towards the first guess as if that had been seen `prior_weight` times.
struct Standing {
    int tried = 0, credited = 0, lucky = 0, failed = 0, worse = 0;
    double log_speedup = 0;
    double pass_rate =
        1;  // of attempts that were right, with one success and a third of a failure seen beforehand
    double utility() const;
};

inline constexpr double prior_weight = 2;

// `first_guess` is a log speed-up.
Standing standing_of(const Skill& skill, const std::vector<Evidence>& records, double first_guess);

struct Chosen {
    SkillVerdict verdict;
    Standing standing;
};

// At most `most` of the verdicts that hold: by utility (rounded, since nothing separates near ties), then by
// the number of conditions (the more specific rule), then by id. The first guess of a rule that names causes
// is half of the log gain that the profile expects from mending them; of others, nothing.
std::vector<Chosen> select(const std::vector<SkillVerdict>& verdicts, const Json& context,
                           const std::vector<Evidence>& records, std::size_t most = 3);

// "coalesce.global-loads: tried 4 times, 3 credited, about 1.8x" for a prompt.
std::string standing_text(const Chosen& chosen);

}  // namespace kernelwright

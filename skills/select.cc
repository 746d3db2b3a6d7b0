#include "skills/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelwright {
namespace {

double first_guess(const Skill& skill, const Json& context) {
    const auto findings = context.find("findings");
    if (findings == context.end() || !findings->is_object()) return 0;
    double most = 0;
    for (const std::string& cause : skill.causes) {
        const auto gain = findings->find(cause);
        if (gain == findings->end() || !gain->is_number()) continue;
        const double value = gain->get<double>();
        if (value > 1 && std::isfinite(value)) most = std::max(most, 0.5 * std::log(value));
    }
    return most;
}

}  // namespace

double Standing::utility() const { return log_speedup > 0 ? log_speedup * pass_rate : log_speedup; }

Standing standing_of(const Skill& skill, const std::vector<Evidence>& records, double guess) {
    Standing s;
    double sum = guess * prior_weight;
    double weight = prior_weight, right = 1, seen = 4.0 / 3;
    for (const Evidence& e : records) {
        if (e.skill != skill.id || e.version_hash != skill.hash) continue;
        ++s.tried;
        seen += 1;
        if (e.outcome == SkillOutcome::failed) {
            ++s.failed;
            continue;
        }
        right += 1;
        if (e.outcome == SkillOutcome::lucky) {
            ++s.lucky;  // no credit: its explanation did not come true
            continue;
        }
        if (e.outcome == SkillOutcome::credited) ++s.credited;
        if (e.outcome == SkillOutcome::worse) ++s.worse;
        if (e.speedup > 0) {
            // One wild record must not decide.
            sum += std::clamp(std::log(e.speedup), -3.0, 3.0);
            weight += 1;
        }
    }
    s.log_speedup = sum / weight;
    s.pass_rate = right / seen;
    return s;
}

std::vector<Chosen> select(const std::vector<SkillVerdict>& verdicts, const Json& context,
                           const std::vector<Evidence>& records, std::size_t most) {
    std::vector<Chosen> chosen;
    for (const SkillVerdict& verdict : verdicts)
        if (verdict.holds())
            chosen.push_back(
                {verdict, standing_of(*verdict.skill, records, first_guess(*verdict.skill, context))});
    const auto rank = [](const Chosen& c) { return std::round(c.standing.utility() * 100); };
    std::stable_sort(chosen.begin(), chosen.end(), [&](const Chosen& a, const Chosen& b) {
        if (rank(a) != rank(b)) return rank(a) > rank(b);
        const Skill &x = *a.verdict.skill, &y = *b.verdict.skill;
        if (x.pre.size() != y.pre.size()) return x.pre.size() > y.pre.size();
        return x.id < y.id;
    });
    if (chosen.size() > most) chosen.resize(most);
    return chosen;
}

std::string standing_text(const Chosen& chosen) {
    const Standing& s = chosen.standing;
    if (s.tried == 0) return chosen.verdict.skill->id + ": not tried yet";
    std::string text = fmt::format("{}: tried {} time{}, {} credited", chosen.verdict.skill->id, s.tried,
                                   s.tried == 1 ? "" : "s", s.credited);
    if (s.lucky > 0) text += fmt::format(", {} faster without the expected counters", s.lucky);
    if (s.worse > 0) text += fmt::format(", {} slower", s.worse);
    if (s.failed > 0) text += fmt::format(", {} not right", s.failed);
    return text + fmt::format("; about {:.2f}x (modelled) to be expected", std::exp(s.log_speedup));
}

}  // namespace kernelwright

// The changing part of a request, in the order in which an author needs it: what is asked, the code to start
// from, what was found, what the counters say, what has helped elsewhere, what was tried. Every list and text
// is bounded: the message must stay small however long a run gets and whatever a candidate prints.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/text.h"
#include "harness/search/prompt.h"

namespace kernelwright::search {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::Evaluation;
using record::State;

// One line of at most `limit` bytes, cut between characters; control characters become blanks.
std::string one_line(const std::string& text, std::size_t limit) {
    std::string out = printable(std::string_view(text).substr(0, limit + 4));
    if (out.size() <= limit) return std::string(trim(out));
    out.resize(limit);
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0U) out.pop_back();
    return std::string(trim(out)) + "...";
}

// A text of several lines, bounded; cut after a whole line.
std::string bounded(const std::string& text, std::size_t limit) {
    if (text.size() <= limit) return text;
    std::string out = text.substr(0, limit);
    if (const std::size_t end = out.rfind('\n'); end != std::string::npos) out.resize(end + 1);
    return out + fmt::format("... ({} of {} bytes shown)\n", out.size(), text.size());
}

// A fence longer than any run of backticks inside.
std::string fenced(const std::string& language, std::string text) {
    std::size_t longest = 2, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    if (!text.ends_with('\n')) text += '\n';
    return fence + language + "\n" + text + fence + "\n";
}

class Builder {
  public:
    Builder(const PromptInputs& inputs, const PromptLimits& limits) : in_(inputs), limits_(limits) {}

    std::string build() {
        instruction();
        unused_answer();
        sources();
        findings();
        profile();
        skills();
        history();
        out_ += "\nAnswer with the plan, then exactly one fenced cuda block with the whole candidate.\n";
        return std::move(out_);
    }

  private:
    const Situation& now() const { return in_.situation; }

    std::string named(const Attempt& attempt) const { return fmt::format("attempt {}", attempt.number); }

    void instruction() {
        out_ += fmt::format("# Where the search stands: {}\n\n", to_string(now().state));
        switch (now().state) {
            case State::draft:
                out_ +=
                    "Nothing has been tried yet. Write a first candidate that is right on every shape; "
                    "prefer a simple design that is sound to a fast one that may not be.\n";
                break;
            case State::repair:
                out_ += fmt::format(
                    "The candidate of {} failed. Find the cause of what is reported below and mend that, "
                    "keeping "
                    "the idea and what works. The counters are held back until a candidate is right.\n",
                    now().base != nullptr ? named(*now().base) : "the last attempt");
                break;
            case State::optimise:
                out_ += fmt::format(
                    "The candidate of {} is right. Make it faster on the shapes that are to be fast: pick "
                    "the one "
                    "change that the counters below argue for most, and keep it right everywhere.\n",
                    now().base != nullptr ? named(*now().base) : "the last attempt");
                break;
            case State::restart:
                out_ += fmt::format(
                    "The search is stuck ({}). Leave that line and write a candidate from another idea: a "
                    "different split of the work, data path or algorithm than those listed under what was "
                    "tried.\n",
                    now().reason);
                break;
        }
    }

    void unused_answer() {
        const Attempt* last = now().last;
        if (last == nullptr || last->kind == AttemptKind::evaluated) return;
        if (last->kind == AttemptKind::duplicate) {
            const Attempt* original = in_.run->find(last->duplicate_of);
            out_ += fmt::format(
                "\nYour last answer held the very candidate of attempt {} ({}); it was not checked again. "
                "Write "
                "something different.\n",
                last->duplicate_of, original != nullptr ? outcome_label(*original) : "seen before");
            return;
        }
        out_ +=
            fmt::format("\nYour last answer was not used: {}.\n",
                        last->note.empty() ? outcome_label(*last) : one_line(last->note, limits_.line_bytes));
    }

    std::string time_of(const Attempt& attempt) const {
        const auto& time = attempt.evaluation->time;
        if (!time) return "not timed";
        std::string text = format_time(*time);
        if (!time->bound.empty()) text += ", limited by " + time->bound;
        if (time->roofline_seconds > 0) {
            text += fmt::format("; the roofline of this task is {} ({}), {:.2f}x away",
                                record::format_time(time->roofline_seconds), time->how,
                                time->seconds / time->roofline_seconds);
        }
        return text;
    }

    void sources() {
        const Attempt* best = now().best;
        const Attempt* base = now().base;
        if (base != nullptr && !in_.base_source.empty()) {
            const bool is_best = best != nullptr && best->number == base->number;
            if (base->passed()) {
                out_ += fmt::format("\n## {}: {}\n\nTime: {}\n\n",
                                    is_best ? "The best candidate so far" : "The candidate to start from",
                                    named(*base), time_of(*base));
            } else {
                out_ += fmt::format("\n## The candidate to repair: {}, {}\n\n", named(*base),
                                    outcome_label(*base));
            }
            out_ += fenced("cuda", bounded(in_.base_source, limits_.source_bytes));
        }
        if (best != nullptr && (base == nullptr || best->number != base->number) &&
            !in_.best_source.empty()) {
            out_ += fmt::format("\n## The best candidate so far: {}\n\nTime: {}\n\n", named(*best),
                                time_of(*best));
            out_ += fenced("cuda", bounded(in_.best_source, limits_.source_bytes));
        }
    }

    // One diagnostic: its line, where it happened, its related places, the hint, the source around it.
    void finding(int number, const Diagnostic& d, const std::string& source) {
        out_ += fmt::format("{}. ", number);
        if (d.line > 0) out_ += fmt::format("{}:{}: ", d.file.empty() ? "candidate.cu" : d.file, d.line);
        out_ += fmt::format("{}: {} [{}, stage {}]\n", to_string(d.severity),
                            one_line(d.message, 2 * limits_.line_bytes), d.rule, to_string(d.stage));
        std::string where;
        const auto add = [&](const std::string& text) { where += (where.empty() ? "" : ", ") + text; };
        if (!d.kernel.empty()) add("kernel " + one_line(d.kernel, 120));
        std::string shape;
        for (const auto& [name, value] : d.shape) shape += fmt::format(" {}={}", name, value);
        if (!shape.empty()) add("shape" + shape);
        if (!d.case_name.empty()) add("data `" + d.case_name + "`");
        if (d.block) add(fmt::format("block ({}, {}, {})", (*d.block)[0], (*d.block)[1], (*d.block)[2]));
        if (d.thread) add(fmt::format("thread ({}, {}, {})", (*d.thread)[0], (*d.thread)[1], (*d.thread)[2]));
        if (!where.empty()) out_ += "   Where: " + where + "\n";
        std::vector<int> lines;
        if (d.line > 0) lines.push_back(d.line);
        for (std::size_t i = 0; i < d.related.size() && i < static_cast<std::size_t>(limits_.related); ++i) {
            const Related& related = d.related[i];
            if (!related.file.empty() && related.file != d.file) continue;
            out_ += fmt::format("   Line {}: {}\n", related.line, one_line(related.note, limits_.line_bytes));
            if (related.line > 0) lines.push_back(related.line);
        }
        if (!d.hint.empty()) out_ += "   Hint: " + one_line(d.hint, limits_.line_bytes) + "\n";
        const std::string excerpt = numbered_excerpt(source, lines, limits_.excerpt_lines);
        if (!excerpt.empty()) out_ += fenced("text", excerpt);
    }

    // Errors first, then warnings; the same finding on many shapes or lines' instances is shown once.
    void findings() {
        const Attempt* of = now().base;
        if (of == nullptr || !of->evaluation) {
            of = now().last;
            if (of == nullptr || !of->evaluation || of->passed()) return;
        }
        const Evaluation& evaluation = *of->evaluation;
        std::vector<const Diagnostic*> shown;
        std::set<std::tuple<std::string, std::string, int>> seen;
        std::size_t distinct = 0;
        for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
            for (const Diagnostic& d : evaluation.diagnostics) {
                if (d.severity != severity || !seen.insert({d.rule, d.file, d.line}).second) continue;
                ++distinct;
                if (shown.size() < static_cast<std::size_t>(limits_.diagnostics)) shown.push_back(&d);
            }
        }
        if (shown.empty()) return;
        const std::string& source = of == now().base ? in_.base_source : in_.last_source;
        if (evaluation.pass) {
            out_ += "\n## What the check remarked\n\n";
        } else {
            out_ += fmt::format("\n## What the check found in {}\n\n", named(*of));
            out_ +=
                fmt::format("It failed at stage {}", evaluation.stage ? to_string(*evaluation.stage) : "?");
            if (!evaluation.depth.empty()) out_ += ", checking: " + one_line(evaluation.depth, 120);
            out_ += fmt::format(". Shapes right before that: {}.\n", evaluation.shapes_checked);
        }
        int number = 0;
        for (const Diagnostic* d : shown) finding(++number, *d, source);
        if (distinct > shown.size()) {
            out_ += fmt::format("({} further findings are not shown.)\n", distinct - shown.size());
        }
    }

    // Held back until there is a correct kernel to which they belong, and while one is being repaired.
    void profile() {
        if (now().state == State::repair) return;
        const Attempt* of = now().base != nullptr && now().base->passed() ? now().base : now().best;
        if (of == nullptr || !of->evaluation) return;
        const Evaluation& evaluation = *of->evaluation;
        if (!evaluation.bottlenecks.empty()) {
            out_ += fmt::format("\n## What limits {}, most important first\n\n", named(*of));
            const std::size_t count = std::min<std::size_t>(evaluation.bottlenecks.size(), 5);
            for (std::size_t i = 0; i < count; ++i) {
                out_ += "- " + one_line(evaluation.bottlenecks[i], limits_.line_bytes) + "\n";
            }
        }
        if (evaluation.counters.empty()) return;
        out_ += fmt::format(
            "\n## Counters of {}\n\n| counter | value | unit | how | |\n|---|---|---|---|---|\n", named(*of));
        const auto count = std::min<std::size_t>(evaluation.counters.size(), limits_.counters);
        for (std::size_t i = 0; i < count; ++i) {
            const record::Counter& counter = evaluation.counters[i];
            out_ += fmt::format("| {} | {:.6g} | {} | {} | {} |\n", counter.name, counter.value, counter.unit,
                                counter.how, one_line(counter.note, limits_.line_bytes));
        }
    }

    void skills() {
        const auto count = std::min<std::size_t>(in_.skills.size(), limits_.skills);
        if (count == 0) return;
        out_ +=
            "\n## Skills whose conditions hold here\n\nAdvice that may fit; follow what you judge right and "
            "name "
            "it on the Skills line.\n";
        for (std::size_t i = 0; i < count; ++i) {
            const record::SkillOffer& skill = in_.skills[i];
            out_ += fmt::format("\n### {}\n{}\n", skill.id, bounded(skill.advice, 4 * limits_.line_bytes));
            // A book may lead with the skill's name, which stands above already.
            const std::string lead = skill.id + ": ";
            const std::string evidence =
                skill.evidence.starts_with(lead) ? skill.evidence.substr(lead.size()) : skill.evidence;
            out_ += "Evidence: " + (evidence.empty() ? "none yet" : one_line(evidence, limits_.line_bytes)) +
                    "\n";
        }
    }

    void history() {
        const std::vector<Attempt>& attempts = in_.run->attempts;
        if (attempts.empty()) return;
        out_ += "\n## What was tried\n\n";
        const std::size_t skip = attempts.size() > static_cast<std::size_t>(limits_.history)
                                     ? attempts.size() - limits_.history
                                     : 0;
        if (skip > 0) {
            const auto passes = std::count_if(attempts.begin(), attempts.begin() + static_cast<long>(skip),
                                              [](const Attempt& a) { return a.passed(); });
            out_ += fmt::format("- attempts 1 to {}: {} passed, {} did not\n", skip, passes,
                                static_cast<long>(skip) - passes);
        }
        for (std::size_t i = skip; i < attempts.size(); ++i) {
            const Attempt& attempt = attempts[i];
            out_ += fmt::format("- {} ({}): {}: {}", attempt.number, to_string(attempt.state),
                                attempt.idea.empty() ? "(no idea given)" : one_line(attempt.idea, 160),
                                outcome_label(attempt));
            if (attempt.passed() && attempt.evaluation->time) {
                out_ += ", " + format_time(*attempt.evaluation->time);
            } else if (attempt.evaluation) {
                if (const Diagnostic* error = first_error(*attempt.evaluation)) {
                    out_ += ": " + one_line(error->message, 160);
                }
            }
            out_ += "\n";
        }
    }

    const PromptInputs& in_;
    const PromptLimits& limits_;
    std::string out_;
};

}  // namespace

std::string numbered_excerpt(const std::string& source, const std::vector<int>& lines, int around) {
    if (source.empty() || lines.empty()) return {};
    std::vector<std::string> rows = split(source, '\n');
    while (!rows.empty() && rows.back().empty()) rows.pop_back();
    const int count = static_cast<int>(rows.size());
    std::set<int> wanted;
    for (const int line : lines) {
        if (line < 1 || line > count) continue;
        for (int i = std::max(1, line - around); i <= std::min(count, line + around); ++i) wanted.insert(i);
    }
    std::string out;
    int previous = 0;
    for (const int i : wanted) {
        if (previous != 0 && i != previous + 1) out += "      ...\n";
        previous = i;
        const bool marked = std::find(lines.begin(), lines.end(), i) != lines.end();
        std::string row = one_line(rows[static_cast<std::size_t>(i - 1)], 200);
        // one_line trims: put the indentation back, the code is read by its shape.
        const std::size_t indent = rows[static_cast<std::size_t>(i - 1)].find_first_not_of(" \t");
        if (indent != std::string::npos) row.insert(0, std::min<std::size_t>(indent, 40), ' ');
        out += fmt::format("{}{:>5} | {}\n", marked ? ">" : " ", i, row);
    }
    return out;
}

std::string situation_prompt(const PromptInputs& inputs, const PromptLimits& limits) {
    return Builder(inputs, limits).build();
}

}  // namespace kernelwright::search

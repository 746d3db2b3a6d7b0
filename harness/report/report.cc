#include "harness/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"

namespace kernelwright::report {
namespace {

using record::Attempt;
using record::Evaluation;
using record::Run;

std::string joined_skills(const Attempt& attempt) {
    std::string out;
    for (const record::SkillOffer& offer : attempt.skills) {
        const auto& named = attempt.skills_named;
        const bool followed = std::find(named.begin(), named.end(), offer.id) != named.end();
        out += (out.empty() ? "" : ", ") + offer.id + (followed ? "+" : "");
    }
    return out;
}

// "3.33x": how much faster than the first correct candidate; "" where that cannot be said.
std::string speedup(const Run& run, const Attempt& attempt) {
    const Attempt* first = run.first_passing();
    if (first == nullptr || !first->seconds() || !attempt.seconds() || *attempt.seconds() <= 0) return {};
    if (first->evaluation->time->how != attempt.evaluation->time->how) return {};
    return fmt::format("{:.2f}x", *first->seconds() / *attempt.seconds());
}

std::string time_text(const Attempt& attempt) {
    return attempt.passed() && attempt.evaluation->time ? format_time(*attempt.evaluation->time) : "";
}

// The texts of a run in the order of a report; the writers below only differ in how they mark them up.
class Writer {
  public:
    virtual ~Writer() = default;
    virtual void heading(int level, const std::string& text) = 0;
    virtual void paragraph(const std::string& text) = 0;
    virtual void table(const Table& table) = 0;
    virtual void code(const std::string& language, const std::string& text) = 0;
    // A part that a reader opens when wanted.
    virtual void fold(const std::string& title) = 0;
    virtual void unfold() = 0;
};

class Report {
  public:
    Report(const Run& run, const ArtifactReader& artifacts, Writer& out)
        : run_(run), artifacts_(artifacts), out_(out) {}

    void write() {
        out_.heading(1, fmt::format("{}: run {}", run_.task, run_.id));
        facts();
        if (run_.attempts.empty()) {
            out_.paragraph("No attempt: the author has answered nothing yet, so there is nothing to report.");
            return;
        }
        out_.heading(2, "Attempts");
        out_.table(attempts_table(run_));
        out_.paragraph(
            "Times are modelled or measured as each says; the speed-up is against the first correct "
            "candidate. "
            "A skill with + was followed by its author's word.");
        winner();
        out_.heading(2, "Each attempt");
        for (const Attempt& attempt : run_.attempts) one(attempt);
        evidence();
    }

  private:
    std::string text_of(const std::string& hash) const {
        if (hash.empty()) return {};
        const auto text = artifacts_(hash);
        return text ? *text : "(" + text.error().str() + ")";
    }

    // A key of the record in words.
    static std::string words(const std::string& key) {
        if (key == "author_described") return "author";
        if (key == "device_facts") return "figures of";
        if (key == "target_given") return "target asked for";
        std::string text = key;
        std::replace(text.begin(), text.end(), '_', ' ');
        return text;
    }

    void facts() {
        Table table{{"", ""}, {}, {}};
        const auto add = [&](const std::string& key, const std::string& value) {
            if (!value.empty()) table.rows.push_back({key, value});
        };
        std::string state = run_.state;
        if (!run_.why.empty()) state += ": " + run_.why;
        if (!run_.reason.empty()) state += " (" + run_.reason + ")";
        add("state", state);
        add("started", run_.started);
        add("finished", run_.finished);
        add("time", fmt::format("{:.1f} s in {} sitting{}", run_.seconds, run_.sittings,
                                run_.sittings == 1 ? "" : "s"));
        for (const auto& [key, value] : run_.config.items()) {
            if (value.is_structured()) continue;
            // The description names the author already.
            if (key == "author" && run_.config.contains("author_described")) continue;
            add(words(key), value.is_string() ? value.get<std::string>() : value.dump());
        }
        add("budget", budget_text(run_.budget));
        for (const auto& [key, value] : run_.versions.items()) {
            add(key, value.is_string() ? value.get<std::string>() : value.dump());
        }
        const record::TurnUsage usage = run_.usage();
        std::string tokens = fmt::format("{} in, {} out", usage.input_tokens, usage.output_tokens);
        if (usage.cache_read_tokens > 0)
            tokens += fmt::format(", {} read from a cache", usage.cache_read_tokens);
        if (usage.reasoning_tokens > 0)
            tokens += fmt::format(", {} of the output reasoning", usage.reasoning_tokens);
        if (usage.usd_known) tokens += fmt::format(", {:.4f} USD", usage.usd);
        add("tokens", tokens);
        out_.table(table);
        for (const std::string& note : run_.notes) out_.paragraph("Note: " + note);
    }

    void winner() {
        const Attempt* best = run_.best();
        out_.heading(2, "Winner");
        if (best == nullptr) {
            out_.paragraph("No candidate has passed.");
            return;
        }
        std::string line = fmt::format("Attempt {}", best->number);
        if (!best->idea.empty()) line += ": " + best->idea;
        if (const std::string time = time_text(*best); !time.empty()) line += ". Time: " + time;
        if (const std::string gain = speedup(run_, *best); !gain.empty()) {
            line += ", " + gain + " against the first correct candidate";
        }
        out_.paragraph(line + ".");
        const auto& time = best->evaluation->time;
        if (time && time->roofline_seconds > 0) {
            out_.paragraph(
                fmt::format("Roofline of the task: {} ({}); the winner takes {:.2f} times as long.",
                            record::format_time(time->roofline_seconds), time->how,
                            time->seconds / time->roofline_seconds));
        }
        out_.code("cuda", text_of(best->source));
        const Attempt* first = run_.first_passing();
        if (first->number != best->number) {
            out_.fold(fmt::format("Against the first correct candidate (attempt {})", first->number));
            out_.code("diff", line_diff(text_of(first->source), text_of(best->source)));
            out_.unfold();
        }
    }

    void diagnostics(const Evaluation& evaluation) {
        std::string text;
        std::size_t shown = 0;
        for (const Diagnostic& d : evaluation.diagnostics) {
            if (++shown > 20) break;
            text += to_line(d) + "\n";
            for (const Related& related : d.related) {
                text += fmt::format("    line {}: {}\n", related.line, related.note);
            }
            if (!d.hint.empty()) text += "    hint: " + d.hint + "\n";
        }
        if (evaluation.diagnostics.size() > 20) {
            text += fmt::format("({} more)\n", evaluation.diagnostics.size() - 20);
        }
        if (!text.empty()) out_.code("text", text);
        if (!evaluation.replay.empty()) out_.code("sh", evaluation.replay + "\n");
    }

    void counters(const Evaluation& evaluation) {
        for (const std::string& line : evaluation.bottlenecks) out_.paragraph("Bottleneck: " + line);
        if (evaluation.counters.empty()) return;
        Table table{{"counter", "value", "unit", "how", ""}, {}, {false, true}};
        for (const record::Counter& c : evaluation.counters) {
            table.rows.push_back({c.name, fmt::format("{:.6g}", c.value), c.unit, c.how, c.note});
        }
        out_.table(table);
    }

    void one(const Attempt& attempt) {
        out_.heading(
            3, fmt::format("{}: {}, {}", attempt.number, to_string(attempt.state), outcome_label(attempt)));
        if (!attempt.finished) out_.paragraph("Not finished.");
        if (!attempt.note.empty()) out_.paragraph(attempt.note);
        const std::string time = time_text(attempt);
        if (!time.empty()) {
            const std::string gain = speedup(run_, attempt);
            out_.paragraph("Time: " + time + (gain.empty() ? "" : ", " + gain));
        }
        if (const std::string plan = text_of(attempt.plan); !plan.empty()) out_.code("text", plan);
        if (attempt.evaluation) {
            out_.paragraph(
                fmt::format("Checked: {} shapes, {} cases{}.", attempt.evaluation->shapes_checked,
                            attempt.evaluation->cases_checked,
                            attempt.evaluation->depth.empty() ? "" : ", " + attempt.evaluation->depth));
            diagnostics(*attempt.evaluation);
            counters(*attempt.evaluation);
        }
        if (!attempt.source.empty()) {
            const std::string source = text_of(attempt.source);
            const Attempt* base = run_.find(attempt.base);
            if (base != nullptr && !base->source.empty()) {
                out_.fold(fmt::format("Changes against attempt {}", base->number));
                out_.code("diff", line_diff(text_of(base->source), source));
                out_.unfold();
            }
            out_.fold("Source");
            out_.code("cuda", source);
            out_.unfold();
        }
        out_.fold("What was asked");
        out_.code("markdown", text_of(attempt.prompt));
        out_.unfold();
    }

    void evidence() {
        if (run_.evidence.empty()) return;
        out_.heading(2, "Evidence for skills");
        Table table{
            {"skill", "attempt", "from", "outcome", "speed-up", "predicted", "followed", "credited"}, {}, {}};
        for (const record::Evidence& evidence : run_.evidence) {
            const Json& d = evidence.document;
            const auto cell = [&](const char* key) -> std::string {
                const auto it = d.find(key);
                if (it == d.end() || it->is_null()) return "";
                if (it->is_string()) return it->get<std::string>();
                if (it->is_boolean()) return it->get<bool>() ? "yes" : "no";
                if (it->is_number_float()) return fmt::format("{:.2f}", it->get<double>());
                return it->dump();
            };
            std::string outcome = cell("outcome");
            if (const std::string code = cell("failure_code"); !code.empty()) outcome += " (" + code + ")";
            std::string gain = cell("speedup");
            if (const std::string how = cell("how"); !gain.empty() && !how.empty()) gain += "x (" + how + ")";
            table.rows.push_back({cell("skill"), cell("attempt"), cell("parent"), outcome, gain,
                                  cell("expected_moved"), cell("followed"), cell("credited")});
        }
        out_.table(table);
    }

    const Run& run_;
    const ArtifactReader& artifacts_;
    Writer& out_;
};

class MarkdownWriter final : public Writer {
  public:
    void heading(int level, const std::string& text) override {
        out += std::string(static_cast<std::size_t>(level), '#') + " " + escaped(text) + "\n\n";
    }
    void paragraph(const std::string& text) override { out += escaped(text) + "\n\n"; }
    void table(const Table& table) override { out += markdown_table(table) + "\n"; }
    void code(const std::string& language, const std::string& text) override {
        std::size_t longest = 2, run = 0;
        for (const char c : text) {
            run = c == '`' ? run + 1 : 0;
            longest = std::max(longest, run);
        }
        const std::string fence(longest + 1, '`');
        out += fence + language + "\n" + text + (text.empty() || text.back() != '\n' ? "\n" : "") + fence +
               "\n\n";
    }
    void fold(const std::string& title) override {
        out += "<details><summary>" + escape_html(title) + "</summary>\n\n";
    }
    void unfold() override { out += "</details>\n\n"; }

    std::string out;

  private:
    static std::string escaped(const std::string& text) {
        std::string escaped;
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte < 0x20 || byte == 0x7f) {
                escaped += ' ';
                continue;
            }
            if (c == '<' || c == '&' || c == '`' || c == '*' || c == '[' || c == '\\' || c == '#')
                escaped += '\\';
            escaped += c;
        }
        return escaped;
    }
};

class PlainWriter final : public Writer {
  public:
    void heading(int level, const std::string& text) override {
        if (folded_) return;
        const std::string line = printable(text);
        out += (out.empty() ? "" : "\n") + line + "\n";
        if (level < 3) out += std::string(display_width(line), level == 1 ? '=' : '-') + "\n";
    }
    void paragraph(const std::string& text) override {
        if (!folded_) out += printable(text) + "\n";
    }
    void table(const Table& table) override {
        if (folded_) return;
        std::string text = plain_table(table);
        // Facts have no header, and need no rule below one.
        const bool headed = std::any_of(table.header.begin(), table.header.end(),
                                        [](const std::string& name) { return !name.empty(); });
        if (!headed) text.erase(0, text.find('\n', text.find('\n') + 1) + 1);
        out += text;
    }
    void code(const std::string&, const std::string& text) override {
        if (folded_ || text.empty()) return;
        out += "\n";
        for (const std::string& line : split(text, '\n')) out += printable(line) + "\n";
        if (text.back() != '\n') out += "\n";
    }
    void fold(const std::string&) override { folded_ = true; }
    void unfold() override { folded_ = false; }

    std::string out;

  private:
    bool folded_ = false;
};

constexpr const char* page_style = R"css(
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0;display:block;overflow-x:auto}
th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #8884;vertical-align:top}
.r{text-align:right;font-variant-numeric:tabular-nums}
pre{background:#8881;padding:.7rem;overflow:auto;font:13px/1.4 ui-monospace,monospace}
.del{color:#b22}.ins{color:#272}
@media (prefers-color-scheme:dark){.del{color:#f88}.ins{color:#8d8}}
)css";

class HtmlWriter final : public Writer {
  public:
    void heading(int level, const std::string& text) override {
        out += fmt::format("<h{}>{}</h{}>\n", level, escape_html(text), level);
    }
    void paragraph(const std::string& text) override { out += "<p>" + escape_html(text) + "</p>\n"; }
    void table(const Table& table) override { out += html_table(table); }
    void code(const std::string& language, const std::string& text) override {
        out += "<pre>";
        if (language == "diff")
            diff(text);
        else
            out += escape_html(text);
        out += "</pre>\n";
    }
    void fold(const std::string& title) override {
        out += "<details><summary>" + escape_html(title) + "</summary>\n";
    }
    void unfold() override { out += "</details>\n"; }

    std::string out;

  private:
    void diff(const std::string& text) {
        std::size_t at = 0;
        while (at < text.size()) {
            std::size_t end = text.find('\n', at);
            if (end == std::string::npos) end = text.size();
            const std::string line = escape_html(text.substr(at, end - at));
            if (text[at] == '-')
                out += "<span class=\"del\">" + line + "</span>\n";
            else if (text[at] == '+')
                out += "<span class=\"ins\">" + line + "</span>\n";
            else
                out += line + "\n";
            at = end + 1;
        }
    }
};

}  // namespace

Table attempts_table(const Run& run) {
    Table table{{"#", "asked", "outcome", "stage", "rule", "time", "speed-up", "skills"},
                {},
                {true, false, false, false, false, true, true, false}};
    const Attempt* best = run.best();
    for (const Attempt& attempt : run.attempts) {
        std::string stage, rule;
        if (attempt.evaluation && !attempt.evaluation->pass) {
            if (attempt.evaluation->stage) stage = to_string(*attempt.evaluation->stage);
            if (const Diagnostic* error = first_error(*attempt.evaluation)) rule = error->rule;
        }
        const bool wins = best != nullptr && best->number == attempt.number;
        table.rows.push_back({fmt::format("{}{}", wins ? "*" : "", attempt.number), to_string(attempt.state),
                              outcome_label(attempt), stage, rule, time_text(attempt), speedup(run, attempt),
                              joined_skills(attempt)});
    }
    return table;
}

std::string budget_text(const Json& budget) {
    std::string out;
    for (const char* key : {"evals", "tokens", "minutes", "usd"}) {
        const auto it = budget.find(key);
        if (it == budget.end() || !it->is_number()) continue;
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", it->get<double>(), key);
    }
    return out;
}

Table runs_table(const std::vector<Run>& runs) {
    Table table{{"run", "state", "attempts", "best"}, {}, {false, false, true, true}};
    for (const Run& run : runs) {
        const Attempt* best = run.best();
        table.rows.push_back({run.id, run.why.empty() ? run.state : run.state + ": " + run.why,
                              fmt::format("{}", run.attempts.size()),
                              best == nullptr ? "none passed" : time_text(*best)});
    }
    return table;
}

std::string run_summary(const Run& run, const std::string& winner_path,
                        const std::vector<std::string>& next_commands) {
    std::string out = run.attempts.empty() ? "no attempt: the author has answered nothing yet\n"
                                           : plain_table(attempts_table(run)) + "\n";
    if (const Attempt* best = run.best()) {
        out += fmt::format("winner: attempt {}", best->number);
        if (const std::string time = time_text(*best); !time.empty()) out += ", " + time;
        if (const std::string gain = speedup(run, *best); !gain.empty()) {
            out += ", " + gain + " against the first correct candidate";
        }
        out += fmt::format("\nstored: {}\n", winner_path);
    } else {
        out += "winner: none; no candidate passed\n";
    }
    out += fmt::format("ended:  {}{}\n", run.why, run.reason.empty() ? "" : " (" + run.reason + ")");
    for (std::size_t i = 0; i < next_commands.size(); ++i)
        out += (i == 0 ? "next:   " : "or:     ") + next_commands[i] + "\n";
    return out;
}

std::string plain_report(const Run& run, const ArtifactReader& artifacts) {
    PlainWriter writer;
    Report(run, artifacts, writer).write();
    return std::move(writer.out);
}

std::string markdown_report(const Run& run, const ArtifactReader& artifacts) {
    MarkdownWriter writer;
    Report(run, artifacts, writer).write();
    return std::move(writer.out);
}

std::string html_report(const Run& run, const ArtifactReader& artifacts) {
    HtmlWriter writer;
    Report(run, artifacts, writer).write();
    // No script runs and nothing is loaded, whatever a candidate's text holds.
    return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
           escape_html(run.task + ": run " + run.id) + "</title>\n<style>" + page_style +
           "</style></head><body>\n" + writer.out + "</body></html>\n";
}

}  // namespace kernelwright::report

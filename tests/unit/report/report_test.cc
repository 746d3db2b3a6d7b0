#include "harness/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace kernelwright::report {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::State;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* hostile = "</pre><script>alert('x')</script> | `code` ```\n\x1b[31m& \"q\"";

class ReportTest : public ::testing::Test {
  protected:
    ReportTest() {
        run.id = "20260131-120000-softmax_rows-abcdef";
        run.task = "softmax_rows";
        run.state = "finished";
        run.why = "target";
        run.reason = "attempt 4 is within 1.1x";
        run.config = Json{{"author", "replay"}, {"target", "sm_80"}};
        fail(State::draft, Stage::compile, "nvrtc");
        fail(State::repair, Stage::sanitize, "shared-race");
        pass(State::repair, 4e-5, "int a;\nint b;\n");
        pass(State::optimise, 1e-5, "int a;\nint c;\n");
        run.attempts.back().skills = {{"load.vectorise", "1", "", "", {}}, {"other", "1", "", "", {}}};
        run.attempts.back().skills_named = {"load.vectorise"};
        run.attempts.back().base = 3;
    }

    Attempt& add(State state, const std::string& source) {
        Attempt attempt;
        attempt.number = static_cast<int>(run.attempts.size()) + 1;
        attempt.kind = AttemptKind::evaluated;
        attempt.state = state;
        attempt.finished = true;
        attempt.source = "source" + std::to_string(attempt.number);
        attempt.evaluation.emplace();
        texts[attempt.source] = source;
        run.attempts.push_back(attempt);
        return run.attempts.back();
    }
    void fail(State state, Stage stage, const std::string& rule) {
        record::Evaluation& e = *add(state, hostile).evaluation;
        e.stage = stage;
        e.diagnostics.resize(1);
        e.diagnostics[0].rule = rule;
        e.diagnostics[0].stage = stage;
        e.diagnostics[0].line = 7;
        e.diagnostics[0].file = "candidate.cu";
        e.diagnostics[0].message = hostile;
    }
    void pass(State state, double seconds, const std::string& source) {
        record::Evaluation& e = *add(state, source).evaluation;
        e.pass = true;
        e.time = record::TimeEstimate{seconds, "modelled", "dram", 5e-6};
        e.counters = {{"smsp__inst_executed.sum", "inst", 12, "exact", hostile}};
    }
    ArtifactReader reader() {
        return [this](const std::string& hash) -> Result<std::string> {
            const auto it = texts.find(hash);
            if (it == texts.end()) return Error{"no artifact " + hash};
            return it->second;
        };
    }

    record::Run run;
    std::map<std::string, std::string> texts;
};

TEST_F(ReportTest, TheTableOfARun) {
    EXPECT_EQ(plain_table(attempts_table(run)),
              " #  asked     outcome        stage     rule                       time  speed-up  skills\n"
              "--  --------  -------------  --------  -----------  ------------------  --------  "
              "----------------------\n"
              " 1  draft     compile error  compile   nvrtc\n"
              " 2  repair    race           sanitize  shared-race\n"
              " 3  repair    pass                                  40.0 us (modelled)     1.00x\n"
              "*4  optimise  pass                                  10.0 us (modelled)     4.00x  "
              "load.vectorise+, other\n");
}

TEST_F(ReportTest, TheEndOfARun) {
    const std::string text =
        run_summary(run, "results/runs/ID/best.cu", {"kernelwright x", "kernelwright y"});
    EXPECT_THAT(text,
                HasSubstr("winner: attempt 4, 10.0 us (modelled), 4.00x against the first correct candidate\n"
                          "stored: results/runs/ID/best.cu\nended:  target (attempt 4 is within 1.1x)\n"
                          "next:   kernelwright x\nor:     kernelwright y\n"));
    run.attempts.resize(2);
    EXPECT_THAT(run_summary(run, "", {}), HasSubstr("winner: none; no candidate passed\n"));
}

TEST_F(ReportTest, ModelledAndMeasuredTimesAreNotCompared) {
    run.attempts[3].evaluation->time->how = "measured";
    const Table table = attempts_table(run);
    EXPECT_EQ(table.rows[3][5], "10.0 us (measured)");
    EXPECT_EQ(table.rows[3][6], "");
}

TEST_F(ReportTest, HtmlIsSafeAndSelfContained) {
    const std::string page = html_report(run, reader());
    for (const char* part : {"compile error", "shared-race", "40.0 us (modelled)", "smsp__inst_executed.sum",
                             "&lt;script&gt;alert(&#39;x&#39;)", "<span class=\"del\">-int b;</span>",
                             "<span class=\"ins\">+int c;</span>", "default-src 'none'", "</html>"}) {
        EXPECT_THAT(page, HasSubstr(part));
    }
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("http:")));
    EXPECT_THAT(page, Not(HasSubstr("https:")));
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    EXPECT_THAT(page, Not(HasSubstr("href=")));
}

TEST_F(ReportTest, MarkdownKeepsCodeInItsFences) {
    const std::string text = markdown_report(run, reader());
    EXPECT_THAT(text, HasSubstr("````cuda\n</pre><script>"));
    EXPECT_THAT(text, HasSubstr("| \\*4 |"));
    EXPECT_THAT(text, HasSubstr("-int b;\n+int c;\n"));
}

TEST_F(ReportTest, PlainTextCanBePasted) {
    run.config = Json{{"author", "openai"}, {"author_described", "openai m"}, {"device_facts", "a100_sxm"}};
    run.budget = Json{{"evals", 40}, {"tokens", 500000}, {"minutes", 60.0}};
    run.attempts[3].evaluation->replay = "kernelwright check tasks/my_page.md a_b.cu --shape M=1";
    const std::string text = plain_report(run, reader());
    EXPECT_THAT(text, HasSubstr("softmax_rows: run 20260131-120000-softmax_rows-abcdef\n====="));
    EXPECT_THAT(text, HasSubstr("\nkernelwright check tasks/my_page.md a_b.cu --shape M=1\n"));
    EXPECT_THAT(text, HasSubstr("\nint a;\nint c;\n")) << "the winner";
    EXPECT_THAT(text, HasSubstr("=\nstate       finished: target (attempt 4 is within 1.1x)\n"));
    EXPECT_THAT(text, HasSubstr("figures of  a100_sxm"));
    for (const std::string& form : {text, html_report(run, reader()), markdown_report(run, reader())}) {
        EXPECT_THAT(form, HasSubstr("40 evals, 500000 tokens, 60 minutes"));
        EXPECT_THAT(form, HasSubstr("openai m"));
        for (const char* raw : {"author_described", "device_facts", "{\"evals\""})
            EXPECT_THAT(form, Not(HasSubstr(raw)));
    }
    for (const char* mark : {"\\", "**", "```cuda", "<details>", "\x1b"})
        EXPECT_THAT(text, Not(HasSubstr(mark)));
}

TEST_F(ReportTest, RunsAreListed) {
    EXPECT_THAT(
        plain_table(runs_table({run})),
        HasSubstr("20260131-120000-softmax_rows-abcdef  finished: target         4  10.0 us (modelled)\n"));
}

TEST_F(ReportTest, AMissingArtifactIsSaidNotFatal) {
    texts.clear();
    EXPECT_THAT(html_report(run, reader()), HasSubstr("(no artifact source4)"));
    EXPECT_FALSE(html_report({}, reader()).empty());
    EXPECT_FALSE(markdown_report({}, reader()).empty());
}

TEST(LineDiff, ShowsWhatChanged) {
    EXPECT_EQ(line_diff("a\nb\nc\n", "a\nb\nc\n"), "");
    EXPECT_EQ(line_diff("a\nb\nc\n", "a\nx\nc\n"), " a\n-b\n+x\n c\n");
    EXPECT_EQ(line_diff("", "a\n"), "+a\n");
    EXPECT_EQ(line_diff("a\n", ""), "-a\n");
    EXPECT_EQ(line_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n", 1),
              "...\n 4\n-5\n+X\n 6\n...\n");
    std::string many;
    for (int i = 0; i < 5000; ++i) many += std::to_string(i) + "\n";
    EXPECT_NE(line_diff(many, "x\n" + many), "") << "bounded, whatever the size";
}

}  // namespace
}  // namespace kernelwright::report

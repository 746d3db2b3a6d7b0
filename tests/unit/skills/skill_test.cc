#include "skills/skill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "skills/check.h"
#include "skills/context.h"
#include "skills/select.h"
#include "tests/unit/profile/kernels.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;
using testing::Described;
using testing::execute;
using ::testing::HasSubstr;

const char* const rules = KW_SOURCE_DIR "/skills/rules";

const DeviceFacts& a100() {
    static const DeviceFacts facts = [] {
        auto table = DeviceTable::load(KW_SOURCE_DIR "/devices");
        EXPECT_TRUE(table.ok());
        return *table->find("a100");
    }();
    return facts;
}

std::string rule_text(const std::string& replace = "", const std::string& with = "") {
    std::string text = R"(return skill{
  id = "test.rule", version = 1, phase = "refine",
  intent = "Test",
  origin = { kind = "hand" },
  pre = {
    { "first", function(c) return c.view.a == 1 end },
    { "second", function(c)
        return c.view.b > 2
      end },
  },
  advice = function(c) return ("a is %d"):format(c.view.a) end,
  expect = { { "smsp__inst_executed.sum", "down", 0.2 }, { "gpu__time_duration.sum", "down" } },
  avoids = { "spill" },
}
)";
    if (!replace.empty()) {
        const auto at = text.find(replace);
        EXPECT_NE(at, std::string::npos) << replace;
        text.replace(at, replace.size(), with);
    }
    return text;
}

TEST(Skill, IsReadWhole) {
    auto skill = parse_skill(rule_text(), "rules/test.lua");
    ASSERT_TRUE(skill.ok()) << skill.error().str();
    EXPECT_EQ(skill->id, "test.rule");
    EXPECT_EQ(skill->pre, (std::vector<Precondition>{{"first", 6}, {"second", 7}}));
    EXPECT_EQ(skill->expect[0], (Expectation{"smsp__inst_executed.sum", false, 0.2}));
    EXPECT_EQ(skill->avoids, std::vector<std::string>{"spill"});
    EXPECT_EQ(skill->hash.size(), 64u);
    EXPECT_EQ(to_json(*skill).at("pre"), (Json{"first", "second"}));
}

struct Broken {
    const char* name;
    const char* replace;
    const char* with;
    const char* says;
};

class BrokenRule : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenRule, IsOneClearLine) {
    auto skill = parse_skill(rule_text(GetParam().replace, GetParam().with), "rules/test.lua");
    ASSERT_FALSE(skill.ok());
    EXPECT_THAT(skill.error().message, HasSubstr(GetParam().says));
    EXPECT_EQ(skill.error().file, "rules/test.lua");
    EXPECT_EQ(skill.error().message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Skill, BrokenRule,
    ::testing::Values(
        Broken{"unknown_key", "intent =", "intend =", "unknown key `intend`; did you mean `intent`?"},
        Broken{"no_id", "id = \"test.rule\", ", "", "`id` must be a text"},
        Broken{"bad_id", "test.rule", "Test Rule", "`id` is made of"},
        Broken{"version_zero", "version = 1", "version = 0", "`version` must be"},
        Broken{"version_text", "version = 1", "version = \"1\"", "`version` must be"},
        Broken{"phase", "phase = \"refine\"", "phase = \"later\"", "`phase` must be"},
        Broken{"no_origin", "origin = { kind = \"hand\" },", "", "`origin` must be"},
        Broken{"pre_not_named", "\"first\", function", "function", "each entry of `pre`"},
        Broken{"pre_twice", "\"second\"", "\"first\"", "named twice"},
        Broken{"pre_not_function", "function(c) return c.view.a == 1 end", "true", "each entry of `pre`"},
        Broken{"advice_number", "advice = function(c) return (\"a is %d\"):format(c.view.a) end",
               "advice = 3", "`advice` must be"},
        Broken{"direction", "\"down\", 0.2", "\"sideways\"", "each entry of `expect`"},
        Broken{"smallest_change", "0.2", "-1", "the smallest change"},
        Broken{"smallest_nan", "0.2", "0/0", "the smallest change"},
        Broken{"no_expect", "expect = {", "avoid = {", "unknown key `avoid`"},
        Broken{"avoids", "avoids = { \"spill\" }", "avoids = { 3 }", "`avoids` must be"},
        Broken{"not_returned", "return skill{", "local s = skill{", "a rule ends with"},
        Broken{"not_a_table", "return skill{", "return skill(3) or {", "table expected"},
        Broken{"syntax", "version = 1,", "version = = 1,", "unexpected symbol"},
        Broken{"runs_wild", "return skill{", "while true do end return skill{", "instruction budget"}),
    [](const auto& info) { return info.param.name; });

Json view(Json values) { return {{"phase", "refine"}, {"view", std::move(values)}}; }

TEST(Skill, HoldsOrSaysWhyNot) {
    const auto skill = parse_skill(rule_text(), "rules/test.lua");
    ASSERT_TRUE(skill.ok());
    SkillVerdict verdict = evaluate(*skill, view({{"a", 1}, {"b", 3}}));
    EXPECT_TRUE(verdict.holds());
    EXPECT_EQ(verdict.advice, "a is 1");
    verdict = evaluate(*skill, view({{"a", 2}, {"b", 3}}));
    EXPECT_EQ(verdict.state, SkillVerdict::State::refused);
    EXPECT_EQ(verdict.failed_pre, "first");
    verdict = evaluate(*skill, view({{"a", 1}, {"b", 0}}));
    EXPECT_EQ(verdict.failed_pre, "second");
    Json draft = view({{"a", 1}, {"b", 3}});
    draft["phase"] = "draft";
    EXPECT_EQ(evaluate(*skill, draft).failed_pre, "phase");
}

TEST(Skill, ABrokenConditionIsADiagnostic) {
    const auto skill = parse_skill(rule_text(), "rules/test.lua");
    const SkillVerdict verdict = evaluate(*skill, view({{"a", 1}}));  // no b to compare
    EXPECT_EQ(verdict.state, SkillVerdict::State::broken);
    EXPECT_EQ(verdict.error.file, "rules/test.lua");
    EXPECT_EQ(verdict.error.line, 8);
    EXPECT_THAT(verdict.error.message, HasSubstr("condition `second`: attempt to compare"));
    const auto number = parse_skill(rule_text("c.view.a == 1", "1"), "rules/test.lua");
    EXPECT_THAT(evaluate(*number, view({})).error.message, HasSubstr("must return true or false"));
    const auto no_text =
        parse_skill(rule_text("return (\"a is %d\"):format(c.view.a)", "return 5"), "rules/test.lua");
    EXPECT_THAT(evaluate(*no_text, view({{"a", 1}, {"b", 3}})).error.message,
                HasSubstr("must return a text"));
    const auto endless =
        parse_skill(rule_text("return c.view.a == 1", "while true do end"), "rules/test.lua");
    EXPECT_THAT(evaluate(*endless, view({})).error.message, HasSubstr("instruction budget"));
    const auto flood =
        parse_skill(rule_text("(\"a is %d\"):format(c.view.a)", "('x'):rep(3000)"), "rules/test.lua");
    EXPECT_THAT(evaluate(*flood, view({{"a", 1}, {"b", 3}})).error.message, HasSubstr("longer than"));
}

class Folder : public ::testing::Test {
  protected:
    void SetUp() override {
        path_ = fs::temp_directory_path() / ("kw_skills_" + std::to_string(::getpid()) + "_" +
                                             ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(path_);
        fs::create_directories(path_ / "cases");
    }
    void TearDown() override { fs::remove_all(path_); }
    void write(const std::string& name, const std::string& text) { std::ofstream(path_ / name) << text; }
    fs::path path_;
};

TEST_F(Folder, ABrokenRuleDoesNotTakeTheOthersDown) {
    write("a.lua", rule_text());
    write("b.lua", rule_text("test.rule", "other.rule"));
    write("c.lua", "return skill{");
    write("d.lua", rule_text());  // the same id again
    write("e.txt", "not a rule");
    const SkillLibrary library = load_skills(path_);
    ASSERT_EQ(library.skills.size(), 2u);
    EXPECT_EQ(library.skills[0].id, "other.rule");
    ASSERT_EQ(library.errors.size(), 2u);
    EXPECT_THAT(library.errors[1].message, HasSubstr("already taken by"));
    EXPECT_EQ(load_skills(path_ / "none").errors.size(), 1u);
}

TEST_F(Folder, CheckFindsWhatIsMissingOrWrong) {
    write("a.lua", rule_text("smsp__inst_executed.sum", "smsp__inst_execute.sum"));
    const std::string good =
        "skill: test.rule\nbase: {view: {a: 1, b: 3}}\nsays: [a is 1]\n"
        "refused:\n  first: {view: {a: 2}}\n  second: {view: {b: 1}}\n";
    const auto errors_with = [&](std::string text) {
        write("cases/a.yaml", text);
        std::string all;
        for (const Error& error : check_skills(path_, path_ / "cases", {}).errors) all += error.str() + "\n";
        return all;
    };
    // c.view.b is compared without a guard: in an empty situation the first condition refuses, so all is
    // well.
    EXPECT_EQ(errors_with(good), "");
    EXPECT_THAT(
        check_skills(path_, path_ / "cases", known_metrics()).errors.at(0).message,
        HasSubstr("unknown metric `smsp__inst_execute.sum`; did you mean `smsp__inst_executed.sum`?"));
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return errors_with(text);
    };
    EXPECT_THAT(changed("a: 1", "a: 5"), HasSubstr("refused by `first` where it should hold"));
    EXPECT_THAT(changed("a is 1", "b is 3"), HasSubstr("does not say \"b is 3\" but: a is 1"));
    EXPECT_THAT(changed("a: 2", "b: 4"), HasSubstr("holds where `first` should refuse it"));
    EXPECT_THAT(changed("a: 2", "b: 1"), HasSubstr("refused by `second`, not by `first`"));
    EXPECT_THAT(changed("  first: {view: {a: 2}}\n", ""),
                HasSubstr("no case in which the condition `first`"));
    EXPECT_THAT(changed("b: 1", "b: null"), HasSubstr("attempt to compare"));
    EXPECT_THAT(changed("test.rule", "best.rule"), HasSubstr("there is no rule `best.rule`"));
    EXPECT_THAT(changed("says", "sais"), HasSubstr("unknown key `sais`"));
    EXPECT_THAT(errors_with("{"), HasSubstr("not a case file"));
    EXPECT_THAT(errors_with("- 1"), HasSubstr("a case file is a map"));
    fs::remove(path_ / "cases/a.yaml");
    EXPECT_THAT(check_skills(path_, path_ / "cases", {}).errors.at(0).message, HasSubstr("has no case file"));
}

TEST(ShippedRules, AreSoundAndEachConditionHasItsCase) {
    const SkillCheck check = check_skills(rules, KW_SOURCE_DIR "/tests/cases/skills", known_metrics());
    for (const Error& error : check.errors) ADD_FAILURE() << error.str();
    EXPECT_GE(check.rules, 14);
    EXPECT_GE(check.cases, 4 * check.rules);
}

// ---- against profiles ------------------------------------------------------------------------------------

SkillTask softmax_task(std::int64_t m, std::int64_t n) {
    SkillTask task;
    task.name = "softmax_rows";
    task.op = "softmax";
    task.params = {{"axis", 1}};
    task.symbols = {{"M", m}, {"N", n}};
    task.inputs = {{DType::f32, {m, n}}};
    task.outputs = {{DType::f32, {m, n}}};
    const double elements = double(m) * double(n);
    task.work = Work{4 * elements, 4 * elements, 5 * elements, false, DType::f32};
    return task;
}

Profile profile_of(const SkillTask& task, const ExecutedKernel& kernel) {
    ProfileInput input;
    input.task = task.name;
    input.shape = task.symbols;
    input.kernels = {kernel};
    input.work = task.work;
    return make_profile(input, a100());
}

std::vector<std::string> holding(const SkillTask& task, const Profile& profile) {
    const SkillLibrary library = load_skills(rules);
    std::vector<std::string> ids;
    for (const SkillVerdict& verdict : evaluate(library, make_context(task, profile, a100()))) {
        EXPECT_NE(verdict.state, SkillVerdict::State::broken) << verdict.error.str();
        if (verdict.holds()) ids.push_back(verdict.skill->id);
    }
    return ids;
}

TEST(ShippedRules, AThreadPerRowIsToldToCooperate) {
    const SkillTask task = softmax_task(4096, 4096);
    const auto ids = holding(task, profile_of(task, testing::softmax_thread_per_row(4096, 4096)));
    EXPECT_THAT(
        ids, ::testing::IsSupersetOf({"cooperate.block-per-row", "coalesce.global-loads", "grid.fill-sms"}));
    EXPECT_THAT(ids, ::testing::Not(::testing::Contains("vectorise.loads")));
    EXPECT_THAT(ids, ::testing::Not(::testing::Contains("cooperate.warp-per-row")));
}

TEST(ShippedRules, ShortRowsGoToWarps) {
    const SkillTask task = softmax_task(65536, 256);
    const auto ids = holding(task, profile_of(task, testing::softmax_thread_per_row(65536, 256)));
    EXPECT_THAT(ids, ::testing::Contains("cooperate.warp-per-row"));
    EXPECT_THAT(ids, ::testing::Not(::testing::Contains("cooperate.block-per-row")));
}

TEST(ShippedRules, ThreePassesAreToldToFuse) {
    const SkillTask task = softmax_task(4096, 65536);
    const auto ids = holding(task, profile_of(task, testing::softmax_block_per_row(4096, 65536)));
    EXPECT_THAT(ids, ::testing::IsSupersetOf({"fuse.passes", "vectorise.loads"}));
    EXPECT_THAT(ids, ::testing::Not(::testing::Contains("coalesce.global-loads")));
}

TEST(ShippedRules, NothingIsBrokenByAnyPlainKernel) {
    const SkillTask task = softmax_task(4096, 4096);
    Described d;
    for (double stride : {1.0, 8.0})
        for (double conflicts : {1.0, 32.0})
            for (int registers : {16, 255})
                for (std::uint32_t blocks : {1U, 120U, 100000U})
                    for (double atomics : {0.0, 64.0}) {
                        d.stride = stride;
                        d.conflicts = conflicts;
                        d.shared = 16;
                        d.registers = registers;
                        d.blocks = blocks;
                        d.atomics = atomics;
                        holding(task, profile_of(task, execute(d)));
                    }
    ExecutedKernel nothing;
    holding(task, profile_of(task, nothing));
    holding(task, make_profile({}, a100()));
    holding({}, make_profile({}, a100()));
}

TEST(ShippedRules, ADraftIsToldWhereLanesGo) {
    const SkillLibrary library = load_skills(rules);
    std::vector<std::string> ids;
    for (const SkillVerdict& verdict : evaluate(library, make_context(softmax_task(64, 1000), a100())))
        if (verdict.holds()) ids.push_back(verdict.skill->id);
    EXPECT_THAT(ids, ::testing::ElementsAre("plan.contiguous-lanes"));
}

// ---- evidence and selection ------------------------------------------------------------------------------

TEST(Evidence, CreditNeedsTheExpectedCounters) {
    const SkillLibrary library = load_skills(rules);
    const Skill& skill = *library.find("cooperate.block-per-row");
    const SkillTask task = softmax_task(4096, 4096);
    const Profile before = profile_of(task, testing::softmax_thread_per_row(4096, 4096));
    const Profile after = profile_of(task, testing::softmax_block_per_row(4096, 4096));
    const Attempted attempt{"a1", "a2", "refine", "2026-01-01T00:00:00.000Z", ""};
    Evidence e = judge(skill, before, after, attempt);
    EXPECT_EQ(e.outcome, SkillOutcome::credited);
    EXPECT_GT(e.speedup, 3);
    EXPECT_EQ(e.how, How::modelled);
    EXPECT_EQ(e.shape_class, "M=2^12,N=2^12");
    EXPECT_TRUE(e.gates.at("faster"));
    for (const CounterMove& move : e.moves) EXPECT_TRUE(move.moved) << move.metric;

    // Faster, but the access pattern is what it was: luck.
    ExecutedKernel smaller = testing::softmax_thread_per_row(4096, 1024);
    e = judge(skill, before, profile_of(task, smaller), attempt);
    EXPECT_EQ(e.outcome, SkillOutcome::lucky);
    EXPECT_FALSE(e.moves[0].moved);
    EXPECT_EQ(judge(skill, before, before, attempt).outcome, SkillOutcome::no_gain);
    EXPECT_EQ(judge(skill, after, before, attempt).outcome, SkillOutcome::worse);
    e = judge_failure(skill, before, {"a1", "a3", "refine", "", "shared-race"});
    EXPECT_EQ(e.outcome, SkillOutcome::failed);
    EXPECT_EQ(e.failure_code, "shared-race");
    EXPECT_EQ(e.speedup, 0);
}

TEST(Evidence, AMoveMustBeLargeEnough) {
    const auto skill = parse_skill(rule_text(), "rules/test.lua");
    const SkillTask task = softmax_task(4096, 4096);
    ExecutedKernel kernel = execute({});
    const Profile before = profile_of(task, kernel);
    for (auto [factor, moved] : {std::pair{0.9, false}, {0.79, true}, {1.3, false}}) {
        ExecutedKernel changed = kernel;
        changed.counters.warp_instructions =
            static_cast<std::uint64_t>(factor * double(kernel.counters.warp_instructions));
        EXPECT_EQ(judge(*skill, before, profile_of(task, changed), {}).moves[0].moved, moved) << factor;
    }
}

TEST_F(Folder, EvidenceIsAppendedAndATornLineIsSkipped) {
    const auto skill = parse_skill(rule_text(), "rules/test.lua");
    const SkillTask task = softmax_task(3, 17);
    const Profile before = profile_of(task, execute({}));
    const Evidence first = judge(*skill, before, before, {"a", "b", "refine", "t1", ""});
    const Evidence second = judge_failure(*skill, before, {"b", "c", "refine", "t2", "out-of-bounds"});
    const fs::path file = path_ / "evidence.jsonl";
    EXPECT_TRUE(read_evidence(file)->records.empty());
    ASSERT_TRUE(append_evidence(file, first).ok());
    ASSERT_TRUE(append_evidence(file, second).ok());
    auto book = read_evidence(file);
    ASSERT_TRUE(book.ok());
    EXPECT_EQ(book->records, (std::vector<Evidence>{first, second}));
    EXPECT_EQ(first.shape_class, "M=2^2*,N=2^4*");

    std::ofstream(file, std::ios::app) << to_json(first).dump().substr(0, 100);
    book = read_evidence(file);
    EXPECT_EQ(book->records.size(), 2u);
    ASSERT_EQ(book->skipped.size(), 1u);
    EXPECT_EQ(book->skipped[0].line, 3);

    std::ofstream(file) << "{\"schema\": \"kernelwright.evidence/9\"}\n[1]\n\n"
                        << to_json(second).dump() << "\n";
    book = read_evidence(file);
    EXPECT_EQ(book->records.size(), 1u);
    EXPECT_EQ(book->skipped.size(), 2u);
}

Evidence record(const Skill& skill, SkillOutcome outcome, double speedup) {
    Evidence e;
    e.skill = skill.id;
    e.version_hash = skill.hash;
    e.outcome = outcome;
    e.speedup = speedup;
    return e;
}

TEST(Selection, AtMostThreeTheLargestExpectedGainFirst) {
    const SkillLibrary library = load_skills(rules);
    const SkillTask task = softmax_task(4096, 4096);
    const Json context =
        make_context(task, profile_of(task, testing::softmax_thread_per_row(4096, 4096)), a100());
    const auto verdicts = evaluate(library, context);
    const auto chosen = select(verdicts, context, {});
    ASSERT_EQ(chosen.size(), 3u);
    for (const Chosen& c : chosen) {
        EXPECT_TRUE(c.verdict.holds());
        EXPECT_FALSE(c.verdict.advice.empty());
    }
    EXPECT_GE(chosen[0].standing.utility(), chosen[1].standing.utility() - 0.01);
    EXPECT_GE(chosen[1].standing.utility(), chosen[2].standing.utility() - 0.01);
    EXPECT_EQ(select(verdicts, context, {}, 1).size(), 1u);
}

TEST(Selection, EvidenceMovesTheRanking) {
    auto a = parse_skill(rule_text("test.rule", "a.rule"), "a.lua");
    auto b = parse_skill(rule_text("test.rule", "b.rule"), "b.lua");
    const Json context = view({{"a", 1}, {"b", 3}});
    const std::vector<SkillVerdict> verdicts{evaluate(*a, context), evaluate(*b, context)};
    EXPECT_EQ(select(verdicts, context, {})[0].verdict.skill->id, "a.rule");  // nothing known: by id
    const auto first_with = [&](std::vector<Evidence> records) {
        return select(verdicts, context, records)[0].verdict.skill->id;
    };
    EXPECT_EQ(first_with({record(*b, SkillOutcome::credited, 2)}), "b.rule");
    EXPECT_EQ(first_with({record(*b, SkillOutcome::lucky, 2)}), "a.rule") << "luck is no credit";
    EXPECT_EQ(first_with({record(*a, SkillOutcome::worse, 0.5)}), "b.rule");
    Evidence old = record(*b, SkillOutcome::credited, 4);
    old.version_hash = "another text";
    EXPECT_EQ(first_with({old}), "a.rule") << "evidence belongs to the rule's text";
    // Failing often costs.
    std::vector<Evidence> records{record(*a, SkillOutcome::credited, 2),
                                  record(*b, SkillOutcome::credited, 2)};
    for (int i = 0; i < 4; ++i) records.push_back(record(*a, SkillOutcome::failed, 0));
    EXPECT_EQ(first_with(records), "b.rule");
}

TEST(Selection, FewRecordsAreShrunk) {
    const auto skill = parse_skill(rule_text(), "a.lua");
    const double one = standing_of(*skill, {record(*skill, SkillOutcome::credited, 4)}, 0).log_speedup;
    EXPECT_NEAR(one, std::log(4.0) / 3, 1e-12);
    std::vector<Evidence> many(50, record(*skill, SkillOutcome::credited, 4));
    EXPECT_NEAR(standing_of(*skill, many, 0).log_speedup, std::log(4.0), 0.1);
    EXPECT_NEAR(standing_of(*skill, {record(*skill, SkillOutcome::credited, 1e30)}, 0).log_speedup, 1, 1e-12);
    EXPECT_EQ(standing_of(*skill, {}, 0.7).log_speedup, 0.7);
}

TEST(Selection, TheMoreSpecificOfEqualRulesGoesFirst) {
    auto a = parse_skill(rule_text("test.rule", "a.rule"), "a.lua");
    std::string text = rule_text("test.rule", "z.rule");
    text.replace(text.find("    { \"first\""), 0, "    { \"more\", function(c) return true end },\n");
    auto z = parse_skill(text, "z.lua");
    ASSERT_TRUE(z.ok()) << z.error().str();
    const Json context = view({{"a", 1}, {"b", 3}});
    EXPECT_EQ(select({evaluate(*a, context), evaluate(*z, context)}, context, {})[0].verdict.skill->id,
              "z.rule");
    EXPECT_EQ(standing_text(select({evaluate(*a, context)}, context, {})[0]), "a.rule: not tried yet");
    EXPECT_THAT(
        standing_text(select({evaluate(*a, context)}, context, {record(*a, SkillOutcome::credited, 2)})[0]),
        HasSubstr("tried 1 time, 1 credited; about"));
}

}  // namespace
}  // namespace kernelwright

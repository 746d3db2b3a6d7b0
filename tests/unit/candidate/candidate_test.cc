#include "harness/candidate/candidate.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/candidate/comments.h"

namespace kernelwright {
namespace {

Task task() {
    auto task = parse_task(
        "---\nname: t\nsummary: s\nop: softmax\nparams: {axis: 1, alpha: 2.5, mode: fast, causal: "
        "true}\nsymbols: [M, N]\n"
        "inputs: {x: {dtype: f32, shape: [M, N]}, w: {dtype: f32, shape: [N]}}\n"
        "outputs: {y: {dtype: f32, shape: [M, N]}}\ncheck_shapes: [{M: 3, N: 17}]\n---\nprose\n",
        "t.md");
    EXPECT_TRUE(task.ok()) << task.error().str();
    return *task;
}

std::string with_plan(const std::string& yaml) {
    return "/* kernelwright\n" + yaml + "*/\nextern \"C\" __global__ void k();\n";
}

const char* const sound_plan =
    "scratch:\n"                                                                                // 2
    "  part: {dtype: f32, shape: [M, \"ceil_div(N, 1024)\"]}\n"                                 // 3
    "kernels:\n"                                                                                // 4
    "  - name: k\n"                                                                             // 5
    "    grid: [ceil_div(N, 256), M]\n"                                                         // 6
    "    block: 256\n"                                                                          // 7
    "    shared: 4 * N\n"                                                                       // 8
    "    args: [x, part, y, M, \"N * 2\", alpha, 3, 1.5, null, {value: alpha, dtype: f16}]\n";  // 9

std::string rules(const ParsedCandidate& parsed) {
    std::string out;
    for (const Diagnostic& d : parsed.diagnostics) out += (out.empty() ? "" : "\n") + to_line(d);
    return out;
}
std::string diagnostics_of(const std::string& yaml) {
    return rules(parse_candidate(task(), with_plan(yaml), "c.cu"));
}

TEST(Candidate, EveryFieldIsRead) {
    const auto parsed = parse_candidate(
        task(),
        with_plan(
            std::string("when: N % 4 == 0\ntarget: sm_90a\noptions: [--use_fast_math, --maxrregcount=64]\n"
                        "defines: {TILE: 64, NAME: abc}\n"
                        "tensormaps: {ta: {tensor: x, box: [64, 128], swizzle: 128, oob: nan}}\n") +
            sound_plan +
            "    when: M > 1\n    cluster: [2]\n    cooperative: true\n    pdl: false\n"
            "    constants: {c_w: w}\n  - {name: \"scale<4, float>\", grid: 1, block: [32], args: [ta]}\n"),
        "c.cu");
    ASSERT_TRUE(parsed.diagnostics.empty()) << rules(parsed);
    ASSERT_EQ(parsed.candidate.plans.size(), 1U);
    const LaunchPlan& plan = parsed.candidate.plans[0];
    EXPECT_EQ(plan.line, 1);
    EXPECT_EQ(plan.when->text(), "N % 4 == 0");
    EXPECT_EQ(plan.target, "sm_90a");
    EXPECT_EQ(plan.options, (std::vector<std::string>{"--use_fast_math", "--maxrregcount=64"}));
    EXPECT_EQ(plan.defines, (std::map<std::string, std::string>{{"TILE", "64"}, {"NAME", "abc"}}));
    ASSERT_EQ(plan.tensormaps.size(), 1U);
    EXPECT_EQ(plan.tensormaps[0].swizzle, 128);
    EXPECT_TRUE(plan.tensormaps[0].oob_nan);
    ASSERT_EQ(plan.kernels.size(), 2U);
    const KernelPlan& k = plan.kernels[0];
    EXPECT_EQ(k.line, 10);
    EXPECT_EQ(k.grid.size(), 3U);
    EXPECT_EQ(k.grid[0].text(), "ceil_div(N, 256)");
    EXPECT_EQ(k.grid[2].text(), "1");
    EXPECT_EQ(k.block[0].text(), "256");
    EXPECT_EQ(k.cluster.size(), 3U);
    EXPECT_TRUE(k.cooperative);
    EXPECT_EQ(k.constants.at("c_w"), "w");
    ASSERT_EQ(k.arguments.size(), 10U);
    EXPECT_EQ(k.arguments[0].kind, PlanArgument::Kind::name);
    EXPECT_EQ(k.arguments[4].kind, PlanArgument::Kind::expression);
    EXPECT_EQ(k.arguments[6].integer, 3);
    EXPECT_EQ(k.arguments[7].real, 1.5);
    EXPECT_EQ(k.arguments[8].kind, PlanArgument::Kind::null);
    EXPECT_EQ(k.arguments[9].dtype, DType::f16);
    EXPECT_TRUE(plan.kernels[1].is_name_expression());
}

TEST(Candidate, CommentsAreFoundAsTheCompilerSeesThem) {
    const auto lines = [](const std::string& source) {
        std::vector<int> out;
        for (const PlanComment& c : find_plan_comments(source)) out.push_back(c.line);
        return out;
    };
    EXPECT_EQ(lines("/* kernelwright\na: 1\n*/\n\n/*kernelwright*/"), (std::vector<int>{1, 5}));
    EXPECT_EQ(lines("/*\n\n  kernelwright\na: 1*/"), (std::vector<int>{3}));
    EXPECT_EQ(lines("/** kernelwright */ /* kernelwrights */ /* a kernelwright */ /* kernelwright-x */"),
              (std::vector<int>{1}));
    EXPECT_EQ(lines("// /* kernelwright */\n\"/* kernelwright */\" '\"' /* kernelwright */"),
              (std::vector<int>{2}));
    EXPECT_EQ(lines("// line \\\n /* kernelwright */\n"), (std::vector<int>{}));
    EXPECT_EQ(lines("R\"x(/* kernelwright */ )\" )x\" /* kernelwright */"), (std::vector<int>{1}));
    EXPECT_EQ(lines("auto a = u8R\"(\" /* kernelwright */)\";\nint n = 1'000'000; /* kernelwright */"),
              (std::vector<int>{2}));
    EXPECT_EQ(lines("#error don't\n/* kernelwright */ char c = L'\\''; // '"), (std::vector<int>{2}));
    EXPECT_EQ(lines("\"\\\"/* kernelwright */\""), (std::vector<int>{}));
    EXPECT_FALSE(find_plan_comments("/* kernelwright\n").at(0).closed);
    // columns are the file's, stars at the margin are no YAML
    const auto parsed = parse_candidate(task(),
                                        "/*\n * kernelwright\n * kernels:\n *   - name: k\n *     grid: 1\n "
                                        "*     block: 32\n *     args: [q]\n */\n",
                                        "c.cu");
    EXPECT_NE(rules(parsed).find("c.cu:7:15: error: argument 1 of `k`: unknown name `q`"), std::string::npos)
        << rules(parsed);
    EXPECT_TRUE(parse_candidate(task(),
                                "/* kernelwright {kernels: [{name: k, grid: 1, block: 32, args: [x]}]} */",
                                "c.cu")
                    .ok());
}

struct Broken {
    std::string plan;
    const char* rule;
    const char* message;
};

std::string sound(const std::string& from, const std::string& to) {
    std::string text = sound_plan;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Candidate, ErrorsNameRuleAndLine) {
    const Broken cases[] = {
        {"", "wrong-type", "c.cu:1: error: a launch plan must be a map of keys, not nothing"},
        {"- a\n", "wrong-type", "c.cu:2"},
        {"scratch: {}\n", "missing-key", "c.cu:1: error: the plan has no `kernels`"},
        {"kernels: []\n", "missing-key", "c.cu:2:10: error: `kernels` is empty"},
        {"kernels: {name: k}\n", "wrong-type", "`kernels` must be a list of kernels"},
        {"kernels: [k]\n", "wrong-type", "an entry of `kernels` must be a map"},
        {sound("scratch:", "scrach:"), "unknown-key",
         "c.cu:2:1: error: unknown key `scrach` in the plan; did you mean `scratch`?"},
        {sound("grid:", "gird:"), "unknown-key",
         "c.cu:6:5: error: unknown key `gird` in the kernel `k`; did you mean `grid`?"},
        {sound("grid:", "gird:"), "missing-key", "c.cu:5:5: error: the kernel `k` has no `grid`"},
        {sound("  - name: k\n    grid", "  - grid"), "missing-key",
         "c.cu:5:5: error: a kernel has no `name`"},
        {sound("name: k", "name: k-1"), "wrong-type", "`k-1` is no kernel name"},
        {sound("args: [x", "args: [z"), "unknown-name",
         "c.cu:9:12: error: argument 1 of `k`: unknown name `z`"},
        {sound("part, y", "prt, y"), "unknown-name", "unknown name `prt`; did you mean `part`?"},
        {sound("\"N * 2\"", "\"K * 2\""), "unknown-name", "c.cu:9:28: error: argument 5: unknown name `K`"},
        {sound("\"N * 2\"", "x + N"), "wrong-type",
         "argument 5: `x` is a tensor, which an expression cannot use: `x + N`"},
        {sound("alpha, 3", "mode, 3"), "wrong-type", "argument 6: the param `mode` is not a number"},
        {sound("alpha, 3", "[1], 3"), "wrong-type",
         "argument 6 must be a name, a number, an expression, null or {value: ..., dtype: ...}, not a list"},
        {sound("dtype: f16", "dtype: ff16"), "unknown-dtype",
         "unknown dtype `ff16` of argument 10; did you mean `f16`?"},
        {sound("dtype: f16", "dtype: i4"), "wrong-type", "i4 is packed"},
        {sound("{value: alpha, dtype: f16}", "{value: alpha}"), "missing-key", "argument 10 has no dtype"},
        {sound("{value: alpha, dtype: f16}", "{value: x, dtype: f16}"), "wrong-type",
         "a dtype belongs to a number"},
        {sound("[ceil_div(N, 256), M]", "[ceil_div(N, 256, M]"), "bad-expression",
         "c.cu:6:12: error: `grid`: `ceil_div(N`|c.cu:6"},
        {sound("[ceil_div(N, 256), M]", "[1, 2, 3, 4]"), "wrong-type",
         "`grid` has 4 entries; it has one to three"},
        {sound("[ceil_div(N, 256), M]", "[]"), "wrong-type", "`grid` has 0 entries"},
        {sound("[ceil_div(N, 256), M]", "[alpha]"), "wrong-type",
         "c.cu:6:12: error: `grid` must be an integer, and the param `alpha` is real"},
        {sound("[ceil_div(N, 256), M]", "[N / 2.0]"), "wrong-type", "holds a real number"},
        {sound("[ceil_div(N, 256), M]", "[x]"), "wrong-type",
         "`x` is a tensor, which an expression cannot use"},
        {sound("[ceil_div(N, 256), M]", "[resident_blocks(q)]"), "unknown-name",
         "resident_blocks(q) names no kernel of this plan"},
        {sound("[ceil_div(N, 256), M]", "N +"), "bad-expression",
         "c.cu:6:14: error: `grid`: `N +`: the expression ends"},
        {sound("[M, \"ceil_div(N, 1024)\"]", "[part]"), "cyclic-scratch",
         "c.cu:3:30: error: the shape of the scratch buffer `part` depends on itself"},
        {sound("kernels:", "  a: {dtype: f32, shape: [b]}\n  b: {dtype: f32, shape: [a]}\nkernels:"),
         "cyclic-scratch", "the scratch buffer `a` depends on the scratch buffer `b`"},
        {sound("part: {dtype: f32", "x: {dtype: f32"), "duplicate-name",
         "c.cu:3:3: error: `x` is already a tensor"},
        {sound("part: {dtype: f32", "N: {dtype: f32"), "duplicate-name", "`N` is already a symbol"},
        {sound("part: {dtype: f32", "alpha: {dtype: f32"), "duplicate-name", "`alpha` is already a param"},
        {sound("part: {dtype: f32", "min: {dtype: f32"), "wrong-type", "`min` cannot name a scratch buffer"},
        {sound("part: {dtype: f32", "part: {dtype: float"), "unknown-dtype",
         "unknown dtype `float` of the scratch buffer `part`"},
        {sound("part: {dtype: f32, shape", "part: {shape"), "missing-key",
         "the scratch buffer `part` has no dtype"},
        {sound("part: {dtype: f32", "part: {size: 4, dtype: f32"), "unknown-key", "unknown key `size`"},
        {sound("shared: 4 * N", "shared: y"), "wrong-type", "`shared`: `y` is a tensor"},
        {sound("shared: 4 * N", "shared: [4]"), "wrong-type",
         "`shared` must be a number or an expression, not a list"},
        {sound("shared: 4 * N", "cooperative: 3"), "wrong-type",
         "`cooperative` must be true or false, not 3"},
        {sound("shared: 4 * N", "constants: {c: M}"), "wrong-type",
         "the constant `c` must be a buffer, and `M` is a symbol"},
        {sound("shared: 4 * N", "when: K"), "unknown-name", "`when`: unknown name `K`"},
        {std::string("target: h100\n") + sound_plan, "bad-target",
         "c.cu:2:9: error: `target` must be an architecture"},
        {std::string("options: [-I/etc]\n") + sound_plan, "bad-option",
         "the compiler option `-I/etc` is not allowed"},
        {std::string("options: [--maxrregcount=9999]\n") + sound_plan, "bad-option", "is not allowed"},
        {std::string("defines: {\"1A\": 3}\n") + sound_plan, "wrong-type", "`1A` is no macro name"},
        {"defines: {TILE: 64}\n" + sound("shared: 4 * N", "shared: TILE"), "unknown-name",
         "`defines` reach the source only"},
        {std::string("tensormaps: {ta: {tensor: q, box: [1]}}\n") + sound_plan, "unknown-name",
         "unknown name `q`"},
        {std::string("tensormaps: {ta: {tensor: x, box: [1], swizzle: 16}}\n") + sound_plan, "wrong-type",
         "`swizzle` of the tensor map `ta` must be"},
        {std::string("tensormaps: {ta: {tensor: x, box: [1, 2], strides: []}}\n") + sound_plan, "wrong-type",
         "0 strides for 2 box entries"},
        {sound("name: k", "name: k: k"), "yaml", "c.cu:5"},
        {sound("grid:", "\tgrid:"), "yaml", "c.cu:6"},
        {sound("    args", "    name: k\n    args"), "yaml",
         "c.cu:9:5: error: the key `name` occurs twice; the first is on line 5"},
        {sound("args: [x,", "args: [x, N > 4 ? 2 : 1,"), "yaml",
         "write the line as `args: [x, \"N > 4 ? 2 : 1\", part"},
    };
    for (const Broken& c : cases) {
        const std::string got = diagnostics_of(c.plan);
        EXPECT_NE(got.find(std::string("[plan/") + c.rule + "]"), std::string::npos)
            << c.plan << "\ngot: " << got << "\nwanted: " << c.rule;
        bool found = false;
        const std::string wanted = c.message;
        for (std::size_t at = 0; at <= wanted.size();) {
            const std::size_t bar = std::min(wanted.find('|', at), wanted.size());
            found = found || got.find(wanted.substr(at, bar - at)) != std::string::npos;
            at = bar + 1;
        }
        EXPECT_TRUE(found) << c.plan << "\ngot: " << got << "\nwanted: " << wanted;
    }
}

TEST(Candidate, WholeFileFaults) {
    EXPECT_NE(rules(parse_candidate(task(), "int x;", "c.cu"))
                  .find("c.cu:1: error: the candidate has no launch plan"),
              std::string::npos);
    EXPECT_NE(rules(parse_candidate(task(), "\n/* kernelwright\nkernels:\n", "c.cu"))
                  .find("c.cu:2: error: the launch plan's comment is not closed"),
              std::string::npos);
    EXPECT_NE(rules(parse_candidate(task(), std::string("a\0b", 3), "c.cu")).find("[plan/not-text]"),
              std::string::npos);
    EXPECT_NE(rules(parse_candidate(task(),
                                    "\x7f"
                                    "ELF\x02",
                                    "c.cu"))
                  .find("[plan/not-text]"),
              std::string::npos);
    EXPECT_NE(rules(parse_candidate(task(), std::string(3U << 20, ' '), "c.cu")).find("[plan/too-large]"),
              std::string::npos);
    EXPECT_FALSE(load_candidate("/nonexistent.cu").ok());
    std::string many;
    for (int i = 0; i < 40; ++i) many += with_plan(sound_plan);
    EXPECT_NE(rules(parse_candidate(task(), many, "c.cu")).find("more than 32 launch plans"),
              std::string::npos);
}

TEST(Candidate, SeveralErrorsAreReportedTogether) {
    const std::string got = diagnostics_of("kernels:\n  - {name: k, grid: Q, block: [R], args: [z, x, u]}\n");
    EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 3) << got;
}

TEST(Candidate, AnUnguardedPlanHidesLaterOnes) {
    const auto parsed = parse_candidate(task(), with_plan(sound_plan) + with_plan(sound_plan), "c.cu");
    EXPECT_TRUE(parsed.ok());
    ASSERT_EQ(parsed.diagnostics.size(), 1U);
    EXPECT_EQ(parsed.diagnostics[0].rule, "unreachable-plan");
    EXPECT_EQ(parsed.diagnostics[0].severity, Severity::warning);
}

TEST(Candidate, DefaultParamsAreNames) {
    const std::string source = with_plan("kernels: [{name: k, grid: 1, block: 32, args: [eps, scale]}]\n");
    EXPECT_FALSE(parse_candidate(task(), source, "c.cu").ok());
    EXPECT_TRUE(parse_candidate(task(), source, "c.cu", Json{{"eps", 1e-5}, {"scale", 1}}).ok());
}

// Sources that would take a scanner with a look-back or a search for each token a minute or more: none here
// takes a noticeable time, and the program's own time limit would show it.
TEST(Candidate, RepeatedTokensTakeLinearTime) {
    for (const char* token : {"/*", "//", "\"", "'", "R\"(", "R\"x", "*/", "/* kernelwright\n",
                              "/* kernelwright */", "\\\n", "1'", "0'a"}) {
        std::string source;
        while (source.size() < 900'000) source += token;
        EXPECT_FALSE(parse_candidate(task(), source, "c.cu").ok());
    }
}

// Mutated candidates never crash the parser, and every diagnostic has a rule, a line and one line of text.
TEST(Candidate, Soup) {
    const Task t = task();
    const std::string seed = "// c\n" + with_plan(sound_plan) + "__device__ const char* s = \"/*\";\n";
    std::mt19937 random(5);
    int broken = 0;
    for (int i = 0; i < 6000; ++i) {
        std::string text = seed;
        for (std::size_t k = 1 + random() % 3; k > 0; --k) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random() % 256);
                    break;
                case 1:
                    text.insert(at, text.substr(random() % text.size(), random() % 20));
                    break;
                case 2:
                    text.erase(at, random() % 10);
                    break;
                default:
                    text[at] = "[]{}:,-\"'#&*\n0/"[random() % 15];
            }
        }
        const auto parsed = parse_candidate(t, text, "c.cu");
        broken += parsed.ok() ? 0 : 1;
        for (const Diagnostic& d : parsed.diagnostics) {
            EXPECT_FALSE(d.rule.empty());
            EXPECT_GE(d.line, 1) << d.message;
            EXPECT_EQ(to_line(d).find('\n'), std::string::npos) << to_line(d);
        }
    }
    EXPECT_GT(broken, 1000);
}

}  // namespace
}  // namespace kernelwright

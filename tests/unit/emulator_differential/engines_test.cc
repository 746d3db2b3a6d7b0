// The two engines agree: on generated programs, and on every program that once told them apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/differential/compare.h"

namespace emulator::differential {
namespace {

// Ten slices, so that a failure names its seed and the suite can run them side by side.
class GeneratedPrograms : public testing::TestWithParam<int> {};

TEST_P(GeneratedPrograms, GiveTheSameOnBothEngines) {
    constexpr std::uint64_t programs = 40;
    const std::uint64_t first = 1 + static_cast<std::uint64_t>(GetParam()) * programs;
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
        const Program program = generate(seed);
        const Verdict verdict = compare(program);
        ASSERT_EQ(verdict.kind, Verdict::Kind::equal) << "seed " << seed << "\n" << verdict.difference;
    }
}
INSTANTIATE_TEST_SUITE_P(Slices, GeneratedPrograms, testing::Range(0, 10));

TEST(GeneratedPrograms, CoverWhatTheyAreFor) {
    std::set<std::string> opcodes, rules;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        for (const std::string& line : generate(seed).lines) {
            const std::size_t begin = line.find_first_not_of(" ");
            if (begin == std::string::npos || line[begin] == '.' || line.back() != ';') continue;
            std::string text = line.substr(begin);
            if (text[0] == '@') text = text.substr(text.find(' ') + 1);
            opcodes.insert(text.substr(0, text.find_first_of(" ;")));
        }
    }
    std::set<std::string> bases;
    for (const std::string& opcode : opcodes) bases.insert(opcode.substr(0, opcode.find('.')));
    EXPECT_GT(opcodes.size(), 2000u);
    for (const char* base :
         {"atom",         "red",      "shfl",   "vote",       "match",    "redux",     "bar",
          "brx",          "call",     "ld",     "st",         "cvt",      "fma",       "prmt",
          "lop3",         "bfe",      "bfi",    "addc",       "madc",     "subc",      "testp",
          "copysign",     "fence",    "membar", "activemask", "vadd",     "vmad",      "vset4",
          "cp",           "mbarrier", "mma",    "ldmatrix",   "stmatrix", "movmatrix", "elect",
          "createpolicy", "barrier",  "fns",    "exit",       "set",      "setp",      "slct"})
        EXPECT_TRUE(bases.contains(base)) << base;
}

// Two blocks that race, run in another order by one engine: a difference that must be found, and kept while
// all that has no part in it is taken away.
TEST(Comparison, FindsADifferenceAndReducesTheProgram) {
    Program program;
    program.block = {32, 1, 1};
    program.grid = {2, 1, 1};
    program.lines = {".version 8.6",
                     ".target sm_90",
                     ".address_size 64",
                     ".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_io)",
                     "{",
                     "    .reg .b64 %io;",
                     "    .reg .b32 %r<3>;",
                     "    ld.param.u64 %io, [p_io];",
                     "    mov.u32 %r0, %ctaid.x;",
                     "    add.u32 %r1, %r0, 1;",
                     "    mul.lo.u32 %r2, %r1, %r1;",
                     "    st.global.u32 [%io], %r0;",
                     "    ret;",
                     "}"};
    EXPECT_EQ(compare(program).kind, Verdict::Kind::equal) << compare(program).difference;
    Bounds other;
    for (other.schedule_seed = 1; other.schedule_seed < 20; ++other.schedule_seed)
        if (compare(program, other).kind == Verdict::Kind::different) break;
    ASSERT_LT(other.schedule_seed, 20u);
    EXPECT_NE(compare(program, other).difference.find("memory: byte 0 of inout"), std::string::npos)
        << compare(program, other).difference;
    const Program small = reduce(program, other);
    EXPECT_EQ(compare(small, other).kind, Verdict::Kind::different);
    EXPECT_EQ(small.text().find("add.u32"), std::string::npos) << small.text();
    EXPECT_EQ(small.text().find("mul.lo"), std::string::npos) << small.text();
    EXPECT_NE(small.text().find("st.global"), std::string::npos) << small.text();
    EXPECT_EQ(reduce(program).lines, program.lines);  // nothing differs: nothing is taken away
}

// tests/cases/differential/*.ptx: the first lines say `// block 32`, `// grid 2`, the rules of the faults
// that there must be (`// fault out-of-bounds`), and counters (`// counter NAME VALUE`).
class Case : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Case, GivesTheSameOnBothEngines) {
    std::ifstream file(GetParam());
    ASSERT_TRUE(file);
    Program program;
    program.block = {32, 1, 1};
    std::multiset<std::string> expected;
    std::map<std::string, double> counters;
    for (std::string line; std::getline(file, line);) {
        program.lines.push_back(line);
        std::istringstream words(line);
        std::string slashes, what, value;
        words >> slashes >> what >> value;
        if (slashes != "//") continue;
        if (what == "block") program.block.x = static_cast<std::uint32_t>(std::stoul(value));
        if (what == "grid") program.grid.x = static_cast<std::uint32_t>(std::stoul(value));
        if (what == "seed") program.seed = std::stoull(value);
        if (what == "fault") expected.insert(value);
        if (what == "counter") words >> counters[value];
    }
    const Verdict verdict = compare(program);
    EXPECT_EQ(verdict.kind, Verdict::Kind::equal) << verdict.difference;
    const Outcome outcome = run_fast(program);
    std::multiset<std::string> rules;
    for (const Fault& fault : outcome.faults) rules.insert(fault.rule);
    EXPECT_EQ(rules, expected);
    for (const Metric& metric : metrics(outcome.counters))
        if (const auto it = counters.find(metric.name); it != counters.end()) {
            EXPECT_EQ(metric.value, it->second) << metric.name;
            counters.erase(it);
        }
    for (const auto& [name, value] : counters) ADD_FAILURE() << "no counter is called " << name;
}

std::vector<std::filesystem::path> cases() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(KW_SOURCE_DIR) /
                                                                 "tests/cases/differential"))
        if (entry.path().extension() == ".ptx") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}
INSTANTIATE_TEST_SUITE_P(Differential, Case, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace emulator::differential

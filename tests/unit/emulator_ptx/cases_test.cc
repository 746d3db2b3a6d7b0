// Every file of tests/cases/ptx is a test of its own, with one case or many.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/emulator_ptx/case_file.h"

namespace emulator::test {
namespace {

std::vector<std::filesystem::path> case_files() {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path folder = std::filesystem::path(KW_SOURCE_DIR) / "tests/cases/ptx";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto extension = entry.path().extension();
        if (extension == ".case" || extension == ".cases") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

class PtxCase : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PtxCase, GivesWhatTheIsaSays) {
    std::string error;
    const auto cases = read_cases(GetParam(), error);
    ASSERT_EQ(error, "");
    for (const InstructionCase& test : cases) EXPECT_EQ(run_case(test), "") << test.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, PtxCase, testing::ValuesIn(case_files()), [](const auto& info) {
    std::string name = info.param.stem().string();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
        '_');
    return name;
});

// The same expectations for the engine that is the specification, where it knows the instructions.
TEST(PtxCases, HoldOnTheSpecificationToo) {
    std::size_t known = 0, all = 0;
    for (const auto& file : case_files()) {
        std::string error;
        for (const InstructionCase& test : read_cases(file, error)) {
            const CaseResult result = run_case(test, Engine::specification);
            all += 1;
            if (!result.unsupported.empty()) continue;
            known += 1;
            EXPECT_EQ(result.wrong, "") << file.filename() << " " << test.name;
        }
    }
    RecordProperty("cases", std::to_string(all));
    RecordProperty("cases_of_the_specification", std::to_string(known));
    EXPECT_GE(known, 6300u) << "of " << all;
}

TEST(PtxCases, ThereAreMany) { EXPECT_GT(case_files().size(), 600u); }

TEST(PtxCases, AWrongExpectationFails) {
    InstructionCase test;
    test.body = "add.u32 d, a, 1;\n";
    test.inputs = {{"a", "b32", {{1, false, false}, {2, false, false}}, {}, {}}};
    test.outputs = {{"d", "b32", {{2, false, false}, {4, false, false}}, {}, {}}};
    EXPECT_NE(run_case(test).find("0x3, expected 0x4"), std::string::npos) << run_case(test);
    test.outputs[0].values[1].bits = 3;
    EXPECT_EQ(run_case(test), "");
    test.fault = "trap";
    EXPECT_NE(run_case(test), "");
}

// What a case proves is what it executes: an instruction that no thread reaches proves nothing.
TEST(PtxCases, AnInstructionThatIsNotExecutedFails) {
    InstructionCase test;
    test.body = "bra E;\npopc.b32 d, d;\nE: mov.u32 d, 1;\n";
    test.outputs = {{"d", "b32", {{1, false, false}}, {}, {}}};
    EXPECT_NE(run_case(test).find("popc.b32 d, d;` is not executed"), std::string::npos) << run_case(test);
}

}  // namespace
}  // namespace emulator::test

#include "tests/differential/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emulator/src/ptx/parsed.h"
#include "tests/differential/generator.h"
#include "tests/unit/emulator_ptx/case_file.h"

namespace emulator::differential {

namespace {

std::string form_of(const ptx::Instruction& in) {
    std::string form = in.opcode;
    for (const std::string& modifier : in.modifiers) form += "." + modifier;
    return form;
}

// A case's own instructions have lines of its body; the wrapper's have other ones.
constexpr int kWrapperLine = 1'000'000;

void measure_case(const test::InstructionCase& test, Coverage& coverage) {
    const auto parsed = ptx::parse(test.ptx());
    const auto* module = std::get_if<ptx::Module>(&parsed);
    if (!module) return;
    const test::CaseResult result = test::run_case(test, Engine::specification);
    coverage.cases += 1;
    coverage.cases_known += result.unsupported.empty();
    for (const ptx::Function& function : module->functions)
        for (const ptx::Instruction& in : function.code) {
            if (in.source.line <= 0 || in.source.line >= kWrapperLine) continue;
            Coverage::Form& form = coverage.forms[in.opcode][form_of(in)];
            form.in_cases = true;
            form.known |= result.unsupported.empty();
            form.unknown |= in.text == result.unsupported;
        }
}

}  // namespace

Coverage measure_coverage(const std::filesystem::path& cases, std::uint64_t seed, std::uint64_t programs) {
    Coverage coverage;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(cases))
        if (entry.path().extension() == ".case" || entry.path().extension() == ".cases")
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        std::string error;
        for (const test::InstructionCase& test : test::read_cases(file, error)) measure_case(test, coverage);
    }
    coverage.programs = programs;
    for (std::uint64_t k = 0; k < programs; ++k) {
        const auto parsed = ptx::parse(generate(seed + k).text());
        const auto* module = std::get_if<ptx::Module>(&parsed);
        if (!module) continue;
        for (const ptx::Function& function : module->functions)
            for (const ptx::Instruction& in : function.code)
                coverage.forms[in.opcode][form_of(in)].emitted += 1;
    }
    return coverage;
}

std::string Coverage::table() const {
    std::string out = fmt::format("{:<14}{:>14}{:>14}{:>10}{:>14}\n", "opcode", "forms (cases)",
                                  "specification", "generated", "instructions");
    std::uint64_t all = 0, all_known = 0, all_generated = 0;
    for (const auto& [opcode, list] : forms) {
        std::uint64_t in_cases = 0, known = 0, generated = 0, instructions = 0;
        for (const auto& [name, form] : list) {
            in_cases += form.in_cases;
            known += form.in_cases && form.known;
            generated += form.emitted != 0;
            instructions += form.emitted;
        }
        out +=
            fmt::format("{:<14}{:>14}{:>14}{:>10}{:>14}\n", opcode, in_cases, known, generated, instructions);
        all += in_cases;
        all_known += known;
        all_generated += generated;
    }
    return out +
           fmt::format("{:<14}{:>14}{:>14}{:>10}\n{} of {} cases run on the specification; {} programs\n",
                       "all", all, all_known, all_generated, cases_known, cases, programs);
}

std::string Coverage::gaps() const {
    std::string out;
    for (const auto& [opcode, list] : forms)
        for (const auto& [name, form] : list) {
            if (!form.in_cases || (form.known && form.emitted)) continue;
            out += fmt::format("{} {}\n",
                               form.known     ? "not generated         "
                               : form.unknown ? "not in specification  "
                                              : "not reached           ",
                               name);
        }
    return out;
}

}  // namespace emulator::differential

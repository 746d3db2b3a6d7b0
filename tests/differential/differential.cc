// differential: compares the engines on generated programs and stops at the first difference.
//
//   differential --count 20000 --seed 1            # seeds 1 .. 20000
//   differential --count 1 --seed 77 --print       # shows the program of a seed
//   differential --file case.ptx --block 32        # a program of one's own, with the generator's parameters
//   differential --coverage --count 400            # which forms the specification and the generator reach;
//   --gaps
//
// Exit codes: 0 no difference, 1 a difference, 2 wrong use.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/differential/compare.h"
#include "tests/differential/coverage.h"

int main(int argc, char** argv) {
    using emulator::differential::Verdict;
    std::uint64_t count = 1000, seed = 1, step = 1;
    bool print = false, keep_going = false, no_reduction = false, coverage = false, gaps = false;
    std::string file;
    std::vector<std::uint32_t> block{32}, grid{1};
    CLI::App app{"Compares the emulated GPU's two engines on generated PTX programs"};
    app.add_option("--count", count, "programs");
    app.add_option("--seed", seed, "of the first program; the next ones count up");
    app.add_option("--step", step, "between seeds, for several processes side by side");
    app.add_option("--file", file, "compare this PTX text");
    app.add_option("--block", block, "of --file: threads, x[,y[,z]]")->delimiter(',');
    app.add_option("--grid", grid, "of --file: blocks, x[,y[,z]]")->delimiter(',');
    app.add_flag("--print", print, "print the programs");
    app.add_flag("--keep-going", keep_going, "go on after a difference");
    app.add_flag("--no-reduction", no_reduction, "print a program that differs as it is");
    app.add_flag("--coverage", coverage,
                 "say which forms the specification knows and the generator emits, by opcode");
    app.add_flag("--gaps", gaps, "the same, and name the forms that it does not");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (coverage || gaps) {
        const auto measured = emulator::differential::measure_coverage(
            std::filesystem::path(KW_SOURCE_DIR) / "tests/cases/ptx", seed, count);
        fmt::print("{}{}", gaps ? measured.gaps() : "", measured.table());
        return 0;
    }
    std::map<Verdict::Kind, std::uint64_t> kinds;
    const auto began = std::chrono::steady_clock::now();
    std::uint64_t differences = 0;
    if (!file.empty()) count = 1;
    for (std::uint64_t k = 0; k < count; ++k) {
        const std::uint64_t s = seed + k * step;
        emulator::differential::Program program;
        if (file.empty()) {
            program = emulator::differential::generate(s);
        } else {
            std::ifstream stream(file);
            if (!stream) {
                fmt::print(stderr, "differential: `{}` cannot be read\n", file);
                return 2;
            }
            for (std::string line; std::getline(stream, line);) program.lines.push_back(line);
            program.seed = seed;
            const auto dim = [](const std::vector<std::uint32_t>& v) {
                return emulator::Dim3{v.at(0), v.size() > 1 ? v[1] : 1, v.size() > 2 ? v[2] : 1};
            };
            program.block = dim(block);
            program.grid = dim(grid);
        }
        if (print) fmt::print("{}", program.text());
        const Verdict verdict = emulator::differential::compare(program);
        kinds[verdict.kind] += 1;
        if (verdict.kind == Verdict::Kind::not_loaded || verdict.kind == Verdict::Kind::not_comparable)
            fmt::print("seed {} cannot be compared: {}", s, verdict.difference);
        if (verdict.kind == Verdict::Kind::different) {
            ++differences;
            fmt::print("seed {} differs:\n{}", s, verdict.difference);
            if (!no_reduction) {
                const auto small = emulator::differential::reduce(program);
                fmt::print("--- grid {},{},{} block {},{},{}\n{}--- {}\n", small.grid.x, small.grid.y,
                           small.grid.z, small.block.x, small.block.y, small.block.z, small.text(),
                           emulator::differential::compare(small).difference);
            }
            std::fflush(stdout);
            if (!keep_going) return 1;
        }
        if ((k + 1) % 500 == 0) {
            const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::steady_clock::now() - began);
            fmt::print("{} of {} programs, {:.0f} per second\n", k + 1, count,
                       1000.0 * static_cast<double>(k + 1) /
                           static_cast<double>(std::max<std::int64_t>(ms.count(), 1)));
            std::fflush(stdout);
        }
    }
    fmt::print("{} programs: {} equal, {} different, {} not comparable, {} not loaded\n", count,
               kinds[Verdict::Kind::equal], differences, kinds[Verdict::Kind::not_comparable],
               kinds[Verdict::Kind::not_loaded]);
    return differences ? 1 : 0;
}

// No text may crash the emulator, keep it busy past its limits, or make it touch memory of the host. The
// sanitizer builds of this test are where the last shows.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/differential/hostile.h"

namespace emulator::differential {
namespace {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder,
                                               const std::string& extension) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == extension) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}
const std::filesystem::path kCases = std::filesystem::path(KW_SOURCE_DIR) / "tests/cases";

std::vector<std::string> instructions_of_cases() {
    std::vector<std::string> lines;
    for (const auto& path : files_below(kCases / "ptx", ".case")) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);)
            if (!line.empty() && line[0] != '/') lines.push_back(line);
    }
    return lines;
}

class MutatedPrograms : public testing::TestWithParam<int> {};

TEST_P(MutatedPrograms, EndAndHarmNothing) {
    const std::vector<std::string> lines = instructions_of_cases();
    ASSERT_GT(lines.size(), 600u);
    Random random(0x686f7374ull + static_cast<std::uint64_t>(GetParam()));
    int loaded = 0;
    for (int k = 0; k < 150; ++k) {
        Program program = generate(random.below(100'000));
        mutate(program, random, lines);
        const auto began = std::chrono::steady_clock::now();
        loaded += exercise(program.text());
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20)) << program.text();
    }
    EXPECT_GT(loaded, 50);  // most changes make a text that is no PTX: enough of them must be
}
INSTANTIATE_TEST_SUITE_P(Slices, MutatedPrograms, testing::Range(0, 4));

// A short run of what `make fuzz` does for long: its seeds, with bytes changed.
TEST(HostileText, OfChangedSeedsEndsAndHarmsNothing) {
    std::vector<std::string> seeds;
    for (const char* extension : {".ptx", ".hostile"})
        for (const auto& path : files_below(kCases / "differential", extension)) {
            std::ifstream file(path, std::ios::binary);
            std::stringstream text;
            text << file.rdbuf();
            if (text.str().size() < 20'000) seeds.push_back(text.str());
        }
    ASSERT_GT(seeds.size(), 25u);
    Random random(0x6279746573ull);
    for (int round = 0; round < 30; ++round)
        for (const std::string& seed : seeds) {
            const std::string text = mutate_bytes(seed, random, seeds);
            const auto began = std::chrono::steady_clock::now();
            exercise(text);
            ASSERT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20)) << text;
        }
}

// What the fuzzers found, each as small as it got.
TEST(HostileText, OfEveryCaseEndsAndHarmsNothing) {
    const auto files = files_below(kCases / "differential", ".hostile");
    EXPECT_FALSE(files.empty());
    for (const auto& path : files) {
        std::ifstream file(path, std::ios::binary);
        std::stringstream text;
        text << file.rdbuf();
        SCOPED_TRACE(path.filename().string());
        exercise(text.str());
    }
}

}  // namespace
}  // namespace emulator::differential

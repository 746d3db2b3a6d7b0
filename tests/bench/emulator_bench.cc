// Speed of the emulated GPU on a naive f32 matrix product, with each check on and off, as a ratio to the same
// loops run natively on one core in the same process. `slowdown` is what to compare between machines; times
// are not.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "emulator/emulator.h"

namespace {

constexpr int n = 128;

std::string ptx() {
    std::ifstream in(std::string(KW_SOURCE_DIR) + "/tests/bench/naive_matmul.ptx");
    return {std::istreambuf_iterator<char>(in), {}};
}

void native(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c) {
    for (int row = 0; row < n; ++row) {
        for (int col = 0; col < n; ++col) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
            c[row * n + col] = sum;
        }
    }
}

double native_seconds() {
    std::vector<float> a(n * n, 1.5F), b(n * n, 0.5F), c(n * n);
    double best = 1e9;
    for (int i = 0; i < 20; ++i) {
        const auto start = std::chrono::steady_clock::now();
        native(a, b, c);
        benchmark::DoNotOptimize(c.data());
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void matmul(benchmark::State& state, bool count, bool initialised, bool races) {
    auto loaded = emulator::Module::load(ptx());
    auto* module = std::get_if<emulator::Module>(&loaded);
    if (module == nullptr) {
        state.SkipWithError("the PTX does not load");
        return;
    }
    emulator::Memory memory;
    const std::vector<std::byte> zeros(n * n * 4);
    const std::uint64_t a = memory.allocate("a", zeros.size(), emulator::BufferKind::input);
    const std::uint64_t b = memory.allocate("b", zeros.size(), emulator::BufferKind::input);
    const std::uint64_t c = memory.allocate("c", zeros.size(), emulator::BufferKind::output);
    memory.write(a, zeros);
    memory.write(b, zeros);
    emulator::Launch launch;
    launch.kernel = "matmul";
    launch.grid = {n / 32, n / 8, 1};
    launch.block = {32, 8, 1};
    launch.arguments.resize(28);
    const int extent = n;
    std::memcpy(launch.arguments.data(), &a, 8);
    std::memcpy(launch.arguments.data() + 8, &b, 8);
    std::memcpy(launch.arguments.data() + 16, &c, 8);
    std::memcpy(launch.arguments.data() + 24, &extent, 4);
    emulator::Options options;
    options.count = true;
    const std::uint64_t instructions =
        emulator::run(*module, memory, launch, options).counters.thread_instructions;
    options.count = count;
    options.check_initialised = initialised;
    options.check_races = races;
    double seconds = 0;
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        const emulator::Outcome outcome = emulator::run(*module, memory, launch, options);
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (!outcome.clean()) state.SkipWithError("the launch is not clean");
    }
    const double each = seconds / static_cast<double>(state.iterations());
    state.counters["thread_inst/s"] = static_cast<double>(instructions) / each;
    state.counters["slowdown"] = each / native_seconds();
}

}  // namespace

BENCHMARK_CAPTURE(matmul, bounds_only, false, false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul, counting, true, false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul, counting_and_initialisation, true, true, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul, every_check, true, true, true)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();

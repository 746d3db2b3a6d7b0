// How fast the emulated GPU executes: kernels x modes in thread-instructions per second, the startup of a
// small launch, and the peers that are there. `table` mode of scripts/bench.sh; any Google Benchmark option
// works.
//
// One host core unless a column says otherwise; rates are per second of processor time, so that a busy
// machine does not blur them (the column of several host threads: of elapsed time). A peer is a shared
// library that somebody has built: GPUOCELOT_LIBRARY names libgpuocelot.so, with the entry point that
// tinygrad uses.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "emulator/emulator.h"
#include "tests/support/nvrtc.h"

namespace {

struct Workload {
    const char* name;
    int n;                // the kernel's last argument
    std::size_t a, b, c;  // elements of four bytes
    emulator::Dim3 grid, block;
};
constexpr std::size_t kSquare = 128 * 128;
const Workload workloads[] = {
    {"naive_matmul", 128, kSquare, kSquare, kSquare, {4, 16, 1}, {32, 8, 1}},
    {"tiled_matmul", 128, kSquare, kSquare, kSquare, {8, 8, 1}, {16, 16, 1}},
    {"transpose", 512, 512 * 512, 1, 512 * 512, {16, 64, 1}, {32, 8, 1}},
    {"row_sum", 4096, 64 * 4096, 1, 64, {64, 1, 1}, {128, 1, 1}},
    {"sparse_rows", 16384, 16384, 16384, 16384, {64, 1, 1}, {256, 1, 1}},
    {"histogram", 1 << 18, 1 << 18, 1, 256, {16, 1, 1}, {256, 1, 1}},
    {"tensor_matmul", 128, kSquare / 2, kSquare / 2, kSquare, {2, 8, 1}, {128, 1, 1}},
};

// Long enough for several host threads.
const Workload large_workloads[] = {
    {"naive_matmul", 256, 256 * 256, 256 * 256, 256 * 256, {8, 32, 1}, {32, 8, 1}},
    {"tiled_matmul", 256, 256 * 256, 256 * 256, 256 * 256, {16, 16, 1}, {16, 16, 1}},
    {"row_sum", 4096, 1024 * 4096, 1, 1024, {1024, 1, 1}, {128, 1, 1}},
    {"sparse_rows", 1 << 17, 1 << 17, 1 << 17, 1 << 17, {512, 1, 1}, {256, 1, 1}},
    {"tensor_matmul", 256, 256 * 128, 256 * 128, 256 * 256, {4, 16, 1}, {128, 1, 1}},
};

struct Mode {
    const char* name;
    bool count, initialised, races;
};
const Mode modes[] = {
    {"plain", false, false, false},  // bounds and alignment are always checked
    {"counters", true, false, false},
    {"checks", true, true, false},  // memory checks and counters
    {"races", true, true, true},
};

std::string ptx_of(const std::string& name) {
    static std::map<std::string, std::string> known;
    std::string& ptx = known[name];
    if (!ptx.empty()) return ptx;
    std::ifstream in(std::string(KW_SOURCE_DIR) + "/tests/bench/kernels/" + name + ".cu");
    const std::string source{std::istreambuf_iterator<char>(in), {}};
    std::string log;
    if (const auto compiled = emulator::test::Nvrtc::get().compile(source, name + ".cu", &log))
        ptx = *compiled;
    if (ptx.empty()) fmt::print(stderr, "{}: not compiled (is there a CUDA toolkit?) {}\n", name, log);
    return ptx;
}

struct Setup {
    emulator::Memory memory;
    emulator::Launch launch;
};
Setup set_up(const Workload& work) {
    Setup s;
    const auto make = [&](const char* name, std::size_t elements, emulator::BufferKind kind) {
        const std::uint64_t at = s.memory.allocate(name, elements * 4, kind);
        if (kind == emulator::BufferKind::output) return at;
        std::vector<std::uint32_t> words(elements);
        for (std::size_t i = 0; i < elements; ++i)  // small halves and floats alike
            words[i] = 0x3c003c00u + (static_cast<std::uint32_t>(i * 2654435761u) >> 24);
        s.memory.write(at, std::as_bytes(std::span(words)));
        return at;
    };
    const bool adds = std::string(work.name) == "histogram";
    const std::uint64_t addresses[] = {
        make("a", work.a, emulator::BufferKind::input), make("b", work.b, emulator::BufferKind::input),
        make("c", work.c, adds ? emulator::BufferKind::inout : emulator::BufferKind::output)};
    s.launch.kernel = work.name;
    s.launch.grid = work.grid;
    s.launch.block = work.block;
    s.launch.arguments.resize(28);
    std::memcpy(s.launch.arguments.data(), addresses, 24);
    std::memcpy(s.launch.arguments.data() + 24, &work.n, 4);
    return s;
}

void execute(benchmark::State& state, const Workload& work, const Mode& mode, emulator::HostIsa isa,
             unsigned threads) {
    auto loaded = emulator::Module::load(ptx_of(work.name), isa);
    auto* module = std::get_if<emulator::Module>(&loaded);
    if (module == nullptr) {
        state.SkipWithError("the PTX does not load");
        return;
    }
    Setup s = set_up(work);
    emulator::Options options;
    options.host_threads = threads;
    options.check_races = false;
    const std::uint64_t instructions =
        emulator::run(*module, s.memory, s.launch, options).counters.thread_instructions;
    options.count = mode.count;
    options.check_initialised = mode.initialised;
    options.check_races = mode.races;
    for (auto _ : state)
        if (!emulator::run(*module, s.memory, s.launch, options).clean())
            state.SkipWithError("the launch is not clean");
    state.counters["thread_inst/s"] =
        benchmark::Counter(static_cast<double>(instructions) * static_cast<double>(state.iterations()),
                           benchmark::Counter::kIsRate);
}

// From PTX text to the result of one block of 64 threads.
void startup(benchmark::State& state) {
    const std::string ptx = ptx_of("naive_matmul");
    Workload work = workloads[0];
    work.n = 8;
    work.grid = {1, 1, 1};
    work.block = {8, 8, 1};
    for (auto _ : state) {
        auto loaded = emulator::Module::load(ptx);
        auto* module = std::get_if<emulator::Module>(&loaded);
        Setup s = set_up(work);
        if (module == nullptr || !emulator::run(*module, s.memory, s.launch, {}).clean())
            state.SkipWithError("the launch is not clean");
    }
}

// ---- peers ----

using OcelotRun = void (*)(const char* ptx, int count, void* arguments[], int block_x, int block_y,
                           int block_z, int grid_x, int grid_y, int grid_z, int shared);

OcelotRun find_ocelot() {
    const char* path = std::getenv("GPUOCELOT_LIBRARY");
    if (path == nullptr) return nullptr;
    void* library = dlopen(path, RTLD_NOW);
    if (library == nullptr) {
        fmt::print(stderr, "GPUOCELOT_LIBRARY: {}\n", dlerror());
        return nullptr;
    }
    return reinterpret_cast<OcelotRun>(dlsym(library, "ptx_run"));
}

// What gpuocelot's parser takes: PTX 4.0, without line information.
std::string for_ocelot(const std::string& ptx) {
    std::string out;
    for (std::size_t at = 0; at < ptx.size();) {
        const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
        const std::string line = ptx.substr(at, end - at);
        at = end + 1;
        if (line.starts_with(".version"))
            out += ".version 4.0\n";
        else if (line.starts_with(".target"))
            out += ".target sm_35\n";
        else if (line.find(".section") != std::string::npos)
            break;  // debug information, at the end
        else if (line.find(".loc") == std::string::npos && line.find(".file") == std::string::npos &&
                 line.find(".pragma") == std::string::npos &&
                 line.find(".explicitcluster") == std::string::npos)
            out += line + "\n";
    }
    return out;
}

void ocelot(benchmark::State& state, const Workload& work, OcelotRun run) {
    const std::string ptx = for_ocelot(ptx_of(work.name));
    std::vector<float> a(work.a, 1.0F), b(work.b, 1.0F), c(work.c);
    void* arguments[] = {a.data(), b.data(), c.data(), nullptr};
    const std::intptr_t n = work.n;
    std::memcpy(&arguments[3], &n, sizeof n);
    auto loaded = emulator::Module::load(ptx_of(work.name));
    auto* module = std::get_if<emulator::Module>(&loaded);
    if (module == nullptr) {
        state.SkipWithError("the PTX does not load");
        return;
    }
    Setup s = set_up(work);
    const std::uint64_t instructions =
        emulator::run(*module, s.memory, s.launch, {}).counters.thread_instructions;
    for (auto _ : state)
        run(ptx.c_str(), 4, arguments, static_cast<int>(work.block.x), static_cast<int>(work.block.y),
            static_cast<int>(work.block.z), static_cast<int>(work.grid.x), static_cast<int>(work.grid.y),
            static_cast<int>(work.grid.z), 0);
    if (c[0] != static_cast<float>(work.n)) state.SkipWithError("gpuocelot's result is wrong");
    state.counters["thread_inst/s"] =
        benchmark::Counter(static_cast<double>(instructions) * static_cast<double>(state.iterations()),
                           benchmark::Counter::kIsRate);
}

// ---- the table ----

const char* name_of(emulator::HostIsa isa) {
    return isa == emulator::HostIsa::baseline ? "baseline" : isa == emulator::HostIsa::v3 ? "v3" : "v4";
}

// Keeps the runs' figures for the table; shows what went wrong.
class Collector : public benchmark::BenchmarkReporter {
  public:
    std::map<std::string, double> rates, milliseconds;

    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.error_occurred) {
                fmt::print(stderr, "{}: {}\n", run.benchmark_name(), run.error_message);
                continue;
            }
            std::string name = run.run_name.function_name;
            milliseconds[name] = run.GetAdjustedCPUTime();
            if (const auto rate = run.counters.find("thread_inst/s"); rate != run.counters.end())
                rates[name] = rate->second;
        }
    }
    std::string cell(const std::string& name) const {
        const auto at = rates.find(name);
        return at == rates.end() ? "-" : fmt::format("{:.0f}", at->second / 1e6);
    }
};

void print_table(const Collector& all, unsigned threads, bool ocelot_there) {
    fmt::print(
        "\nMillions of thread-instructions per second; one host core, per second of processor time.\n\n");
    for (const emulator::HostIsa isa :
         {emulator::HostIsa::v4, emulator::HostIsa::v3, emulator::HostIsa::baseline}) {
        if (!emulator::supports(isa)) {
            fmt::print("{}: not on this processor\n\n", name_of(isa));
            continue;
        }
        fmt::print("{:<16}", name_of(isa));
        for (const Mode& mode : modes) fmt::print("{:>10}", mode.name);
        fmt::print("\n");
        for (const Workload& work : workloads) {
            fmt::print("{:<16}", work.name);
            for (const Mode& mode : modes)
                fmt::print("{:>10}", all.cell(fmt::format("{}/{}/{}", work.name, name_of(isa), mode.name)));
            fmt::print("\n");
        }
        fmt::print("\n");
    }
    if (threads > 1) {
        fmt::print("{} host threads, elapsed time, checks: ratio to one host thread\n", threads);
        for (const Workload& work : large_workloads) {
            const auto one = all.rates.find(fmt::format("{}/threads:1", work.name));
            const auto several = all.rates.find(fmt::format("{}/threads:{}", work.name, threads));
            if (one != all.rates.end() && several != all.rates.end())
                fmt::print("{:<16}{:>10.2f}\n", work.name, several->second / one->second);
        }
        fmt::print("\n");
    }
    if (const auto at = all.milliseconds.find("startup"); at != all.milliseconds.end())
        fmt::print("startup (load the PTX, run one block of 64 threads): {:.2f} ms\n", at->second);
    const auto peer = all.rates.find("gpuocelot/naive_matmul");
    const auto own =
        all.rates.find(fmt::format("naive_matmul/{}/checks", name_of(emulator::best_host_isa())));
    if (peer != all.rates.end() && own != all.rates.end())
        fmt::print(
            "gpuocelot, naive_matmul: {:.1f}; emulated GPU with memory checks and counters: {:.1f} times "
            "that\n",
            peer->second / 1e6, own->second / peer->second);
    else
        fmt::print("gpuocelot: {}\n", ocelot_there ? "not run" : "absent (GPUOCELOT_LIBRARY is not set)");
}

}  // namespace

int main(int argc, char** argv) {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    for (const Workload& work : workloads) {
        for (const emulator::HostIsa isa :
             {emulator::HostIsa::v4, emulator::HostIsa::v3, emulator::HostIsa::baseline}) {
            if (!emulator::supports(isa)) continue;
            for (const Mode& mode : modes)
                benchmark::RegisterBenchmark(
                    fmt::format("{}/{}/{}", work.name, name_of(isa), mode.name).c_str(),
                    [&work, &mode, isa](benchmark::State& state) { execute(state, work, mode, isa, 1); })
                    ->Unit(benchmark::kMillisecond);
        }
    }
    for (const Workload& work : large_workloads) {
        for (const unsigned n : {1U, threads})
            benchmark::RegisterBenchmark(fmt::format("{}/threads:{}", work.name, n).c_str(),
                                         [&work, n](benchmark::State& state) {
                                             execute(state, work, modes[2], emulator::best_host_isa(), n);
                                         })
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime();
    }
    benchmark::RegisterBenchmark("startup", startup)->Unit(benchmark::kMillisecond);
    const OcelotRun run = find_ocelot();
    if (run != nullptr)
        benchmark::RegisterBenchmark("gpuocelot/naive_matmul", [run](benchmark::State& state) {
            ocelot(state, workloads[0], run);
        })->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector);
    print_table(collector, threads, run != nullptr);
    benchmark::Shutdown();
    return 0;
}

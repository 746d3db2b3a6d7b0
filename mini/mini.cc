#include <cstdio>
#include <chrono>
#include <fmt/format.h>
#include "harness/cli/workbench.h"
#include "harness/cli/workers.h"
using namespace kernelwright;
int main(int argc, char** argv) {
    const WorkerTable workers = cli::workers();
    if (const auto status = run_worker_if_asked(argc, argv, workers)) return *status;
    auto bench = cli::make_workbench({});
    if (!bench) { fmt::print("{}\n", bench.error().error.str()); return 3; }
    auto task = bench->task(argv[1]);
    if (!task) { fmt::print("{}\n", task.error().error.str()); return 2; }
    auto source = load_candidate(argv[2]);
    auto ex = bench->expectations(*task);
    GateOptions o;
    auto t0 = std::chrono::steady_clock::now();
    if (argc > 3) o.progress = [&](const std::string& l) { fmt::print(stderr, "{:.2f} {}\n", std::chrono::duration<double>(std::chrono::steady_clock::now()-t0).count(), l); };
    GateParts parts{*bench->compiler, *bench->device, **ex, bench->targets};
    auto r = check(*task, *source, argv[2], parts, o);
    if (r.environment) fmt::print("ENV {}\n", r.environment->str());
    for (auto& d : r.diagnostics) fmt::print("   {}\n", to_line(d).substr(0,400));
    fmt::print("{} {} stage {} shapes {} cases {} {:.2f}s\n", r.pass ? "PASS" : "FAIL", argv[2], r.stage ? to_string(*r.stage) : "-", r.shapes_checked, r.cases_checked, std::chrono::duration<double>(std::chrono::steady_clock::now()-t0).count());
    return r.pass ? 0 : 1;
}

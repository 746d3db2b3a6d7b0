#include "harness/cli/workbench.h"

#include <fmt/format.h>

#include <utility>

#include "harness/compile/nvrtc_compiler.h"
#include "harness/core/text.h"
#include "harness/device/worker.h"
#include "harness/sandbox/policy.h"

namespace kernelwright::cli {

Result<Workbench, Refusal> make_workbench(const WorkbenchOptions& options) {
    const auto mode = parse_sandbox_mode(options.sandbox);
    if (!mode) {
        return Refusal{Exit::usage, Error{fmt::format("--sandbox {}: it is best-effort, require or off",
                                                      options.sandbox)}};
    }
    if (options.device.starts_with("cuda")) {
        return Refusal{Exit::missing,
                       Error{fmt::format("--device {}: running on a GPU is not built yet", options.device),
                             {},
                             0,
                             0,
                             "use --device emulator"}};
    }
    if (options.device != "emulator") {
        return Refusal{Exit::usage,
                       Error{fmt::format("--device {}: it is emulator or cuda:N", options.device)}};
    }
    Workbench bench;
    auto data = data_folder();
    if (!data) return Refusal{Exit::missing, data.error()};
    bench.data = std::move(*data);
    auto targets = DeviceTable::load(bench.data / "devices");
    if (!targets) return Refusal{Exit::missing, targets.error()};
    bench.targets = std::move(*targets);
    if (!options.target.empty()) {
        const auto found = bench.targets.find(options.target);
        if (!found) return Refusal{Exit::usage, found.error()};
    }
    CompilerConfig compiler;
    compiler.sandbox = *mode;
    bench.compiler = make_compiler(std::move(compiler));
    WorkerDeviceOptions device;
    device.sandbox = *mode;
    bench.device = make_worker_device(device);
    return bench;
}

Result<Task> load_named_task(const std::string& given) {
    const std::filesystem::path page = resolve_task(given);
    std::error_code ec;
    if (!std::filesystem::exists(page, ec)) {
        if (given.find('/') != std::string::npos)
            return Error{ec ? "cannot open: " + ec.message() : "there is no such task page", given};
        return Error{fmt::format("no task `{}`{}", given, did_you_mean(given, library_names())),
                     {},
                     0,
                     0,
                     "`kernelwright tasks` lists the shipped ones; a page is named by its path"};
    }
    if (page.extension() == ".cu")
        return Error{"a candidate where a task belongs", given, 0, 0,
                     "the task comes first: check TASK CANDIDATE.cu"};
    return load_task(page);
}

Result<Task, Refusal> Workbench::task(const std::string& given) const {
    auto task = load_named_task(given);
    if (!task) return Refusal{Exit::usage, task.error()};
    if (const Status sound = validate_task(*task); !sound) return Refusal{Exit::usage, sound.error()};
    return std::move(*task);
}

Result<std::unique_ptr<Expectations>, Refusal> Workbench::expectations(const Task& task) const {
    if (task.reference_code) {
        // A page's own CUDA needs the compiler before anything else does; say so when it is not there.
        CompileRequest empty;
        empty.source = "extern \"C\" __global__ void k() {}";
        empty.file = "probe.cu";
        const CompileOutcome probe = compiler->compile(empty);
        if (probe.environment) return Refusal{Exit::missing, *probe.environment};
    }
    auto made = make_expectations(task, *compiler, *device);
    if (!made) return Refusal{Exit::usage, made.error()};
    return std::move(*made);
}

}  // namespace kernelwright::cli

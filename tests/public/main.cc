// public-run: public CUDA sources, compiled by the project's compile path and run on the emulated GPU. The
// sources are not part of the project; README.md says how to get them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "emulator/src/memory/module_memory.h"
#include "harness/compile/compile_worker.h"
#include "harness/compile/nvrtc_compiler.h"
#include "harness/sandbox/worker.h"
#include "tests/public/device_part.h"
#include "tests/public/source.h"

namespace kernelwright::public_sources {
namespace {

struct Request {
    std::string sources, only, scan, scan_commit, write, target = "sm_80";
    std::vector<std::string> include_folders;
    bool markdown = false, show = false, list = false;
};

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

std::optional<std::string> output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"),
                                                     [](FILE* f) { return f == nullptr ? 0 : pclose(f); });
    if (!pipe) return std::nullopt;
    std::string out;
    std::array<char, 65536> piece{};
    for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe.get())) > 0;)
        out.append(piece.data(), n);
    return out;
}

// ROOT/OWNER/NAME or ROOT/OWNER+NAME/repo, a clone or its git directory.
std::string git_folder(const std::string& root, std::string repository) {
    const std::filesystem::path plain = std::filesystem::path(root) / repository;
    if (std::filesystem::exists(plain)) return plain.string();
    std::replace(repository.begin(), repository.end(), '/', '+');
    return (std::filesystem::path(root) / repository / "repo").string();
}

std::function<std::optional<std::string>(const std::string&)> reader(const std::string& root,
                                                                     const std::string& repository,
                                                                     const std::string& commit) {
    const std::string git = "git -C " + quoted(git_folder(root, repository)) + " ";
    return [git, commit](const std::string& path) -> std::optional<std::string> {
        const std::string object = quoted(commit + ":" + path);
        const auto kind = output_of(git + "cat-file -t " + object + " 2>/dev/null");
        if (!kind || *kind != "blob\n") return std::nullopt;
        return output_of(git + "show " + object + " 2>/dev/null");
    };
}

std::string first_lines(const std::vector<Diagnostic>& diagnostics) {
    std::string out;
    for (std::size_t i = 0; i < diagnostics.size() && i < 4; ++i)
        out += (i ? "\n  " : "") + to_line(diagnostics[i]);
    return out;
}

struct Result {
    std::string outcome;
    double seconds = 0;
    std::uint64_t instructions = 0;
    bool as_expected = false;
};

Result run_one(Compiler& compiler, const Source& source, const Request& request) {
    Result result;
    DevicePartOptions part;
    part.read = reader(request.sources, source.repository, source.commit);
    part.include_folders = source.include_folders;
    part.drop = source.drop;
    CompileRequest job;
    job.file = source.path;
    job.target = source.target;
    job.options = source.options;
    job.name_expressions = source.kernels;
    job.time_limit = std::chrono::milliseconds(120'000);
    std::string text = device_part(source.path, part);
    for (const auto& [from, to] : source.replace) {
        const std::size_t at = text.find(from);
        if (at == std::string::npos) throw std::runtime_error("`" + from + "` is not in the source");
        text.replace(at, from.size(), to);
    }
    job.source =
        source.prologue.empty() ? text : source.prologue + "\n#line 1 \"" + source.path + "\"\n" + text;
    if (request.show) fmt::print("{}\n", job.source);
    const CompileOutcome compiled = compiler.compile(job);
    if (!compiled.build) {
        result.outcome = compiled.environment ? compiled.environment->message
                                              : "does not compile: " + first_lines(compiled.diagnostics);
        return result;
    }
    if (!request.write.empty()) std::ofstream(request.write) << compiled.build->ptx;
    auto loaded = emulator::Module::load(compiled.build->ptx);
    if (const auto* error = std::get_if<emulator::LoadError>(&loaded)) {
        result.outcome = fmt::format("does not load: PTX line {}: {} [{}]", error->ptx_line, error->message,
                                     error->instruction);
        return result;
    }
    const auto& module = std::get<emulator::Module>(loaded);
    int faults = 0;
    double worst = 0;
    constexpr std::array<std::uint64_t, 3> seeds{0, 1, 7};
    for (const std::uint64_t seed : seeds) {
        Session session(*compiled.build, module, seed);
        std::string failure;
        try {
            source.run(session);
            if (session.checks() == 0) failure = "nothing was compared";
        } catch (const Failure& e) {
            failure = e.what();
        }
        result.seconds += session.seconds();
        result.instructions += session.instructions();
        worst = std::max(worst, session.worst());
        if (!failure.empty()) {
            ++faults;
            const std::string rule = source.expected_fault.substr(0, source.expected_fault.find(':'));
            if (rule.empty() || !failure.starts_with(rule)) {
                result.outcome = fmt::format("seed {}: {}", seed, failure);
                return result;
            }
            result.outcome = failure;
        }
    }
    if (source.expected_fault.empty()) {
        result.as_expected = true;
        result.outcome =
            worst > 0 ? fmt::format("right; worst error {:.2g} of the bound", worst) : "right, to the bit";
    } else if (faults == 0) {
        result.outcome = "clean, although a fault is expected: " + source.expected_fault;
    } else {
        result.as_expected = true;
        result.outcome =
            fmt::format("fault of the source in {} of {} runs: {}", faults, seeds.size(), result.outcome);
    }
    return result;
}

// Compiles every .cu file of a repository and loads what comes out.
int scan(Compiler& compiler, const Request& request) {
    const std::string commit = request.scan_commit;
    const auto names = output_of("git -C " + quoted(git_folder(request.sources, request.scan)) +
                                 " ls-tree -r --name-only " + quoted(commit));
    std::size_t compiled_count = 0, failed = 0, unloaded = 0;
    std::string list = names.value_or("");
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find('\n', at), list.size());
        const std::string path = list.substr(at, end - at);
        at = end + 1;
        if (!path.ends_with(".cu") || path.find(request.only) == std::string::npos) continue;
        DevicePartOptions part;
        part.read = reader(request.sources, request.scan, commit);
        part.include_folders = request.include_folders;
        CompileRequest job;
        job.file = path;
        job.target = request.target;
        job.source = device_part(path, part);
        if (job.source.find("__global__") == std::string::npos) continue;
        const CompileOutcome outcome = compiler.compile(job);
        if (!outcome.build) {
            ++failed;
            fmt::print("COMPILE {}: {}\n", path, first_lines(outcome.diagnostics));
            continue;
        }
        ++compiled_count;
        if (!request.write.empty()) {
            std::string file = path;
            std::replace(file.begin(), file.end(), '/', '+');
            std::ofstream(std::filesystem::path(request.write) / (file + ".ptx")) << outcome.build->ptx;
        }
        const auto loaded = emulator::Module::load(outcome.build->ptx);
        if (const auto* error = std::get_if<emulator::LoadError>(&loaded)) {
            ++unloaded;
            fmt::print("LOAD {}: PTX line {}: {} [{}]\n", path, error->ptx_line, error->message,
                       error->instruction);
        } else {
            std::set<std::string> reasons;
            for (const auto& [id, reason] : std::get<emulator::Module>(loaded).impl().program.unsupported)
                reasons.insert(reason);
            for (const std::string& reason : reasons) fmt::print("UNSUPPORTED {}: {}\n", path, reason);
        }
        std::fflush(stdout);
    }
    fmt::print("{} compiled, {} did not compile, {} did not load\n", compiled_count, failed, unloaded);
    return unloaded == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
    Request request;
    CLI::App app{"Runs public CUDA sources on the emulated GPU"};
    app.add_option("--sources", request.sources, "folder of the clones, OWNER/NAME")->required();
    app.add_option("--only", request.only, "cases (with --scan: files) whose name contains this");
    app.add_option("--scan", request.scan,
                   "OWNER/NAME: compile and load all of a repository's .cu files instead");
    app.add_option("--commit", request.scan_commit, "of --scan")->default_val("HEAD");
    app.add_option("--include", request.include_folders, "folders of the repository, of --scan");
    app.add_option("--target", request.target, "of --scan")->capture_default_str();
    app.add_option("--write-ptx", request.write, "file (with --scan: folder) for the PTX");
    app.add_flag("--markdown", request.markdown, "print the table of results/public-sources.md");
    app.add_flag("--show", request.show, "print the device part");
    CLI11_PARSE(app, argc, argv);
    const std::unique_ptr<Compiler> compiler = make_compiler();
    if (!request.scan.empty()) return scan(*compiler, request);
    int wrong = 0;
    if (request.markdown)
        fmt::print(
            "| source | kernels | features | sizes | outcome (seeds 0, 1, 7) | thread-instructions | s |\n"
            "|---|---|---|---|---|---|---|\n");
    for (const Source& source : all_sources()) {
        if (source.name.find(request.only) == std::string::npos) continue;
        Result result;
        try {
            result = run_one(*compiler, source, request);
        } catch (const std::runtime_error& e) {
            result.outcome = e.what();
        }
        if (!result.as_expected) ++wrong;
        if (request.markdown) {
            std::string kernels;
            for (const std::string& kernel : source.kernels)
                if (kernel[0] != '&') kernels += (kernels.empty() ? "`" : ", `") + kernel + "`";
            fmt::print("| {} `{}` @{} | {} | {} | {} | {} | {:.3g} M | {:.1f} |\n", source.repository,
                       source.path, source.commit.substr(0, 10), kernels, source.features, source.sizes,
                       (result.as_expected ? "" : "**") + result.outcome + (result.as_expected ? "" : "**"),
                       static_cast<double>(result.instructions) * 1e-6, result.seconds);
        } else {
            fmt::print("{} {}: {} ({:.3g} M thread-instructions, {:.2f} s)\n",
                       result.as_expected ? "ok  " : "FAIL", source.name, result.outcome,
                       static_cast<double>(result.instructions) * 1e-6, result.seconds);
        }
        std::fflush(stdout);
    }
    return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kernelwright::public_sources

int main(int argc, char** argv) {
    kernelwright::WorkerTable workers;
    kernelwright::add_compile_worker(workers);
    if (const auto status = kernelwright::run_worker_if_asked(argc, argv, workers)) return *status;
    return kernelwright::public_sources::run(argc, argv);
}

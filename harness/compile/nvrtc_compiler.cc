#include "harness/compile/nvrtc_compiler.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "harness/compile/findings.h"
#include "harness/compile/stub_headers.h"
#include "harness/core/hash.h"
#include "harness/core/text.h"
#include "harness/sandbox/worker_session.h"

namespace kernelwright {
namespace {

using std::chrono::milliseconds;

std::string cache_key(const CompileRequest& request, const NvrtcLocation& nvrtc) {
    Json key{{"form", 1},
             {"source", sha256_hex(request.source)},
             {"name", program_name(request.file)},
             {"file", request.file},  // stored warnings bear it
             {"target", request.target},
             {"options", request.options},
             {"names", request.name_expressions},
             {"nvrtc", nvrtc.fingerprint()},
             {"stubs", stub_headers_hash()}};
    for (const auto& [name, value] : request.defines) key["defines"][name] = value;
    return sha256_hex(key.dump(-1, ' ', false, Json::error_handler_t::replace));
}

class NvrtcCompiler final : public Compiler {
  public:
    explicit NvrtcCompiler(CompilerConfig config) : config_(std::move(config)) {
        if (!config_.cache_folder) {
            const std::filesystem::path folder = default_cache_folder();
            config_.cache_folder = folder.empty() ? folder : folder / "compile";
        }
        if (!config_.cache_folder->empty()) cache_.emplace(*config_.cache_folder, config_.cache_limit);
    }

    CompileOutcome compile(const CompileRequest& request) override {
        const auto started = std::chrono::steady_clock::now();
        CompileOutcome outcome;
        outcome.diagnostics = check_request(request);
        if (!outcome.diagnostics.empty()) return outcome;
        const auto nvrtc = locate();
        if (!nvrtc) {
            outcome.environment = nvrtc.error();
            return outcome;
        }
        const std::string key = cache_ ? cache_key(request, *nvrtc) : "";
        if (cache_) {
            if (auto build = cache_->find(key)) {
                outcome.build = std::move(*build);
                return outcome;
            }
        }
        auto answer = ask(request, *nvrtc);
        outcome =
            answer ? interpret(request, *nvrtc, std::move(*answer)) : interpret(request, answer.error());
        if (outcome.build) {
            outcome.build->time =
                std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - started);
            if (cache_) cache_->store(key, *outcome.build);
        }
        return outcome;
    }

  private:
    struct Idle {
        std::unique_ptr<WorkerSession> session;
        std::size_t memory_limit = 0;
    };

    Result<NvrtcLocation> locate() {
        const std::lock_guard lock(mutex_);
        if (!config_.nvrtc) {
            auto found = find_nvrtc();
            if (!found) return found.error();
            config_.nvrtc = std::move(*found);
        }
        return *config_.nvrtc;
    }

    std::unique_ptr<WorkerSession> take_idle(std::size_t memory_limit) {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < idle_.size(); ++i) {
            if (idle_[i].memory_limit != memory_limit) continue;
            auto session = std::move(idle_[i].session);
            idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
            return session;
        }
        return nullptr;
    }

    void give_back(std::unique_ptr<WorkerSession> session, std::size_t memory_limit) {
        // One that kept much of what it allocated makes room for a fresh one.
        const std::lock_guard lock(mutex_);
        if (idle_.size() < config_.idle_workers && session->resident_memory() < memory_limit / 4) {
            idle_.push_back({std::move(session), memory_limit});
        }
    }

    Result<std::unique_ptr<WorkerSession>, WorkerFailure> start(const CompileRequest& request,
                                                                const NvrtcLocation& nvrtc) {
        WorkerStart start;
        start.kind = compile_worker_kind;
        start.program = config_.worker_program;
        start.policy = compile_policy(nvrtc, request.memory_limit, config_.sandbox);
        start.configuration =
            Json{{"library", nvrtc.library.string()}, {"builtins", nvrtc.builtins().string()}};
        return WorkerSession::start(start);
    }

    Result<CompileAnswer, WorkerFailure> ask(const CompileRequest& request, const NvrtcLocation& nvrtc) {
        CompileJob job;
        job.source = request.source;
        job.name = program_name(request.file);
        job.arguments = nvrtc_arguments(request, nvrtc, true);
        job.ptx_arguments = nvrtc_arguments(request, nvrtc, false);
        job.name_expressions = request.name_expressions;
        const Message message = to_message(job);
        std::unique_ptr<WorkerSession> session = take_idle(request.memory_limit);
        for (bool reused = session != nullptr;; reused = false) {
            if (!session) {
                auto fresh = start(request, nvrtc);
                if (!fresh) return fresh.error();
                session = std::move(*fresh);
            }
            auto reply = session->call(message, request.time_limit);
            if (reply) {
                auto answer = compile_answer_from(std::move(*reply));
                if (!answer)
                    return WorkerFailure{WorkerFailure::Kind::protocol, answer.error().message, {}, {}};
                give_back(std::move(session), request.memory_limit);
                return std::move(*answer);
            }
            const auto kind = reply.error().kind;
            session.reset();
            // A warm worker may have died while it waited; the source is judged by a fresh one.
            const bool limits = kind == WorkerFailure::Kind::timeout || kind == WorkerFailure::Kind::memory;
            if (!reused || limits) return reply.error();
        }
    }

    CompilerConfig config_;
    std::optional<BuildCache> cache_;
    std::mutex mutex_;  // guards config_.nvrtc and idle_
    std::vector<Idle> idle_;
};

std::string demangled(const std::string& symbol) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    const std::string out = status == 0 && text != nullptr ? text : "";
    std::free(text);
    return out;
}

}  // namespace

SandboxPolicy compile_policy(const NvrtcLocation& nvrtc, std::uint64_t memory_limit, SandboxMode mode) {
    SandboxPolicy policy;
    policy.mode = mode;
    policy.read_only = nvrtc.companions();
    policy.read_only.insert(policy.read_only.end(), nvrtc.include_folders.begin(),
                            nvrtc.include_folders.end());
    policy.memory = memory_limit;
    // Room for the libraries' own mappings beside what is allocated.
    policy.address_space = memory_limit + (std::uint64_t{512} << 20);
    policy.file_size = 0;
    return policy;
}

Result<std::string, Diagnostic> kernel_symbol(const Build& build, const std::string& name,
                                              const std::string& file) {
    if (build.kernels.count(name) != 0) return name;
    if (const auto lowered = build.lowered_names.find(name); lowered != build.lowered_names.end())
        return lowered->second;
    Diagnostic d;
    d.rule = "kernel-not-found";
    d.stage = Stage::plan;
    d.file = file;
    d.kernel = name;
    std::vector<std::string> names;
    for (const auto& [symbol, resources] : build.kernels) {
        names.push_back(symbol);
        const std::string plain = demangled(symbol);
        if (plain.substr(0, plain.find('(')) == name) {
            d.message = fmt::format("the compiled file has no kernel `{}`, but `{}`, whose C++ name that is",
                                    name, symbol);
            d.hint = fmt::format("declare it extern \"C\" __global__ void {}(...)", name);
            return d;
        }
    }
    d.message = fmt::format("the compiled file has no kernel `{}`{}", name, did_you_mean(name, names));
    d.hint = names.empty() ? std::string("a kernel that nothing instantiates is not compiled; it has none")
                           : fmt::format("it has {}", fmt::join(names, ", "));
    return d;
}

std::unique_ptr<Compiler> make_compiler(CompilerConfig config) {
    return std::make_unique<NvrtcCompiler>(std::move(config));
}

}  // namespace kernelwright

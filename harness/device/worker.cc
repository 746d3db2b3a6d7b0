#include "harness/device/worker.h"

#include <fmt/format.h>

#include <utility>

#include "harness/device/wire.h"
#include "harness/sandbox/worker_session.h"

namespace kernelwright {
namespace {

Message problem(const std::string& text) {
    Message m;
    m.header["problem"] = text;
    return m;
}

// ---- in the worker ----

class EmulatorWorker final : public WorkerHandler {
  public:
    Message handle(Message job) override {
        const std::string does = job.header.value("do", std::string());
        if (does == "load") return load(std::move(job));
        if (session_ == nullptr) return problem("no module is loaded");
        if (does == "reload") {
            session_->reload();
            return {};
        }
        if (does == "run") return run(std::move(job));
        return problem("unknown request `" + does + "`");
    }

  private:
    Message load(Message job) {
        if (job.blobs.empty()) return problem("the PTX is missing");
        Build build;
        build.ptx = std::move(job.blobs[0]);
        auto opened = device_->open(build);
        Message answer;
        if (!opened) {
            if (opened.error().load) answer.header["load_error"] = wire::to_json(*opened.error().load);
            return answer;
        }
        session_ = std::move(*opened);
        Json kernels = Json::array();
        for (const auto& k : session_->kernels()) kernels.push_back(wire::to_json(k));
        Json globals = Json::array();
        for (const auto& g : session_->globals()) globals.push_back(wire::to_json(g));
        answer.header["kernels"] = std::move(kernels);
        answer.header["globals"] = std::move(globals);
        return answer;
    }

    Message run(Message message) {
        const auto job = wire::unpack_job({std::move(message.header["job"]), std::move(message.blobs)});
        if (!job) return problem(job.error().message);
        auto outcome = session_->run(*job);
        if (!outcome) return problem(outcome.error().message);
        wire::Packet packet = wire::pack(*outcome);
        Message answer;
        answer.header["outcome"] = std::move(packet.header);
        answer.blobs = std::move(packet.blobs);
        return answer;
    }

    std::unique_ptr<Device> device_ = make_emulated_device();
    std::unique_ptr<Session> session_;
};

// ---- in the driver ----

JobFailure failure_of(const WorkerFailure& failure) {
    JobFailure out;
    switch (failure.kind) {
        case WorkerFailure::Kind::timeout:
            out.kind = JobFailure::Kind::timeout;
            break;
        case WorkerFailure::Kind::memory:
            out.kind = JobFailure::Kind::memory;
            break;
        case WorkerFailure::Kind::crashed:
        case WorkerFailure::Kind::killed:
            out.kind = JobFailure::Kind::crashed;
            break;
        case WorkerFailure::Kind::protocol:
            out.kind = JobFailure::Kind::broken;
            break;
        case WorkerFailure::Kind::setup:
            out.kind = JobFailure::Kind::unavailable;
            break;
    }
    out.message = "emulated GPU: " + failure.message;
    return out;
}

class WorkerDeviceSession final : public Session {
  public:
    WorkerDeviceSession(std::string ptx, const WorkerDeviceOptions& options)
        : ptx_(std::move(ptx)), options_(options) {}

    // Starts a worker and loads the module into it.
    std::optional<LoadFailure> start() {
        worker_.reset();
        WorkerStart start;
        start.kind = emulator_worker_kind;
        start.policy.mode = options_.sandbox;
        start.policy.memory = options_.memory;
        auto started = WorkerSession::start(start);
        if (!started) return LoadFailure{std::nullopt, failure_of(started.error())};
        worker_ = std::move(*started);
        Message message;
        message.header["do"] = "load";
        message.blobs.push_back(ptx_);
        const auto answer = worker_->call(message, options_.load_limit);
        if (!answer) return LoadFailure{std::nullopt, failure_of(answer.error())};
        return read_description(answer->header);
    }

    const Signatures& signatures() const override { return signatures_; }
    const std::vector<emulator::KernelInfo>& kernels() const override { return kernels_; }
    const std::vector<emulator::GlobalInfo>& globals() const override { return globals_; }

    void reload() override {
        Message message;
        message.header["do"] = "reload";
        // A worker that cannot even do this is replaced by the next run.
        if (worker_ != nullptr && !worker_->call(message, options_.load_limit)) worker_.reset();
    }

    Result<JobOutcome, JobFailure> run(const Job& job) override {
        if (worker_ == nullptr || !worker_->alive()) {
            if (auto failure = start()) {
                return failure->failure
                           ? *failure->failure
                           : JobFailure{JobFailure::Kind::broken, "emulated GPU: the module no longer loads"};
            }
        }
        wire::Packet packet = wire::pack(job);
        Message message;
        message.header["do"] = "run";
        message.header["job"] = std::move(packet.header);
        message.blobs = std::move(packet.blobs);
        const auto limit =
            job.max_time * static_cast<int>(std::max<std::size_t>(1, job.kernels.size())) + options_.grace;
        auto answer = worker_->call(message, limit);
        if (!answer) return failure_of(answer.error());
        if (answer->header.contains("problem")) {
            return JobFailure{JobFailure::Kind::broken,
                              "emulated GPU: " + answer->header["problem"].get<std::string>()};
        }
        auto outcome = wire::unpack_outcome({std::move(answer->header["outcome"]), std::move(answer->blobs)});
        if (!outcome) return JobFailure{JobFailure::Kind::broken, outcome.error().message};
        return std::move(*outcome);
    }

  private:
    std::optional<LoadFailure> read_description(const Json& header) {
        const auto broken = [](const std::string& why) {
            return LoadFailure{std::nullopt, JobFailure{JobFailure::Kind::broken, "emulated GPU: " + why}};
        };
        if (header.contains("problem")) return broken(header["problem"].get<std::string>());
        if (header.contains("load_error")) {
            auto error = wire::load_error_from_json(header["load_error"]);
            if (!error) return broken(error.error().message);
            return LoadFailure{std::move(*error), std::nullopt};
        }
        if (!header.contains("kernels") || !header.contains("globals"))
            return broken("the module's description is missing");
        kernels_.clear();
        globals_.clear();
        signatures_.clear();
        for (const Json& k : header["kernels"]) {
            auto info = wire::kernel_info_from_json(k);
            if (!info) return broken(info.error().message);
            KernelSignature signature;
            for (const auto& p : info->parameters) signature.push_back({p.type, p.size, p.is_array});
            signatures_[info->name] = std::move(signature);
            kernels_.push_back(std::move(*info));
        }
        for (const Json& g : header["globals"]) {
            auto info = wire::global_info_from_json(g);
            if (!info) return broken(info.error().message);
            globals_.push_back(std::move(*info));
        }
        return std::nullopt;
    }

    std::string ptx_;
    WorkerDeviceOptions options_;
    std::unique_ptr<WorkerSession> worker_;
    Signatures signatures_;
    std::vector<emulator::KernelInfo> kernels_;
    std::vector<emulator::GlobalInfo> globals_;
};

class WorkerDevice final : public Device {
  public:
    explicit WorkerDevice(const WorkerDeviceOptions& options) : options_(options) {}
    std::string name() const override { return "emulator"; }

    Result<std::unique_ptr<Session>, LoadFailure> open(const Build& build) override {
        auto session = std::make_unique<WorkerDeviceSession>(build.ptx, options_);
        if (auto failure = session->start()) return std::move(*failure);
        return std::unique_ptr<Session>(std::move(session));
    }

  private:
    WorkerDeviceOptions options_;
};

}  // namespace

std::unique_ptr<WorkerHandler> make_emulator_worker() { return std::make_unique<EmulatorWorker>(); }
std::unique_ptr<Device> make_worker_device(const WorkerDeviceOptions& options) {
    return std::make_unique<WorkerDevice>(options);
}

}  // namespace kernelwright

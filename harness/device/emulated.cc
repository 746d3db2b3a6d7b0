#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/device/device.h"

namespace kernelwright {
namespace {

emulator::Dim3 dim(const std::array<std::uint32_t, 3>& d) { return {d[0], d[1], d[2]}; }

// About `wanted` blocks: the first, the last and evenly spread ones between, so that both edges are among
// them.
std::vector<std::uint64_t> spread_blocks(std::uint64_t total, std::uint64_t wanted) {
    if (wanted == 0 || total <= wanted) return {};
    std::vector<std::uint64_t> blocks;
    if (wanted == 1) return {0};
    for (std::uint64_t i = 0; i < wanted; ++i) {
        const auto exact = static_cast<__uint128_t>(i) * (total - 1) / (wanted - 1);
        blocks.push_back(static_cast<std::uint64_t>(exact));
    }
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
}

class EmulatedSession final : public Session {
  public:
    explicit EmulatedSession(emulator::Module module) : module_(std::move(module)) {
        for (const emulator::KernelInfo& kernel : module_.kernels()) {
            KernelSignature signature;
            for (const emulator::ParameterInfo& p : kernel.parameters)
                signature.push_back({p.type, p.size, p.is_array});
            signatures_[kernel.name] = std::move(signature);
        }
        memory_.load_globals(module_);
    }

    const Signatures& signatures() const override { return signatures_; }
    const std::vector<emulator::KernelInfo>& kernels() const override { return module_.kernels(); }
    const std::vector<emulator::GlobalInfo>& globals() const override { return module_.globals(); }
    void reload() override { memory_.load_globals(module_); }

    Result<JobOutcome, JobFailure> run(const Job& job) override {
        std::map<std::string, std::uint64_t> addresses;
        memory_.set_address_seed(job.address_seed);
        for (const JobBuffer& buffer : job.buffers) {
            const std::uint64_t address =
                memory_.allocate(buffer.name, buffer.size, buffer.kind, static_cast<std::byte>(job.poison));
            if (!buffer.content.empty()) memory_.write(address, buffer.content);
            addresses[buffer.name] = address;
        }
        JobOutcome outcome;
        for (const BoundKernel& kernel : job.kernels) {
            outcome.kernels.push_back(run_kernel(job, kernel, addresses));
            const KernelRun& run = outcome.kernels.back();
            if (run.refused || !run.faults.empty()) break;
        }
        for (const JobBuffer& buffer : job.buffers) {
            const std::uint64_t address = addresses.at(buffer.name);
            if (buffer.fetch) {
                FetchedBuffer fetched;
                fetched.bytes = memory_.read(address, buffer.size);
                if (buffer.kind != emulator::BufferKind::input)
                    fetched.written = memory_.initialised(address);
                outcome.fetched[buffer.name] = std::move(fetched);
            }
        }
        for (const auto& [name, address] : addresses) memory_.free(address);
        return outcome;
    }

  private:
    KernelRun run_kernel(const Job& job, const BoundKernel& kernel,
                         const std::map<std::string, std::uint64_t>& addresses) {
        KernelRun run;
        run.name = kernel.name;
        const auto lowered = job.lowered_names.find(kernel.name);
        emulator::Launch launch;
        launch.kernel = lowered == job.lowered_names.end() ? kernel.name : lowered->second;
        launch.grid = dim(kernel.grid);
        launch.block = dim(kernel.block);
        launch.dynamic_shared = kernel.dynamic_shared;
        launch.cooperative = kernel.cooperative;
        if (kernel.cluster[0] != 0) launch.cluster = dim(kernel.cluster);
        const emulator::KernelInfo* info = module_.find_kernel(launch.kernel);
        if (info == nullptr || info->parameters.size() != kernel.arguments.size()) {
            run.refused =
                emulator::LaunchError{info == nullptr ? "kernel-not-found" : "argument-size",
                                      "the compiled module does not have this kernel with these parameters"};
            return run;
        }
        // What would otherwise run as if it had not been asked for.
        if (launch.cluster && launch.cluster->count() > 1) {
            run.refused = emulator::LaunchError{
                "emulator-unsupported",
                "thread-block clusters are not supported on the emulated GPU yet; leave `cluster` out"};
            return run;
        }
        for (const BoundArgument& argument : kernel.arguments) {
            if (argument.tensormap.empty()) continue;
            run.refused = emulator::LaunchError{
                "emulator-unsupported", "tensor maps (`" + argument.tensormap +
                                            "`) are not supported on the emulated GPU yet; pass the tensor "
                                            "and copy with cp.async"};
            return run;
        }
        launch.arguments.resize(info->parameter_bytes);
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            const BoundArgument& argument = kernel.arguments[i];
            const emulator::ParameterInfo& parameter = info->parameters[i];
            std::byte* place = launch.arguments.data() + parameter.offset;
            if (!argument.buffer.empty()) {
                const std::uint64_t address = addresses.at(argument.buffer);
                std::memcpy(place, &address, sizeof address);
            } else {
                std::memcpy(place, argument.bytes.data(),
                            std::min<std::size_t>(argument.bytes.size(), parameter.size));
            }
        }
        for (const auto& [symbol, tensor] : kernel.constants) {
            for (const JobBuffer& buffer : job.buffers) {
                if (buffer.name != tensor) continue;
                const std::vector<std::byte> bytes = memory_.read(addresses.at(tensor), buffer.size);
                if (!memory_.write_symbol(module_, symbol, bytes)) {
                    run.refused = emulator::LaunchError{
                        "unknown-constant", "`" + symbol +
                                                "` is no __constant__ or __device__ variable that holds " +
                                                std::to_string(bytes.size()) + " bytes"};
                    return run;
                }
            }
        }
        emulator::Options options;
        options.limits = job.limits;
        options.check_races = job.check_races;
        options.count = job.count;
        options.schedule_seed = job.schedule_seed;
        options.max_warp_instructions = job.max_warp_instructions;
        options.max_time = job.max_time;
        run.blocks_total = launch.grid.count();
        if (!kernel.cooperative) options.blocks = spread_blocks(run.blocks_total, job.sample_blocks);
        run.blocks_run = options.blocks.empty() ? run.blocks_total : options.blocks.size();
        emulator::Outcome outcome = emulator::run(module_, memory_, launch, options);
        run.refused = std::move(outcome.refused);
        run.faults = std::move(outcome.faults);
        run.counters = std::move(outcome.counters);
        run.printed = std::move(outcome.printed);
        return run;
    }

    emulator::Module module_;
    emulator::Memory memory_;
    Signatures signatures_;
};

class EmulatedDevice final : public Device {
  public:
    std::string name() const override { return "emulator"; }

    Result<std::unique_ptr<Session>, LoadFailure> open(const Build& build) override {
        auto loaded = emulator::Module::load(build.ptx);
        if (auto* error = std::get_if<emulator::LoadError>(&loaded))
            return LoadFailure{std::move(*error), std::nullopt};
        return std::unique_ptr<Session>(
            std::make_unique<EmulatedSession>(std::move(std::get<emulator::Module>(loaded))));
    }
};

}  // namespace

bool JobOutcome::clean() const {
    return std::all_of(kernels.begin(), kernels.end(),
                       [](const KernelRun& k) { return !k.refused && k.faults.empty(); });
}

std::unique_ptr<Device> make_emulated_device() { return std::make_unique<EmulatedDevice>(); }

}  // namespace kernelwright

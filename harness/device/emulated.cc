#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "emulator/tensor_map.h"
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

// The blocks of whole clusters, about `wanted` of them.
std::vector<std::uint64_t> spread_clusters(const emulator::Dim3& grid, const emulator::Dim3& cluster,
                                           std::uint64_t wanted) {
    const std::uint64_t n = cluster.count();
    if (wanted == 0 || n == 0 || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z) return {};
    const emulator::Dim3 count{grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
    std::vector<std::uint64_t> blocks;
    for (const std::uint64_t c : spread_blocks(count.count(), std::max<std::uint64_t>(1, wanted / n))) {
        const std::uint64_t x = c % count.x * cluster.x, y = c / count.x % count.y * cluster.y,
                            z = c / (std::uint64_t{count.x} * count.y) * cluster.z;
        for (std::uint64_t k = 0; k < cluster.z; ++k)
            for (std::uint64_t j = 0; j < cluster.y; ++j)
                for (std::uint64_t i = 0; i < cluster.x; ++i)
                    blocks.push_back(((z + k) * grid.y + y + j) * grid.x + x + i);
    }
    std::sort(blocks.begin(), blocks.end());
    return blocks;
}

std::variant<emulator::TensorMap, emulator::TensorMapError> tensor_map(const BoundTensorMap& plan,
                                                                       std::uint64_t address) {
    using Request = emulator::TensorMapRequest;
    Request request;
    switch (plan.dtype) {
        case DType::f64:
            request.type = Request::Type::f64;
            break;
        case DType::f32:
        case DType::tf32:
            request.type = Request::Type::f32;
            break;
        case DType::f16:
            request.type = Request::Type::f16;
            break;
        case DType::bf16:
            request.type = Request::Type::bf16;
            break;
        case DType::i64:
            request.type = Request::Type::s64;
            break;
        case DType::i32:
            request.type = Request::Type::s32;
            break;
        case DType::i16:
            request.type = Request::Type::u16;
            break;
        default:
            request.type = Request::Type::u8;
            break;
    }
    request.swizzle = plan.swizzle == 128  ? Request::Swizzle::bytes128
                      : plan.swizzle == 64 ? Request::Swizzle::bytes64
                      : plan.swizzle == 32 ? Request::Swizzle::bytes32
                                           : Request::Swizzle::none;
    request.fill = plan.oob_nan ? Request::Fill::nan : Request::Fill::zero;
    request.address = address;
    // What is negative or too large for its field breaks the rule of the field.
    for (const std::int64_t n : plan.dims) request.dims.push_back(static_cast<std::uint64_t>(n));
    for (const std::int64_t n : plan.strides) request.strides.push_back(static_cast<std::uint64_t>(n));
    for (const std::int64_t n : plan.box)
        request.box.push_back(n < 0 || n > 65535 ? 0 : static_cast<std::uint32_t>(n));
    return emulator::encode_tensor_map(request);
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
        launch.arguments.resize(info->parameter_bytes);
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            const BoundArgument& argument = kernel.arguments[i];
            const emulator::ParameterInfo& parameter = info->parameters[i];
            std::byte* place = launch.arguments.data() + parameter.offset;
            if (argument.map) {
                const auto map = tensor_map(*argument.map, addresses.at(argument.map->tensor));
                if (const auto* error = std::get_if<emulator::TensorMapError>(&map)) {
                    run.refused = emulator::LaunchError{
                        "bad-tensormap", "the tensor map `" + argument.tensormap + "`: " + error->message};
                    return run;
                }
                const auto& bytes = std::get<emulator::TensorMap>(map);
                std::memcpy(place, bytes.data(), std::min<std::size_t>(bytes.size(), parameter.size));
            } else if (!argument.buffer.empty()) {
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
        options.host_threads = std::max(1U, std::thread::hardware_concurrency());
        run.blocks_total = launch.grid.count();
        if (!kernel.cooperative && !launch.cluster)
            options.blocks = spread_blocks(run.blocks_total, job.sample_blocks);
        else if (!kernel.cooperative)
            options.blocks = spread_clusters(launch.grid, *launch.cluster, job.sample_blocks);
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

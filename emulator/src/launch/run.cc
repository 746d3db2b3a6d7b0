// Module::load and run(): checks a launch, prepares it, lets the scheduler execute it, collects what
// happened.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "emulator/emulator.h"
#include "emulator/src/counters/collect.h"
#include "emulator/src/decode/decoder.h"
#include "emulator/src/exec/report.h"
#include "emulator/src/launch/parallel.h"
#include "emulator/src/launch/prepare.h"
#include "emulator/src/memory/module_memory.h"
#include "emulator/src/races/races.h"
#include "emulator/src/specification/specification.h"

namespace emulator {

namespace {

std::uint64_t hash_text(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325ull;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return h;
}

template <class Predicate>
bool mentions_special(const ptx::Function& function, Predicate wanted) {
    for (const ptx::Instruction& in : function.code)
        for (const ptx::Operand& operand : in.operands)
            if (const auto* special = std::get_if<ptx::Special>(&operand.value))
                if (wanted(special->name)) return true;
    return false;
}

bool mentions_grid_barrier(const ptx::Function& function) {
    return mentions_special(function,
                            [](const std::string& name) { return name == "envreg1" || name == "envreg2"; });
}

// A function that the kernel calls may ask for it as well as the kernel.
bool mentions_reserved_shared(const ptx::Module& module) {
    for (const ptx::Function& function : module.functions)
        if (mentions_special(function,
                             [](const std::string& name) { return name.starts_with("reserved_smem"); }))
            return true;
    return false;
}

KernelInfo describe_kernel(const ptx::Function& f) {
    KernelInfo info;
    info.name = f.name;
    for (const ptx::Variable& p : f.parameters) {
        ParameterInfo parameter;
        parameter.name = p.name;
        parameter.size = static_cast<std::uint32_t>(p.size);
        parameter.align = p.align;
        parameter.offset = static_cast<std::uint32_t>(p.offset);
        parameter.type = ptx::to_string(p.type);
        parameter.is_array = p.is_array;
        parameter.is_pointer = p.is_pointer;
        info.parameter_bytes = std::max(info.parameter_bytes, parameter.offset + parameter.size);
        info.parameters.push_back(std::move(parameter));
    }
    info.static_shared = static_cast<std::uint32_t>(std::min<std::uint64_t>(f.static_shared, 0xffffffffu));
    info.local_bytes = static_cast<std::uint32_t>(f.frame_bytes);
    info.required_block = f.required_block;
    info.max_block = f.max_block;
    info.uses_grid_sync = mentions_grid_barrier(f);
    return info;
}

}  // namespace

Module::Module() : impl_(std::make_unique<Impl>()) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

std::variant<Module, LoadError> Module::load(std::string_view ptx, HostIsa isa) {
    const exec::HandlerSet* handlers = exec::handlers_of(isa);
    if (!handlers)
        throw std::invalid_argument("this processor does not support the instruction set asked for");
    auto parsed = ptx::parse(ptx);
    if (auto* error = std::get_if<LoadError>(&parsed)) return std::move(*error);
    Module module;
    Impl& impl = *module.impl_;
    impl.text = std::move(std::get<ptx::Module>(parsed));
    impl.hash = hash_text(ptx);
    impl.program = decode::decode_module(impl.text, *handlers);
    for (const ptx::Function& f : impl.text.functions)
        if (f.is_kernel) impl.kernels.push_back(describe_kernel(f));
    impl.uses_reserved_shared = mentions_reserved_shared(impl.text);
    const auto written = decode::written_variables(impl.text);
    for (const auto& v : impl.text.variables) {
        if (v->space != ptx::Space::global && v->space != ptx::Space::constant) continue;
        GlobalInfo info;
        info.name = v->name;
        info.space = v->space == ptx::Space::global ? "global" : "const";
        info.size = v->size;
        info.initialised = !v->data.empty() || !v->relocations.empty();
        info.written = v->space == ptx::Space::global && written.count(v.get()) != 0;
        impl.globals.push_back(std::move(info));
    }
    return module;
}

const std::vector<KernelInfo>& Module::kernels() const { return impl_->kernels; }
const std::vector<GlobalInfo>& Module::globals() const { return impl_->globals; }
const KernelInfo* Module::find_kernel(std::string_view name) const {
    for (const KernelInfo& k : impl_->kernels)
        if (k.name == name) return &k;
    return nullptr;
}

namespace {

std::optional<LaunchError> refuse(const KernelInfo* kernel, const ptx::Function* text, const Launch& launch,
                                  const Limits& limits) {
    const auto no = [](const char* rule, std::string message) {
        return LaunchError{rule, std::move(message)};
    };
    if (!kernel) return no("kernel-not-found", fmt::format("the module has no kernel `{}`", launch.kernel));
    const Dim3 &g = launch.grid, &b = launch.block;
    if (g.x == 0 || g.y == 0 || g.z == 0)
        return no("illegal-grid", fmt::format("the grid {} x {} x {} is empty", g.x, g.y, g.z));
    if (g.x > limits.max_grid_x || g.y > limits.max_grid_y || g.z > limits.max_grid_z)
        return no("illegal-grid", fmt::format("the grid {} x {} x {} exceeds {} x {} x {}", g.x, g.y, g.z,
                                              limits.max_grid_x, limits.max_grid_y, limits.max_grid_z));
    if (b.x == 0 || b.y == 0 || b.z == 0)
        return no("illegal-block", fmt::format("the block {} x {} x {} is empty", b.x, b.y, b.z));
    if (b.x > limits.max_block_x || b.y > limits.max_block_y || b.z > limits.max_block_z)
        return no("illegal-block", fmt::format("the block {} x {} x {} exceeds {} x {} x {}", b.x, b.y, b.z,
                                               limits.max_block_x, limits.max_block_y, limits.max_block_z));
    if (b.count() > limits.max_threads_per_block)
        return no("illegal-block", fmt::format("{} threads per block, of at most {}", b.count(),
                                               limits.max_threads_per_block));
    if (kernel->required_block && !(*kernel->required_block == b))
        return no("illegal-block",
                  fmt::format("`{}` requires blocks of {} x {} x {}", kernel->name, kernel->required_block->x,
                              kernel->required_block->y, kernel->required_block->z));
    if (kernel->max_block && b.count() > kernel->max_block->count())
        return no(
            "illegal-block",
            fmt::format("{} threads per block, but `{}` was compiled for at most {} (__launch_bounds__)",
                        b.count(), kernel->name, kernel->max_block->count()));
    const std::uint64_t shared = text->dynamic_shared_offset + std::uint64_t{launch.dynamic_shared};
    if (kernel->static_shared > limits.max_static_shared)
        return no("too-much-shared-memory", fmt::format("{} bytes of static shared memory, of at most {}",
                                                        kernel->static_shared, limits.max_static_shared));
    if (shared > limits.max_shared_optin)
        return no("too-much-shared-memory",
                  fmt::format("{} bytes of shared memory ({} static, {} dynamic), of at most {}", shared,
                              kernel->static_shared, launch.dynamic_shared, limits.max_shared_optin));
    if (launch.arguments.size() != kernel->parameter_bytes)
        return no("argument-size",
                  fmt::format("{} bytes of arguments, but `{}` takes {}", launch.arguments.size(),
                              kernel->name, kernel->parameter_bytes));
    if (text->explicit_cluster && !text->required_cluster && !launch.cluster)
        return no("illegal-cluster",
                  fmt::format("`{}` is to be launched with a cluster, and none is given", kernel->name));
    if (launch.cluster || text->required_cluster) {
        const Dim3 c = launch.cluster ? *launch.cluster : *text->required_cluster;
        if (text->required_cluster && !(*text->required_cluster == c))
            return no("illegal-cluster",
                      fmt::format("`{}` was compiled for clusters of {} x {} x {} blocks, not {} x {} x {}",
                                  kernel->name, text->required_cluster->x, text->required_cluster->y,
                                  text->required_cluster->z, c.x, c.y, c.z));
        if (c.count() == 0 || c.count() > limits.max_cluster_blocks)
            return no("illegal-cluster",
                      limits.max_cluster_blocks <= 1 && c.count() > 0
                          ? fmt::format("a cluster of {} blocks: the device has no clusters", c.count())
                          : fmt::format("a cluster of {} blocks, of at most {}", c.count(),
                                        limits.max_cluster_blocks));
        if (text->max_cluster_rank && c.count() > text->max_cluster_rank)
            return no("illegal-cluster",
                      fmt::format("a cluster of {} blocks, but `{}` was compiled for at most {}", c.count(),
                                  kernel->name, text->max_cluster_rank));
        if (g.x % c.x || g.y % c.y || g.z % c.z)
            return no("illegal-cluster",
                      fmt::format("the grid {} x {} x {} is not a multiple of the cluster {} x {} x {}", g.x,
                                  g.y, g.z, c.x, c.y, c.z));
    }
    if (kernel->uses_grid_sync && !launch.cooperative)
        return no("cooperative-required",
                  fmt::format("`{}` synchronises the grid: the launch must be cooperative", kernel->name));
    if (launch.cooperative) {
        const std::uint64_t warps = (b.count() + 31) / 32;
        std::uint64_t per_sm = std::min<std::uint64_t>(32, 64 / warps);
        if (shared)
            per_sm = std::min<std::uint64_t>(
                per_sm, (std::uint64_t{limits.max_shared_optin} + 1024) / (shared + 1024));
        if (g.count() > per_sm * limits.sm_count)
            return no("grid-not-resident",
                      fmt::format("a cooperative grid of {} blocks, of which {} can be resident", g.count(),
                                  per_sm * limits.sm_count));
    }
    return std::nullopt;
}

// Constants of every function, broadcast to 32 lanes, with addresses filled in, for blocks of this rank.
void fill_constants(exec::Launch& launch, std::uint32_t rank) {
    const exec::Program& program = *launch.program;
    auto& narrow_of = launch.narrow_constants.emplace_back(program.functions.size());
    auto& wide_of = launch.wide_constants.emplace_back(program.functions.size());
    const std::uint64_t shared_base = std::uint64_t{rank} << exec::kRankShift;
    for (std::size_t f = 0; f < program.functions.size(); ++f) {
        const exec::FunctionCode& code = program.functions[f];
        std::vector<std::uint32_t> narrow = code.narrow_constants;
        std::vector<std::uint64_t> wide = code.wide_constants;
        for (const exec::Relocation& r : code.relocations) {
            std::uint64_t value = static_cast<std::uint64_t>(r.addend);
            switch (r.kind) {
                case exec::Relocation::Kind::variable: {
                    const ptx::Variable& v = *launch.module->variables[r.index];
                    value += v.space == ptx::Space::shared ? shared_base + v.offset
                             : launch.variables[r.index]   ? launch.variables[r.index]->address
                                                           : 0;
                    break;
                }
                case exec::Relocation::Kind::function:
                    value += exec::kFunctionTag + r.index;
                    break;
                case exec::Relocation::Kind::parameter:
                    value += launch.parameters->address + r.index;
                    break;
                case exec::Relocation::Kind::dynamic_shared:
                    value += shared_base + launch.kernel_text->dynamic_shared_offset;
                    break;
            }
            if (r.wide)
                wide[r.constant] = value;
            else
                narrow[r.constant] = static_cast<std::uint32_t>(value);
        }
        // Room past the end, as in push_frame.
        narrow_of[f].resize((narrow.size() + 1) * exec::kLanes);
        for (std::size_t i = 0; i < narrow.size(); ++i)
            std::fill_n(narrow_of[f].begin() + static_cast<std::ptrdiff_t>(i * exec::kLanes), exec::kLanes,
                        narrow[i]);
        wide_of[f].resize((wide.size() + 1) * exec::kLanes);
        for (std::size_t i = 0; i < wide.size(); ++i)
            std::fill_n(wide_of[f].begin() + static_cast<std::ptrdiff_t>(i * exec::kLanes), exec::kLanes,
                        wide[i]);
    }
}

}  // namespace

Outcome run(const Module& module, Memory& memory, const Launch& request, const Options& options) {
    Outcome outcome;
    const Module::Impl& impl = module.impl();
    const KernelInfo* kernel = module.find_kernel(request.kernel);
    const std::int32_t number = kernel ? impl.text.find_function(request.kernel) : -1;
    const ptx::Function* text =
        number >= 0 ? &impl.text.functions[static_cast<std::size_t>(number)] : nullptr;
    outcome.refused = refuse(kernel, text, request, options.limits);
    if (outcome.refused) return outcome;
    if (options.engine == Engine::specification)
        return specification::execute(module, memory, request, options, nullptr);

    exec::Launch launch;
    launch.module = &impl.text;
    launch.program = &impl.program;
    launch.kernel_number = number;
    launch.kernel_text = text;
    launch.kernel = &impl.program.functions[static_cast<std::size_t>(number)];
    launch.memory = &memory.impl();
    launch.request = &request;
    launch.options = &options;
    launch.outcome = &outcome;
    launch.check_races = options.check_races;
    launch.check_initialised = options.check_initialised;
    launch.count = options.count;
    launch.variables = module_variables(module, *launch.memory, false);
    launch.grid = request.grid;
    launch.block = request.block;
    launch.explicit_cluster = request.cluster || text->required_cluster;
    if (launch.explicit_cluster)
        launch.cluster = request.cluster ? *request.cluster : *text->required_cluster;
    launch.blocks_per_cluster = static_cast<std::uint32_t>(launch.cluster.count());
    launch.threads_per_block = static_cast<std::uint32_t>(request.block.count());
    launch.warps_per_block = (launch.threads_per_block + 31) / 32;
    launch.shared_bytes =
        static_cast<std::uint32_t>(text->uses_dynamic_shared || request.dynamic_shared
                                       ? text->dynamic_shared_offset + request.dynamic_shared
                                       : text->static_shared);
    if (impl.uses_reserved_shared)
        launch.reserved_shared = (launch.shared_bytes + 127) / 128 * 128 + exec::kReservedShared;
    launch.arguments = request.arguments;
    launch.clock.state = options.schedule_seed;
    launch.clock.pass(std::uint64_t{1} << 20, ~0u);
    const bool calls = !launch.kernel->calls.empty();
    launch.allocates = std::any_of(launch.program->functions.begin(), launch.program->functions.end(),
                                   [](const exec::FunctionCode& f) { return f.allocates; });
    launch.local_limit = launch.kernel->frame_bytes + (calls || launch.allocates ? 65536 : 0);
    launch.local_stride = (launch.local_limit + 63) / 64 * 64;

    const std::uint64_t slot = launch.memory->next_slot, drawn = launch.memory->drawn;
    launch.parameters =
        &launch.memory->add("the kernel's parameters", std::max<std::uint64_t>(request.arguments.size(), 1),
                            BufferKind::input, Buffer::Role::parameters, true, std::byte{0});
    if (!request.arguments.empty())
        std::memcpy(launch.parameters->data(), request.arguments.data(), request.arguments.size());
    if (request.cooperative)
        launch.workspace = &launch.memory->add("the grid's barrier", 64, BufferKind::inout,
                                               Buffer::Role::workspace, true, std::byte{0});
    for (std::uint32_t rank = 0; rank < launch.blocks_per_cluster; ++rank) fill_constants(launch, rank);
    exec::prepare_buffers(launch);
    launch.executed.resize(impl.program.text.size());
    launch.accesses.resize(impl.program.text.size());

    // Every warp executes something: a grid that cannot end inside the limit need not begin.
    const std::uint64_t blocks = options.blocks.empty() ? launch.grid.count() : options.blocks.size();
    if (blocks > options.max_warp_instructions / launch.warps_per_block)
        exec::report_id(launch, "instruction-limit", launch.kernel->code.front().id, 0, 0,
                        fmt::format("the grid {} x {} x {} has {} blocks of {} warps: more warps than the {} "
                                    "warp instructions that a launch may execute",
                                    launch.grid.x, launch.grid.y, launch.grid.z, blocks,
                                    launch.warps_per_block, options.max_warp_instructions),
                        true);
    else
        exec::run_blocks(launch);
    if (launch.check_races) races::end_launch(launch);

    if (options.count) counters::collect(launch, outcome.counters);
    exec::release_buffers(launch);
    launch.memory->remove(*launch.parameters);
    if (launch.workspace) launch.memory->remove(*launch.workspace);
    std::erase_if(launch.memory->buffers, [](const auto&) { return false; });
    launch.memory->drawn = drawn;
    if (launch.heap_bytes == 0) launch.memory->next_slot = slot;
    return outcome;
}

}  // namespace emulator

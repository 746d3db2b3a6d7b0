#include "verifiers/gate/builds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/compile/nvrtc_compiler.h"
#include "harness/profile/occupancy.h"

namespace kernelwright {
namespace {

Diagnostic plan_error(const Candidate& candidate, const char* rule, int line, std::string message,
                      std::string hint = {}) {
    Diagnostic d;
    d.rule = rule;
    d.stage = Stage::plan;
    d.file = candidate.file;
    d.line = line;
    d.message = std::move(message);
    d.hint = std::move(hint);
    return d;
}

bool has_error(const std::vector<Diagnostic>& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

// Instructions that the emulated GPU does not know are a diagnostic of their own, never a wrong result.
Diagnostic unsupported(const emulator::LoadError& error, const std::string& file) {
    Diagnostic d;
    d.rule =
        error.kind == emulator::LoadError::Kind::unsupported ? "emulator-unsupported" : "emulator-syntax";
    d.stage = Stage::launch;
    d.file = error.file.empty() ? file : error.file;
    d.line = error.line;
    d.message = fmt::format("{} (PTX line {}{}{})", error.message, error.ptx_line,
                            error.instruction.empty() ? "" : ": ", error.instruction);
    d.hint =
        "the emulated GPU does not execute this instruction; write it another way or run on a real device";
    return d;
}

// The plan's kernels as the compiled module knows them; names that are not there are plan errors.
void match_kernels(const Candidate& candidate, const LaunchPlan& plan, PlanBuild& out,
                   std::vector<Diagnostic>& diagnostics) {
    for (const KernelPlan& kernel : plan.kernels) {
        const auto symbol = kernel_symbol(*out.build, kernel.name, candidate.file);
        if (!symbol) {
            Diagnostic d = symbol.error();
            d.line = kernel.line;
            diagnostics.push_back(std::move(d));
            continue;
        }
        const auto signature = out.session->signatures().find(*symbol);
        if (signature != out.session->signatures().end()) out.signatures[kernel.name] = signature->second;
        const auto resources = out.build->kernels.find(*symbol);
        if (resources != out.build->kernels.end()) out.resources[kernel.name] = resources->second;
    }
}

// resident_blocks(KERNEL): blocks of the kernel that fit on the whole device at once, where its block size
// does not depend on the shape.
void add_resident_blocks(const LaunchPlan& plan, PlanBuild& out) {
    for (const KernelPlan& kernel : plan.kernels) {
        const auto resources = out.resources.find(kernel.name);
        if (resources == out.resources.end()) continue;
        std::int64_t threads = 1;
        bool known = true;
        for (const Expression& e : kernel.block) {
            const auto value = e.evaluate(out.environment);
            known = known && value.ok() && *value > 0 && *value <= 1024;
            if (known) threads *= *value;
        }
        const auto shared = kernel.shared.evaluate(out.environment);
        if (!known || threads > 1024 || !shared || *shared < 0 || *shared > (1 << 20)) continue;
        const Occupancy occupancy =
            theoretical_occupancy(out.facts, resources->second, static_cast<std::uint32_t>(threads),
                                  static_cast<std::uint32_t>(*shared));
        out.environment.resident_blocks[kernel.name] = static_cast<std::int64_t>(occupancy.blocks_per_sm) *
                                                       static_cast<std::int64_t>(out.facts.sm_count);
    }
}

}  // namespace

Builds make_builds(const Candidate& candidate, const std::string& target, const DeviceTable& targets,
                   Compiler& compiler, Device& device) {
    Builds out;
    std::vector<std::pair<CompileRequest, std::size_t>> made;  // request -> the plan that has its build
    const auto same = [](const CompileRequest& a, const CompileRequest& b) {
        return a.target == b.target && a.options == b.options && a.defines == b.defines &&
               a.name_expressions == b.name_expressions;
    };
    for (std::size_t i = 0; i < candidate.plans.size(); ++i) {
        const LaunchPlan& plan = candidate.plans[i];
        const std::string wanted = !target.empty()        ? target
                                   : !plan.target.empty() ? plan.target
                                                          : default_target;
        const auto facts = targets.find(wanted);
        if (!facts) {
            out.diagnostics.push_back(plan_error(candidate, "unknown-target", plan.line,
                                                 facts.error().message, facts.error().hint));
            return out;
        }
        PlanBuild build;
        build.facts = *facts;
        CompileRequest request;
        request.source = candidate.source;
        request.file = candidate.file;
        request.target = facts->target;
        request.options = plan.options;
        request.defines = plan.defines;
        for (const KernelPlan& kernel : plan.kernels) {
            if (kernel.is_name_expression()) request.name_expressions.push_back(kernel.name);
        }
        const auto before =
            std::find_if(made.begin(), made.end(), [&](const auto& m) { return same(m.first, request); });
        if (before != made.end()) {
            build.build = out.plans[before->second].build;
            build.session = out.plans[before->second].session;
        } else {
            CompileOutcome compiled = compiler.compile(request);
            if (compiled.environment) {
                out.environment = std::move(compiled.environment);
                return out;
            }
            if (!compiled.build) {
                out.diagnostics = std::move(compiled.diagnostics);
                return out;
            }
            for (const Diagnostic& warning : compiled.build->warnings) out.diagnostics.push_back(warning);
            build.build = std::make_shared<const Build>(std::move(*compiled.build));
            auto opened = device.open(*build.build);
            if (!opened) {
                const LoadFailure& failure = opened.error();
                if (failure.failure && failure.failure->kind == JobFailure::Kind::unavailable) {
                    out.environment = Error{failure.failure->message};
                    return out;
                }
                Diagnostic d;
                if (failure.load) {
                    d = unsupported(*failure.load, candidate.file);
                } else {
                    d.rule = "worker-died";
                    d.stage = Stage::limits;
                    d.file = candidate.file;
                    d.message =
                        failure.failure ? failure.failure->message : "the device could not load the module";
                }
                out.diagnostics.push_back(std::move(d));
                return out;
            }
            build.session = std::move(*opened);
            made.emplace_back(request, i);
        }
        build.environment.integers = expression_facts(build.facts);
        match_kernels(candidate, plan, build, out.diagnostics);
        add_resident_blocks(plan, build);
        out.plans.push_back(std::move(build));
    }
    if (has_error(out.diagnostics)) out.plans.clear();
    return out;
}

std::vector<Diagnostic> check_launch(const BoundPlan& plan, const PlanBuild& build, const std::string& file) {
    std::vector<Diagnostic> out;
    const DeviceFacts& facts = build.facts;
    for (const BoundKernel& kernel : plan.kernels) {
        const auto refuse = [&](const char* rule, std::string message, std::string hint) {
            Diagnostic d;
            d.rule = rule;
            d.stage = Stage::launch;
            d.kernel = kernel.name;
            d.file = file;
            d.line = kernel.line;
            d.message = std::move(message);
            d.hint = std::move(hint);
            d.shape = plan.symbols;
            out.push_back(std::move(d));
        };
        const std::uint64_t threads = std::uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
        if (threads > facts.max_threads_per_block || kernel.block[0] > facts.max_block_x ||
            kernel.block[1] > facts.max_block_y || kernel.block[2] > facts.max_block_z) {
            refuse("illegal-block",
                   fmt::format("a block of {} x {} x {} = {} threads; {} takes at most {} (z at most {})",
                               kernel.block[0], kernel.block[1], kernel.block[2], threads, facts.target,
                               facts.max_threads_per_block, facts.max_block_z),
                   "use a smaller block and a loop");
            continue;
        }
        if (kernel.grid[0] > facts.max_grid_x || kernel.grid[1] > facts.max_grid_y ||
            kernel.grid[2] > facts.max_grid_z) {
            refuse("illegal-grid",
                   fmt::format("a grid of {} x {} x {}; {} takes at most {} x {} x {}", kernel.grid[0],
                               kernel.grid[1], kernel.grid[2], facts.target, facts.max_grid_x,
                               facts.max_grid_y, facts.max_grid_z),
                   "put the large extent into grid.x");
            continue;
        }
        const auto it = build.resources.find(kernel.name);
        if (it == build.resources.end()) continue;
        const KernelResources& resources = it->second;
        const std::uint64_t shared = std::uint64_t{resources.static_shared} + kernel.dynamic_shared;
        if (shared > facts.shared_optin_per_block) {
            refuse("too-much-shared-memory",
                   fmt::format("{} bytes of shared memory ({} static, {} dynamic); {} has {} per block",
                               shared, resources.static_shared, kernel.dynamic_shared, facts.target,
                               facts.shared_optin_per_block),
                   "use a smaller tile");
            continue;
        }
        const Occupancy occupancy = theoretical_occupancy(
            facts, resources, static_cast<std::uint32_t>(threads), kernel.dynamic_shared);
        if (occupancy.blocks_per_sm == 0) {
            refuse(
                "too-many-resources",
                fmt::format("{} registers per thread x {} threads do not fit on an SM of {} ({} registers)",
                            resources.registers, threads, facts.target, facts.registers_per_sm),
                "use a smaller block, or --maxrregcount in the plan's options");
            continue;
        }
        const std::uint64_t blocks = std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
        const std::uint64_t resident =
            std::uint64_t{facts.sm_count} * static_cast<std::uint64_t>(occupancy.blocks_per_sm);
        if (kernel.cooperative && blocks > resident) {
            refuse("grid-not-resident",
                   fmt::format("a cooperative grid of {} blocks; {} of them fit on the device at once",
                               blocks, resident),
                   "use grid: resident_blocks(" + kernel.name + ") and a loop over the work");
        }
    }
    return out;
}

}  // namespace kernelwright

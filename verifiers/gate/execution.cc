#include "verifiers/gate/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kernelwright {
namespace {

Shape shape_of(const TensorSpec& spec, const SymbolValues& symbols) {
    const auto shape = spec.shape_at(symbols);
    return shape ? *shape : Shape{};
}

std::optional<std::array<std::uint32_t, 3>> triple(const std::optional<emulator::Dim3>& d) {
    if (!d) return std::nullopt;
    return std::array<std::uint32_t, 3>{d->x, d->y, d->z};
}

// The line table names the candidate by its last part; diagnostics name it as the caller did.
std::string named_file(const std::string& in_table, const std::string& candidate) {
    if (in_table.empty()) return candidate;
    const std::size_t slash = candidate.rfind('/');
    const std::string last = slash == std::string::npos ? candidate : candidate.substr(slash + 1);
    return in_table == last ? candidate : in_table;
}

const char* hint_of(const std::string& rule) {
    static const std::map<std::string, const char*> hints{
        {"shared-race", "put __syncthreads() (or __syncwarp() within a warp) between the two accesses"},
        {"global-race",
         "use an atomic, or let each element have one writer; kernels in the plan run in order; a flag needs "
         "__threadfence() before it is set and after it is read"},
        {"divergent-barrier",
         "move the barrier out of the branch, so that every thread of the block reaches it"},
        {"deadlock",
         "every thread that a barrier, a member mask or a flag waits for must come to it: let no thread "
         "return before it, and name no lane that does not arrive"},
        {"invalid-shuffle",
         "the member mask must name exactly the lanes that come here; call it outside of the branch"},
        {"inter-block-wait",
         "blocks need not run at the same time: split the work into two kernels of the plan"},
        {"uninitialised-output-read",
         "outputs are undefined before the first kernel: write them before reading"},
        {"uninitialised-read", "write it before reading it (a variable: give it an initial value)"},
        {"misaligned-access",
         "an N-byte access needs an address that is a multiple of N; guard the vector path"},
        {"missing-proxy-fence",
         "every writing thread executes fence.proxy.async (cuda::ptx::fence_proxy_async) after its writes "
         "and before the barrier that comes before the bulk copy or the wgmma"},
        {"mbarrier-misuse",
         "initialise it once with the number of arrivals of a phase, expect the bytes that its copies bring, "
         "and let nobody arrive for the next phase before this one has been waited for"},
        {"unawaited-copy",
         "wait for every bulk copy before the block ends: its mbarrier, or cp.async.bulk.wait_group.read 0"},
        {"unwaited-wgmma",
         "wgmma.commit_group and wgmma.wait_group come before the accumulators (or A's registers) are "
         "touched"},
        {"missing-wgmma-fence",
         "wgmma.fence.sync.aligned comes before the first wgmma.mma_async, and again after the accumulators "
         "or "
         "A's registers were written"},
        {"tensor-memory",
         "one warp allocates 32, 64, 128, 256 or 512 columns and gives the same back before the block ends; "
         "warp q reaches lanes 32 (q mod 4) to + 31"},
        {"unwaited-tcgen05",
         "tcgen05.wait::ld comes before the registers are used, tcgen05.wait::st before the cells are, and "
         "tcgen05.commit with a wait on its mbarrier before what tcgen05.mma or cp uses is touched"},
        {"tensor-race", "a barrier, with the tcgen05 fences around it, must come between the two"},
        {"divergent-wgmma", "all four warps of a warpgroup execute it together, with the same descriptors"},
        {"bulk-copy",
         "16-byte addresses and sizes; a tensor map's tile at a multiple of 128 bytes (1024 with a swizzle)"},
        {"cluster-access",
         "a barrier of the cluster must come before the first and after the last access to another block's "
         "shared memory"},
        {"out-of-bounds", "guard the access with the tensor's extent"},
        {"input-write", "inputs stay as they are; write to the output or to scratch"},
        {"unsupported-instruction",
         "the emulated GPU does not execute this instruction; write it another way or run on a real device"},
        {"endless-loop", "nothing that the loop reads can change: look at its condition and its step"},
        {"instruction-limit",
         "far more work than the task has: look for a loop that does not end, or repeats what other threads "
         "do"},
        {"printf-limit", "print from one thread, or not at all"},
        {"null-access",
         "check the argument order in the launch plan, and every pointer that the kernel makes itself: there "
         "is "
         "no device heap, malloc() and new give null"}};
    const auto it = hints.find(rule);
    return it == hints.end() ? "" : it->second;
}

// "; parameter 1 `const float* x` is bound to `y`", where the fault's buffer goes to a parameter of another
// name: arguments that were mixed up show here.
std::string binding_of(const emulator::Fault& fault, const BoundKernel& kernel) {
    std::string out;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const BoundArgument& argument = kernel.arguments[i];
        if (argument.buffer.empty() || argument.parameter.empty()) continue;
        if (fault.message.find("`" + argument.buffer + "`") == std::string::npos) continue;
        const std::size_t last = argument.parameter.find_last_not_of("[] ");
        const std::string_view declared = std::string_view(argument.parameter).substr(0, last + 1);
        const bool same =
            declared.ends_with(argument.buffer) &&
            (declared.size() == argument.buffer.size() ||
             std::string_view(" *&").find(declared[declared.size() - argument.buffer.size() - 1]) !=
                 std::string_view::npos);
        if (same) return {};
        out +=
            fmt::format("; parameter {} `{}` is bound to `{}`", i + 1, argument.parameter, argument.buffer);
    }
    return out;
}

// The calls that lead to a place inside functions that were inlined, innermost first; those in headers are
// left out.
void add_calls(Diagnostic& d, const emulator::Place& place, const std::string& file) {
    std::string of = fmt::format("line {}", place.line);
    for (const emulator::Place::Call& call : place.inlined_at) {
        if (named_file(call.file, file) != d.file) continue;
        d.related.push_back({"", call.line, fmt::format("the inlined call that leads to {}", of)});
        of = fmt::format("line {}", call.line);
    }
}

Diagnostic diagnostic_of_fault(const emulator::Fault& fault, const BoundKernel& kernel,
                               const std::string& file) {
    Diagnostic d;
    d.rule = fault.rule;
    d.stage = stage_of_rule(fault.rule);
    d.kernel = kernel.name;
    d.file = named_file(fault.place.file, file);
    d.line = fault.place.line;
    d.column = fault.place.column;
    d.message = fault.message;
    if (fault.place.line <= 0 && !fault.place.instruction.empty()) {
        d.message += fmt::format(" (PTX line {}: {})", fault.place.ptx_line, fault.place.instruction);
        d.line = kernel.line;
        d.file = file;
    }
    d.message += binding_of(fault, kernel);
    if (fault.occurrences > 1) d.message += fmt::format(" ({} times)", fault.occurrences);
    if (fault.other) {
        std::string note = fault.other->note;
        if (fault.other->block && fault.other->thread) {
            note += fmt::format(" (block {},{},{} thread {},{},{})", fault.other->block->x,
                                fault.other->block->y, fault.other->block->z, fault.other->thread->x,
                                fault.other->thread->y, fault.other->thread->z);
        }
        const std::string other = named_file(fault.other->place.file, file);
        const std::string other_file = other == d.file ? "" : other;
        d.related.push_back({other_file, fault.other->place.line, std::move(note)});
    }
    add_calls(d, fault.place, file);
    if (fault.other) add_calls(d, fault.other->place, file);
    d.hint = hint_of(fault.rule);
    d.block = triple(fault.block);
    d.thread = triple(fault.thread);
    return d;
}

}  // namespace

Stage stage_of_rule(const std::string& rule) {
    static const std::map<std::string, Stage> stages{{"kernel-not-found", Stage::plan},
                                                     {"illegal-grid", Stage::plan},
                                                     {"argument-size", Stage::plan},
                                                     {"unknown-constant", Stage::plan},
                                                     {"bad-tensormap", Stage::plan},
                                                     {"illegal-block", Stage::launch},
                                                     {"too-much-shared-memory", Stage::launch},
                                                     {"cooperative-required", Stage::launch},
                                                     {"grid-not-resident", Stage::launch},
                                                     {"illegal-cluster", Stage::launch},
                                                     {"emulator-unsupported", Stage::launch},
                                                     {"unsupported-instruction", Stage::launch},
                                                     {"instruction-limit", Stage::limits},
                                                     {"endless-loop", Stage::limits},
                                                     {"time-limit", Stage::limits},
                                                     {"printf-limit", Stage::limits},
                                                     {"memory-limit", Stage::limits}};
    const auto it = stages.find(rule);
    return it == stages.end() ? Stage::sanitize : it->second;
}

std::vector<std::int64_t> element_offsets(const TensorSpec& spec, const SymbolValues& symbols) {
    if (spec.strides.empty()) return {};
    const Shape shape = shape_of(spec, symbols);
    const auto strides = spec.strides_at(symbols);
    if (!strides) return {};
    const std::int64_t count = element_count(shape);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
    std::vector<std::int64_t> index(shape.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) offset += index[d] * (*strides)[d];
        offsets[static_cast<std::size_t>(i)] = offset;
        for (std::size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < shape[d]) break;
            index[d] = 0;
        }
    }
    return offsets;
}

std::uint64_t buffer_size(const TensorSpec& spec, const SymbolValues& symbols) {
    const auto extent = spec.extent_at(symbols);
    return extent ? storage_bytes(spec.dtype, *extent) : 0;
}

std::vector<std::byte> lay_out(const TensorSpec& spec, const SymbolValues& symbols, const Tensor& tensor,
                               std::byte gap) {
    if (spec.strides.empty()) return tensor.data;
    std::vector<std::byte> out(buffer_size(spec, symbols), gap);
    const std::vector<std::int64_t> offsets = element_offsets(spec, symbols);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        store_bits(spec.dtype, out.data(), offsets[i],
                   load_bits(spec.dtype, tensor.data.data(), static_cast<std::int64_t>(i)));
    }
    return out;
}

std::uint64_t instruction_budget(const Job& job, const SymbolValues& symbols) {
    double bytes = 0, product = 1, warps = 0;
    for (const JobBuffer& buffer : job.buffers) bytes += static_cast<double>(buffer.size);
    for (const auto& [name, value] : symbols) product *= static_cast<double>(value);
    for (const BoundKernel& kernel : job.kernels) {
        const auto threads = std::uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
        const std::uint64_t warps_per_block = (threads + 31) / 32;
        warps += static_cast<double>(kernel.grid[0]) * static_cast<double>(kernel.grid[1]) *
                 static_cast<double>(kernel.grid[2]) * static_cast<double>(warps_per_block);
    }
    const double size = std::max(bytes, product);
    const double budget = 20e6 + 2000 * warps + 200 * size * std::sqrt(size);
    const std::uint64_t most = Job{}.max_warp_instructions;
    return budget < static_cast<double>(most) ? static_cast<std::uint64_t>(budget) : most;
}

Job make_job(const Task& task, const BoundPlan& plan, const std::vector<Tensor>& inputs) {
    Job job;
    std::map<std::string, std::string> shared;  // output -> the input whose buffer it uses
    for (const TensorSpec& output : task.outputs) {
        if (!output.inplace_of.empty()) shared[output.name] = output.inplace_of;
    }
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const TensorSpec& spec = task.inputs[i];
        JobBuffer buffer;
        buffer.name = spec.name;
        buffer.size = buffer_size(spec, plan.symbols);
        buffer.content = lay_out(spec, plan.symbols, inputs[i], std::byte{0xd5});
        buffer.kind = emulator::BufferKind::input;
        buffer.fetch = false;
        for (const auto& [output, input] : shared) {
            if (input != spec.name) continue;
            buffer.kind = emulator::BufferKind::inout;
            buffer.fetch = true;
        }
        job.buffers.push_back(std::move(buffer));
    }
    for (const TensorSpec& spec : task.outputs) {
        if (shared.contains(spec.name)) continue;
        JobBuffer buffer;
        buffer.name = spec.name;
        buffer.size = buffer_size(spec, plan.symbols);
        buffer.kind = emulator::BufferKind::output;
        buffer.fetch = true;
        job.buffers.push_back(std::move(buffer));
    }
    for (const BoundBuffer& b : plan.buffers) {
        if (b.role != BoundBuffer::Role::scratch) continue;
        JobBuffer buffer;
        buffer.name = b.name;
        buffer.size = storage_bytes(b.dtype, element_count(b.shape));
        buffer.kind = emulator::BufferKind::scratch;
        job.buffers.push_back(std::move(buffer));
    }
    job.kernels = plan.kernels;
    for (BoundKernel& kernel : job.kernels) {
        for (BoundArgument& argument : kernel.arguments) {
            const auto it = shared.find(argument.buffer);
            if (it != shared.end()) argument.buffer = it->second;
        }
    }
    return job;
}

GotOutput take_output(const TensorSpec& spec, const SymbolValues& symbols, const FetchedBuffer& fetched) {
    GotOutput got;
    got.tensor = Tensor::zeros(spec.dtype, shape_of(spec, symbols));
    const std::int64_t count = got.tensor.count();
    const std::vector<std::int64_t> offsets = element_offsets(spec, symbols);
    if (offsets.empty()) {
        got.tensor.data = fetched.bytes;
        got.tensor.data.resize(storage_bytes(spec.dtype, count));
    }
    const int width = bits(spec.dtype);
    bool all = true;
    std::vector<bool> written(static_cast<std::size_t>(count), true);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t at = offsets.empty() ? i : offsets[static_cast<std::size_t>(i)];
        if (!offsets.empty())
            store_bits(spec.dtype, got.tensor.data.data(), i,
                       load_bits(spec.dtype, fetched.bytes.data(), at));
        if (fetched.written.empty()) continue;
        const std::int64_t first = at * width / 8;
        const std::int64_t last = std::max(first, (at + 1) * width / 8 - 1);
        for (std::int64_t byte = first; byte <= last; ++byte) {
            if (!fetched.written[static_cast<std::size_t>(byte)]) {
                written[static_cast<std::size_t>(i)] = false;
                all = false;
            }
        }
    }
    if (!all) got.written = std::move(written);
    return got;
}

std::vector<Diagnostic> diagnostics_of(const JobOutcome& outcome, const BoundPlan& plan,
                                       const std::string& file, std::size_t limit) {
    std::vector<Diagnostic> out;
    for (std::size_t i = 0; i < outcome.kernels.size() && i < plan.kernels.size(); ++i) {
        const KernelRun& run = outcome.kernels[i];
        const BoundKernel& kernel = plan.kernels[i];
        if (run.refused) {
            Diagnostic d;
            d.rule = run.refused->rule;
            d.stage = stage_of_rule(run.refused->rule);
            d.kernel = kernel.name;
            d.file = file;
            d.line = kernel.line;
            d.message = run.refused->message;
            out.push_back(std::move(d));
        }
        for (const emulator::Fault& fault : run.faults) {
            if (out.size() >= limit) break;
            out.push_back(diagnostic_of_fault(fault, kernel, file));
        }
    }
    return out;
}

Diagnostic diagnostic_of(const JobFailure& failure, const std::string& file) {
    Diagnostic d;
    d.stage = Stage::limits;
    d.file = file;
    d.message = failure.message;
    switch (failure.kind) {
        case JobFailure::Kind::timeout:
            d.rule = "time-limit";
            break;
        case JobFailure::Kind::memory:
            d.rule = "memory-limit";
            break;
        case JobFailure::Kind::crashed:
        case JobFailure::Kind::broken:
        case JobFailure::Kind::unavailable:
            d.rule = "worker-died";
            break;
    }
    return d;
}

}  // namespace kernelwright

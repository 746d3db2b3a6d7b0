// The part of every request that never changes within a run. It is made once from the task and the device and
// kept in the record, so that a resumed run sends the same bytes even when this file has changed since.
#include <fmt/format.h>

#include "harness/search/prompt.h"

namespace kernelwright::search {
namespace {

constexpr const char* system_text =
    "You write CUDA kernels that are compiled, executed and checked by a machine, turn by turn. Nothing you "
    "say about a kernel counts; only what the checks and the counters show does. Correctness comes first, "
    "then time. Each message tells you all there is to know: the task, where the search stands, what the "
    "last "
    "check found. Answer in exactly the form that is asked for.";

// clang-format off
constexpr const char* form_text = R"text(# What happens to your answer

Your answer holds a short plan and one candidate: CUDA C++ for NVRTC without host code. It is compiled for the device below, launched as its launch plan says, and checked in this order; you are told about the first stage that fails:
- plan: the launch plan itself
- policy, compile, launch
- sanitize: out-of-bounds, misaligned and uninitialised accesses, data races in shared memory and between blocks, barriers that not all threads reach, deadlock
- numerics: against a reference in double precision, with an error bound that a sound implementation in the task's precision meets
- integrity: inputs unchanged, nothing carried over between launches
- limits: time, instructions, memory

It is checked on all shapes below and on others within the symbols' ranges, with several draws of data: ordinary values, ties, very large and very small values, values with a large common offset, signed zeros. A candidate that passes is then profiled on the shapes that are to be fast, and the search is for the least time there.

# The form of a candidate

A block comment that begins with the word kernelwright holds the launch plan in YAML:

```cuda
/* kernelwright
scratch:
  partial: {dtype: f32, shape: [M, "ceil_div(N, 1024)"]}
kernels:
  - name: reduce_tiles
    grid: ["ceil_div(N, 1024)", M, 1]
    block: [256, 1, 1]
    shared: 0
    args: [x, partial, M, N]
  - name: finish_rows
    grid: [M]
    block: [128]
    args: [partial, y, M, N]
*/
extern "C" __global__ void reduce_tiles(const float* x, float* partial, int M, int N) { /* ... */ }
extern "C" __global__ void finish_rows(const float* partial, float* y, int M, int N) { /* ... */ }
```

- Kernels run in the order listed, each after the one before has finished. `name` is the symbol, so write extern "C", or a C++ name expression such as `kernel<float, 4>` that is then instantiated.
- `grid` and `block` have one to three entries. `shared` is dynamic shared memory in bytes; above 48 KiB is opted in by itself.
- `args` in the order of the kernel's parameters: an input, output, scratch, symbol or param by name, a literal, `null`, an expression, or {value: EXPR, dtype: f16}. Widths follow the compiled kernel; a value that does not fit fails.
- Expressions know the symbols, the params, integers, + - * / % ( ), comparisons, && || !, ?:, min max ceil_div next_pow2, and of the device sm_count, smem_optin, cc, resident_blocks(KERNEL). Division rounds down. Quote an expression that holds a comma.
- `when: "N % 4 == 0"` on a kernel skips it where the guard does not hold; several plan comments in one file, each with a `when`, are variants of which the first that holds is launched. Some plan must hold for every shape.
- Also: `cooperative: true` (needed for grid-wide synchronisation), `constants: {c_symbol: tensor}`; keys of the plan: `defines: {TILE: 64}`, `options: [--use_fast_math, --maxrregcount=64, --fmad=false]`, `target: sm_90a`. Clusters and tensor maps are not supported yet.
- Every buffer starts at a multiple of 256 bytes; tensors are row-major and dense unless the task says otherwise. A row inside a tensor is only as aligned as its length makes it. Outputs and scratch hold garbage before the first kernel.
- Headers of the CUDA toolkit can be included; of the C and C++ library there are only small stubs (stdint, stddef, math, float, limits, assert, type_traits, utility, algorithm, stdio, stdlib, string). cub works by its block and warp headers (<cub/block/block_reduce.cuh>), not by <cub/cub.cuh>. No libraries, no host code, no files.

# The form of your answer

First the plan, each line starting with its label:
Idea: one line that names the approach
Computes: what each kernel computes
Split: how the work is divided over blocks, warps and threads
Data: what is read and written, how often, through which memory
Bound: what you expect to limit the time, and why
Skills: the ids of the offered skills that you follow, or none

Then exactly one fenced block marked cuda with the whole candidate, its launch plan included. No other code block that holds a kernel, no alternatives, nothing left out: what is not in the block does not exist.
)text";
// clang-format on

std::string shape_text(const std::vector<Expression>& shape) {
    std::string out = "[";
    for (const Expression& extent : shape) out += (out.size() > 1 ? ", " : "") + extent.text();
    return out + "]";
}

std::string symbols_text(const SymbolValues& values) {
    std::string out;
    for (const auto& [name, value] : values)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
    return out.empty() ? "(no symbols)" : out;
}

void put_tensors(std::string& out, const char* role, const std::vector<TensorSpec>& tensors) {
    for (const TensorSpec& tensor : tensors) {
        std::string more;
        if (!tensor.strides.empty()) more += " strides (elements) " + shape_text(tensor.strides);
        if (!tensor.inplace_of.empty()) more += " shares the buffer of " + tensor.inplace_of;
        if (tensor.values.kind != "normal") {
            more += " values: " + tensor.values.kind;
            std::string arguments;
            for (const Expression& e : tensor.values.integer_arguments) {
                arguments += (arguments.empty() ? "" : ", ") + e.text();
            }
            for (const double v : tensor.values.arguments) {
                arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", v);
            }
            if (!arguments.empty()) more += "(" + arguments + ")";
        }
        if (tensor.range) more += fmt::format(" range: {} to {}", (*tensor.range)[0], (*tensor.range)[1]);
        if (tensor.special_nan) more += " may hold NaN";
        if (tensor.special_inf) more += " may hold infinities";
        out += fmt::format("| {} | {} | {} | {} |{} |\n", tensor.name, role, to_string(tensor.dtype),
                           shape_text(tensor.shape), more);
    }
}

std::string task_text(const Task& task) {
    std::string out = fmt::format("# The task: {}\n\n{}\n\n{}\n\n", task.name, task.summary, task.prose);
    out += "| tensor | role | dtype | shape | |\n|---|---|---|---|---|\n";
    put_tensors(out, "input", task.inputs);
    put_tensors(out, "output", task.outputs);
    if (!task.symbols.empty()) {
        out += "\nSymbols (integers):";
        for (const SymbolRange& symbol : task.symbols) {
            out += fmt::format(" {} from {}", symbol.name, symbol.min);
            if (symbol.max) out += fmt::format(" to {}", *symbol.max);
            if (symbol.multiple_of != 1) out += fmt::format(" in multiples of {}", symbol.multiple_of);
            out += ";";
        }
        out.back() = '.';
        out += "\n";
    }
    if (task.params.is_object() && !task.params.empty()) {
        out += "\nParams:";
        for (const auto& [key, value] : task.params.items())
            out += fmt::format(" {} = {};", key, value.dump());
        out.back() = '.';
        out += "\n";
    }
    if (task.exact) out += "\nEvery bit of the outputs must be as the reference's.\n";
    for (const auto& [name, tolerance] : task.tolerance) {
        out += fmt::format("\n{} may differ by {} absolutely plus {} relatively.\n", name, tolerance.abs,
                           tolerance.rel);
    }
    out += "\nShapes that are checked in full:";
    for (const SymbolValues& shape : task.check_shapes) out += " " + symbols_text(shape) + ";";
    out.back() = '.';
    out += "\nShapes that are to be fast:";
    for (const SymbolValues& shape : task.tune_shapes) out += " " + symbols_text(shape) + ";";
    out.back() = '.';
    out += "\n";
    return out;
}

}  // namespace

FixedPrompt fixed_prompt(const Task& task, const DeviceSummary& device) {
    std::string prefix = form_text;
    prefix += fmt::format("\n# The device\n\n{} ({})\n", device.name, device.target);
    for (const auto& [label, value] : device.facts) prefix += fmt::format("- {}: {}\n", label, value);
    prefix += "\n" + task_text(task) + "\n";
    return {system_text, std::move(prefix)};
}

Prompt make_prompt(const FixedPrompt& fixed, std::string situation) {
    return {fixed.system,
            {{Role::user, fixed.prefix},
             {Role::assistant, "Understood. Where does the search stand?"},
             {Role::user, std::move(situation)}}};
}

}  // namespace kernelwright::search

// The two references that a task page can carry itself: a ```cuda reference block, executed on the emulated
// GPU, and an outside command that reads and writes .npy files.
//
// Neither comes with an error analysis, so the bound is taken from what precision does to the reference
// itself: it is evaluated once in doubles and once in the task's own precision, and `spread_factor` times the
// difference is allowed (docs/tolerances.md).
#pragma once

#include <vector>

#include "harness/compile/compiler.h"
#include "harness/core/result.h"
#include "harness/core/tensor.h"
#include "harness/device/device.h"
#include "harness/tasks/task.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {

inline constexpr double spread_factor = 64;

// Bounds from two evaluations of the same reference: `wide` in doubles, `narrow` in the task's precision.
std::vector<Expected> expected_from_spread(const Task& task, const std::vector<Tensor>& wide,
                                           const std::vector<Tensor>& narrow, const std::string& origin);

Result<std::vector<Expected>> command_reference(const Task& task, const SymbolValues& symbols,
                                                const std::vector<Tensor>& inputs);

// Compiles the block once; `evaluate` runs it.
class CudaReference {
  public:
    static Result<std::unique_ptr<CudaReference>> make(const Task& task, Compiler& compiler, Device& device);
    virtual ~CudaReference() = default;
    virtual Result<std::vector<Expected>> evaluate(const SymbolValues& symbols,
                                                   const std::vector<Tensor>& inputs) = 0;
};

}  // namespace kernelwright

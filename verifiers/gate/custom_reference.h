// The two references that a task page can carry itself: a ```cuda reference block, executed on the emulated
// GPU, and an outside command that reads and writes .npy files.
//
// Neither comes with an error analysis, so the bound is taken from what precision does to the reference
// itself: it is evaluated in doubles and in the task's own precision, on the drawn inputs and on inputs
// beside them (docs/tolerances.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/compile/compiler.h"
#include "harness/core/result.h"
#include "harness/core/tensor.h"
#include "harness/device/device.h"
#include "harness/tasks/task.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {

inline constexpr double spread_factor = 64;

// Floating-point operations of one evaluation.
struct Operations {
    double all = 0;
    // Of the threads that may work on one result together: a block's where they talk to each other, else a
    // thread's; of the kernel where that is most.
    double of_a_group = 0;
    // How many of them may go into one of `elements` results: its share, and what its group does once for all
    // of its own (the sum of a softmax), which is no longer than the group has elements.
    double of_an_element(std::int64_t elements) const;
};

// Collects what evaluations of one reference say of its error, and makes bounds of it. Integer outputs are
// asked to be equal whatever is added.
class Spreads {
  public:
    // The right answers, and the same in the task's precision. `task` outlives this.
    Spreads(const Task& task, std::vector<Tensor> wide, const std::vector<Tensor>& narrow);
    // Answers on inputs that were moved by about `share` of themselves. Without `narrow`, `rounding` of the
    // size of the terms stands in for the spread.
    void add(const std::vector<Tensor>& wide, const std::vector<Tensor>* narrow, double share,
             double rounding);
    // The reference took these operations of unit roundoff `u`: each that goes into an element may round
    // once, at the size of the terms that `add` saw.
    void add_roundings(const Operations& operations, double u);
    // For whole inputs: an output that is whole too, and equal in both precisions, has nothing to round, in
    // whatever order it is summed, as long as the terms together stay below 1 / u. Called after the two
    // above.
    void exact_where_sums_are(const Operations& operations, double u);
    // The answers as the page's short types make them, which may round between.
    void add_own(const std::vector<Tensor>& own);
    std::vector<Expected> expected(const std::string& origin) const;

  private:
    struct Output {
        std::vector<double> spread, terms, further;  // by element
        double squares = 0;
        std::int64_t finite = 0;
        bool equal = false;  // the first two evaluations agree everywhere
    };
    void note_differences(std::size_t k, const Tensor& wide, const Tensor& narrow);

    const Task& task_;
    std::vector<Tensor> wide_;
    std::vector<Output> outputs_;
    double u_ = 0x1p-24;
};

Result<std::vector<Expected>> command_reference(const Task& task, const SymbolValues& symbols,
                                                const std::vector<Tensor>& inputs);

// Compiles the block once; `evaluate` runs it.
class CudaReference {
  public:
    static Result<std::unique_ptr<CudaReference>> make(const Task& task, Compiler& compiler, Device& device);
    virtual ~CudaReference() = default;
    virtual Result<std::vector<Expected>> evaluate(const SymbolValues& symbols,
                                                   const std::vector<Tensor>& inputs) = 0;
    // Warp instructions that one `evaluate` takes, estimated from a few blocks.
    virtual Result<double> work(const SymbolValues& symbols) = 0;
    // Why the block could be evaluated in one precision only; empty: it could be in both.
    virtual const std::string& warning() const = 0;
};

}  // namespace kernelwright

// What a right kernel answers for one shape and draw: the inputs, and each output's values with their
// tolerances, from the built-in reference op or from the task's own reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/compile/compiler.h"
#include "harness/core/result.h"
#include "harness/core/tensor.h"
#include "harness/device/device.h"
#include "harness/tasks/task.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {

struct CaseExpectation {
    std::vector<Tensor> inputs;     // in the page's order
    std::vector<Expected> outputs;  // in the page's order
};

class Expectations {
  public:
    virtual ~Expectations() = default;
    // The same object for the same arguments; kept while memory allows.
    virtual Result<std::shared_ptr<const CaseExpectation>> get(const SymbolValues& symbols,
                                                               const std::string& case_name,
                                                               std::uint64_t seed) = 0;
    // Why the reference of this shape cannot be computed within a check's time, with the limit; nullopt: it
    // can.
    virtual std::optional<std::string> too_large(const SymbolValues& symbols) = 0;
    // What an author should know of the reference; empty: nothing.
    virtual std::string warning() const = 0;
    // Draws that one shape should get at most: an outside program takes its time for each.
    virtual std::size_t most_draws() const = 0;
    // Shapes beyond the page's own that a check should try at most.
    virtual std::size_t most_unlisted_shapes() const = 0;
};

// For tasks with an `op`. The compiler and the device are used only by a ```cuda reference block.
Result<std::unique_ptr<Expectations>> make_expectations(const Task& task, Compiler& compiler, Device& device);

}  // namespace kernelwright

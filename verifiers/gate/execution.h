// From an evaluated plan and drawn inputs to a device job, and from what the device saw back to diagnostics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/candidate/candidate.h"
#include "harness/core/diagnostic.h"
#include "harness/core/tensor.h"
#include "harness/device/device.h"
#include "harness/tasks/task.h"

namespace kernelwright {

// Bytes of a tensor as the task lays it out: dense, or spread by the page's strides (gaps are filled with
// `gap`).
std::vector<std::byte> lay_out(const TensorSpec& spec, const SymbolValues& symbols, const Tensor& tensor,
                               std::byte gap);
// Size of the buffer in bytes.
std::uint64_t buffer_size(const TensorSpec& spec, const SymbolValues& symbols);
// Offset of each element (in row-major order) within the buffer, in elements; empty: dense.
std::vector<std::int64_t> element_offsets(const TensorSpec& spec, const SymbolValues& symbols);

// Buffers and kernels of one launch sequence. An output in place of an input shares the input's buffer.
Job make_job(const Task& task, const BoundPlan& plan, const std::vector<Tensor>& inputs);

// How many warp instructions a launch of this job may execute: far more than any sensible way to do a task of
// this size takes, so that an endless loop on a small shape ends soon. Grows with the 1.5th power of the
// tensors' bytes and of the product of the symbols (a matrix product by one thread fits), and with the warps
// launched.
std::uint64_t instruction_budget(const Job& job, const SymbolValues& symbols);

// What came back for one output.
struct GotOutput {
    Tensor tensor;              // dense
    std::vector<bool> written;  // per element; empty: all
};
GotOutput take_output(const TensorSpec& spec, const SymbolValues& symbols, const FetchedBuffer& fetched);

// The kernels' refusals and faults as diagnostics of stages plan, launch, sanitize and limits, at most
// `limit`.
std::vector<Diagnostic> diagnostics_of(const JobOutcome& outcome, const BoundPlan& plan,
                                       const std::string& file, std::size_t limit = 16);
Diagnostic diagnostic_of(const JobFailure& failure, const std::string& file);

// Stage of one of the emulator's fault or refusal rules.
Stage stage_of_rule(const std::string& rule);

}  // namespace kernelwright

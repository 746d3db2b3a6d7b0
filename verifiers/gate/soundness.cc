// Is a task page sound beyond its syntax?
#include <fmt/format.h>

#include <algorithm>

#include <utility>

#include "harness/core/text.h"
#include "verifiers/gate/changed_draws.h"
#include "verifiers/gate/gate.h"
#include "verifiers/numerics/draws.h"
#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

Result<std::vector<OutputSpec>> specs_at(const std::vector<TensorSpec>& list, const SymbolValues& symbols) {
    std::vector<OutputSpec> out;
    for (const TensorSpec& spec : list) {
        auto shape = spec.shape_at(symbols);
        if (!shape) return shape.error();
        out.push_back({spec.dtype, std::move(*shape)});
    }
    return out;
}

std::vector<std::string> operands_of(const Task& task) {
    std::vector<std::string> out;
    for (const TensorSpec& spec : task.inputs) out.push_back(spec.operand);
    return out;
}

}  // namespace

Json default_params(const Task& task, const SymbolValues& symbols) {
    if (task.op.empty()) return Json::object();
    const auto inputs = specs_at(task.inputs, symbols);
    if (!inputs) return Json::object();
    auto params = effective_params(task.op, task.params, *inputs, operands_of(task));
    return params ? std::move(*params) : Json::object();
}

Status op_takes_shape(const Task& task, const SymbolValues& symbols) {
    if (task.op.empty()) return Done{};
    const auto inputs = specs_at(task.inputs, symbols);
    if (!inputs) return inputs.error();
    const auto declared = specs_at(task.outputs, symbols);
    if (!declared) return declared.error();
    std::vector<DType> dtypes;
    DeclaredShapes declared_shapes;
    for (const OutputSpec& spec : *declared) {
        dtypes.push_back(spec.dtype);
        declared_shapes.push_back(spec.shape);
    }
    const auto outputs =
        reference_outputs(task.op, task.params, *inputs, operands_of(task), dtypes, declared_shapes);
    if (!outputs) {
        Error error = outputs.error();
        if (error.file.empty()) {
            error.file = task.file;
            error.line =
                line_of(task.source,
                        task.source.find("\nop:") == std::string::npos ? 0 : task.source.find("\nop:") + 1);
        }
        return error;
    }
    if (outputs->size() < declared->size()) {
        return Error{fmt::format("op {} has {} outputs, the page declares {}", task.op, outputs->size(),
                                 declared->size()),
                     task.file, task.outputs.back().line};
    }
    for (std::size_t i = 0; i < declared->size(); ++i) {
        if (element_count((*outputs)[i].shape) != element_count((*declared)[i].shape)) {
            return Error{
                fmt::format("output `{}` has shape {} on the page; op {} gives {}", task.outputs[i].name,
                            to_string((*declared)[i].shape), task.op, to_string((*outputs)[i].shape)),
                task.file, task.outputs[i].line};
        }
    }
    return Done{};
}

Status validate_task(const Task& task) {
    for (const auto* shapes : {&task.check_shapes, &task.tune_shapes}) {
        for (const SymbolValues& symbols : *shapes) {
            if (Status takes = op_takes_shape(task, symbols); !takes) return takes;
        }
    }
    return Done{};
}

Status known_case(const Task& task, const std::string& name) {
    std::vector<std::string> known = cases_for(task);
    for (std::string& changed : changed_cases_for(task)) known.push_back(std::move(changed));
    if (std::find(known.begin(), known.end(), name) != known.end()) return Done{};
    return Error{fmt::format("--case: the task has no draw `{}`{}", name, did_you_mean(name, known)),
                 {},
                 0,
                 0,
                 "`kernelwright tasks check` lists them"};
}

}  // namespace kernelwright

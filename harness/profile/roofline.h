// What a task cannot do without (its compulsory bytes and operations), and the time below which no kernel for
// it can be on a device: the roofline.
#pragma once

#include <string>
#include <vector>

#include "harness/core/dtype.h"
#include "harness/core/json.h"
#include "harness/core/tensor.h"
#include "harness/profile/device_facts.h"

namespace kernelwright {

struct OperandShape {
    DType dtype = DType::f32;
    Shape shape;
};

struct Work {
    double read_bytes = 0, written_bytes = 0;
    double flops = 0;          // a multiply-add is two
    bool matrix = false;       // matrix products: tensor cores could do them
    DType dtype = DType::f32;  // in which the products are formed
    bool operator==(const Work&) const = default;
};

// Of a reference op; `params` as in a task page. For an op that is not known (a task with its own reference,
// `op` empty) the bytes are those of its tensors and the operations are not counted.
Work compulsory_work(const std::string& op, const Json& params, const std::vector<OperandShape>& inputs,
                     const std::vector<OperandShape>& outputs);

struct Roofline {
    Work work;
    double memory_us = 0, compute_us = 0, bound_us = 0;
    std::string bound;                // "memory" or "compute"
    std::string peak;                 // what the compute side was taken as: "tensor f16", "fp32", "fp64"
    double intensity = 0, ridge = 0;  // flop per byte: of the work, and where the device turns
    bool operator==(const Roofline&) const = default;
};

Roofline roofline(const Work& work, const DeviceFacts& facts);

Json to_json(const Roofline& roofline);
Result<Roofline> roofline_from_json(const Json& json);

}  // namespace kernelwright

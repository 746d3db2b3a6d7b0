// What an operation cannot do without: the bytes that must move and the arithmetic that must be done,
// whatever kernel does it.
#pragma once

#include "harness/core/dtype.h"
#include "harness/core/tensor.h"

namespace kernelwright {

struct OperandShape {
    DType dtype = DType::f32;
    Shape shape;
};

struct Work {
    double read_bytes = 0, written_bytes = 0;
    double flops = 0;          // a multiply-add is two
    bool matrix = false;       // products of matrices: tensor cores could do them
    DType dtype = DType::f32;  // in which the arithmetic is done: that of the first input
    bool operator==(const Work&) const = default;
};

}  // namespace kernelwright

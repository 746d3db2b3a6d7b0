// The reference ops: what a right kernel computes, in double precision on the host, and how far a right
// kernel may be from it. Semantics are PyTorch's of the same name unless docs/reference-ops.md says more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"
#include "harness/core/tensor.h"
#include "harness/core/work.h"

namespace kernelwright {

// What an op's output must look like, from its inputs alone.
using OutputSpec = OperandShape;

// One expected output. `tolerance[i]` bounds |got - value[i]| for a right kernel in the task's precision
// under any legal order of operations (see docs/tolerances.md); 0 asks for the value that `value[i]` rounds
// to, NaN in `value[i]` asks for any NaN, an infinity for that infinity.
struct Expected {
    DType dtype = DType::f32;
    Shape shape;
    std::vector<double> value;
    std::vector<double> tolerance;
    std::string bound;  // one line: how the tolerance was derived, with its source
    // A second right answer of each element, with the same tolerance; empty: there is one.
    std::vector<double> second;
    // The exact values of integer outputs (a double holds 53 bits only); empty for floating ones.
    std::vector<std::int64_t> integer;
    // The sign of a zero is part of the answer (copies, relu, neg ...): looked at only where the task asks
    // for equal bits.
    bool signed_zero = false;
    // Elements where any of several answers is right (an index whose competitors lie within rounding): each
    // entry holds the acceptable answers of element `index`; empty for most ops.
    struct Alternatives {
        std::int64_t index = 0;
        std::vector<double> values;
    };
    std::vector<Alternatives> alternatives;
};

// The names of all ops, in the contract's order.
const std::vector<std::string>& reference_ops();

// What more a task page knows: the shapes that it declares for the outputs. They decide what the inputs leave
// open (how many bins a histogram has) and are checked against the op's rule; an extent of 1 more or less is
// forgiven. Empty: nothing is declared, and a histogram is as long as its largest bin number asks.
using DeclaredShapes = std::vector<Shape>;

// Are the op, its params and the operands' dtypes and ranks sound? One clear error otherwise (unknown op with
// the nearest name, unknown or missing param, wrong number of operands). `operands` names the op's operand
// for each input ("" = by order), so that optional ones can be left out.
Result<std::vector<OutputSpec>> reference_outputs(const std::string& op, const Json& params,
                                                  const std::vector<OutputSpec>& inputs,
                                                  const std::vector<std::string>& operands,
                                                  const std::vector<DType>& output_dtypes,
                                                  const DeclaredShapes& declared = {});

// Computes the op. Deterministic. `output_dtypes` are the task's: they decide the rounding of the result and
// the tolerance. The accumulation type is f32 for floating inputs of 32 bits and fewer, f64 for f64, exact
// for integers.
Result<std::vector<Expected>> compute_reference(const std::string& op, const Json& params,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<std::string>& operands,
                                                const std::vector<DType>& output_dtypes,
                                                const DeclaredShapes& declared = {});

// The op's operand names in order, optional ones with a trailing "?" ("gamma?"); variadic: the last is "...".
std::vector<std::string> operand_names(const std::string& op);
// Parameter names with their defaults as text ("eps" -> "1e-05", required ones -> "").
std::vector<std::pair<std::string, std::string>> parameter_names(const std::string& op);

// The params with every default as a value, those that depend on shapes included (`scale` of attention): what
// a kernel gets for the argument of that name.
Result<Json> effective_params(const std::string& op, const Json& params,
                              const std::vector<OutputSpec>& inputs,
                              const std::vector<std::string>& operands);
// How many outputs the op has, optional ones included, by name in order.
std::vector<std::string> result_names(const std::string& op);

// The work of one evaluation: the one table behind rooflines and the question whether a reference can be
// afforded. Every tensor moves once, save that of a table (gather, embedding) no more is read than is asked
// for. Without an op, or for a call that is not sound, only the bytes are known.
Work reference_work(const std::string& op, const Json& params, const std::vector<OutputSpec>& inputs,
                    const std::vector<std::string>& operands, const std::vector<OutputSpec>& outputs);

}  // namespace kernelwright

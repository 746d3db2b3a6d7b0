// How an op is described. Each family's file (elementwise.cc, matmul.cc ...) lists its ops as `Op` rows: the
// operands, the parameters with their kinds and defaults, the rule for the outputs' shapes, and a function
// that computes values and bounds. registry.cc puts the rows in order and checks a call against them, so that
// a compute function only ever sees sound parameters and shapes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verifiers/reference/reference.h"
#include "verifiers/reference/rounding.h"

namespace kernelwright::reference {

enum class ParamKind { integer, real, boolean, axis, axes, choice, dtype, extents };

struct Param {
    std::string name;
    ParamKind kind = ParamKind::integer;
    std::string default_text = {};  // as parameter_names() prints it
    bool required = false;
    std::vector<std::string> choices = {};                            // of ParamKind::choice
    std::int64_t minimum = std::numeric_limits<std::int64_t>::min();  // integers and extents
};

struct Operand {
    std::string name;
    bool optional = false;
};

// Which results an op can give.
enum class ResultKind {
    same_domain,  // floats from floats; integers from integers (or floats)
    floating,     // floats only
    index,        // integers
    any,          // a copy of stored values
    quantized,    // whatever type the params ask for
};

struct ResultRule {
    std::string name;
    ResultKind kind = ResultKind::same_domain;
    bool optional = false;
};

// One input as numbers.
struct Array {
    DType dtype = DType::f32;
    Shape shape;
    std::vector<double> values;
    std::vector<std::int64_t> integers;  // filled for integer and bool inputs

    bool integral() const { return !is_float(dtype); }
    std::int64_t count() const { return element_count(shape); }
};

class Call {
  public:
    std::string op;
    std::vector<std::optional<OutputSpec>> specs;  // by operand; variadic ops: one per input
    std::vector<std::optional<Array>> arrays;      // the same order; empty while only shapes are asked
    std::vector<DType> results;                    // dtypes of the outputs
    std::vector<std::optional<Shape>> declared;    // shapes the task declares, where known
    Json params;                                   // checked, defaults filled in where they are constants

    bool has(std::size_t operand) const { return operand < specs.size() && specs[operand].has_value(); }
    const Shape& shape(std::size_t operand) const { return specs[operand]->shape; }
    DType dtype(std::size_t operand) const { return specs[operand]->dtype; }
    const Array& array(std::size_t operand) const { return *arrays[operand]; }

    std::int64_t integer(const char* name) const { return params.at(name).get<std::int64_t>(); }
    double real(const char* name) const { return params.at(name).get<double>(); }
    bool flag(const char* name) const { return params.at(name).get<bool>(); }
    std::string text(const char* name) const { return params.at(name).get<std::string>(); }
    bool given(const char* name) const { return params.contains(name) && !params.at(name).is_null(); }
    // One or two extents: `stride: 2` and `stride: [2, 1]` alike.
    std::vector<std::int64_t> extents(const char* name, std::size_t rank) const;
    // A single axis, made non-negative for a tensor of `rank` dimensions (checked before).
    std::size_t axis(std::size_t rank) const;
    // The list of axes, ascending; all of them where the parameter says "all" or is absent.
    std::vector<std::size_t> axes(std::size_t rank) const;

    // Are all inputs that carry numbers integers?
    bool integral() const;
    // The arithmetic a right kernel may use for the given result.
    Precision precision(std::size_t result = 0) const;
};

using ShapeRule = Result<std::vector<Shape>> (*)(const Call&);
using ComputeRule = Result<std::vector<Expected>> (*)(const Call&);
using FlopRule = double (*)(const Call&, const std::vector<OutputSpec>& outputs);

struct Op {
    std::string name;
    std::vector<Operand> operands = {};
    std::vector<ResultRule> results = {};
    std::vector<Param> params = {};
    ShapeRule shapes = nullptr;
    ComputeRule compute = nullptr;
    FlopRule flops = nullptr;  // nothing: pure movement
    bool variadic = false;
    bool matrix = false;       // the operations are products of matrices
    bool reads_table = false;  // of the first operand only what the result holds need be read
};

// The families' rows.
std::vector<Op> elementwise_ops();
std::vector<Op> activation_ops();
std::vector<Op> reduction_ops();
std::vector<Op> selection_ops();
std::vector<Op> softmax_ops();
std::vector<Op> loss_ops();
std::vector<Op> scan_ops();
std::vector<Op> normalisation_ops();
std::vector<Op> movement_ops();
std::vector<Op> indexing_ops();
std::vector<Op> matmul_ops();
std::vector<Op> conv_ops();
std::vector<Op> pool_ops();
std::vector<Op> attention_ops();
std::vector<Op> position_ops();
std::vector<Op> clustering_ops();
std::vector<Op> recurrent_ops();
std::vector<Op> quantize_ops();

// Helpers of the rows.
Error shape_error(const Call& call, const std::string& what);
Param axis_param(bool required, const std::string& default_text = "");
Param axes_param(bool required, const std::string& default_text);
Param eps_param();

// Builds one Expected. `set` takes the exact value and a bound on the error of the value before the rounding
// that stores it; a bound of 0 asks for the correctly rounded value.
class Builder {
  public:
    Builder(DType dtype, Shape shape, std::string bound);

    void set(std::int64_t index, double value, double error) {
        const auto i = static_cast<std::size_t>(index);
        expected_.value[i] = value;
        expected_.tolerance[i] = tolerance_of(value, error);
    }
    void set_integer(std::int64_t index, std::int64_t value);
    // The sum of error and the rounding that stores the value.
    double tolerance_of(double value, double error) const {
        if (!std::isfinite(value)) return 0;
        if (error == 0) {
            // tf32 is stored as f32: a result that was not rounded to tf32 is right as well.
            const bool free = rounder_.dtype() == DType::tf32 && rounder_.round(value) != value;
            return free ? rounder_.half_ulp(value) : 0;
        }
        const double magnitude = std::fabs(value) + error;
        return error + rounder_.half_ulp(std::min(magnitude, rounder_.largest()));
    }
    const Rounder& rounder() const { return rounder_; }
    Expected& expected() { return expected_; }
    Expected take();

  private:
    Rounder rounder_;
    Expected expected_;
};

// The positions of the elements that belong to one row of a reduction: input[rows[r] + elements[k]].
struct RowLayout {
    std::vector<std::int64_t> rows, elements;
    bool contiguous = false;  // elements[k] == k
    Shape outer;              // extents of the kept axes, in order
    std::int64_t n() const { return static_cast<std::int64_t>(elements.size()); }
    std::int64_t count() const { return static_cast<std::int64_t>(rows.size()); }
};
RowLayout row_layout(const Shape& shape, const std::vector<std::size_t>& axes);
Shape reduced_shape(const Shape& shape, const std::vector<std::size_t>& axes, bool keepdims);

// NumPy's rule; an error names both shapes.
Result<Shape> broadcast_shape(const Call& call, const Shape& a, const Shape& b);
// For each element of `to`, the element of a tensor of shape `from` that it reads.
std::vector<std::int64_t> broadcast_index(const Shape& from, const Shape& to);

}  // namespace kernelwright::reference

// A task: the page that a person writes, parsed. See docs/task-pages.md for the form.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/dtype.h"
#include "harness/core/expr.h"
#include "harness/core/json.h"
#include "harness/core/result.h"
#include "harness/core/tensor.h"

namespace kernelwright {

struct SymbolRange {
    std::string name;
    std::int64_t min = 1;
    std::optional<std::int64_t> max;
    std::int64_t multiple_of = 1;
};

// How an input's values are drawn: `normal`, `uniform(a,b)`, `ints(lo,hi)`, `indices(N)` ...
struct ValueSpec {
    std::string kind = "normal";
    std::vector<Expression> integer_arguments;  // indices(N), ints(lo,hi): expressions of symbols
    std::vector<double> arguments;              // uniform(a,b), const(v), sparse(p)
};

struct TensorSpec {
    std::string name;
    DType dtype = DType::f32;
    std::vector<Expression> shape;
    std::vector<Expression> strides;  // in elements; empty: dense
    // inputs
    ValueSpec values;
    bool special_nan = false, special_inf = false;
    std::optional<std::array<double, 2>> range;
    // outputs
    std::string inplace_of;  // empty: a buffer of its own
    // both
    std::string operand;  // the op's operand that this is; empty: by order
    int line = 0;         // in the page

    Result<Shape> shape_at(const SymbolValues& symbols) const;
};

struct Tolerance {
    double abs = 0, rel = 0;
};

struct ReferenceCode {  // a fenced ```cuda reference block
    std::string source;
    int line = 0;  // of its first line in the page
};

struct Task {
    std::string name, summary, prose;  // prose without the reference block
    std::string op;                    // empty: the task carries its own reference
    Json params = Json::object();      // of the op, as written; defaults are the op's
    std::vector<SymbolRange> symbols;  // in the page's order
    std::vector<TensorSpec> inputs, outputs;
    std::vector<SymbolValues> check_shapes, tune_shapes;
    std::map<std::string, Tolerance> tolerance;
    bool exact = false;
    std::optional<ReferenceCode> reference_code;
    std::string reference_command;  // empty: none
    std::optional<DType> reference_dtype;
    std::string file;    // as given
    std::string source;  // the page's whole text

    const TensorSpec* find_input(const std::string& name) const;
    const TensorSpec* find_output(const std::string& name) const;
};

Result<Task> parse_task(const std::string& text, const std::string& file);
Result<Task> load_task(const std::filesystem::path& path);

}  // namespace kernelwright

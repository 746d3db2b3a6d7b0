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

    // Extents at one shape: each at least 1.
    Result<Shape> shape_at(const SymbolValues& symbols) const;
    // Strides in elements, dense where the page gives none.
    Result<Shape> strides_at(const SymbolValues& symbols) const;
    // Elements that the buffer must hold: the last element's offset plus one.
    Result<std::int64_t> extent_at(const SymbolValues& symbols) const;
    bool is_dense() const { return strides.empty(); }
};

struct Tolerance {
    double abs = 0, rel = 0;
};

struct ReferenceCode {  // a fenced ```cuda reference block
    std::string source;
    int line = 0;  // of its first line in the page
};

// What is refused before anything is computed.
struct TaskLimits {
    static constexpr std::size_t page_bytes = std::size_t{1} << 20;
    // Elements of all tensors together, at a check shape (held on the host, in doubles too) and at a tune
    // shape.
    static constexpr std::int64_t check_elements = std::int64_t{1} << 28;
    static constexpr std::int64_t tune_elements = std::int64_t{1} << 34;
    static constexpr std::size_t rank = 8, tensors = 64, symbols = 32, shapes = 200;
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

    const SymbolRange* find_symbol(const std::string& name) const;
    const TensorSpec* find_input(const std::string& name) const;
    const TensorSpec* find_output(const std::string& name) const;
};

// The kinds of `values` that a page may name.
const std::vector<std::string>& value_kinds();

// Everything that can be known without the reference: the op's own demands are reference_outputs()'s to
// check. `file` is what errors name; where it ends in ".md" its stem must be the task's name.
Result<Task> parse_task(const std::string& text, const std::string& file);
Result<Task> load_task(const std::filesystem::path& path);

// Is the shape inside the page's ranges? One clear line where not: a missing or unknown symbol, a value out
// of range, a tensor that would be empty or too large.
Status check_shape(const Task& task, const SymbolValues& shape, std::int64_t element_limit);
// "M=3,N=17", in the order of the page's symbols.
std::string shape_text(const Task& task, const SymbolValues& shape);
// The reverse, as `--shape` takes it: a shape that can be checked, so inside the page's ranges and limits.
Result<SymbolValues> parse_shape(const Task& task, const std::string& text);

struct TaskEntry {
    std::string name;  // the file's stem
    std::filesystem::path path;
    Result<Task> task;
};
// Every *.md page of a folder by name; broken ones with their error.
Result<std::vector<TaskEntry>> task_library(const std::filesystem::path& folder);

}  // namespace kernelwright

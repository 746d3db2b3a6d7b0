// A candidate: CUDA source and its launch plans, parsed from the block comments whose first word is
// `kernelwright`. See docs/candidates.md for the form.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/core/diagnostic.h"
#include "harness/core/dtype.h"
#include "harness/core/expr.h"
#include "harness/tasks/task.h"

namespace kernelwright {

struct PlanArgument {
    enum class Kind { name, null, integer, real, expression } kind = Kind::name;
    std::string text;  // as written
    std::optional<Expression> expression;
    std::optional<DType> dtype;  // {value: EXPR, dtype: f16}
    double real = 0;
    std::int64_t integer = 0;
    int line = 0;  // in the candidate's file
};

struct KernelPlan {
    std::string name;                     // PTX symbol, or a C++ name expression
    std::vector<Expression> grid, block;  // three each
    Expression shared = Expression::constant(0);
    std::vector<PlanArgument> arguments;
    std::optional<Expression> when;
    std::vector<Expression> cluster;  // empty or three
    bool cooperative = false, pdl = false;
    std::map<std::string, std::string> constants;  // __constant__ symbol -> tensor
    std::vector<std::string> parameters;           // as the source declares them; empty: not found
    int line = 0;
    bool is_name_expression() const {
        return name.find('<') != std::string::npos || name.find("::") != std::string::npos;
    }
};

struct ScratchPlan {
    std::string name;
    DType dtype = DType::f32;
    std::vector<Expression> shape;
    int line = 0;
};

struct TensorMapPlan {
    std::string name, tensor;
    std::vector<Expression> box, dims, strides;
    int swizzle = 0;  // bytes: 0 32 64 128
    bool oob_nan = false;
    int line = 0;
};

struct LaunchPlan {
    std::optional<Expression> when;
    std::vector<KernelPlan> kernels;
    std::vector<ScratchPlan> scratch;
    std::vector<TensorMapPlan> tensormaps;
    std::string target;  // "sm_90a"; empty: none stated
    std::vector<std::string> options;
    std::map<std::string, std::string> defines;
    int line = 0;  // of the comment's first line in the file
};

struct Candidate {
    std::string file;  // as given, for diagnostics
    std::string source;
    std::vector<LaunchPlan> plans;
};

// What is refused before anything is compiled or allocated.
struct CandidateLimits {
    static constexpr std::size_t source_bytes = std::size_t{1} << 20;
    static constexpr std::size_t plans = 32, kernels = 64, arguments = 256, scratch = 64, tensormaps = 16;
    static constexpr std::int64_t scratch_bytes = std::int64_t{1} << 32;  // of one plan at one shape
};

// The file's text; a missing, special or too large file is one clear error before it is read.
Result<std::string> load_candidate(const std::filesystem::path& path);

// Params that the page does not write because the op has defaults for them (eps, scale, alpha ...): name to
// number. The page's own win.
using DefaultParams = Json;

// Parses the plans and checks all that can be known without compiling: unknown names, illegal keys, cyclic
// scratch shapes. Any error-severity diagnostic means the candidate fails stage `plan`.
struct ParsedCandidate {
    Candidate candidate;
    std::vector<Diagnostic> diagnostics;
    bool ok() const;
};
ParsedCandidate parse_candidate(const Task& task, std::string source, std::string file,
                                const DefaultParams& defaults = Json::object());

// ---- a plan evaluated for one shape ---------------------------------------------------------------------

// A tensor map as numbers; the device makes the object, once the tensor has an address.
struct BoundTensorMap {
    std::string tensor;
    DType dtype = DType::f32;
    std::vector<std::int64_t> dims, strides, box;  // innermost first; strides in bytes, without the innermost
    int swizzle = 0;                               // bytes: 0 32 64 128
    bool oob_nan = false;
};

// One kernel parameter's bytes, or the buffer whose address goes there.
struct BoundArgument {
    std::string buffer;     // empty: `bytes` holds the value
    std::string tensormap;  // the tensor map's name; empty: none
    std::vector<std::byte> bytes;
    std::string parameter = {};              // as the source declares it: "const float* x"; empty: not known
    std::optional<BoundTensorMap> map = {};  // of `tensormap`
};

// What the compiled kernel says about a parameter (from its PTX).
struct ParameterType {
    std::string type;        // "u64", "f32", "b8"
    std::uint32_t size = 0;  // bytes
    bool is_array = false;
};
using KernelSignature = std::vector<ParameterType>;

struct BoundKernel {
    std::string name;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::array<std::uint32_t, 3> cluster{0, 0, 0};  // 0: none
    std::uint32_t dynamic_shared = 0;               // bytes
    std::vector<BoundArgument> arguments;
    std::map<std::string, std::string> constants;
    bool cooperative = false;
    int line = 0;
};

struct BoundBuffer {
    std::string name;
    DType dtype = DType::f32;
    Shape shape;
    enum class Role { input, output, scratch } role = Role::input;
    std::string shares;  // an output in place of this input; empty: its own buffer
};

struct BoundPlan {
    int plan = 0;  // index into Candidate::plans
    SymbolValues symbols;
    // Inputs, outputs, then scratch; scratch may have no elements. A strided tensor's buffer holds
    // TensorSpec::extent_at() elements, not the product of its shape.
    std::vector<BoundBuffer> buffers;
    std::vector<BoundKernel> kernels;  // those whose `when` holds, in order
};

// The symbols, params and device facts that a plan's expressions read.
Environment plan_environment(const Task& task, const SymbolValues& symbols, const Environment& device,
                             const DefaultParams& defaults = Json::object());

// Index of the first plan whose guard holds for the shape; nullopt when none does. `environment` brings the
// device facts (sm_count, smem_optin, cc).
Result<std::optional<int>> choose_plan(const Candidate& candidate, const Task& task,
                                       const SymbolValues& symbols, const Environment& device,
                                       const DefaultParams& defaults = Json::object());

// Evaluates a plan: every grid, block, size and argument as numbers, with the widths and kinds that the
// compiled kernels ask for. Failures are stage-`plan` diagnostics (wrong argument count or kind, a value that
// does not fit, zero or negative grid).
using Signatures = std::map<std::string, KernelSignature>;  // by the plan's kernel name
std::variant<BoundPlan, std::vector<Diagnostic>> bind_plan(const Candidate& candidate, const Task& task,
                                                           int plan, const SymbolValues& symbols,
                                                           const Environment& device,
                                                           const Signatures& signatures,
                                                           const DefaultParams& defaults = Json::object());

}  // namespace kernelwright

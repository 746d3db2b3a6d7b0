// A plan as numbers for one shape. The compiled kernel's own parameter list decides each argument's width and
// kind; what the plan says is converted to it or refused, never truncated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/candidate/candidate.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr std::int64_t launch_limit = std::int64_t{1} << 31;
constexpr std::uint32_t tensormap_bytes = 128;

enum class ParameterKind { integer, floating, bytes };

// "u32" is a 32-bit integer, "f32" a float; "b8" with an array length is a struct (or __half, CUtensorMap).
ParameterKind kind_of(const ParameterType& type) {
    if (type.is_array) return ParameterKind::bytes;
    if (type.type.starts_with("f")) return ParameterKind::floating;
    return ParameterKind::integer;
}

std::string describe(const ParameterType& type) {
    switch (kind_of(type)) {
        case ParameterKind::integer:
            return fmt::format("a {}-bit integer{}", type.size * 8, type.size == 8 ? " or pointer" : "");
        case ParameterKind::floating:
            return type.size == 8 ? "a double" : type.size == 4 ? "a float" : "a half";
        case ParameterKind::bytes:
            break;
    }
    return fmt::format("a struct of {} bytes", type.size);
}

DType float_type(const ParameterType& type) {
    return type.size == 8 ? DType::f64 : type.size == 4 ? DType::f32 : DType::f16;
}

class Binder {
  public:
    Binder(const Candidate& candidate, const Task& task, int plan, const SymbolValues& symbols,
           const Environment& device, const Signatures& signatures, const DefaultParams& defaults)
        : candidate_(candidate),
          task_(task),
          plan_(candidate.plans.at(static_cast<std::size_t>(plan))),
          environment_(plan_environment(task, symbols, device, defaults)),
          signatures_(signatures) {
        bound_.plan = plan;
        bound_.symbols = symbols;
    }

    std::variant<BoundPlan, std::vector<Diagnostic>> run() {
        tensors();
        scratch();
        for (const KernelPlan& kernel : plan_.kernels) this->kernel(kernel);
        if (!out_.empty()) return std::move(out_);
        return std::move(bound_);
    }

  private:
    void report(std::string rule, int line, std::string message, std::string hint = {}) {
        Diagnostic d;
        d.rule = std::move(rule);
        d.stage = Stage::plan;
        d.kernel = kernel_;
        d.file = candidate_.file;
        d.line = line;
        d.message = std::move(message);
        d.hint = std::move(hint);
        d.shape = bound_.symbols;
        out_.push_back(std::move(d));
    }

    std::optional<std::int64_t> evaluate(const Expression& expression, const std::string& what, int line) {
        const auto value = expression.evaluate(environment_);
        if (!value) {
            report("bad-expression", line,
                   fmt::format("{} `{}`: {}", what, expression.text(), value.error().message));
            return std::nullopt;
        }
        return *value;
    }

    // ---- buffers ----

    void tensors() {
        for (const auto* list : {&task_.inputs, &task_.outputs}) {
            for (const TensorSpec& tensor : *list) {
                BoundBuffer buffer{
                    tensor.name, tensor.dtype, {}, BoundBuffer::Role::input, tensor.inplace_of};
                if (list == &task_.outputs) buffer.role = BoundBuffer::Role::output;
                const auto shape = tensor.shape_at(bound_.symbols);
                if (!shape) {
                    report("bad-expression", plan_.line, shape.error().message);
                    continue;
                }
                buffer.shape = *shape;
                bound_.buffers.push_back(std::move(buffer));
            }
        }
    }

    void scratch() {
        std::int64_t total = 0;
        for (const ScratchPlan& plan : plan_.scratch) {
            BoundBuffer buffer{plan.name, plan.dtype, {}, BoundBuffer::Role::scratch, {}};
            const std::string what = fmt::format("the shape of the scratch buffer `{}`", plan.name);
            std::int64_t count = 1;
            bool sound = true;
            for (const Expression& entry : plan.shape) {
                const auto extent = evaluate(entry, what, plan.line);
                if (!extent) return;
                if (*extent < 0) {
                    return report("bad-scratch", plan.line,
                                  fmt::format("{} holds `{}`, which is {}", what, entry.text(), *extent));
                }
                sound = sound && !__builtin_mul_overflow(count, *extent, &count) &&
                        count <= CandidateLimits::scratch_bytes;
                buffer.shape.push_back(*extent);
            }
            if (sound) total += static_cast<std::int64_t>(storage_bytes(plan.dtype, count));
            if (!sound || total > CandidateLimits::scratch_bytes) {
                return report(
                    "bad-scratch", plan.line,
                    fmt::format("scratch of more than {} GiB: `{}` is {}",
                                CandidateLimits::scratch_bytes >> 30, plan.name, to_string(buffer.shape)));
            }
            bound_.buffers.push_back(std::move(buffer));
        }
    }

    const BoundBuffer* find_buffer(const std::string& name) const {
        const auto it = std::find_if(bound_.buffers.begin(), bound_.buffers.end(),
                                     [&](const BoundBuffer& b) { return b.name == name; });
        return it == bound_.buffers.end() ? nullptr : &*it;
    }
    bool is_tensormap(const std::string& name) const {
        return std::any_of(plan_.tensormaps.begin(), plan_.tensormaps.end(),
                           [&](const TensorMapPlan& map) { return map.name == name; });
    }

    // ---- tensor maps ----

    bool sizes(const std::vector<Expression>& entries, const std::string& what, int line,
               std::vector<std::int64_t>& out) {
        for (const Expression& entry : entries) {
            const auto value = evaluate(entry, what, line);
            if (!value) return false;
            out.push_back(*value);
        }
        return true;
    }
    // Dimensions and strides default to the tensor's, turned round: innermost first.
    std::optional<BoundTensorMap> tensor_map(const TensorMapPlan& plan) {
        const std::string what = fmt::format("the tensor map `{}`", plan.name);
        const BoundBuffer* buffer = find_buffer(plan.tensor);
        if (!buffer) return std::nullopt;  // said already
        BoundTensorMap map;
        map.tensor = plan.tensor;
        map.dtype = buffer->dtype;
        map.swizzle = plan.swizzle;
        map.oob_nan = plan.oob_nan;
        const auto size = static_cast<std::int64_t>(bits(map.dtype) / 8);
        if (bits(map.dtype) % 8 != 0 || size == 0) {
            report("bad-tensormap", plan.line,
                   fmt::format("{} is of {}, which packs several elements into a byte", what,
                               to_string(map.dtype)));
            return std::nullopt;
        }
        if (!sizes(plan.box, "the box of " + what, plan.line, map.box) ||
            !sizes(plan.dims, "the dims of " + what, plan.line, map.dims) ||
            !sizes(plan.strides, "the strides of " + what, plan.line, map.strides))
            return std::nullopt;
        if (map.dims.empty()) {
            map.dims.assign(buffer->shape.rbegin(), buffer->shape.rend());
            if (map.dims.size() != map.box.size()) {
                report("bad-tensormap", plan.line,
                       fmt::format("{} has a box of {} dimensions, and `{}` has {}", what, map.box.size(),
                                   plan.tensor, map.dims.size()),
                       "write its `dims`, innermost first");
                return std::nullopt;
            }
            const auto strides = tensor_strides(plan.tensor);
            if (map.strides.empty() && !strides.empty()) {
                if (strides.back() != 1) {
                    report("bad-tensormap", plan.line,
                           fmt::format("{} needs a tensor whose innermost dimension is dense, and that of "
                                       "`{}` has the stride {}",
                                       what, plan.tensor, strides.back()));
                    return std::nullopt;
                }
                for (std::size_t i = strides.size() - 1; i-- > 0;) map.strides.push_back(strides[i] * size);
            }
        }
        if (map.strides.empty()) {
            std::int64_t stride = size;
            for (std::size_t i = 0; i + 1 < map.dims.size(); ++i) {
                if (__builtin_mul_overflow(stride, map.dims[i], &stride)) stride = 0;
                map.strides.push_back(stride);
            }
        }
        return map;
    }
    std::vector<std::int64_t> tensor_strides(const std::string& name) const {
        for (const auto* list : {&task_.inputs, &task_.outputs})
            for (const TensorSpec& tensor : *list)
                if (tensor.name == name && !tensor.strides.empty())
                    if (const auto strides = tensor.strides_at(bound_.symbols)) return *strides;
        return {};
    }

    // ---- kernels ----

    void kernel(const KernelPlan& plan) {
        kernel_ = plan.name;
        if (plan.when) {
            const auto holds = evaluate(*plan.when, "`when`", plan.line);
            if (!holds || *holds == 0) return;
        }
        const auto signature = signatures_.find(plan.name);
        if (signature == signatures_.end()) return kernel_not_found(plan);
        BoundKernel kernel;
        kernel.name = plan.name;
        kernel.line = plan.line;
        kernel.cooperative = plan.cooperative;
        kernel.constants = plan.constants;
        triple(plan.grid, "grid", plan.line, kernel.grid);
        triple(plan.block, "block", plan.line, kernel.block);
        if (!plan.cluster.empty()) triple(plan.cluster, "cluster", plan.line, kernel.cluster);
        if (const auto bytes = evaluate(plan.shared, "`shared`", plan.line)) {
            if (*bytes < 0 || *bytes >= launch_limit) {
                report(
                    "bad-shared", plan.line,
                    fmt::format("`shared` of `{}` is {} bytes: `{}`", plan.name, *bytes, plan.shared.text()));
            } else {
                kernel.dynamic_shared = static_cast<std::uint32_t>(*bytes);
            }
        }
        const KernelSignature& parameters = signature->second;
        if (parameters.size() != plan.arguments.size()) {
            return report("argument-count", plan.line,
                          fmt::format("the kernel `{}` has {} parameter{}, and the plan passes {} argument{}",
                                      plan.name, parameters.size(), parameters.size() == 1 ? "" : "s",
                                      plan.arguments.size(), plan.arguments.size() == 1 ? "" : "s"),
                          "one entry of `args` for each parameter, in its order");
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            what_ = fmt::format("argument {} of the kernel `{}` (`{}`)", i + 1, plan.name,
                                plan.arguments[i].text);
            kernel.arguments.push_back(argument(plan.arguments[i], parameters[i]));
            if (plan.parameters.size() == parameters.size())
                kernel.arguments.back().parameter = plan.parameters[i];
        }
        bound_.kernels.push_back(std::move(kernel));
    }

    void kernel_not_found(const KernelPlan& plan) {
        std::vector<std::string> known;
        std::string list, mangled;
        for (const auto& [name, signature] : signatures_) {
            known.push_back(name);
            list += (list.empty() ? "" : " ") + name;
            if (name.starts_with(fmt::format("_Z{}{}", plan.name.size(), plan.name))) mangled = name;
        }
        std::string hint =
            list.empty() ? "the source has no __global__ function" : "compiled kernels: " + list;
        if (!mangled.empty())
            hint = fmt::format("it was compiled as `{}`: write extern \"C\" before __global__", mangled);
        report("kernel-not-found", plan.line,
               fmt::format("the compiled code has no kernel `{}`{}", plan.name,
                           mangled.empty() ? did_you_mean(plan.name, known) : ""),
               hint);
    }

    void triple(const std::vector<Expression>& entries, const char* key, int line,
                std::array<std::uint32_t, 3>& out) {
        for (std::size_t i = 0; i < entries.size() && i < out.size(); ++i) {
            const auto value = evaluate(entries[i], fmt::format("`{}`", key), line);
            if (!value) continue;
            if (*value < 1 || *value >= launch_limit) {
                report(fmt::format("bad-{}", key), line,
                       fmt::format("entry {} of the {} of `{}` is {}: `{}`", i + 1, key, kernel_, *value,
                                   entries[i].text()),
                       *value < 1 ? "every entry is at least 1; ceil_div(N, 256) rounds up"
                                  : "every entry is below 2^31");
                continue;
            }
            out[i] = static_cast<std::uint32_t>(*value);
        }
    }

    // ---- arguments ----

    BoundArgument mismatch(const PlanArgument& argument, const ParameterType& type, const std::string& is,
                           std::string hint = {}) {
        report("argument-mismatch", argument.line,
               fmt::format("{} is {}, and the kernel takes {}", what_, is, describe(type)), std::move(hint));
        return {};
    }

    BoundArgument argument(const PlanArgument& argument, const ParameterType& type) {
        BoundArgument bound;
        if (argument.kind == PlanArgument::Kind::null) {
            if (kind_of(type) != ParameterKind::integer || type.size != 8)
                return mismatch(argument, type, "a null pointer");
            bound.bytes.resize(8);
            return bound;
        }
        if (argument.kind == PlanArgument::Kind::name && !argument.expression) {
            if (is_tensormap(argument.text)) {
                if (!type.is_array || type.size != tensormap_bytes) {
                    return mismatch(argument, type, "a tensor map",
                                    "the parameter is `const __grid_constant__ CUtensorMap`, by value");
                }
                bound.tensormap = argument.text;
                for (const TensorMapPlan& map : plan_.tensormaps)
                    if (map.name == argument.text) bound.map = tensor_map(map);
                return bound;
            }
            const BoundBuffer* buffer = find_buffer(argument.text);
            if (!buffer) return mismatch(argument, type, "a buffer without a shape");
            if (kind_of(type) != ParameterKind::integer || type.size != 8) {
                return mismatch(argument, type, "a buffer",
                                "compare the order of `args` with the kernel's parameters");
            }
            bound.buffer = argument.text;
            return bound;
        }
        Number number;
        if (argument.kind == PlanArgument::Kind::integer) {
            number.integer = argument.integer;
        } else if (argument.kind == PlanArgument::Kind::real) {
            number = {true, 0, argument.real};
        } else {
            const auto value = argument.expression->evaluate_number(environment_);
            if (!value) {
                report("bad-expression", argument.line, fmt::format("{}: {}", what_, value.error().message));
                return {};
            }
            number = *value;
        }
        return argument.dtype ? typed(argument, number, *argument.dtype, type)
                              : untyped(argument, number, type);
    }

    BoundArgument untyped(const PlanArgument& argument, const Number& number, const ParameterType& type) {
        switch (kind_of(type)) {
            case ParameterKind::integer:
                if (number.is_real) {
                    return mismatch(argument, type, fmt::format("the real number {}", number.real),
                                    "compare the order of `args` with the kernel's parameters");
                }
                return integer(argument, number.integer, type.size * 8);
            case ParameterKind::floating:
                return real(argument, number.as_real(), float_type(type));
            case ParameterKind::bytes:
                break;
        }
        return mismatch(argument, type, number.is_real ? "a real number" : "an integer",
                        type.size == 2
                            ? fmt::format("write {{value: {}, dtype: f16}} (or bf16)", argument.text)
                            : "a struct is passed as a number only with its dtype: {value: ..., dtype: ...}");
    }

    BoundArgument typed(const PlanArgument& argument, const Number& number, DType dtype,
                        const ParameterType& type) {
        const auto size = static_cast<std::uint32_t>(bits(dtype) / 8);
        const ParameterKind kind = kind_of(type);
        const bool right_kind = kind == ParameterKind::bytes ||
                                (kind == ParameterKind::floating) == (is_float(dtype) && size >= 2) ||
                                // 16-bit and smaller floats may be passed as their bits
                                (kind == ParameterKind::integer && is_float(dtype) && size <= 2);
        if (size != type.size || !right_kind)
            return mismatch(argument, type, fmt::format("written as {}", to_string(dtype)));
        if (is_float(dtype)) return real(argument, number.as_real(), dtype);
        if (number.is_real)
            return mismatch(argument, type,
                            fmt::format("the real number {} as {}", number.real, to_string(dtype)));
        if (dtype == DType::boolean && number.integer != 0 && number.integer != 1) {
            report("argument-range", argument.line,
                   fmt::format("{} is {}, which is no bool", what_, number.integer));
            return {};
        }
        if (number.integer < 0 && dtype == DType::u8) {
            report("argument-range", argument.line,
                   fmt::format("{} is {}, which does not fit u8", what_, number.integer));
            return {};
        }
        if (dtype != DType::u8 && dtype != DType::boolean && size < 8 &&
            number.integer >= (std::int64_t{1} << (size * 8 - 1))) {
            report("argument-range", argument.line,
                   fmt::format("{} is {}, which does not fit {}", what_, number.integer, to_string(dtype)));
            return {};
        }
        return integer(argument, number.integer, size * 8);
    }

    // PTX does not keep signedness: a value is right when it fits either way.
    BoundArgument integer(const PlanArgument& argument, std::int64_t value, std::uint32_t width) {
        if (width < 64) {
            const std::int64_t low = -(std::int64_t{1} << (width - 1)), high = (std::int64_t{1} << width) - 1;
            if (value < low || value > high) {
                report("argument-range", argument.line,
                       fmt::format("{} is {}, which does not fit the kernel's {}-bit parameter", what_, value,
                                   width),
                       width == 32 ? "take it as `long long` in the kernel" : "");
                return {};
            }
        }
        BoundArgument bound;
        bound.bytes.resize(width / 8);
        std::memcpy(bound.bytes.data(), &value, width / 8);  // little-endian, as the device is
        return bound;
    }

    BoundArgument real(const PlanArgument& argument, double value, DType dtype) {
        const double rounded = round_to(dtype, value);
        if (std::isfinite(value) &&
            (!std::isfinite(rounded) || std::fabs(value) > largest_finite(dtype) * 1.5)) {
            report("argument-range", argument.line,
                   fmt::format("{} is {}, which does not fit {}", what_, value, to_string(dtype)));
            return {};
        }
        BoundArgument bound;
        bound.bytes.resize(static_cast<std::size_t>(bits(dtype) / 8));
        store(dtype, bound.bytes.data(), 0, value);
        return bound;
    }

    const Candidate& candidate_;
    const Task& task_;
    const LaunchPlan& plan_;
    Environment environment_;
    const Signatures& signatures_;
    BoundPlan bound_;
    std::vector<Diagnostic> out_;
    std::string kernel_, what_;
};

}  // namespace

std::variant<BoundPlan, std::vector<Diagnostic>> bind_plan(const Candidate& candidate, const Task& task,
                                                           int plan, const SymbolValues& symbols,
                                                           const Environment& device,
                                                           const Signatures& signatures,
                                                           const DefaultParams& defaults) {
    return Binder(candidate, task, plan, symbols, device, signatures, defaults).run();
}

}  // namespace kernelwright

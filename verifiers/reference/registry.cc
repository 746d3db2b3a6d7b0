// The table of ops in the contract's order, and the checks that every call passes before an op's own code
// runs: known op, known and complete params of the right kind, operands matched by name or order, dtypes that
// the results can have.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/core/text.h"
#include "verifiers/reference/op.h"

namespace kernelwright {
namespace {

using namespace reference;

const std::vector<std::string>& contract_order() {
    static const std::vector<std::string> names{"add",
                                                "sub",
                                                "mul",
                                                "div",
                                                "maximum",
                                                "minimum",
                                                "axpy",
                                                "relu",
                                                "sigmoid",
                                                "silu",
                                                "tanh",
                                                "exp",
                                                "abs",
                                                "neg",
                                                "rsqrt",
                                                "square",
                                                "gelu",
                                                "swiglu",
                                                "sum",
                                                "mean",
                                                "max",
                                                "min",
                                                "logsumexp",
                                                "prod",
                                                "argmax",
                                                "argmin",
                                                "topk",
                                                "softmax",
                                                "log_softmax",
                                                "cumsum",
                                                "sort",
                                                "layernorm",
                                                "rmsnorm",
                                                "add_rmsnorm",
                                                "groupnorm",
                                                "transpose",
                                                "concat",
                                                "gather",
                                                "scatter_add",
                                                "embedding",
                                                "histogram",
                                                "matmul",
                                                "matmul_scaled",
                                                "linear",
                                                "conv2d",
                                                "depthwise_conv2d",
                                                "conv1d_causal",
                                                "maxpool2d",
                                                "avgpool2d",
                                                "attention",
                                                "attention_decode",
                                                "rope",
                                                "cross_entropy",
                                                "kmeans_assign",
                                                "gated_delta_rule",
                                                "quantize",
                                                "dequantize"};
    return names;
}

const std::map<std::string, Op>& table() {
    static const std::map<std::string, Op> ops = [] {
        std::map<std::string, Op> out;
        for (const auto family :
             {elementwise_ops, activation_ops, reduction_ops, selection_ops, softmax_ops, loss_ops, scan_ops,
              normalisation_ops, movement_ops, indexing_ops, matmul_ops, conv_ops, pool_ops, attention_ops,
              position_ops, clustering_ops, recurrent_ops, quantize_ops}) {
            for (Op& op : family()) {
                std::string name = op.name;
                out.emplace(std::move(name), std::move(op));
            }
        }
        return out;
    }();
    return ops;
}

const Op* find_op(const std::string& name) {
    const auto it = table().find(name);
    return it == table().end() ? nullptr : &it->second;
}

Error param_error(const Op& op, const Param& param, const std::string& what) {
    return Error{.message = fmt::format("parameter `{}` of op `{}` {}", param.name, op.name, what)};
}

const char* kind_text(ParamKind kind) {
    switch (kind) {
        case ParamKind::integer:
            return "an integer";
        case ParamKind::real:
            return "a number";
        case ParamKind::boolean:
            return "true or false";
        case ParamKind::axis:
            return "an axis number";
        case ParamKind::axes:
            return "an axis number, a list of them, or `all`";
        case ParamKind::choice:
            return "one of its names";
        case ParamKind::dtype:
            return "a dtype";
        case ParamKind::extents:
            return "an integer or a list of integers";
    }
    return "";
}

bool integers_only(const Json& list) {
    return list.is_array() &&
           std::all_of(list.begin(), list.end(), [](const Json& entry) { return entry.is_number_integer(); });
}

Status check_param(const Op& op, const Param& param, const Json& value) {
    const auto wrong = [&] {
        std::string shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (shown.size() > 60) shown = shown.substr(0, 60) + "...";
        return param_error(op, param, fmt::format("must be {}, not {}", kind_text(param.kind), shown));
    };
    const auto in_range = [&](const Json& entry) { return entry.get<std::int64_t>() >= param.minimum; };
    switch (param.kind) {
        case ParamKind::integer:
        case ParamKind::axis:
            if (!value.is_number_integer()) return wrong();
            if (!in_range(value))
                return param_error(op, param, fmt::format("must be at least {}", param.minimum));
            return Done{};
        case ParamKind::real:
            if (!value.is_number()) return wrong();
            if (!std::isfinite(value.get<double>())) return param_error(op, param, "must be finite");
            return Done{};
        case ParamKind::boolean:
            if (!value.is_boolean()) return wrong();
            return Done{};
        case ParamKind::axes:
            if (value.is_string() && value.get<std::string>() == "all") return Done{};
            if (!value.is_number_integer() && !integers_only(value)) return wrong();
            return Done{};
        case ParamKind::choice: {
            if (value.is_string() && std::find(param.choices.begin(), param.choices.end(),
                                               value.get<std::string>()) != param.choices.end()) {
                return Done{};
            }
            const std::string name = value.is_string() ? value.get<std::string>() : std::string{};
            std::string known;
            for (const std::string& choice : param.choices)
                known += (known.empty() ? "`" : ", `") + choice + "`";
            return param_error(op, param,
                               fmt::format("must be one of {}{}", known, did_you_mean(name, param.choices)));
        }
        case ParamKind::dtype:
            if (!value.is_string()) return wrong();
            if (!parse_dtype(value.get<std::string>())) {
                std::vector<std::string> names;
                for (const DType dtype : all_dtypes()) names.emplace_back(to_string(dtype));
                return param_error(op, param,
                                   fmt::format("names no dtype: `{}`{}", value.get<std::string>(),
                                               did_you_mean(value.get<std::string>(), names)));
            }
            return Done{};
        case ParamKind::extents: {
            if (!value.is_number_integer() && !integers_only(value)) return wrong();
            const bool list = value.is_array();
            if (list && value.empty()) return wrong();
            for (const Json& entry : list ? value : Json::array({value})) {
                if (!in_range(entry)) {
                    return param_error(op, param, fmt::format("must be at least {}", param.minimum));
                }
            }
            return Done{};
        }
    }
    return Done{};
}

// A default that is a constant, as a value; null where it depends on the shapes or means "not given".
Json default_value(const Param& param) {
    const std::string& text = param.default_text;
    if (text.empty() || text == "none" || text.find('(') != std::string::npos) return nullptr;
    switch (param.kind) {
        case ParamKind::boolean:
            return text == "true";
        case ParamKind::choice:
            return text;
        case ParamKind::real:
            return std::stod(text);
        case ParamKind::axes:
            if (text == "all") return text;
            return std::stoll(text);
        case ParamKind::integer:
        case ParamKind::axis:
        case ParamKind::extents:
            return std::stoll(text);
        case ParamKind::dtype:
            return nullptr;
    }
    return nullptr;
}

Result<Json> check_params(const Op& op, const Json& given) {
    if (!given.is_null() && !given.is_object()) {
        return Error{.message = fmt::format("the params of op `{}` must be a map", op.name)};
    }
    std::vector<std::string> names;
    for (const Param& param : op.params) names.push_back(param.name);
    if (given.is_object()) {
        for (const auto& [key, value] : given.items()) {
            if (std::find(names.begin(), names.end(), key) != names.end()) continue;
            std::string known;
            for (const std::string& name : names) known += (known.empty() ? "`" : ", `") + name + "`";
            const std::string hint = did_you_mean(key, names);
            const std::string list = known.empty() ? "; it has none" : "; it has " + known;
            return Error{.message = fmt::format("op `{}` has no parameter `{}`{}", op.name, key,
                                                hint.empty() ? list : hint)};
        }
    }
    Json out = Json::object();
    for (const Param& param : op.params) {
        const bool there = given.is_object() && given.contains(param.name) && !given.at(param.name).is_null();
        if (!there) {
            if (param.required) {
                return Error{.message = fmt::format("op `{}` needs the parameter `{}` ({})", op.name,
                                                    param.name, kind_text(param.kind))};
            }
            out[param.name] =
                param.kind == ParamKind::choice ? Json(param.default_text) : default_value(param);
            continue;
        }
        const Status status = check_param(op, param, given.at(param.name));
        if (!status) return status.error();
        out[param.name] = given.at(param.name);
    }
    return out;
}

std::string operand_list(const Op& op) {
    std::string out;
    for (const Operand& operand : op.operands) {
        out += (out.empty() ? "" : ", ") + operand.name + (operand.optional ? "?" : "");
    }
    return out + (op.variadic ? ", ..." : "");
}

// For each input, the operand it is.
Result<std::vector<std::size_t>> match_operands(const Op& op, std::size_t inputs,
                                                const std::vector<std::string>& names) {
    std::vector<std::size_t> place(inputs);
    std::vector<bool> taken(std::max(op.operands.size(), inputs), false);
    std::vector<std::string> known;
    for (const Operand& operand : op.operands) known.push_back(operand.name);
    const auto count_error = [&] {
        return Error{.message = fmt::format("op `{}` takes {}; the task has {} input{}", op.name,
                                            operand_list(op), inputs, inputs == 1 ? "" : "s")};
    };
    const bool open = op.variadic;
    if (!open && inputs > op.operands.size()) return count_error();
    for (std::size_t i = 0; i < inputs; ++i) {
        if (i >= names.size() || names[i].empty()) continue;
        const auto it = std::find(known.begin(), known.end(), names[i]);
        if (it == known.end()) {
            return Error{.message = fmt::format("op `{}` has no operand `{}`{}; it takes {}", op.name,
                                                names[i], did_you_mean(names[i], known), operand_list(op))};
        }
        place[i] = static_cast<std::size_t>(it - known.begin());
        if (taken[place[i]]) {
            return Error{.message =
                             fmt::format("two inputs are the operand `{}` of op `{}`", names[i], op.name)};
        }
        taken[place[i]] = true;
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < inputs; ++i) {
        if (i < names.size() && !names[i].empty()) continue;
        while (next < taken.size() && taken[next]) ++next;
        if (next >= taken.size()) return count_error();
        place[i] = next;
        taken[next] = true;
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i].optional || taken[i]) continue;
        return Error{.message = fmt::format("op `{}` takes {}; no input is `{}`", op.name, operand_list(op),
                                            op.operands[i].name)};
    }
    return place;
}

Status check_axes(const Call& call, const Op& op) {
    for (const Param& param : op.params) {
        if (param.kind != ParamKind::axis && param.kind != ParamKind::axes) continue;
        if (!call.given(param.name.c_str()) || call.params.at(param.name).is_string()) continue;
        const auto rank = static_cast<std::int64_t>(call.shape(0).size());
        const Json& value = call.params.at(param.name);
        std::vector<bool> seen(static_cast<std::size_t>(rank), false);
        for (const Json& entry : value.is_array() ? value : Json::array({value})) {
            const auto axis = entry.get<std::int64_t>();
            if (axis < -rank || axis >= rank) {
                return param_error(op, param,
                                   rank == 0 ? fmt::format("is {}, but the input is a scalar", axis)
                                             : fmt::format("is {}, outside {} .. {}", axis, -rank, rank - 1));
            }
            const auto place = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
            if (seen[place]) return param_error(op, param, fmt::format("names axis {} twice", axis));
            seen[place] = true;
        }
    }
    return Done{};
}

Shape without_ones(const Shape& shape) {
    Shape out;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(out), [](std::int64_t e) { return e != 1; });
    return out;
}

Status check_results(const Call& call, const Op& op, const std::vector<Shape>& shapes) {
    const std::size_t count = call.results.size();
    std::size_t needed = 0;
    std::string list;
    for (const ResultRule& rule : op.results) {
        needed += rule.optional ? 0 : 1;
        list += (list.empty() ? "" : ", ") + rule.name + (rule.optional ? "?" : "");
    }
    if (count < needed || count > op.results.size()) {
        return Error{.message = fmt::format("op `{}` gives {}; the task has {} output{}", op.name, list,
                                            count, count == 1 ? "" : "s")};
    }
    for (std::size_t i = 0; i < count; ++i) {
        const ResultRule& rule = op.results[i];
        const DType dtype = call.results[i];
        const auto wrong = [&](const char* what) {
            return Error{.message = fmt::format("output `{}` of op `{}` can't be {}: it holds {}", rule.name,
                                                op.name, to_string(dtype), what)};
        };
        if (rule.kind == ResultKind::index && !is_integer(dtype)) return wrong("integers");
        if (rule.kind == ResultKind::floating && !is_float(dtype)) return wrong("fractions");
        if (rule.kind != ResultKind::index && rule.kind != ResultKind::quantized && !is_float(dtype) &&
            !call.integral()) {
            return wrong("fractions");
        }
        if (i < call.declared.size() && call.declared[i] && *call.declared[i] != shapes[i] &&
            without_ones(*call.declared[i]) != without_ones(shapes[i])) {
            return Error{.message = fmt::format(
                             "output `{}` of op `{}` has the shape {}; the task declares {}", rule.name,
                             op.name, to_string(shapes[i]), to_string(*call.declared[i]))};
        }
    }
    return Done{};
}

struct Prepared {
    Call call;
    const Op* op = nullptr;
    std::vector<std::size_t> place;
};

Result<Prepared> prepare(const std::string& name, const Json& params, const std::vector<OutputSpec>& inputs,
                         const std::vector<std::string>& operands, const std::vector<DType>& dtypes,
                         const DeclaredShapes& declared) {
    Prepared out;
    out.op = find_op(name);
    if (out.op == nullptr) {
        return Error{.message = fmt::format("there is no reference op `{}`{}", name,
                                            did_you_mean(name, reference_ops()))};
    }
    auto checked = check_params(*out.op, params);
    if (!checked) return checked.error();
    auto place = match_operands(*out.op, inputs.size(), operands);
    if (!place) return place.error();
    out.place = *place;
    out.call.op = name;
    out.call.params = *checked;
    out.call.results = dtypes;
    for (const Shape& shape : declared) out.call.declared.emplace_back(shape);
    out.call.specs.resize(std::max(out.op->operands.size(), inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (const std::int64_t extent : inputs[i].shape) {
            if (extent < 0) {
                return Error{.message =
                                 fmt::format("an input of op `{}` has the negative extent {}", name, extent)};
            }
        }
        out.call.specs[out.place[i]] = inputs[i];
    }
    if (const Status status = check_axes(out.call, *out.op); !status) return status.error();
    return out;
}

Array to_array(const Tensor& tensor) {
    Array out{tensor.dtype, tensor.shape, {}, {}};
    const std::int64_t count = tensor.count();
    out.values.resize(static_cast<std::size_t>(count));
    if (!is_float(tensor.dtype)) {
        out.integers.resize(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
            out.integers[static_cast<std::size_t>(i)] = tensor.integer_at(i);
            out.values[static_cast<std::size_t>(i)] = static_cast<double>(tensor.integer_at(i));
        }
        return out;
    }
    if (bits(tensor.dtype) <= 16) {  // few patterns: decode each once
        std::vector<double> decoded(std::size_t{1} << bits(tensor.dtype));
        for (std::size_t pattern = 0; pattern < decoded.size(); ++pattern) {
            std::byte cell[2] = {static_cast<std::byte>(pattern & 255), static_cast<std::byte>(pattern >> 8)};
            decoded[pattern] = load(tensor.dtype, cell, 0);
        }
        for (std::int64_t i = 0; i < count; ++i) {
            out.values[static_cast<std::size_t>(i)] = decoded[load_bits(tensor.dtype, tensor.data.data(), i)];
        }
        return out;
    }
    for (std::int64_t i = 0; i < count; ++i) out.values[static_cast<std::size_t>(i)] = tensor.at(i);
    return out;
}

}  // namespace

const std::vector<std::string>& reference_ops() { return contract_order(); }

Result<std::vector<OutputSpec>> reference_outputs(const std::string& op, const Json& params,
                                                  const std::vector<OutputSpec>& inputs,
                                                  const std::vector<std::string>& operands,
                                                  const std::vector<DType>& output_dtypes,
                                                  const DeclaredShapes& declared) {
    auto prepared = prepare(op, params, inputs, operands, output_dtypes, declared);
    if (!prepared) return prepared.error();
    const auto shapes = prepared->op->shapes(prepared->call);
    if (!shapes) return shapes.error();
    if (const Status status = check_results(prepared->call, *prepared->op, *shapes); !status) {
        return status.error();
    }
    std::vector<OutputSpec> out;
    for (std::size_t i = 0; i < output_dtypes.size(); ++i) out.push_back({output_dtypes[i], (*shapes)[i]});
    return out;
}

Result<std::vector<Expected>> compute_reference(const std::string& op, const Json& params,
                                                const std::vector<Tensor>& inputs,
                                                const std::vector<std::string>& operands,
                                                const std::vector<DType>& output_dtypes,
                                                const DeclaredShapes& declared) {
    std::vector<OutputSpec> specs;
    specs.reserve(inputs.size());
    for (const Tensor& input : inputs) specs.push_back({input.dtype, input.shape});
    auto prepared = prepare(op, params, specs, operands, output_dtypes, declared);
    if (!prepared) return prepared.error();
    Call& call = prepared->call;
    const auto shapes = prepared->op->shapes(call);
    if (!shapes) return shapes.error();
    if (const Status status = check_results(call, *prepared->op, *shapes); !status) return status.error();
    call.arrays.resize(call.specs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) call.arrays[prepared->place[i]] = to_array(inputs[i]);
    auto out = prepared->op->compute(call);
    if (!out) return out.error();
    out->resize(output_dtypes.size());
    for (std::size_t i = 0; i < out->size(); ++i) {
        if (i < declared.size() && element_count(declared[i]) == element_count((*out)[i].shape)) {
            (*out)[i].shape = declared[i];
        }
    }
    return out;
}

std::vector<std::string> operand_names(const std::string& op) {
    std::vector<std::string> out;
    const Op* found = find_op(op);
    if (found == nullptr) return out;
    for (const Operand& operand : found->operands)
        out.push_back(operand.name + (operand.optional ? "?" : ""));
    if (found->variadic) out.emplace_back("...");
    return out;
}

std::vector<std::pair<std::string, std::string>> parameter_names(const std::string& op) {
    std::vector<std::pair<std::string, std::string>> out;
    const Op* found = find_op(op);
    if (found == nullptr) return out;
    for (const Param& param : found->params) out.emplace_back(param.name, param.default_text);
    return out;
}

std::vector<std::string> result_names(const std::string& op) {
    std::vector<std::string> out;
    const Op* found = find_op(op);
    if (found == nullptr) return out;
    for (const ResultRule& rule : found->results) out.push_back(rule.name);
    return out;
}

Result<Json> effective_params(const std::string& op, const Json& params,
                              const std::vector<OutputSpec>& inputs,
                              const std::vector<std::string>& operands) {
    auto prepared = prepare(op, params, inputs, operands, {}, {});
    if (!prepared) return prepared.error();
    Json out = prepared->call.params;
    if (out.contains("scale") && out["scale"].is_null()) {
        const Shape& shape = prepared->call.shape(0);
        if (shape.empty() || shape.back() == 0) return out;
        out["scale"] = 1.0 / std::sqrt(static_cast<double>(shape.back()));
    }
    if (out.contains("stride") && out["stride"].is_null() && out.contains("kernel"))
        out["stride"] = out["kernel"];
    return out;
}

Work reference_work(const std::string& op, const Json& params, const std::vector<OutputSpec>& inputs,
                    const std::vector<std::string>& operands, const std::vector<OutputSpec>& outputs) {
    const auto bytes = [](const OutputSpec& spec) {
        return static_cast<double>(storage_bytes(spec.dtype, element_count(spec.shape)));
    };
    Work work;
    for (const OutputSpec& spec : inputs) work.read_bytes += bytes(spec);
    for (const OutputSpec& spec : outputs) work.written_bytes += bytes(spec);
    if (!inputs.empty()) work.dtype = inputs[0].dtype;
    if (op.empty() || outputs.empty()) return work;
    std::vector<DType> dtypes;
    DeclaredShapes declared;
    for (const OutputSpec& spec : outputs) {
        dtypes.push_back(spec.dtype);
        declared.push_back(spec.shape);
    }
    const auto prepared = prepare(op, params, inputs, operands, dtypes, declared);
    if (!prepared) return work;
    const Op& known = *prepared->op;
    // The rules for the operations look into shapes that a call that is not sound does not have.
    const auto shapes = known.shapes(prepared->call);
    if (!shapes || !check_results(prepared->call, known, *shapes)) return work;
    if (known.flops != nullptr) work.flops = known.flops(prepared->call, outputs);
    work.matrix = known.matrix;
    if (known.reads_table && prepared->call.has(0)) {
        const OutputSpec& table = *prepared->call.specs[0];
        const auto taken = static_cast<double>(storage_bytes(table.dtype, element_count(outputs[0].shape)));
        work.read_bytes -= std::max(0.0, bytes(table) - taken);
    }
    return work;
}

}  // namespace kernelwright

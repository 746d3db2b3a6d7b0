#include "harness/profile/roofline.h"

#include <algorithm>
#include <set>

namespace kernelwright {
namespace {

double bytes_of(const OperandShape& operand) {
    return double(storage_bytes(operand.dtype, element_count(operand.shape)));
}

double elements(const OperandShape& operand) { return double(element_count(operand.shape)); }

bool flag(const Json& params, const char* key) {
    const auto it = params.find(key);
    return it != params.end() && it->is_boolean() && it->get<bool>();
}

// Extent `from_end` places from the last axis (0: the last); 1 where the shape is shorter.
double extent(const OperandShape& operand, std::size_t from_end) {
    const std::size_t n = operand.shape.size();
    return from_end < n ? double(operand.shape[n - 1 - from_end]) : 1;
}

double weights_per_output(const OperandShape& w) {
    double product = 1;
    for (std::size_t i = 1; i < w.shape.size(); ++i) product *= double(w.shape[i]);
    return product;
}

}  // namespace

Work compulsory_work(const std::string& op, const Json& params, const std::vector<OperandShape>& inputs,
                     const std::vector<OperandShape>& outputs) {
    Work work;
    for (const auto& input : inputs) work.read_bytes += bytes_of(input);
    double written = 0;
    for (const auto& output : outputs) {
        work.written_bytes += bytes_of(output);
        written += elements(output);
    }
    if (!inputs.empty()) work.dtype = inputs[0].dtype;
    if (op.empty() || inputs.empty() || outputs.empty()) return work;

    const double out = elements(outputs[0]);
    const auto matrix = [&](double flops) {
        work.matrix = true;
        work.flops = flops;
    };
    static const std::set<std::string> pure_moves{"transpose", "concat", "gather", "embedding"};
    if ((op == "matmul" || op == "matmul_scaled") && inputs.size() >= 2) {
        matrix(2 * out * extent(inputs[0], flag(params, "transpose_a") ? 1 : 0));
    } else if (op == "linear" && inputs.size() >= 2) {
        matrix(2 * out * extent(inputs[0], 0));
    } else if (op == "conv2d" && inputs.size() >= 2) {
        matrix(2 * out * weights_per_output(inputs[1]));
    } else if ((op == "depthwise_conv2d" || op == "conv1d_causal") && inputs.size() >= 2) {
        work.flops = 2 * out * weights_per_output(inputs[1]);
    } else if (op == "attention" && inputs.size() >= 3) {
        const double pairs = elements(inputs[0]) / extent(inputs[0], 0) * extent(inputs[1], 1);
        const double kept = flag(params, "causal") ? 0.5 : 1;
        matrix(2 * kept * pairs * (extent(inputs[0], 0) + extent(inputs[2], 0)));
    } else if (op == "attention_decode" && inputs.size() >= 3 && inputs[1].shape.size() >= 2) {
        // q [B, H, D] against T cached rows; the lengths are data, so all T count.
        work.flops = 4 * elements(inputs[0]) * double(inputs[1].shape[1]);
    } else if (op == "kmeans_assign" && inputs.size() >= 2) {
        matrix(2 * elements(inputs[0]) * extent(inputs[1], 1));
    } else if (op == "gated_delta_rule" && inputs.size() >= 3) {
        // Per step and head: decay, S^T k, rank-one update and S^T q over Dk x Dv.
        work.flops = 7 * elements(inputs[0]) * extent(inputs[2], 0);
    } else if (pure_moves.contains(op)) {
        work.flops = 0;
        if ((op == "embedding" || op == "gather") && inputs.size() >= 2)
            work.read_bytes =
                std::min(bytes_of(inputs[0]), written * bits(inputs[0].dtype) / 8) + bytes_of(inputs[1]);
    } else {
        double most = written;
        for (const auto& input : inputs) most = std::max(most, elements(input));
        work.flops = most;  // at least one operation for each element
    }
    return work;
}

Roofline roofline(const Work& work, const DeviceFacts& facts) {
    Roofline r;
    r.work = work;
    double peak = facts.fp32_flops();
    r.peak = "fp32";
    if (work.dtype == DType::f64) {
        peak = facts.fp64_lanes * 2 * facts.sm_count * facts.clock_hz();
        r.peak = "fp64";
    }
    // f32 products keep 24 bits: tf32 would not do.
    if (work.matrix && work.dtype != DType::f32 && facts.tensor_flops(work.dtype) > 0) {
        peak = facts.tensor_flops(work.dtype);
        r.peak = std::string("tensor ") + to_string(work.dtype);
    }
    const double bytes = work.read_bytes + work.written_bytes;
    r.memory_us = bytes / facts.dram_bytes_per_s() * 1e6;
    r.compute_us = work.flops / peak * 1e6;
    r.bound_us = std::max(r.memory_us, r.compute_us);
    r.bound = r.compute_us > r.memory_us ? "compute" : "memory";
    r.intensity = bytes > 0 ? work.flops / bytes : 0;
    r.ridge = peak / facts.dram_bytes_per_s();
    return r;
}

Json to_json(const Roofline& r) {
    return {{"bound_us", r.bound_us},
            {"bound", r.bound},
            {"memory_us", r.memory_us},
            {"compute_us", r.compute_us},
            {"peak", r.peak},
            {"intensity", r.intensity},
            {"ridge", r.ridge},
            {"work",
             {{"read_bytes", r.work.read_bytes},
              {"written_bytes", r.work.written_bytes},
              {"flops", r.work.flops},
              {"matrix", r.work.matrix},
              {"dtype", to_string(r.work.dtype)}}}};
}

Result<Roofline> roofline_from_json(const Json& json) {
    try {
        Roofline r;
        json.at("bound_us").get_to(r.bound_us);
        json.at("bound").get_to(r.bound);
        json.at("memory_us").get_to(r.memory_us);
        json.at("compute_us").get_to(r.compute_us);
        json.at("peak").get_to(r.peak);
        json.at("intensity").get_to(r.intensity);
        json.at("ridge").get_to(r.ridge);
        const Json& work = json.at("work");
        work.at("read_bytes").get_to(r.work.read_bytes);
        work.at("written_bytes").get_to(r.work.written_bytes);
        work.at("flops").get_to(r.work.flops);
        work.at("matrix").get_to(r.work.matrix);
        const auto dtype = parse_dtype(work.at("dtype").get<std::string>());
        if (!dtype) return Error{"a roofline record names an unknown dtype"};
        r.work.dtype = *dtype;
        return r;
    } catch (const Json::exception& e) {
        return Error{std::string("not a roofline record: ") + e.what()};
    }
}

}  // namespace kernelwright

#include "harness/profile/roofline.h"

#include <algorithm>
#include <vector>

namespace kernelwright {
namespace {

// The types in which products of a type can be formed without changing a value: narrow ones fit into f16, and
// i4 into i8.
std::vector<DType> product_types(DType dtype) {
    switch (dtype) {
        case DType::e4m3:
        case DType::e5m2:
        case DType::e2m1:
        case DType::i8:
        case DType::u8:
            return {dtype, DType::f16};
        case DType::i4:
            return {dtype, DType::i8, DType::f16};
        default:
            return {dtype};
    }
}

}  // namespace

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
    if (work.matrix && work.dtype != DType::f32)
        for (DType dtype : product_types(work.dtype))
            if (facts.tensor_flops(dtype) > peak) {
                peak = facts.tensor_flops(dtype);
                r.peak = std::string("tensor ") + to_string(dtype);
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

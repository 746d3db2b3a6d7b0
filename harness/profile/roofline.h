// The roofline: the time below which no kernel for some work can be on a device.
#pragma once

#include <string>

#include "harness/core/dtype.h"
#include "harness/core/json.h"
#include "harness/core/work.h"
#include "harness/profile/device_facts.h"

namespace kernelwright {

struct Roofline {
    Work work;
    double memory_us = 0, compute_us = 0, bound_us = 0;
    std::string bound;                // "memory" or "compute"
    std::string peak;                 // what the compute side was taken as: "tensor f16", "fp32", "fp64"
    double intensity = 0, ridge = 0;  // flop per byte: of the work, and where the device turns
    bool operator==(const Roofline&) const = default;
};

Roofline roofline(const Work& work, const DeviceFacts& facts);

Json to_json(const Roofline& roofline);
Result<Roofline> roofline_from_json(const Json& json);

}  // namespace kernelwright

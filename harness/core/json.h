// The JSON type of the whole harness: keys keep the order in which they were written, so that reports read
// well and a record is byte-identical when it is made twice.
#pragma once

#include <nlohmann/json.hpp>

namespace kernelwright {

using Json = nlohmann::ordered_json;

}  // namespace kernelwright

#include "harness/core/environment.h"

#include <cstdlib>

namespace kernelwright {

std::optional<std::string> read_environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

}  // namespace kernelwright

// The environment comes in through here, so that tests can answer instead.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace kernelwright {

// The value of an environment variable; nullopt: not set.
using EnvironmentReader = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> read_environment(const std::string& name);

}  // namespace kernelwright

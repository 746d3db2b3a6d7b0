// A Lua 5.4 state that can do nothing but compute: no files, no clock, no loading of code, no bytecode; with
// a cap on memory, a budget of instructions for every call, and only library functions whose running time is
// bounded by what they allocate. One state holds one rule, so that rules cannot see each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

struct SandboxLimits {
    std::size_t memory = std::size_t{1} << 20;   // bytes, everything the state allocates
    std::uint64_t instructions = 1'000'000;      // of each call
    double seconds = 0.5;                        // of processor time, of each call
    std::size_t source = std::size_t{64} << 10;  // bytes of a rule's text
};

class Sandbox {
  public:
    explicit Sandbox(SandboxLimits limits = {});
    Sandbox(Sandbox&&) noexcept;
    Sandbox& operator=(Sandbox&&) noexcept;
    ~Sandbox();

    // Runs `source` (text only) and keeps the value that it returns. `file` is what errors name. In the
    // source, `skill{...}` gives back its table.
    Status load(const std::string& source, const std::string& file);

    // The kept value as JSON. Functions become {"function": LINE}; anything that JSON has no word for, keys
    // that are neither all texts nor 1..n, and nesting beyond 16 are errors.
    Result<Json> value() const;

    // Calls the function found by following `path` in the kept value (texts are keys, numbers are 1-based
    // places) with one argument, a table made of `argument` anew for every call. The result as JSON; nil is
    // null.
    Result<Json> call(const Json& path, const Json& argument) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kernelwright

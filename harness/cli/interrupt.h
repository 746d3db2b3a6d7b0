// Ctrl-C as a stop token. While a guard lives, the first SIGINT or SIGTERM asks for a stop; a second one ends
// the program at once with exit code 130.
#pragma once

#include <memory>
#include <stop_token>

namespace kernelwright::cli {

class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    std::stop_token token() const;

  private:
    struct Watcher;
    std::unique_ptr<Watcher> watcher_;
};

}  // namespace kernelwright::cli

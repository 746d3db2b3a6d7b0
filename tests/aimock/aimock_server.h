// Starts aimock's `llmock` on a free loopback port and stops it again.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "harness/core/result.h"

namespace kernelwright {

class AimockServer {
  public:
    // `folder` holds node_modules and fixtures. An error is the reason why there is no server; `absent` is
    // set when the packages were not installed, as against being broken.
    static Result<std::unique_ptr<AimockServer>> start(const std::string& folder, bool& absent);
    ~AimockServer();
    AimockServer(const AimockServer&) = delete;
    AimockServer& operator=(const AimockServer&) = delete;

    std::string url() const { return url_; }

  private:
    AimockServer(pid_t process, int output, std::string url)
        : process_(process), output_(output), url_(std::move(url)) {}

    pid_t process_;
    int output_;  // its output; read to find the port, kept open so that it can go on writing
    std::string url_;
};

}  // namespace kernelwright

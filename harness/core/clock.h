// Time comes in through here, so that tests can stand still.
#pragma once

#include <chrono>
#include <string>

namespace kernelwright {

class Clock {
  public:
    virtual ~Clock() = default;
    virtual std::chrono::steady_clock::time_point now() const = 0;
    virtual std::chrono::system_clock::time_point wall() const = 0;
    virtual void sleep_for(std::chrono::milliseconds duration) = 0;
};

class SystemClock final : public Clock {
  public:
    std::chrono::steady_clock::time_point now() const override;
    std::chrono::system_clock::time_point wall() const override;
    void sleep_for(std::chrono::milliseconds duration) override;
};

// "2026-01-31T12:00:00.123Z"
std::string to_rfc3339(std::chrono::system_clock::time_point time);

}  // namespace kernelwright

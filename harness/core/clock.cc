#include "harness/core/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <thread>

namespace kernelwright {

std::chrono::steady_clock::time_point SystemClock::now() const { return std::chrono::steady_clock::now(); }
std::chrono::system_clock::time_point SystemClock::wall() const { return std::chrono::system_clock::now(); }
void SystemClock::sleep_for(std::chrono::milliseconds duration) { std::this_thread::sleep_for(duration); }

std::string to_rfc3339(std::chrono::system_clock::time_point time) {
    using namespace std::chrono;
    const auto ms = duration_cast<milliseconds>(time.time_since_epoch()).count() % 1000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(time)), ms);
}

}  // namespace kernelwright

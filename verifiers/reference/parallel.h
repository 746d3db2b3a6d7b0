// Splits independent work over the machine's cores. Every index is computed alone, so the result does not
// depend on how many threads there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace kernelwright::reference {

// Calls body(begin, end) for consecutive parts of 0 .. count-1. `cost` is the rough number of operations per
// index: small jobs stay on the calling thread.
template <class Body>
void parallel_for(std::int64_t count, double cost, const Body& body) {
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    const auto worth = static_cast<std::int64_t>(static_cast<double>(count) * cost / 2e5) + 1;
    const std::int64_t parts = std::min({cores, worth, count});
    if (parts <= 1) {
        if (count > 0) body(std::int64_t{0}, count);
        return;
    }
    std::vector<std::thread> threads;
    for (std::int64_t part = 1; part < parts; ++part) {
        threads.emplace_back(
            [&body, begin = count * part / parts, end = count * (part + 1) / parts] { body(begin, end); });
    }
    body(std::int64_t{0}, count / parts);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace kernelwright::reference

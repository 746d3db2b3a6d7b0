// When a failed request is sent again, and after how long. The rules are those of the vendors' own clients:
// 408, 409, 429, every 5xx (529 too) and broken connections are tried again, what the server says about it
// wins, an empty account is not waited for.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/authors/http.h"

namespace kernelwright {

struct RetryPolicy {
    int max_retries = 2;
    std::chrono::milliseconds first_wait{500};
    std::chrono::milliseconds longest_backoff{8000};
    double jitter = 0.25;  // a wait is shortened by up to this part
    // A server that asks for longer is not waited for.
    std::chrono::milliseconds longest_wait{std::chrono::minutes(10)};
};

struct FailedAttempt {
    int status = 0;          // 0: no response (connection error, broken or silent stream)
    HeaderMap headers;       // of the response
    bool quota = false;      // the account is empty
    bool permanent = false;  // known not to get better (certificate not trusted)
};

struct RetryDecision {
    bool again = false;
    std::chrono::milliseconds wait{0};
    std::string why_not;  // one clause, when a retry was left out for a reason worth telling
};

// What `retry-after-ms` or `Retry-After` (seconds or an HTTP date) asks for; nullopt: nothing usable.
std::optional<std::chrono::milliseconds> requested_wait(const HeaderMap& headers,
                                                        std::chrono::system_clock::time_point now);

// `retries_done` retries have been made; `random` gives numbers in [0, 1).
RetryDecision decide_retry(const RetryPolicy& policy, const FailedAttempt& failed, int retries_done,
                           std::chrono::system_clock::time_point now, const std::function<double()>& random);

}  // namespace kernelwright

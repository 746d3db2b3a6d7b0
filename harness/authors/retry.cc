#include "harness/authors/retry.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kernelwright {
namespace {

using std::chrono::milliseconds;

std::optional<double> number(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || !std::isfinite(value) || value < 0) return std::nullopt;
    return value;
}

// Far beyond any wait that is honoured, and safe to convert.
constexpr double most_ms = 1e12;

bool status_is_retried(int status) {
    return status == 0 || status == 408 || status == 409 || status == 429 || status >= 500;
}

}  // namespace

std::optional<milliseconds> requested_wait(const HeaderMap& headers,
                                           std::chrono::system_clock::time_point now) {
    if (const auto it = headers.find("retry-after-ms"); it != headers.end()) {
        if (const auto ms = number(it->second)) {
            return milliseconds(static_cast<std::int64_t>(std::ceil(std::min(*ms, most_ms))));
        }
    }
    const auto it = headers.find("retry-after");
    if (it == headers.end()) return std::nullopt;
    if (const auto seconds = number(it->second)) {
        return milliseconds(static_cast<std::int64_t>(std::ceil(std::min(*seconds * 1000, most_ms))));
    }
    // A date has a letter; curl_getdate would also take bare digits.
    if (it->second.find_first_of("JFMASONDjfmasond") == std::string::npos) return std::nullopt;
    const time_t date = curl_getdate(it->second.c_str(), nullptr);
    if (date == -1) return std::nullopt;
    const auto wait = std::chrono::system_clock::from_time_t(date) - now;
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(wait));
}

RetryDecision decide_retry(const RetryPolicy& policy, const FailedAttempt& failed, int retries_done,
                           std::chrono::system_clock::time_point now, const std::function<double()>& random) {
    if (failed.quota || failed.permanent) return {};
    bool again = status_is_retried(failed.status);
    if (const auto it = failed.headers.find("x-should-retry"); it != failed.headers.end()) {
        if (it->second == "true") again = true;
        if (it->second == "false") again = false;
    }
    if (!again || retries_done >= policy.max_retries) return {};
    if (const auto wait = requested_wait(failed.headers, now)) {
        if (*wait > policy.longest_wait) {
            return {false, *wait,
                    fmt::format("the endpoint asks to wait {} s, more than the {} s that are waited for",
                                wait->count() / 1000, policy.longest_wait.count() / 1000)};
        }
        return {true, *wait, ""};
    }
    const double backoff = std::min(static_cast<double>(policy.first_wait.count()) * std::exp2(retries_done),
                                    static_cast<double>(policy.longest_backoff.count()));
    return {true, milliseconds(std::llround(backoff * (1 - policy.jitter * random()))), ""};
}

}  // namespace kernelwright

// One streaming HTTP request through libcurl: bytes are handed over as they arrive, the caller may stop at
// any moment, and every way in which a transfer can end has a name.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelwright {

using HeaderMap = std::map<std::string, std::string>;  // lower-case names

struct HttpRequest {
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;  // empty and `get`: no body
    bool get = false;
};

struct HttpLimits {
    std::chrono::seconds connect{15};
    std::chrono::seconds stall{300};  // no byte for this long
    std::chrono::milliseconds total{std::chrono::minutes(30)};
};

enum class TransferEnd {
    complete,     // the server finished its response
    stopped,      // the reader had seen enough
    cancelled,    // the stop token
    unreachable,  // no name, no route, refused, no TLS
    untrusted,    // TLS certificate not accepted: trying again does not help
    stalled,      // connected, then silent
    out_of_time,  // the total limit
    cut,          // the connection broke or ended early
    bad_request,  // the URL cannot be used
};

struct HttpResponse {
    TransferEnd end = TransferEnd::complete;
    int status = 0;  // 0: no status line was seen
    HeaderMap headers;
    std::string message;  // what libcurl says about an end that is not `complete`; no header, no key
};

// Given the status and the headers, then each piece of the body; returns false to stop the transfer.
using BodyReader = std::function<bool(const HttpResponse& so_far, std::string_view bytes)>;

// True for localhost, 127.0.0.0/8 and ::1: no proxy is used for these.
bool is_loopback(std::string_view url);
// The URL's host, lower case, without port and brackets; "" when there is none.
std::string host_of(std::string_view url);

HttpResponse http_exchange(const HttpRequest& request, const HttpLimits& limits, const std::stop_token& stop,
                           const BodyReader& reader);

}  // namespace kernelwright

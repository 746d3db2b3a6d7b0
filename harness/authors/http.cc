#include "harness/authors/http.h"

#include <curl/curl.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "harness/authors/redact.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct MultiDeleter {
    void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

struct Transfer {
    HttpResponse response;
    const BodyReader* reader = nullptr;
    bool stopped_by_reader = false;
    // Silence is measured here: libcurl's own low-speed limit averages over some seconds, so that a stream
    // that started fast is given several seconds more than was asked for.
    curl_off_t bytes = 0;
    std::chrono::steady_clock::time_point last_byte = std::chrono::steady_clock::now();
};

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
    auto& response = static_cast<Transfer*>(user)->response;
    const std::string_view line(data, size * count);
    if (line.starts_with("HTTP/")) {  // also after a 1xx response: only the last one counts
        response.headers.clear();
        response.status = 0;
        if (const std::size_t space = line.find(' '); space != std::string_view::npos) {
            for (const char c : line.substr(space + 1, 3)) {
                if (c < '0' || c > '9') break;
                response.status = response.status * 10 + (c - '0');
            }
        }
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        static constexpr std::size_t most_headers = 256;
        if (response.headers.size() < most_headers) {
            response.headers[lower(trim(line.substr(0, colon)))] = std::string(trim(line.substr(colon + 1)));
        }
    }
    return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    if ((*transfer.reader)(transfer.response, {data, size * count})) return size * count;
    transfer.stopped_by_reader = true;
    return CURL_WRITEFUNC_ERROR;
}

int on_progress(void* user, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) {
    auto& transfer = *static_cast<Transfer*>(user);
    if (down + up != transfer.bytes) {
        transfer.bytes = down + up;
        transfer.last_byte = std::chrono::steady_clock::now();
    }
    return 0;
}

bool is_connected(CURL* easy) {
    curl_off_t connected = 0;
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
    return connected != 0;
}

TransferEnd end_of(CURL* easy, CURLcode code) {
    switch (code) {
        case CURLE_OK:
            return TransferEnd::complete;
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
            return TransferEnd::bad_request;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PROXY:
            return TransferEnd::unreachable;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
            return TransferEnd::untrusted;
        case CURLE_OPERATION_TIMEDOUT:
            return is_connected(easy) ? TransferEnd::out_of_time : TransferEnd::unreachable;
        default:
            return TransferEnd::cut;
    }
}

// A peer that goes away in the middle of a TLS write raises SIGPIPE, which would end the program. libcurl
// does not guard against it when it is told to leave signals alone, so this thread does for as long as it
// transfers.
class SigpipeBlock {
  public:
    SigpipeBlock() {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~SigpipeBlock() {
        if (!was_pending_) {
            const timespec at_once{0, 0};
            while (sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) continue;
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    SigpipeBlock(const SigpipeBlock&) = delete;
    SigpipeBlock& operator=(const SigpipeBlock&) = delete;

  private:
    sigset_t pipe_{}, before_{};
    bool was_pending_ = false;
};

void set_up_curl() {
    // libcurl wants this once, before any thread uses it; a local static is initialised exactly so.
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)once;
}

}  // namespace

std::string host_of(std::string_view url) {
    const std::string bare = url_without_credentials(url);
    const std::size_t scheme = bare.find("://");
    if (scheme == std::string::npos) return "";
    const std::size_t start = scheme + 3;
    std::string authority = bare.substr(start, bare.find_first_of("/?#", start) - start);
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        return lower(authority.substr(1, close == std::string::npos ? close : close - 1));
    }
    return lower(authority.substr(0, authority.find(':')));
}

bool is_loopback(std::string_view url) {
    const std::string host = host_of(url);
    if (host == "localhost" || host.ends_with(".localhost") || host == "::1") return true;
    return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
}

HttpResponse http_exchange(const HttpRequest& request, const HttpLimits& limits, const std::stop_token& stop,
                           const BodyReader& reader) {
    set_up_curl();
    const SigpipeBlock no_sigpipe;
    Transfer transfer;
    transfer.reader = &reader;
    const Easy easy(curl_easy_init());
    const Multi multi(curl_multi_init());
    if (!easy || !multi) {
        transfer.response.end = TransferEnd::cut;
        transfer.response.message = "libcurl cannot be set up";
        return transfer.response;
    }
    List headers;
    const auto add_header = [&headers](const std::string& line) {
        if (curl_slist* longer = curl_slist_append(headers.get(), line.c_str())) {
            (void)headers.release();  // it is now a part of `longer`
            headers.reset(longer);
        }
    };
    for (const auto& [name, value] : request.headers) {
        add_header(value.empty() ? name + ";" : name + ": " + value);  // libcurl's form of an empty header
    }
    add_header("Expect:");  // no 100-continue round trip for long prompts

    CURL* const handle = easy.get();
    std::string message(CURL_ERROR_SIZE, '\0');
    curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect would carry the key elsewhere
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "kernelwright");
    if (!request.get) {
        curl_easy_setopt(handle, CURLOPT_POST, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
    }
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (is_loopback(request.url)) curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits.connect.count()));
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, std::max<long>(1, limits.total.count()));
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message.data());
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);

    // The multi interface, because its wait can be woken: a stop does not have to wait for the next byte.
    CURLcode code = CURLE_OK;
    bool cancelled = false;
    bool stalled = false;
    curl_multi_add_handle(multi.get(), handle);
    {
        const std::stop_callback wake(stop, [&multi] { curl_multi_wakeup(multi.get()); });
        int running = 1;
        while (running != 0) {
            if (stop.stop_requested()) {
                cancelled = true;
                break;
            }
            if (curl_multi_perform(multi.get(), &running) != CURLM_OK) {
                code = CURLE_RECV_ERROR;
                break;
            }
            if (running == 0) break;
            if (std::chrono::steady_clock::now() - transfer.last_byte > limits.stall) {
                stalled = true;
                break;
            }
            curl_multi_poll(multi.get(), nullptr, 0, 200, nullptr);
        }
    }
    int left = 0;
    while (const CURLMsg* done = curl_multi_info_read(multi.get(), &left)) {
        if (done->msg == CURLMSG_DONE) code = done->data.result;
    }
    HttpResponse& response = transfer.response;
    response.end = cancelled                    ? TransferEnd::cancelled
                   : transfer.stopped_by_reader ? TransferEnd::stopped
                   : stalled ? (is_connected(handle) ? TransferEnd::stalled : TransferEnd::unreachable)
                             : end_of(handle, code);
    if (stalled) response.message = "no byte came in time";
    if (code != CURLE_OK && !transfer.stopped_by_reader) {
        response.message = *message.c_str() != '\0' ? message.c_str() : curl_easy_strerror(code);
    }
    curl_multi_remove_handle(multi.get(), handle);
    return response;
}

}  // namespace kernelwright

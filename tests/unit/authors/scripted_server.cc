#include "tests/unit/authors/scripted_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace kernelwright {

ScriptedServer::ScriptedServer(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0 || ::pipe(wake_) != 0) {
        throw std::runtime_error("no loopback socket");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

ScriptedServer::~ScriptedServer() {
    ::close(wake_[1]);
    thread_.join();
    ::close(wake_[0]);
    ::close(listener_);
}

std::vector<std::string> ScriptedServer::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

void ScriptedServer::serve() {
    for (std::size_t index = 0;; ++index) {
        pollfd wanted[2] = {{listener_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
        if (::poll(wanted, 2, -1) < 0 || wanted[1].revents != 0) return;
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) return;
        const int yes = 1;
        ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        answer(connection, index);
        ::close(connection);
    }
}

void ScriptedServer::answer(int connection, std::size_t index) {
    std::string request;
    char buffer[4096];
    std::size_t needed = std::string::npos;
    while (request.size() < needed) {
        pollfd wanted[2] = {{connection, POLLIN, 0}, {wake_[0], POLLIN, 0}};
        if (::poll(wanted, 2, 5000) <= 0 || wanted[1].revents != 0) return;
        const ssize_t n = ::recv(connection, buffer, sizeof(buffer), 0);
        if (n <= 0) return;
        request.append(buffer, static_cast<std::size_t>(n));
        if (const std::size_t end = request.find("\r\n\r\n"); end != std::string::npos) {
            const std::size_t at = request.find("Content-Length: ");
            const long body = at < end ? std::strtol(request.c_str() + at + 16, nullptr, 10) : 0;
            needed = end + 4 + static_cast<std::size_t>(body);
        }
    }
    {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
    }
    if (index >= scripts_.size()) return;
    const Script& script = scripts_[index];
    for (const auto& piece : script.pieces) {
        for (std::size_t sent = 0; sent < piece.size();) {
            const ssize_t n = ::send(connection, piece.data() + sent, piece.size() - sent, MSG_NOSIGNAL);
            if (n <= 0) return;
            sent += static_cast<std::size_t>(n);
        }
    }
    if (script.end == Script::End::hang) {
        pollfd wanted{wake_[0], POLLIN, 0};
        // The next request (after a cancellation or a stall) is served once the client has gone away.
        pollfd both[2] = {wanted, {connection, POLLIN, 0}};
        ::poll(both, 2, 30000);
    } else if (script.end == Script::End::reset) {
        const linger now{1, 0};
        ::usleep(20000);  // let what was sent arrive: a reset discards it
        ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
}

std::string http_response(int status, const std::string& headers, const std::string& body) {
    return fmt::format("HTTP/1.1 {} Scripted\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}", status,
                       body.size(), headers, body);
}

std::string stream_head(long declared, const std::string& headers) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{}{}\r\n",
                       declared >= 0 ? fmt::format("Content-Length: {}\r\n", declared) : "", headers);
}

Script stream(const std::string& body, const std::string& headers) {
    return {{stream_head(-1, headers) + body}, Script::End::close};
}

std::vector<std::string> bytes_of(const std::string& text) {
    std::vector<std::string> bytes;
    bytes.reserve(text.size());
    for (const char c : text) bytes.emplace_back(1, c);
    return bytes;
}

}  // namespace kernelwright

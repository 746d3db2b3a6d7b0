// A loopback HTTP server that says exactly the bytes it was told to, cut where it was told to: for the
// failures that a well-behaved test server does not show.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kernelwright {

struct Script {
    std::vector<std::string> pieces;  // each sent by itself
    enum class End {
        close,  // closes in order
        reset,  // breaks the connection
        hang,   // says nothing more and keeps the connection until the server stops
    } end = End::close;
};

class ScriptedServer {
  public:
    // One script for each request, in order; after the last, connections are closed without a word.
    explicit ScriptedServer(std::vector<Script> scripts);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    int port() const { return port_; }
    std::string url(const std::string& path = "") const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    std::vector<std::string> requests() const;  // head and body as received

  private:
    void serve();
    void answer(int connection, std::size_t index);

    std::vector<Script> scripts_;
    int listener_ = -1;
    int port_ = 0;
    int wake_[2] = {-1, -1};  // a pipe: readable when the server is to stop
    mutable std::mutex mutex_;
    std::vector<std::string> requests_;
    std::thread thread_;
};

// "HTTP/1.1 STATUS ..." with the headers and the body, closed by the end of the connection.
std::string http_response(int status, const std::string& headers, const std::string& body);
// A 200 event stream's head; `declared` >= 0 gives it a Content-Length.
std::string stream_head(long declared = -1, const std::string& headers = "");
// One script that sends a 200 event stream in a piece.
Script stream(const std::string& body, const std::string& headers = "");
// `text` cut into single bytes.
std::vector<std::string> bytes_of(const std::string& text);

}  // namespace kernelwright

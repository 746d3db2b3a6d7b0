// What a worker and its parent say to each other: a JSON header and any number of binary blobs in one frame.
//
// Frame: "KWM1", header length (u32), blob count (u32), each blob's length (u64), header, blobs; little
// endian. The reading side trusts nothing: lengths are capped before anything is allocated.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

struct Message {
    Json header = Json::object();
    std::vector<std::string> blobs;
    bool operator==(const Message&) const = default;
};

struct MessageLimits {
    std::size_t header = std::size_t{16} << 20;  // bytes
    std::size_t blobs = std::size_t{4} << 30;    // bytes, all together
    std::size_t blob_count = 4096;
};

std::string encode(const Message& message);

// Builds messages from bytes as they arrive.
class MessageDecoder {
  public:
    explicit MessageDecoder(MessageLimits limits = {}) : limits_(limits) {}
    void feed(const char* bytes, std::size_t count) { buffer_.append(bytes, count); }
    // A whole message, nullopt when more bytes are needed, or an Error when the bytes are no message.
    Result<std::optional<Message>> next();
    bool empty() const { return buffer_.empty(); }

  private:
    MessageLimits limits_;
    std::string buffer_;
};

// Blocking, for the worker's side. read_message: nullopt at the end of the stream.
Status write_message(int fd, const Message& message);
Result<std::optional<Message>> read_message(int fd, const MessageLimits& limits = {});

}  // namespace kernelwright

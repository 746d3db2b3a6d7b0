#include "harness/sandbox/message.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kernelwright {
namespace {

constexpr std::string_view magic = "KWM1";
constexpr std::size_t prefix_size = 12;

template <class T>
void put(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

template <class T>
T get(const char* bytes) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return value;
}

struct Layout {
    std::uint64_t header = 0;
    std::vector<std::uint64_t> blobs;
    std::uint64_t prefix = 0, total = 0;
};

// The frame's layout once its prefix is there; nullopt: more bytes are needed.
Result<std::optional<Layout>> parse_prefix(std::string_view bytes, const MessageLimits& limits) {
    const std::size_t seen = std::min(bytes.size(), magic.size());
    if (bytes.substr(0, seen) != magic.substr(0, seen)) return Error{"not a message (wrong first bytes)"};
    if (bytes.size() < prefix_size) return std::optional<Layout>{};
    Layout layout;
    layout.header = get<std::uint32_t>(bytes.data() + 4);
    const std::size_t count = get<std::uint32_t>(bytes.data() + 8);
    if (layout.header > limits.header) {
        return Error{fmt::format("a message header of {} bytes, more than {}", layout.header, limits.header)};
    }
    if (count > limits.blob_count) {
        return Error{fmt::format("a message of {} blobs, more than {}", count, limits.blob_count)};
    }
    layout.prefix = prefix_size + 8 * count;
    if (bytes.size() < layout.prefix) return std::optional<Layout>{};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto size = get<std::uint64_t>(bytes.data() + prefix_size + 8 * i);
        if (size > limits.blobs || (sum += size) > limits.blobs) {
            return Error{fmt::format("a message with more than {} bytes of blobs", limits.blobs)};
        }
        layout.blobs.push_back(size);
    }
    layout.total = layout.prefix + layout.header + sum;
    return std::optional<Layout>{std::move(layout)};
}

Result<Message> parse_body(std::string_view frame, const Layout& layout) {
    Message message;
    std::size_t at = layout.prefix;
    message.header = Json::parse(frame.substr(at, layout.header), nullptr, false);
    if (!message.header.is_object()) return Error{"a message whose header is not a JSON object"};
    at += layout.header;
    for (const std::uint64_t size : layout.blobs) {
        message.blobs.emplace_back(frame.substr(at, size));
        at += size;
    }
    return message;
}

// Bytes read; less than asked for at the end of the stream; -1: failed.
ssize_t read_exactly(int fd, char* into, std::size_t count) {
    std::size_t have = 0;
    while (have < count) {
        const ssize_t n = ::read(fd, into + have, count - have);
        if (n == 0) break;
        if (n < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        have += static_cast<std::size_t>(n);
    }
    return static_cast<ssize_t>(have);
}

}  // namespace

std::string encode(const Message& message) {
    // Text from a compiler or a candidate may hold any bytes: broken UTF-8 is replaced, not refused.
    const std::string header = message.header.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::size_t total = prefix_size + 8 * message.blobs.size() + header.size();
    for (const std::string& blob : message.blobs) total += blob.size();
    std::string out;
    out.reserve(total);
    out += magic;
    put(out, static_cast<std::uint32_t>(header.size()));
    put(out, static_cast<std::uint32_t>(message.blobs.size()));
    for (const std::string& blob : message.blobs) put(out, static_cast<std::uint64_t>(blob.size()));
    out += header;
    for (const std::string& blob : message.blobs) out += blob;
    return out;
}

Result<std::optional<Message>> MessageDecoder::next() {
    auto layout = parse_prefix(buffer_, limits_);
    if (!layout) return layout.error();
    if (!*layout || buffer_.size() < (*layout)->total) return std::optional<Message>{};
    auto message = parse_body(buffer_, **layout);
    if (!message) return message.error();
    buffer_.erase(0, (*layout)->total);
    return std::optional<Message>{std::move(*message)};
}

Status write_message(int fd, const Message& message) {
    const std::string frame = encode(message);
    std::string_view rest = frame;
    while (!rest.empty()) {
        const ssize_t n = ::write(fd, rest.data(), rest.size());
        if (n < 0) {
            if (errno == EINTR) continue;
            return Error{fmt::format("cannot write a message: {}", std::strerror(errno))};
        }
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
    return Done{};
}

Result<std::optional<Message>> read_message(int fd, const MessageLimits& limits) {
    std::string frame(prefix_size, '\0');
    const auto read_to = [&](std::size_t size) {
        const std::size_t have = frame.size();
        frame.resize(size);
        return read_exactly(fd, frame.data() + have, size - have) == static_cast<ssize_t>(size - have);
    };
    const ssize_t first = read_exactly(fd, frame.data(), prefix_size);
    if (first == 0) return std::optional<Message>{};
    if (first != static_cast<ssize_t>(prefix_size)) return Error{"a message broke off"};
    auto layout = parse_prefix(frame, limits);
    if (!layout) return layout.error();
    if (!*layout) {
        if (!read_to(prefix_size + 8 * get<std::uint32_t>(frame.data() + 8)))
            return Error{"a message broke off"};
        layout = parse_prefix(frame, limits);
        if (!layout) return layout.error();
    }
    if (!read_to((*layout)->total)) return Error{"a message broke off"};
    auto message = parse_body(frame, **layout);
    if (!message) return message.error();
    return std::optional<Message>{std::move(*message)};
}

}  // namespace kernelwright

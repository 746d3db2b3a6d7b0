// Server-sent events, parsed as the WHATWG specification says, from bytes that may be cut anywhere: inside a
// line end, a UTF-8 sequence or the byte order mark.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright {

struct SseEvent {
    std::string name;  // the `event` field; "message" when there was none
    std::string data;  // the `data` lines, joined by newlines
    std::string id;    // the last `id` seen
    bool operator==(const SseEvent&) const = default;
};

class SseParser {
  public:
    // An event larger than `limit` bytes makes the parser fail (too_large), rather than grow without end.
    explicit SseParser(std::size_t limit = 64U << 20) : limit_(limit) {}

    // Feeds bytes; the events that they complete are appended to `out`.
    void feed(std::string_view bytes, std::vector<SseEvent>& out);
    // The stream ended. The specification drops an event without its blank line; some servers leave the last
    // one out, so what is complete up to a line end (or the end of the stream) is given here.
    void finish(std::vector<SseEvent>& out);
    bool too_large() const { return too_large_; }

  private:
    void take_line(std::vector<SseEvent>& out);
    void dispatch(std::vector<SseEvent>& out);

    std::size_t limit_;
    std::string line_;
    std::string name_, data_, id_;
    bool has_data_ = false;
    bool first_line_ = true;
    bool after_cr_ = false;  // the next byte, if LF, belongs to the line end already taken
    bool too_large_ = false;
};

}  // namespace kernelwright

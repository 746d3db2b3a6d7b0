#include "harness/authors/sse.h"

#include <utility>

namespace kernelwright {

void SseParser::feed(std::string_view bytes, std::vector<SseEvent>& out) {
    std::size_t start = 0;
    while (start < bytes.size() && !too_large_) {
        if (after_cr_) {
            after_cr_ = false;
            if (bytes[start] == '\n') {
                ++start;
                continue;
            }
        }
        const std::size_t end = bytes.find_first_of("\r\n", start);
        line_.append(bytes.substr(start, end == std::string_view::npos ? end : end - start));
        if (line_.size() + data_.size() > limit_) {
            too_large_ = true;
            return;
        }
        if (end == std::string_view::npos) return;
        after_cr_ = bytes[end] == '\r';
        start = end + 1;
        take_line(out);
    }
}

void SseParser::finish(std::vector<SseEvent>& out) {
    if (too_large_) return;
    if (!line_.empty()) take_line(out);
    dispatch(out);
}

void SseParser::take_line(std::vector<SseEvent>& out) {
    std::string line = std::exchange(line_, {});
    if (first_line_) {
        first_line_ = false;
        if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    }
    if (line.empty()) {
        dispatch(out);
        return;
    }
    if (line[0] == ':') return;
    const std::size_t colon = line.find(':');
    const std::string field = line.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.erase(0, 1);
    if (field == "data") {
        if (has_data_) data_ += '\n';
        data_ += value;
        has_data_ = true;
    } else if (field == "event") {
        name_ = std::move(value);
    } else if (field == "id") {
        if (value.find('\0') == std::string::npos) id_ = std::move(value);
    }
}

void SseParser::dispatch(std::vector<SseEvent>& out) {
    if (has_data_) out.push_back({name_.empty() ? "message" : name_, std::move(data_), id_});
    name_.clear();
    data_.clear();
    has_data_ = false;
}

}  // namespace kernelwright

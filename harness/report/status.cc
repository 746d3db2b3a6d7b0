#include "harness/report/status.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "harness/core/text.h"

namespace kernelwright::report {
namespace {

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

// Where the character that holds byte `at` begins.
std::size_t character_start(const std::string& text, std::size_t at) {
    while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    return at;
}

}  // namespace

StatusStyle detect_style(std::FILE* stream) {
    StatusStyle style;
    const int fd = ::fileno(stream);
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal == nullptr || *terminal == '\0' || std::strcmp(terminal, "dumb") == 0;
    style.redraw = fd >= 0 && ::isatty(fd) == 1 && !dumb;
    style.colour = !is_set("NO_COLOR") && (style.redraw || is_set("CLICOLOR_FORCE"));
    winsize size{};
    if (style.redraw && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        style.width = size.ws_col;
    } else if (const char* columns = std::getenv("COLUMNS")) {
        const int width = std::atoi(columns);
        if (width > 0) style.width = width;
    }
    return style;
}

std::string elide_middle(const std::string& text, std::size_t width) {
    if (text.size() <= width) return text;
    if (width <= 3) return std::string(width, '.');
    const std::size_t kept = width - 3;
    const std::size_t head = character_start(text, kept / 2);
    std::size_t tail = text.size() - (kept - kept / 2);
    while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0U) == 0x80U) ++tail;
    return text.substr(0, head) + "..." + text.substr(tail);
}

StatusPrinter::~StatusPrinter() { clear(); }

void StatusPrinter::status(const std::string& line) {
    const std::string text = printable(line);
    if (style_.redraw) {
        // The last column stays free: some terminals wrap when it is written.
        const std::size_t width = style_.width > 1 ? static_cast<std::size_t>(style_.width - 1) : 1;
        std::fprintf(stream_, "\r%s\x1b[K", elide_middle(text, width).c_str());
        std::fflush(stream_);
        drawn_ = true;
        return;
    }
    // Elsewhere each small step would be a line of noise: what precedes the first colon is what is worth one.
    const std::string subject = text.substr(0, text.find(": "));
    if (subject == last_) return;
    last_ = subject;
    std::fprintf(stream_, "%s\n", text.c_str());
    std::fflush(stream_);
}

void StatusPrinter::step(const std::string& line) {
    status(style_.redraw ? line : line.substr(0, line.find(": ")));
}

void StatusPrinter::message(const std::string& line) {
    clear();
    std::fprintf(stream_, "%s\n", printable(line).c_str());
    std::fflush(stream_);
}

void StatusPrinter::clear() {
    if (!drawn_) return;
    std::fputs("\r\x1b[K", stream_);
    std::fflush(stream_);
    drawn_ = false;
}

}  // namespace kernelwright::report

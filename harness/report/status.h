// Progress on standard error as ninja does it: on a terminal one line that is redrawn, cut in the middle to
// the terminal's width; elsewhere plain lines, one for each subject (what a status says before its first
// colon).
#pragma once

#include <cstdio>
#include <string>

namespace kernelwright::report {

struct StatusStyle {
    bool redraw = false;  // one line, redrawn
    bool colour = false;
    int width = 80;
};
// From the stream and the environment: isatty, TERM=dumb, NO_COLOR, CLICOLOR_FORCE, COLUMNS.
StatusStyle detect_style(std::FILE* stream);

// `text` in at most `width` columns, the middle left out: "compile ... shape 3/8".
std::string elide_middle(const std::string& text, std::size_t width);

class StatusPrinter {
  public:
    StatusPrinter(std::FILE* stream, StatusStyle style) : stream_(stream), style_(style) {}
    ~StatusPrinter();
    StatusPrinter(const StatusPrinter&) = delete;

    void status(const std::string& line);
    // "subject: detail"; elsewhere than on a terminal the subject alone, which is all that its line stands
    // for.
    void step(const std::string& line);
    void message(const std::string& line);
    void clear();  // wipes the status line

  private:
    std::FILE* stream_;
    StatusStyle style_;
    std::string last_;
    bool drawn_ = false;
};

}  // namespace kernelwright::report

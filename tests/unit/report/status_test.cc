#include "harness/report/status.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>

namespace kernelwright::report {
namespace {

// What a printer writes to a file.
class Written {
  public:
    explicit Written(StatusStyle style) : file_(std::tmpfile(), &std::fclose), printer(file_.get(), style) {}
    std::string text() {
        std::fflush(file_.get());
        std::string out(static_cast<std::size_t>(std::ftell(file_.get())), '\0');
        std::rewind(file_.get());
        const std::size_t n = std::fread(out.data(), 1, out.size(), file_.get());
        out.resize(n);
        return out;
    }

  private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;

  public:
    StatusPrinter printer;
};

TEST(Status, ATerminalHasOneLineThatIsRedrawn) {
    Written out({true, false, 20});
    out.printer.status("#1 draft: asking");
    out.printer.status("#1 draft: a very long line that does not fit");
    out.printer.message("#1 draft: pass");
    EXPECT_EQ(out.text(), "\r#1 draft: asking\x1b[K\r#1 draft... not fit\x1b[K\r\x1b[K#1 draft: pass\n");
}

TEST(Status, ElsewhereEachSubjectIsOnePlainLine) {
    Written out({false, false, 20});
    out.printer.status("#1 draft: answering (10 bytes)");
    out.printer.status("#1 draft: answering (20 bytes)");
    out.printer.status("#1 draft: checking");
    out.printer.message("#1 draft: pass");
    out.printer.status("#2 optimise: asking");
    EXPECT_EQ(out.text(), "#1 draft: answering (10 bytes)\n#1 draft: pass\n#2 optimise: asking\n");
}

TEST(Status, AStepElsewhereIsItsSubject) {
    Written out({false, false, 20});
    out.printer.step("K=1 N=3: normal");
    out.printer.step("K=1 N=3: ties");
    EXPECT_EQ(out.text(), "K=1 N=3\n");
    Written terminal({true, false, 20});
    terminal.printer.step("K=1 N=3: ties");
    EXPECT_EQ(terminal.text(), "\rK=1 N=3: ties\x1b[K");
}

TEST(Status, WhatSteersATerminalIsTakenOut) {
    Written out({false, false, 80});
    out.printer.message("a\x1b[2Jb\nc\rd");
    EXPECT_EQ(out.text(), "a [2Jb c d\n");
}

TEST(Status, TheMiddleIsLeftOut) {
    EXPECT_EQ(elide_middle("short", 10), "short");
    EXPECT_EQ(elide_middle("0123456789abcdef", 9), "012...def");
    EXPECT_EQ(elide_middle("0123456789", 3), "...");
    EXPECT_EQ(elide_middle("0123456789", 0), "");
    for (std::size_t width = 0; width < 20; ++width) {
        const std::string text =
            elide_middle("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", width);
        EXPECT_LE(text.size(), std::max<std::size_t>(width, 0));
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\xc3') continue;
            EXPECT_EQ(text[i + 1], '\xa9') << "no half of a character";
        }
    }
}

TEST(Status, StyleFollowsTheEnvironment) {
    std::FILE* file = std::tmpfile();
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    ::unsetenv("CLICOLOR_FORCE");
    EXPECT_FALSE(detect_style(file).redraw) << "a file is no terminal";
    EXPECT_FALSE(detect_style(file).colour);
    ::setenv("CLICOLOR_FORCE", "1", 1);
    EXPECT_TRUE(detect_style(file).colour);
    ::setenv("NO_COLOR", "1", 1);
    EXPECT_FALSE(detect_style(file).colour) << "NO_COLOR wins";
    ::setenv("COLUMNS", "123", 1);
    EXPECT_EQ(detect_style(file).width, 123);
    ::setenv("COLUMNS", "-5", 1);
    EXPECT_EQ(detect_style(file).width, 80);
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"}) ::unsetenv(name);
    std::fclose(file);
}

}  // namespace
}  // namespace kernelwright::report

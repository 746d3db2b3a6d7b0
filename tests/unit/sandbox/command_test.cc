// Outside programs in the sandbox, and run_command against a process runner that only pretends.
#include "harness/sandbox/command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "harness/core/files.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/probe.h"
#include "tests/support/temp_folder.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Commands : public testing::Test {
  protected:
    Commands() { fs::create_directory(work_); }
    SandboxedCommand shell(const std::string& line) const {
        SandboxedCommand command;
        command.shell = line;
        command.working_directory = work_;
        command.wall_limit = milliseconds(20'000);
        return command;
    }
    static CommandOutcome run(const SandboxedCommand& command) {
        auto outcome = run_command(command);
        EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().str());
        return outcome ? std::move(*outcome) : CommandOutcome{};
    }
    TempFolder temp_;
    const fs::path folder_ = temp_.path(), work_ = folder_ / "work";
};

TEST_F(Commands, ReadAndWriteTheirFolder) {
    std::ofstream(work_ / "x.txt") << "21\n";
    SandboxedCommand command = shell("read n < x.txt; echo $((n * 2)) > y.txt; pwd; echo $HOME; cat");
    command.input = "fed";
    const CommandOutcome outcome = run(command);
    EXPECT_TRUE(outcome.process.ok()) << outcome.process.error_output;
    EXPECT_EQ(*read_file(work_ / "y.txt"), "42\n");
    const std::string place = fs::canonical(work_).string();
    EXPECT_EQ(outcome.process.output, place + "\n" + place + "\nfed");
    ASSERT_NE(find_layer(outcome.layers, "seccomp"), nullptr);
    EXPECT_TRUE(find_layer(outcome.layers, "seccomp")->active);
}

TEST_F(Commands, ReachNothingElse) {
    if (landlock_abi() == 0) GTEST_SKIP() << "no Landlock here";
    std::ofstream(folder_ / "secret") << "hidden\n";
    ::setenv("ANTHROPIC_API_KEY", "sk-test", 1);
    for (const char* line : {"cat ../secret", "cat /etc/shadow", "cat /etc/passwd", "ls /root", "ls /home",
                             "echo x > ../new", "echo x > /tmp/kw_new", "cat /proc/1/environ",
                             "cat /proc/$PPID/environ", "env | grep ANTHROPIC_API_KEY", "ls ..",
                             "mkdir /usr/kw_new", "kill -0 $PPID", "setsid true", "unshare -U true"}) {
        SandboxedCommand command = shell(line);
        command.mode = SandboxMode::require;
        const CommandOutcome outcome = run(command);
        EXPECT_FALSE(outcome.process.ok()) << line;
        EXPECT_EQ(outcome.process.output, "") << line;
    }
    ::unsetenv("ANTHROPIC_API_KEY");
    // The same lines are no failures by themselves.
    for (const char* line : {"cat ../secret", "cat /etc/passwd", "ls ..", "kill -0 $PPID", "setsid true"}) {
        SandboxedCommand command = shell(line);
        command.mode = SandboxMode::off;
        EXPECT_TRUE(run(command).process.ok()) << line;
    }
    EXPECT_FALSE(fs::exists(folder_ / "new"));
    EXPECT_FALSE(fs::exists("/tmp/kw_new"));
}

TEST_F(Commands, StartOtherPrograms) {
    const CommandOutcome outcome = run(shell("seq 3 | wc -l | tr -d ' '"));
    EXPECT_EQ(outcome.process.output, "3\n") << outcome.process.error_output;
}

TEST_F(Commands, ArePythonToo) {
    SandboxedCommand command;
    command.arguments = {
        "python3", "-c",
        "import json, os, struct\n"
        "open('y.json', 'w').write(json.dumps([1, 2]))\n"
        "try:\n    import socket; socket.create_connection(('127.0.0.1', 22), 1); print('connected')\n"
        "except OSError: print('no network')\n"};
    command.working_directory = work_;
    auto outcome = run_command(command);
    if (!outcome && outcome.error().message.find("is not installed") != std::string::npos)
        GTEST_SKIP() << "no python3 here";
    ASSERT_TRUE(outcome) << outcome.error().str();
    EXPECT_TRUE(outcome->process.ok()) << outcome->process.error_output;
    EXPECT_EQ(outcome->process.output, "no network\n");
    EXPECT_EQ(*read_file(work_ / "y.json"), "[1, 2]");
}

TEST_F(Commands, EndAtTheirLimits) {
    SandboxedCommand command = shell("while :; do :; done");
    command.wall_limit = milliseconds(300);
    EXPECT_TRUE(run(command).process.timed_out);
    command = shell("exec tail /dev/zero");
    command.memory_limit = std::uint64_t{100} << 20;
    EXPECT_TRUE(run(command).process.out_of_memory);
    command = shell("head -c 3000000 /dev/zero > big");
    command.file_size = 1'000'000;
    EXPECT_FALSE(run(command).process.ok());
    EXPECT_EQ(fs::file_size(work_ / "big"), 1'000'000U);
    command = shell("head -c 3000000 /dev/zero");
    command.output_limit = 100;
    const CommandOutcome outcome = run(command);
    EXPECT_EQ(outcome.process.output.size(), 100U);
    EXPECT_TRUE(outcome.process.output_truncated);
}

// How many processes have this word on their command line.
int running(const std::string& word) {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        std::ifstream file(entry.path() / "cmdline");
        const std::string line{std::istreambuf_iterator<char>(file), {}};
        if (line.find(word) != std::string::npos) ++count;
    }
    return count;
}

template <class Condition>
bool soon(milliseconds limit, Condition holds) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
}

// Children, orphans and (where the sandbox lets it) a session of its own.
std::string family(const std::string& seconds) {
    return fmt::format("(sleep {0} & sleep {0} &); (setsid sleep {0} &); sleep {0} & sleep {0}", seconds);
}

TEST_F(Commands, DieWithTheirDriver) {
    for (const SandboxMode mode : {SandboxMode::best_effort, SandboxMode::off}) {
        const std::string seconds = fmt::format("4{}.{}", ::getpid(), static_cast<int>(mode) + 1);
        const pid_t driver = ::fork();
        if (driver == 0) {
            SandboxedCommand command = shell(family(seconds));
            command.mode = mode;
            (void)run_command(command);
            ::_exit(0);
        }
        const int whole = mode == SandboxMode::off ? 5 : 4;  // the sandbox denies setsid
        // The shell's own command line holds the word too.
        EXPECT_TRUE(soon(milliseconds(10'000), [&] { return running(seconds) > whole; })) << running(seconds);
        ::kill(driver, SIGKILL);
        EXPECT_TRUE(soon(milliseconds(1000), [&] { return running(seconds) == 0; }))
            << to_string(mode) << ": " << running(seconds) << " left";
        ::waitpid(driver, nullptr, 0);
    }
}

TEST_F(Commands, LeaveNothingBehind) {
    for (const SandboxMode mode : {SandboxMode::best_effort, SandboxMode::off}) {
        const std::string seconds = fmt::format("4{}.{}", ::getpid(), static_cast<int>(mode) + 5);
        // Given up at the limit.
        SandboxedCommand command = shell(family(seconds));
        command.mode = mode;
        command.wall_limit = milliseconds(400);
        EXPECT_TRUE(run(command).process.timed_out);
        EXPECT_EQ(running(seconds), 0) << to_string(mode);
        // Ended by itself.
        command = shell("(setsid sleep " + seconds + " &) ; sleep " + seconds + " & exit 7");
        command.mode = mode;
        const ProcessResult ended = run(command).process;
        EXPECT_EQ(ended.end.code, 7) << ended.error_output;
        EXPECT_EQ(running(seconds), 0) << to_string(mode);
    }
}

TEST_F(Commands, EndAsTheyEnded) {
    for (const SandboxMode mode : {SandboxMode::best_effort, SandboxMode::off}) {
        SandboxedCommand command = shell("kill -SEGV $$");
        command.mode = mode;
        EXPECT_NE(run(command).process.end.str().find("Segmentation fault"), std::string::npos);
        command = shell("exec python3 -c 'import os; os.abort()' || kill -ABRT $$");
        command.mode = mode;
        EXPECT_EQ(run(command).process.end.code, SIGABRT);
    }
}

TEST_F(Commands, CountTheirChildrensMemory) {
    SandboxedCommand command = shell("tail /dev/zero & wait");
    command.memory_limit = std::uint64_t{100} << 20;
    EXPECT_TRUE(run(command).process.out_of_memory);
}

TEST_F(Commands, SkipTheShimsOfVersionManagers) {
    EXPECT_EQ(command_search_path("/home/u/.pyenv/shims:/opt/x/bin::/home/u/.asdf/shims/:/bin"),
              "/opt/x/bin:/bin:/usr/local/bin:/usr/bin");
    fs::create_directory(folder_ / "shims");
    std::ofstream(folder_ / "shims" / "kw-tool") << "#!/bin/sh\necho shim\n";
    fs::create_directory(folder_ / "bin");
    std::ofstream(folder_ / "bin" / "kw-tool") << "#!/bin/sh\necho tool\n";
    for (const char* name : {"shims", "bin"})
        fs::permissions(folder_ / name / "kw-tool", fs::perms::owner_all);
    const std::string before = ::getenv("PATH");
    ::setenv("PATH", ((folder_ / "shims").string() + ":" + (folder_ / "bin").string() + ":" + before).c_str(),
             1);
    EXPECT_EQ(run(shell("kw-tool")).process.output, "tool\n");
    ::setenv("PATH", before.c_str(), 1);
}

TEST_F(Commands, DoNotMultiplyWithoutEnd) {
    if (::geteuid() == 0) GTEST_SKIP() << "the kernel exempts root from this limit";
    const auto report = probe_sandbox();
    if (!report || find_layer(*report, "namespaces")->detail.rfind("user", 0) != 0)
        GTEST_SKIP() << "no user name spaces here";
    SandboxedCommand command = shell("i=0; while [ $i -lt 300 ]; do sleep 20 & i=$((i+1)); done; echo all");
    const CommandOutcome outcome = run(command);
    EXPECT_EQ(outcome.process.output.find("all"), std::string::npos);
}

TEST_F(Commands, ThatCannotStartSayWhy) {
    SandboxedCommand command;
    command.arguments = {"no-such-program"};
    command.working_directory = work_;
    auto outcome = run_command(command);
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().message.find("`no-such-program` is not installed"), std::string::npos);
    command.arguments = {"sh"};
    command.working_directory = folder_ / "none";
    EXPECT_FALSE(run_command(command));
    // A file that is executable, but no program.
    std::ofstream(work_ / "text") << "\x01\x02";
    fs::permissions(work_ / "text", fs::perms::owner_all);
    command.arguments = {(work_ / "text").string()};
    command.working_directory = work_;
    EXPECT_FALSE(run_command(command));
}

TEST_F(Commands, GoThroughTheRunner) {
    class Pretend final : public ProcessRunner {
      public:
        Result<ProcessResult> run(const ProcessSpec& spec) override {
            seen = spec;
            ProcessResult result;
            result.output = "pretended";
            return result;
        }
        ProcessSpec seen;
    } runner;
    SandboxedCommand command = shell("anything");
    command.memory_limit = 77;
    const auto outcome = run_command(command, runner);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->process.output, "pretended");
    EXPECT_EQ(runner.seen.memory_limit, 77U);
    EXPECT_EQ(runner.seen.spawn.arguments.at(2), "command");
}

TEST(Probe, SaysWhatThisMachineHas) {
    const auto report = probe_sandbox();
    ASSERT_TRUE(report) << report.error().str();
    ASSERT_NE(find_layer(*report, "landlock"), nullptr);
    EXPECT_EQ(find_layer(*report, "landlock")->active, landlock_abi() > 0);
    EXPECT_NE(find_layer(*report, "seccomp"), nullptr);
}

}  // namespace
}  // namespace kernelwright

// Spawning, feeding, capping, killing.
#include "harness/core/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace kernelwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

ProcessSpec shell(const std::string& line) {
    ProcessSpec spec;
    spec.spawn.program = "/bin/sh";
    spec.spawn.arguments = {"sh", "-c", line};
    spec.spawn.environment = {"PATH=/usr/bin:/bin"};
    return spec;
}

ProcessResult run(const ProcessSpec& spec) {
    SystemProcessRunner runner;
    auto result = runner.run(spec);
    EXPECT_TRUE(result) << (result ? "" : result.error().str());
    return result ? *result : ProcessResult{};
}

bool alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return (stat >> number >> name >> state) && state != "Z";
}

TEST(Process, CollectsBothStreamsAndTheStatus) {
    const ProcessResult result = run(shell("echo out; echo err >&2; exit 3"));
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.error_output, "err\n");
    EXPECT_EQ(result.end.how, ProcessEnd::How::exited);
    EXPECT_EQ(result.end.code, 3);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.end.str(), "exit status 3");
    EXPECT_TRUE(run(shell("true")).ok());
}

TEST(Process, FeedsMoreThanAPipeHolds) {
    ProcessSpec spec = shell("wc -c");
    spec.input = std::string(3'000'000, 'x');
    EXPECT_EQ(run(spec).output, "3000000\n");
    // One that does not read what it is fed.
    spec = shell("exit 0");
    spec.input = std::string(3'000'000, 'x');
    EXPECT_TRUE(run(spec).ok());
    // One that echoes while it is still being fed.
    spec = shell("cat");
    spec.input = std::string(2'000'000, 'y');
    spec.output_limit = 4'000'000;
    EXPECT_EQ(run(spec).output, spec.input);
}

TEST(Process, CapsItsOutput) {
    ProcessSpec spec = shell("head -c 20000000 /dev/zero; echo end >&2");
    spec.output_limit = 1000;
    const ProcessResult result = run(spec);
    EXPECT_EQ(result.output.size(), 1000U);
    EXPECT_TRUE(result.output_truncated);
    EXPECT_FALSE(result.error_output_truncated);
    EXPECT_EQ(result.error_output, "end\n");
    EXPECT_TRUE(result.ok());
}

TEST(Process, EndsAtTheWallLimitWithItsGroup) {
    ProcessSpec spec = shell("sleep 100 & echo $!; trap '' TERM HUP INT; while :; do :; done");
    spec.wall_limit = milliseconds(300);
    const auto begun = steady_clock::now();
    const ProcessResult result = run(spec);
    EXPECT_LT(steady_clock::now() - begun, milliseconds(10'000));
    EXPECT_TRUE(result.timed_out);
    EXPECT_EQ(result.end.how, ProcessEnd::How::signalled);
    EXPECT_EQ(result.end.code, SIGKILL);
    const pid_t left_over = std::stoi(result.output);
    for (int i = 0; i < 100 && alive(left_over); ++i) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_FALSE(alive(left_over));
}

TEST(Process, DoesNotWaitForWhatItLeavesBehind) {
    const auto begun = steady_clock::now();
    const ProcessResult result = run(shell("sleep 100 & echo $!"));
    EXPECT_LT(steady_clock::now() - begun, milliseconds(10'000));
    EXPECT_FALSE(result.timed_out);
    const pid_t left_over = std::stoi(result.output);
    for (int i = 0; i < 100 && alive(left_over); ++i) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_FALSE(alive(left_over));
}

TEST(Process, IsHeldToItsMemory) {
    ProcessSpec spec = shell("exec tail /dev/zero");
    spec.memory_limit = std::uint64_t{100} << 20;
    spec.wall_limit = milliseconds(30'000);
    const ProcessResult result = run(spec);
    EXPECT_TRUE(result.out_of_memory);
    EXPECT_FALSE(result.timed_out);
    EXPECT_FALSE(result.ok());
    EXPECT_GT(result.end.usage.peak_memory, std::uint64_t{90} << 20);
}

TEST(Process, SeesOnlyItsEnvironmentAndDescriptors) {
    const int secret = ::open("/dev/null", O_RDONLY);  // not close-on-exec, on purpose
    ::setenv("KW_SECRET", "1", 1);
    const ProcessResult result = run(shell("echo [$KW_SECRET]; ls /proc/self/fd | wc -l; pwd"));
    ::unsetenv("KW_SECRET");
    ::close(secret);
    // 0, 1, 2 and the one by which ls reads the folder.
    EXPECT_EQ(result.output, "[]\n4\n/\n");
}

TEST(Process, ThatDoesNotExistIsAnError) {
    ProcessSpec spec;
    spec.spawn.program = "/no/such/program";
    SystemProcessRunner runner;
    const auto result = runner.run(spec);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("/no/such/program"), std::string::npos);
}

TEST(Process, SaysWhichSignalEndedIt) {
    const ProcessResult result = run(shell("kill -SEGV $$"));
    EXPECT_EQ(result.end.how, ProcessEnd::How::signalled);
    EXPECT_EQ(result.end.code, SIGSEGV);
    EXPECT_NE(result.end.str().find("Segmentation fault"), std::string::npos);
}

TEST(Process, LeavesNoZombie) {
    pid_t pid = 0;
    {
        SpawnRequest request;
        request.program = "/bin/sleep";
        request.arguments = {"sleep", "100"};
        request.descriptors = {-1, -1, -1};
        auto child = ChildProcess::spawn(request);
        ASSERT_TRUE(child);
        pid = child->pid();
        EXPECT_GT(child->resident_memory(), 0U);
        EXPECT_FALSE(child->wait(milliseconds(0)));
    }
    EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Process, ProgramsAreFoundOnAPath) {
    EXPECT_EQ(find_program("sh", "/nowhere:/bin"), "/bin/sh");
    EXPECT_EQ(find_program("/bin/sh", ""), "/bin/sh");
    EXPECT_EQ(find_program("no-such-program", "/usr/bin:/bin"), "");
    EXPECT_EQ(find_program("bin", "/"), "") << "a folder is no program";
}

}  // namespace
}  // namespace kernelwright

// The channel and the layers, tried on real workers.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "harness/sandbox/landlock.h"
#include "harness/sandbox/worker_protocol.h"
#include "harness/sandbox/worker_session.h"
#include "tests/support/temp_folder.h"

namespace kernelwright {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

class Workers : public testing::Test {
  protected:
    WorkerStart start(const std::string& kind) const {
        WorkerStart out;
        out.kind = kind;
        out.policy.read_only = {"/usr", "/lib", "/lib64"};
        return out;
    }
    std::unique_ptr<WorkerSession> session(const WorkerStart& how) const {
        auto session = WorkerSession::start(how);
        EXPECT_TRUE(session) << (session ? "" : session.error().message);
        return session ? std::move(*session) : nullptr;
    }
    static Message job(const std::string& what, const std::string& with = "") {
        return {Json{{"do", what}, {"with", with}}, {}};
    }
    static std::string ask(WorkerSession& session, const std::string& what, const std::string& with = "") {
        const auto answer = session.call(job(what, with), milliseconds(5000));
        return answer ? answer->header.value("answer", "none") : "failed: " + answer.error().message;
    }
    WorkerFailure failure(const WorkerStart& how, const Message& message, milliseconds limit) const {
        const auto worker = session(how);
        if (!worker) return {};
        auto answer = worker->call(message, limit);
        EXPECT_FALSE(answer);
        EXPECT_FALSE(worker->alive());
        return answer ? WorkerFailure{} : answer.error();
    }

    TempFolder temp_;
    const fs::path folder_ = temp_.path();
};

TEST_F(Workers, AnswerOneJobAfterTheOther) {
    const auto worker = session(start("echo"));
    ASSERT_TRUE(worker);
    for (int i = 1; i <= 3; ++i) {
        const Message sent{Json{{"text", "a\xc3\xa9"}},
                           {std::string("\0\xff", 2), "", std::string(3 << 20, 'b')}};
        auto answer = worker->call(sent, milliseconds(5000));
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->header.value("times", 0), i);
        EXPECT_EQ(answer->blobs, sent.blobs);
    }
    const pid_t pid = worker->pid();
    worker->close();
    EXPECT_FALSE(worker->alive());
    EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(Workers, SayWhichLayersHold) {
    const auto worker = session(start("echo"));
    ASSERT_TRUE(worker);
    for (const char* name : {"limits", "no-new-privileges", "seccomp"}) {
        const SandboxLayer* layer = find_layer(worker->layers(), name);
        ASSERT_NE(layer, nullptr) << name;
        EXPECT_TRUE(layer->active) << name << ": " << layer->detail;
    }
    const SandboxLayer* landlock = find_layer(worker->layers(), "landlock");
    ASSERT_NE(landlock, nullptr);
    EXPECT_EQ(landlock->active, landlock_abi() > 0) << landlock->detail;
}

TEST_F(Workers, SeeNoFilesButTheirs) {
    if (landlock_abi() == 0) GTEST_SKIP() << "no Landlock here";
    const fs::path secret = folder_ / "secret", open = folder_ / "open", work = folder_ / "work";
    std::ofstream(secret) << "hidden";
    std::ofstream(open) << "shown";
    fs::create_directory(work);
    WorkerStart how = start("tries");
    how.policy.mode = SandboxMode::require;
    how.policy.read_only.push_back(open);
    how.policy.read_write.push_back(work);
    const auto worker = session(how);
    ASSERT_TRUE(worker);
    EXPECT_EQ(ask(*worker, "read", open), "ok");
    EXPECT_EQ(ask(*worker, "write", work / "new"), "ok");
    EXPECT_EQ(ask(*worker, "read", work / "new"), "ok");
    EXPECT_EQ(ask(*worker, "remove", work / "new"), "ok");
    for (const fs::path& path :
         {secret, fs::path("/etc/shadow"), fs::path("/etc/passwd"), fs::path("/proc/1/environ")}) {
        EXPECT_EQ(ask(*worker, "read", path), "Permission denied") << path;
    }
    EXPECT_EQ(ask(*worker, "write", open), "Permission denied");
    EXPECT_EQ(ask(*worker, "write", folder_ / "other"), "Permission denied");
    EXPECT_EQ(ask(*worker, "remove", secret), "Permission denied");
    EXPECT_EQ(ask(*worker, "truncate", secret), "Permission denied");
    EXPECT_EQ(fs::file_size(secret), 6U);
    EXPECT_FALSE(fs::exists(folder_ / "other"));
}

TEST_F(Workers, ReachNoNetworkAndNoProcess) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    const std::string port = std::to_string(ntohs(address.sin_port));

    WorkerStart loose = start("tries");
    loose.policy.mode = SandboxMode::off;
    const auto open = session(loose);
    ASSERT_TRUE(open);
    EXPECT_EQ(ask(*open, "connect", port), "ok") << "the test itself must be able to connect";
    EXPECT_EQ(ask(*open, "fork"), "ok");

    const auto worker = session(start("tries"));
    ASSERT_TRUE(worker);
    EXPECT_EQ(ask(*worker, "connect", port), "Operation not permitted");
    EXPECT_EQ(ask(*worker, "trace", std::to_string(::getpid())), "Operation not permitted");
    EXPECT_EQ(ask(*worker, "fork"), "Operation not permitted");
    EXPECT_EQ(ask(*worker, "exec"), "Operation not permitted");
    EXPECT_EQ(ask(*worker, "thread"), "ok");
    if (landlock_abi() >= 6) {
        EXPECT_EQ(ask(*worker, "signal", std::to_string(::getpid())), "Operation not permitted");
    }
    ::close(listener);
}

TEST_F(Workers, SeeNoneOfTheEnvironment) {
    ::setenv("OPENAI_API_KEY", "sk-test", 1);
    const auto worker = session(start("tries"));
    ASSERT_TRUE(worker);
    EXPECT_EQ(ask(*worker, "environment", "OPENAI_API_KEY"), "unset");
    ::unsetenv("OPENAI_API_KEY");
}

TEST_F(Workers, AreKilledAtTheDeadline) {
    for (const char* what : {"spin", "sleep"}) {
        const auto begun = std::chrono::steady_clock::now();
        const WorkerFailure failed = failure(start("tries"), job(what), milliseconds(200));
        EXPECT_EQ(failed.kind, WorkerFailure::Kind::timeout) << failed.message;
        EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(5000));
    }
}

TEST_F(Workers, AreHeldToTheirMemory) {
    WorkerStart watched = start("tries");
    watched.policy.memory = std::uint64_t{200} << 20;
    EXPECT_EQ(failure(watched, job("swell"), milliseconds(20'000)).kind, WorkerFailure::Kind::memory);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    WorkerStart limited = start("tries");
    limited.policy.address_space = std::uint64_t{200} << 20;
    EXPECT_EQ(failure(limited, job("swell"), milliseconds(20'000)).kind, WorkerFailure::Kind::memory);
#endif
}

TEST_F(Workers, CrashesAreOutcomes) {
    EXPECT_EQ(failure(start("tries"), job("crash"), milliseconds(5000)).kind, WorkerFailure::Kind::crashed);
    EXPECT_EQ(failure(start("tries"), job("leave"), milliseconds(5000)).kind, WorkerFailure::Kind::crashed);
    const WorkerFailure complaint =
        failure(start("tries"), job("complain", "what went wrong"), milliseconds(5000));
    EXPECT_NE(complaint.error_output.find("what went wrong"), std::string::npos);
    EXPECT_NE(complaint.message.find("exit status 8"), std::string::npos) << complaint.message;

    const auto worker = session(start("echo"));
    ASSERT_TRUE(worker);
    ::kill(worker->pid(), SIGKILL);
    auto answer = worker->call(job("x"), milliseconds(5000));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, WorkerFailure::Kind::killed);
    ASSERT_FALSE(worker->call(job("x"), milliseconds(5000)));
}

TEST_F(Workers, GarbageIsNoAnswer) {
    const std::string huge("KWM1\xff\xff\xff\xff\x01\x00\x00\x00", 12);
    for (const std::string& bytes :
         {std::string("hello"), huge, std::string("KWM1\x02\0\0\0\0\0\0\0[]", 14)}) {
        EXPECT_EQ(failure(start("tries"), job("garbage", bytes), milliseconds(5000)).kind,
                  WorkerFailure::Kind::protocol);
    }
    WorkerStart small = start("echo");
    small.limits.blobs = 1000;
    EXPECT_EQ(failure(small, Message{Json::object(), {std::string(2000, 'x')}}, milliseconds(5000)).kind,
              WorkerFailure::Kind::protocol);
}

TEST_F(Workers, AFloodOfErrorOutputDoesNotBlock) {
    const auto worker = session(start("tries"));
    ASSERT_TRUE(worker);
    EXPECT_EQ(ask(*worker, "flood"), "ok");
}

TEST_F(Workers, ThatCannotStartSayWhy) {
    for (const auto& [kind, words] :
         {std::pair{"unready", "the thing it needs is not there"}, {"nonsense", "no worker of kind"}}) {
        auto session = WorkerSession::start(start(kind));
        ASSERT_FALSE(session);
        EXPECT_EQ(session.error().kind, WorkerFailure::Kind::setup);
        EXPECT_NE(session.error().message.find(words), std::string::npos) << session.error().message;
    }
    WorkerStart gone = start("echo");
    gone.program = "/nonexistent/program";
    auto none = WorkerSession::start(gone);
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("/nonexistent/program"), std::string::npos);
    // A program that does not serve as a worker.
    gone.program = "/bin/true";
    EXPECT_FALSE(WorkerSession::start(gone));
    // A program that would start itself for ever.
    ::setenv(in_worker_variable, "1", 1);
    EXPECT_FALSE(WorkerSession::start(start("echo")));
    ::unsetenv(in_worker_variable);
}

TEST_F(Workers, DieWithTheirParent) {
    // The parent is a child of this test that starts a worker, says its number and is killed.
    const auto pipe = make_pipe();
    ASSERT_TRUE(pipe);
    const pid_t parent = ::fork();
    if (parent == 0) {
        auto worker = WorkerSession::start(start("tries"));
        const pid_t pid = worker ? (*worker)->pid() : 0;
        (void)!::write(pipe->write.get(), &pid, sizeof pid);
        if (worker) (void)(*worker)->call(job("spin"), milliseconds(60'000));
        ::_exit(0);
    }
    pid_t worker = 0;
    ASSERT_EQ(::read(pipe->read.get(), &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
    ASSERT_GT(worker, 0);
    std::this_thread::sleep_for(milliseconds(100));
    ASSERT_EQ(::kill(worker, 0), 0);
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    bool gone = false;
    for (int i = 0; i < 100 && !gone; ++i) {
        std::ifstream stat("/proc/" + std::to_string(worker) + "/stat");
        std::string pid, name, state;
        gone = !(stat >> pid >> name >> state) || state == "Z";
        if (!gone) std::this_thread::sleep_for(milliseconds(20));
    }
    EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace kernelwright

// The main job, run as a user runs it: the recorded conversation, what its requests really said, and what is
// left after the program is killed at any moment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "tests/e2e/program.h"

extern char** environ;  // NOLINT: the C library's

namespace kernelwright::e2e {
namespace {

namespace fs = std::filesystem;

const std::string page = (source_dir() / "tasks/softmax_rows.md").string();
const std::string replay = "replay:" + (source_dir() / "share/replays/softmax_rows.jsonl").string();

std::vector<Json> events_of(const fs::path& run) {
    std::vector<Json> events;
    std::istringstream lines(slurp(run / "events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        Json event = Json::parse(line, nullptr, false);
        if (!event.is_discarded()) events.push_back(std::move(event));
    }
    return events;
}

fs::path only_run(const fs::path& results) {
    std::vector<fs::path> runs;
    if (fs::is_directory(results / "runs")) {
        // A name that begins with a dot is a run that has not begun.
        for (const auto& entry : fs::directory_iterator(results / "runs")) {
            if (!entry.path().filename().string().starts_with('.')) runs.push_back(entry.path());
        }
    }
    return runs.size() == 1 ? runs.front() : fs::path();
}

std::vector<std::string> run_call(const fs::path& results) {
    return {"run", page, "--author", replay, "--results", results.string()};
}

// One finished run for all the tests that only look at it.
class MainJob : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        scratch_ = std::make_unique<Scratch>();
        std::vector<std::string> call = run_call(scratch_->path());
        call.emplace_back("--json");
        ran_ = run_program(call);
        record_ = ran_.json();
        events_ = events_of(only_run(scratch_->path()));
    }
    static void TearDownTestSuite() { scratch_.reset(); }

    // The request of a turn, as it was sent.
    static std::string request(int turn) {
        for (const Json& event : events_) {
            if (event.value("event", "") == "turn.requested" && event.value("turn", 0) == turn) {
                return slurp(only_run(scratch_->path()) / "artifacts" /
                             event.at("prompt").get<std::string>());
            }
        }
        return {};
    }

    static std::unique_ptr<Scratch> scratch_;
    static Ran ran_;
    static Json record_;
    static std::vector<Json> events_;
};
std::unique_ptr<Scratch> MainJob::scratch_;
Ran MainJob::ran_;
Json MainJob::record_;
std::vector<Json> MainJob::events_;

TEST_F(MainJob, EndsWithAWinnerThatIsTwiceAsFast) {
    ASSERT_EQ(ran_.exit, 0) << ran_.err;
    ASSERT_FALSE(record_.is_discarded()) << ran_.out;
    const Json& attempts = record_["record"]["attempts"];
    ASSERT_GE(attempts.size(), 4U);
    std::map<std::string, int> failures;
    double first = 0, best = 0;
    for (const Json& attempt : attempts) {
        const Json& evaluation = attempt["evaluation"];
        if (evaluation.value("verdict", "") == "pass") {
            const double seconds = evaluation["time"]["seconds"].get<double>();
            EXPECT_EQ(evaluation["time"]["how"], "modelled");
            if (first == 0) first = seconds;
            best = best == 0 ? seconds : std::min(best, seconds);
        } else {
            ++failures[evaluation.value("stage", "")];
        }
    }
    EXPECT_GE(failures["compile"], 1);
    EXPECT_GE(failures["numerics"], 1);
    EXPECT_GE(failures["sanitize"], 1);
    EXPECT_GE(first / best, 2.0);
    EXPECT_TRUE(fs::exists(record_["winner"].get<std::string>()));
}

// Taking any of these out of the prompt builder fails here.
TEST_F(MainJob, RequestsCarryTheRace) {
    const std::string text = request(3);
    EXPECT_NE(text.find("candidate.cu:26"), std::string::npos) << text;
    EXPECT_NE(text.find("shared-race"), std::string::npos);
    EXPECT_NE(text.find("Line 22"), std::string::npos) << "the second party of the race";
    EXPECT_NE(text.find("red[t] = sum;"), std::string::npos) << "the excerpt around it";
}

TEST_F(MainJob, RequestsCarryTheCounters) {
    const std::string text = request(5);
    for (const char* counter :
         {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "smsp__inst_executed.sum"}) {
        EXPECT_NE(text.find(counter), std::string::npos) << counter;
    }
    // Held back until a kernel is right.
    for (const int turn : {2, 3, 4}) EXPECT_EQ(request(turn).find("l1tex__"), std::string::npos) << turn;
}

TEST_F(MainJob, RequestsCarryTheSkills) {
    const std::string text = request(5);
    EXPECT_NE(text.find("cooperate.block-per-row"), std::string::npos);
    EXPECT_NE(text.find("reduce within the warp with __shfl_xor_sync"), std::string::npos)
        << "the advice itself";
    EXPECT_NE(request(6).find("vectorise.loads"), std::string::npos);
}

TEST_F(MainJob, RequestsSayWhatWasTried) {
    const std::string text = request(4);
    EXPECT_NE(text.find("compile error"), std::string::npos);
    EXPECT_NE(text.find("wrong answer"), std::string::npos);
}

// System text and first message are one artifact each for the whole run: every request begins with the same
// bytes.
TEST_F(MainJob, TheUnchangingPartIsKeptOnce) {
    ASSERT_FALSE(events_.empty());
    const fs::path artifacts = only_run(scratch_->path()) / "artifacts";
    EXPECT_FALSE(slurp(artifacts / events_[0].at("system").get<std::string>()).empty());
    const std::string prefix = slurp(artifacts / events_[0].at("prefix").get<std::string>());
    EXPECT_NE(prefix.find("Rows are independent."), std::string::npos) << "the task's prose, whole";
    EXPECT_NE(prefix.find("M=4096 N=1024"), std::string::npos) << "the shapes that are to be fast";
    for (int turn = 1; turn <= 6; ++turn)
        EXPECT_EQ(request(turn).find("Rows are independent."), std::string::npos) << turn;
}

TEST_F(MainJob, SkillsGetEvidence) {
    bool credited = false;
    for (const Json& event : events_) {
        if (event.value("event", "") == "skill.evidence")
            credited = credited || event["evidence"].value("credited", false);
    }
    EXPECT_TRUE(credited) << "the speed-up of attempt 5 moved the counters that its skill predicts";
    EXPECT_FALSE(slurp(scratch_->path() / "evidence.jsonl").empty());
}

TEST_F(MainJob, ReportsInEveryForm) {
    const fs::path run = only_run(scratch_->path());
    const std::string results = scratch_->path().string();
    const fs::path html = scratch_->path() / "report.html";
    EXPECT_EQ(run_program({"report", run.filename().string(), "--results", results}).exit, 0);
    EXPECT_EQ(run_program({"report", "last", "--results", results, "--html", html.string()}).exit, 0);
    EXPECT_NE(slurp(html).find("softmax_rows"), std::string::npos);
    const Ran json = run_program({"report", "last", "--results", results, "--json"});
    EXPECT_EQ(json.json()["attempts"].size(), record_["record"]["attempts"].size());
    const Ran runs = run_program({"report", "--results", results});
    EXPECT_EQ(runs.exit, 0);
    EXPECT_NE(runs.out.find(run.filename().string()), std::string::npos) << runs.out;
    EXPECT_NE(runs.out.find("report last"), std::string::npos) << runs.out;
}

// The command that a run or a check ends with can be pasted as it stands.
TEST(Printed, CommandsCanBePasted) {
    const auto after = [](const std::string& text, const std::string& label) {
        const std::size_t at = text.find("\n" + label);
        if (at == std::string::npos) return std::string();
        const std::size_t begin = text.find_first_not_of(' ', at + 1 + label.size());
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    const Scratch scratch;
    const fs::path results = scratch.path() / "it's here";
    const Ran ran = run_program(run_call(results));
    const std::string next = after(ran.out, "next:");
    ASSERT_NE(next, "") << ran.out;
    EXPECT_EQ(std::system((next + " >/dev/null 2>&1").c_str()), 0) << next;

    const std::string bad = (source_dir() / "tests/cases/verdict/bad/vector_add__no_guard.cu").string();
    const Ran checked = run_program({"check", "vector_add", bad});
    const std::string again = after(checked.out, "again:");
    ASSERT_NE(again, "") << checked.out;
    EXPECT_EQ(WEXITSTATUS(std::system((again + " >/dev/null 2>&1").c_str())), 1) << again;

    // On PATH its name is enough.
    const std::string on_path = "PATH=" + std::string(KW_BINARY_DIR) + "/bin:$PATH";
    EXPECT_EQ(
        after(run_program({"check", "vector_add", bad}, on_path).out, "again:").find("kernelwright check "),
        0U);
}

std::size_t times(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// A budget that is used up can be raised with the command that stands there, and what was not given has a
// limit.
TEST(Budget, RunsOnWhereItEnded) {
    const Scratch scratch;
    std::vector<std::string> call = run_call(scratch.path());
    call.insert(call.end(), {"--budget", "evals=1"});
    const Ran ran = run_program(call);
    EXPECT_EQ(ran.exit, 1) << ran.err;
    EXPECT_NE(ran.out.find("ended:  budget (1 of 1 evals are used)"), std::string::npos) << ran.out;
    const std::string id = only_run(scratch.path()).filename().string();
    EXPECT_NE(ran.out.find("run --resume " + id + " --budget evals=2 --results "), std::string::npos)
        << ran.out;
    EXPECT_EQ(events_of(only_run(scratch.path()))[0]["budget"]["tokens"], 500000);
}

// Nobody listens on the discard port: said once, and the report of such a run says that there is nothing.
TEST(Unreachable, IsSaidOnce) {
    const Scratch scratch;
    const std::string results = scratch.path().string();
    const Ran ran =
        run_program({"run", "vector_add", "--author", "openai", "--model", "m", "--results", results},
                    "OPENAI_BASE_URL=http://127.0.0.1:9/v1 OPENAI_API_KEY=k");
    EXPECT_EQ(ran.exit, 3) << ran.out << ran.err;
    EXPECT_EQ(times(ran.out + ran.err, "cannot connect"), 1U) << ran.out << ran.err;
    EXPECT_EQ(times(ran.err, "\nkernelwright: "), 1U) << ran.err;
    const Ran report = run_program({"report", "last", "--results", results});
    EXPECT_EQ(report.exit, 0);
    EXPECT_NE(report.out.find("No attempt"), std::string::npos) << report.out;
    EXPECT_EQ(times(report.out + report.err, "o attempt"), 1U) << "said once" << report.out << report.err;
}

// A record that was damaged is named with its file and line, and never gone on with.
TEST(Damaged, RecordsAreNotGoneOnWith) {
    const Scratch scratch;
    const std::string results = scratch.path().string();
    ASSERT_EQ(run_program(run_call(scratch.path())).exit, 0);
    const fs::path run = only_run(scratch.path());
    std::string evaluation;
    for (const Json& event : events_of(run)) {
        if (event.contains("evaluation")) evaluation = event["evaluation"].get<std::string>();
    }
    const fs::path artifact = run / "artifacts" / evaluation;
    const std::string whole = slurp(artifact), log = slurp(run / "events.jsonl");
    const auto refused = [&](const std::string& says) {
        for (const std::vector<std::string>& call :
             {std::vector<std::string>{"report", "last", "--results", results},
              {"run", "--resume", "last", "--results", results}}) {
            const Ran ran = run_program(call);
            EXPECT_EQ(ran.exit, 2) << ran.err;
            EXPECT_EQ(times(ran.err, "\n"), 1U) << ran.err;
            EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
        }
    };
    std::ofstream(artifact) << whole.substr(0, whole.size() / 2);
    refused(artifact.string());
    std::ofstream(artifact) << whole;
    std::ofstream(run / "events.jsonl") << log.substr(0, log.find('\n') + 1) << "{\n"
                                        << log.substr(log.find('\n') + 1);
    refused("events.jsonl:2");
    std::ofstream(run / "events.jsonl") << "";
    refused("ended before it began");
    std::ofstream(run / "events.jsonl") << log;
    EXPECT_EQ(run_program({"report", "last", "--results", results}).exit, 0);
}

// ---- stopping ----

pid_t start(const fs::path& results) {
    const std::string program = std::string(KW_BINARY_DIR) + "/bin/kernelwright";
    std::vector<std::string> words = run_call(results);
    words.insert(words.begin(), program);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

int wait_for(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Every attempt has one verdict and is finished once, and all of them are there.
void expect_whole(const fs::path& run, std::size_t attempts) {
    std::map<int, int> verdicts, finished;
    for (const Json& event : events_of(run)) {
        const std::string kind = event.value("event", "");
        if (kind == "attempt.verdict") ++verdicts[event.value("attempt", 0)];
        if (kind == "attempt.finished") ++finished[event.value("attempt", 0)];
    }
    EXPECT_EQ(finished.size(), attempts);
    for (const auto& [attempt, times] : finished) EXPECT_EQ(times, 1) << "attempt " << attempt << " finished";
    for (const auto& [attempt, times] : verdicts)
        EXPECT_EQ(times, 1) << "attempt " << attempt << " evaluated";
}

// Twenty kills, spread over the time that a whole run takes on this build and this machine: kill i falls at a
// random moment of the i-th twentieth. Each part has every fifth of them.
class Killed : public ::testing::TestWithParam<int> {};

TEST_P(Killed, AtRandomMomentsThenResumed) {
    using Milliseconds = std::chrono::milliseconds;
    constexpr int kKills = 20, kParts = 5;
    std::mt19937 random(20260131u + static_cast<unsigned>(GetParam()));
    const auto began = std::chrono::steady_clock::now();
    {
        const Scratch scratch;
        ASSERT_EQ(wait_for(start(scratch.path())), 0);
    }
    const auto whole = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
    int in_the_middle = 0;
    for (int kill = GetParam(); kill < kKills; kill += kParts) {
        const Scratch scratch;
        const pid_t pid = start(scratch.path());
        std::this_thread::sleep_for((whole * (kill * 100 + static_cast<int>(random() % 100))) /
                                    (kKills * 100));
        ::kill(pid, SIGKILL);
        wait_for(pid);
        const fs::path run = only_run(scratch.path());
        if (run.empty()) continue;  // killed before there was a run
        std::vector<std::string> finished_before;
        for (const Json& event : events_of(run)) {
            if (event.value("event", "") == "attempt.finished") finished_before.push_back(event.dump());
        }
        if (!finished_before.empty() && finished_before.size() < 6) ++in_the_middle;
        const Ran resumed = run_program({"run", page, "--author", replay, "--resume", run.filename().string(),
                                         "--results", scratch.path().string()});
        EXPECT_EQ(resumed.exit, 0) << "kill " << kill << "\n" << resumed.err;
        expect_whole(run, 6);
        // What was finished stays as it was, word for word.
        const std::string log = slurp(run / "events.jsonl");
        for (const std::string& event : finished_before)
            EXPECT_NE(log.find(Json::parse(event)["time"].get<std::string>()), std::string::npos);
    }
    EXPECT_GE(in_the_middle, 1) << "none of the kills met a run at work";
}

INSTANTIATE_TEST_SUITE_P(Part, Killed, ::testing::Range(0, 5));

TEST(Interrupted, KeepsItsStateAndSays130) {
    const Scratch scratch;
    const pid_t pid = start(scratch.path());
    // At work: at least one attempt is through.
    for (int i = 0; i < 400; ++i) {
        const fs::path run = only_run(scratch.path());
        if (!run.empty() && slurp(run / "events.jsonl").find("attempt.finished") != std::string::npos) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(pid, SIGINT);
    const int code = wait_for(pid);
    if (code == 0) GTEST_SKIP() << "it was through before the signal came";
    EXPECT_EQ(code, 130);
    const fs::path run = only_run(scratch.path());
    const Ran resumed =
        run_program({"run", "--resume", run.filename().string(), "--results", scratch.path().string()});
    EXPECT_EQ(resumed.exit, 0) << resumed.err;
    expect_whole(run, 6);
}

}  // namespace
}  // namespace kernelwright::e2e

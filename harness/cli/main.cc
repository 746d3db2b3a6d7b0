// The program `kernelwright`: options to values, values to a command, its exit code to the shell.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <system_error>

#include "harness/authors/budget.h"
#include "harness/cli/commands.h"
#include "harness/cli/workers.h"
#include "harness/core/text.h"
#include "harness/sandbox/worker.h"

namespace kernelwright::cli {
namespace {

constexpr const char* version = "kernelwright 0.1.0";

void add_bench(CLI::App* app, WorkbenchOptions& bench) {
    app->add_option("--device", bench.device, "emulator (default) or cuda:N")->capture_default_str();
    app->add_option("--target", bench.target,
                    "architecture or device: sm_80, sm_90a, h100 ... (default: the candidate's, else sm_80)");
    app->add_option("--sandbox", bench.sandbox, "best-effort (default), require or off")
        ->capture_default_str();
}

// A command of the contract that does not exist yet answers with one line and exit code 3.
void add_unbuilt(CLI::App& app, Exit& exit, const Global& global, const std::string& name,
                 const std::string& does) {
    CLI::App* command = app.add_subcommand(name, does + " (not built yet)");
    command->fallthrough(false);
    command->prefix_command();
    command->callback([&exit, &global, name] {
        exit = fail(global, Exit::missing, Error{"the command `" + name + "` is not built yet"});
    });
}

// The command that the first word names; nullptr: none.
const CLI::App* called_command(const CLI::App& app, int argc, char** argv) {
    for (const CLI::App* command : app.get_subcommands({}))
        if (argc >= 2 && command->get_name() == argv[1]) return command;
    return nullptr;
}

// "no option `--bogus` of check; did you mean ...": the first word that begins with a dash and is none of
// them.
std::optional<std::string> unknown_option(const CLI::App& app, int argc, char** argv) {
    const CLI::App* command = called_command(app, argc, argv);
    std::vector<std::string> known;
    for (const CLI::App* level : {&app, command}) {
        if (level == nullptr) continue;
        for (const CLI::Option* option : level->get_options()) {
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
            for (const std::string& name : option->get_snames()) known.push_back("-" + name);
        }
    }
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i], name = word.substr(0, word.find('='));
        if (word == "--") return std::nullopt;
        const bool option = name.size() >= 2 && name[0] == '-' &&
                            (name[1] == '-' || std::isalpha(static_cast<unsigned char>(name[1])) != 0);
        if (!option || std::find(known.begin(), known.end(), name) != known.end()) continue;
        return fmt::format("no option `{}`{}{}", name, command == nullptr ? "" : " of " + command->get_name(),
                           did_you_mean(name, known));
    }
    return std::nullopt;
}

int run(int argc, char** argv) {
    CLI::App app{"Language models write CUDA kernels; nothing is believed until it is checked."};
    app.set_version_flag("--version", version);
    app.require_subcommand(1);
    app.fallthrough();
    Global global;
    global.program = called_as(argv[0] != nullptr ? argv[0] : "");
    app.add_flag("--json", global.json, "print one JSON document on standard output and nothing else there");
    Exit exit = Exit::good;

    RunCall run_call;
    CLI::App* run_app =
        app.add_subcommand("run", "search for a fast kernel: prompt, compile, verify, profile, again");
    run_app->add_option("task", run_call.task, "a task page, or the name of a shipped one");
    run_app->add_option("--author", run_call.author, "openai (default), anthropic or replay:FILE");
    run_app->add_option("--model", run_call.model, "the model's name (default: KERNELWRIGHT_MODEL)");
    run_app->add_option(
        "--budget", run_call.budget,
        fmt::format("evals=N,tokens=N,minutes=N,usd=N; what is not named stays at {}, and usd is free. "
                    "evals=N sends {} N + {} requests at most",
                    default_budget, requests_per_eval, spare_requests));
    run_app->add_option("--resume", run_call.resume, "go on with this run");
    run_app->add_option("--record", run_call.record,
                        "write the conversation to FILE, for --author replay:FILE");
    run_app->add_option("--results", run_call.results, "where runs are kept")->capture_default_str();
    add_bench(run_app, run_call.bench);
    run_app->callback([&] { exit = run_search_command(global, run_call); });

    CheckCall check_call;
    CLI::App* check_app = app.add_subcommand("check", "verify one candidate");
    check_app->add_option("task", check_call.task, "a task page, or the name of a shipped one")->required();
    check_app->add_option("candidate", check_call.candidate, "the CUDA file with its launch plan")
        ->required();
    check_app->add_option("--shape", check_call.shape, "check this shape alone: M=3,N=17");
    check_app->add_option("--case", check_call.case_name, "... with this draw alone");
    check_app->add_option("--seed", check_call.seed, "of the draws")->capture_default_str();
    add_bench(check_app, check_call.bench);
    check_app->callback([&] { exit = run_check(global, check_call); });

    ProfileCall profile_call;
    CLI::App* profile_app =
        app.add_subcommand("profile", "counters, predicted time, bottlenecks and hot lines of one candidate");
    profile_app->add_option("task", profile_call.task, "a task page, or the name of a shipped one")
        ->required();
    profile_app->add_option("candidate", profile_call.candidate, "the CUDA file with its launch plan")
        ->required();
    profile_app->add_option("--html", profile_call.html, "write a page to FILE (not built yet)");
    add_bench(profile_app, profile_call.bench);
    profile_app->callback([&] { exit = run_profile(global, profile_call); });

    TasksCall tasks_call;
    CLI::App* tasks_app = app.add_subcommand("tasks", "the task library: list, show, check");
    tasks_app->add_option("action", tasks_call.action, "list (default), show or check")
        ->capture_default_str();
    tasks_app->add_option("pages", tasks_call.pages,
                          "pages to show or check (check: all shipped ones by default)");
    tasks_app->callback([&] { exit = run_tasks(global, tasks_call); });

    SkillsCall skills_call;
    CLI::App* skills_app = app.add_subcommand("skills", "the skill library: list, show, check");
    skills_app
        ->add_option("action", skills_call.action, "list (default), show, check or learn (not built yet)")
        ->capture_default_str();
    skills_app->add_option("ids", skills_call.ids, "skills");
    skills_app->callback([&] { exit = run_skills(global, skills_call); });

    ReportCall report_call;
    CLI::App* report_app = app.add_subcommand("report", "what a run did; without a run: the recent runs");
    report_app->add_option("run", report_call.run,
                           "a run's ID or folder, or `last` (default: list the recent runs)");
    report_app->add_option("--html", report_call.html, "write one self-contained HTML file");
    report_app->add_option("--markdown", report_call.markdown, "write a Markdown file");
    report_app->add_option("--results", report_call.results, "where runs are kept")->capture_default_str();
    report_app->callback([&] { exit = run_report(global, report_call); });

    DoctorCall doctor_call;
    CLI::App* doctor_app = app.add_subcommand(
        "doctor",
        "what this machine has, what that allows, how to get the rest; asks the endpoints that are set "
        "up for their models");
    doctor_app->callback([&] { exit = run_doctor(global, doctor_call); });

    add_unbuilt(app, exit, global, "calibrate", "fit the cost model of a device to measurements");
    add_unbuilt(app, exit, global, "new", "a task page from a paragraph of English");
    add_unbuilt(app, exit, global, "ir", "the schedule IR");
    add_unbuilt(app, exit, global, "mcp", "MCP server");
    add_unbuilt(app, exit, global, "nightly", "many tasks, shapes and targets");

    if (argc >= 2 && argv[1][0] != '-') {
        std::vector<std::string> known;
        for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
        if (std::find(known.begin(), known.end(), argv[1]) == known.end()) {
            return static_cast<int>(
                fail(global, Exit::usage,
                     Error{fmt::format("no command `{}`{}", argv[1], did_you_mean(argv[1], known)),
                           {},
                           0,
                           0,
                           runnable(global, "kernelwright --help") + " lists the commands"}));
        }
    }
    const CLI::App* called = called_command(app, argc, argv);
    const std::string help =
        called == nullptr
            ? runnable(global, "kernelwright --help") + " lists the commands"
            : runnable(global, "kernelwright " + called->get_name() + " --help") + " lists its arguments";
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& e) {
        return app.exit(e);
    } catch (const CLI::CallForVersion& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        // A mistyped option is the fault, not the argument that it left out.
        if (const auto unknown = unknown_option(app, argc, argv))
            return static_cast<int>(fail(global, Exit::usage, Error{*unknown, {}, 0, 0, help}));
        return static_cast<int>(fail(global, Exit::usage, Error{e.what(), {}, 0, 0, help}));
    }
    return static_cast<int>(exit);
}

// A stream that the caller closed would give its number to the next file that is opened, and what is printed
// would go into that file.
void keep_streams_open() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
        if (fd <= STDERR_FILENO) continue;
        ::close(fd);
        return;
    }
}

// What was printed must have arrived; a reader that went away wanted no more.
int finished(int exit, int error) {
    if (std::fflush(stdout) != 0) error = errno;
    if (error == 0 || error == EPIPE) return exit;
    fmt::print(stderr, "kernelwright: cannot write to standard output: {}\n", std::strerror(error));
    return static_cast<int>(Exit::missing);
}

}  // namespace
}  // namespace kernelwright::cli

int main(int argc, char** argv) {
    const kernelwright::WorkerTable workers = kernelwright::cli::workers();
    if (const auto status = kernelwright::run_worker_if_asked(argc, argv, workers)) return *status;
    // A file that grows past its limit is an error to report, not a signal to die of.
    std::signal(SIGXFSZ, SIG_IGN);
    using kernelwright::cli::finished;
    kernelwright::cli::keep_streams_open();
    try {
        return finished(kernelwright::cli::run(argc, argv), 0);
    } catch (const std::system_error& e) {
        if (std::ferror(stdout) != 0) return finished(70, e.code().value());
        fmt::print(stderr, "kernelwright: internal error: {}\n", e.what());
        return 70;
    } catch (const std::bad_alloc&) {
        std::fputs("kernelwright: there is not enough memory\n", stderr);
        return 3;
    } catch (const std::exception& e) {
        fmt::print(stderr, "kernelwright: internal error: {}\n", e.what());
        return 70;
    }
}

// The program's commands. Each parses nothing: it gets its options as values and returns the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/context.h"
#include "harness/cli/workbench.h"

namespace kernelwright::cli {

// A check that came to no verdict (the page's reference failed, something is missing, it was interrupted):
// says so; nullopt: there is one.
std::optional<Exit> no_verdict(const Global& global, const CheckReport& report);

// Its findings for people: each with shape, draw and place.
void print_diagnostics(const CheckReport& report);
// The command that meets the failure again.
void print_again(const Global& global, const CheckReport& report);

struct CheckCall {
    std::string task, candidate;
    WorkbenchOptions bench;
    std::string shape;  // "M=3,N=17"; empty: all of the page's
    std::string case_name;
    std::string seed = "1";  // of the draws, as given
};
Exit run_check(const Global& global, const CheckCall& call);

struct ProfileCall {
    std::string task, candidate;
    WorkbenchOptions bench;
    std::string html;
};
Exit run_profile(const Global& global, const ProfileCall& call);

// The limits of a run where `--budget` names none.
inline constexpr const char* default_budget = "evals=40,tokens=500k,minutes=60";

struct RunCall {
    std::string task;    // may be empty with --resume
    std::string author;  // empty: openai, or what the resumed run had
    std::string model;
    WorkbenchOptions bench;
    std::string budget;
    std::string resume;  // a run's ID or folder
    std::string record;  // write the conversation to this file
    std::string results = "results";
};
Exit run_search_command(const Global& global, const RunCall& call);

struct TasksCall {
    std::string action = "list";  // list, show, check
    std::vector<std::string> pages;
};
Exit run_tasks(const Global& global, const TasksCall& call);

struct SkillsCall {
    std::string action = "list";  // list, show, check, learn
    std::vector<std::string> ids;
};
Exit run_skills(const Global& global, const SkillsCall& call);

struct ReportCall {
    std::string run;             // empty: the recent runs are listed
    std::string html, markdown;  // write this file
    std::string results = "results";
};
Exit run_report(const Global& global, const ReportCall& call);

struct DoctorCall {
    WorkbenchOptions bench;
};
Exit run_doctor(const Global& global, const DoctorCall& call);

}  // namespace kernelwright::cli

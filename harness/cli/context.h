// What every command shares: where the data lies, how results are printed, which exit code means what.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright::cli {

// The program's exit codes (contract of the command line).
enum class Exit : int {
    good = 0,          // done and good
    verdict = 1,       // done, and the verdict is a failure
    usage = 2,         // the call or an input file is wrong
    missing = 3,       // something needed is missing
    interrupted = 130  // state kept, resumable
};

struct Global {
    bool json = false;                     // one JSON document on standard output, nothing else there
    std::string program = "kernelwright";  // how to call this program again, as called_as says
};

// The folder with tasks/, skills/, devices/ and share/: KERNELWRIGHT_DATA, else the first folder above the
// program that has them, else ../share/kernelwright beside it.
Result<std::filesystem::path> data_folder();
std::filesystem::path program_path();

// How a shell reaches this program: its plain name where that is it on PATH, else as it was called.
std::string called_as(const std::string& typed);
// A command that begins with `kernelwright `, as it can be pasted.
std::string runnable(const Global& global, const std::string& command);
// One argument for a shell, quoted where it must be.
std::string shell_word(const std::string& text);

// A task by page path, or by name in the library.
std::filesystem::path resolve_task(const std::string& given);
std::vector<std::string> library_names();

// Prints one line on standard error ("kernelwright: ..."), with --json also {"schema", "error": {...}} on
// standard output, and returns the exit code.
Exit fail(const Global& global, Exit exit, const Error& error);
void print_json(const Json& json);

// A run by ID, or by its folder wherever that is: RESULTS/runs/ID.
struct RunPlace {
    std::filesystem::path results;
    std::string run;
};
RunPlace run_place(const std::string& given, const std::string& results);

}  // namespace kernelwright::cli

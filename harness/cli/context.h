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
    bool json = false;  // one JSON document on standard output, nothing else there
};

// The folder with tasks/, skills/, devices/ and share/: KERNELWRIGHT_DATA, else the first folder above the
// program that has them, else ../share/kernelwright beside it.
Result<std::filesystem::path> data_folder();
std::filesystem::path program_path();

// A task by page path, or by name in the library.
std::filesystem::path resolve_task(const std::string& given);

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

// "M=3,N=17" -> symbol values.
Result<std::map<std::string, std::int64_t>> parse_shape(const std::string& text);

}  // namespace kernelwright::cli

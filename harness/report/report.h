// A run for people: the table at its end, a Markdown report, one self-contained HTML page. All text that came
// from outside (candidates, diagnostics, a model's words) is escaped.
#pragma once

#include <functional>
#include <string>

#include "harness/store/run.h"

namespace kernelwright::report {

using ArtifactReader = std::function<Result<std::string>(const std::string& hash)>;

// Columns: #, asked, outcome, stage, rule, time, speed-up against the first correct candidate, skills.
std::string attempts_table(const record::Run& run);

// What ends `run`: the table, the winner and where it is stored, why the run ended, the next command to try.
// `winner_path` is empty when there is none.
std::string run_summary(const record::Run& run, const std::string& winner_path,
                        const std::string& next_command);

std::string markdown_report(const record::Run& run, const ArtifactReader& artifacts);
std::string html_report(const record::Run& run, const ArtifactReader& artifacts);

std::string escape_html(const std::string& text);

}  // namespace kernelwright::report

// A run for people: the table at its end, a report as plain text, as Markdown and as one self-contained HTML
// page. All text that came from outside (candidates, diagnostics, a model's words) is escaped, and no page
// loads anything.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/report/table.h"
#include "harness/store/run.h"

namespace kernelwright::report {

using ArtifactReader = std::function<Result<std::string>(const std::string& hash)>;

// Columns: #, asked, outcome, stage, rule, time, speed-up (against the first correct candidate), skills.
Table attempts_table(const record::Run& run);

// What ends a run on a terminal: the table, the winner and where it is stored, why the run ended, the next
// commands to try. `winner_path` is read only where there is a winner.
std::string run_summary(const record::Run& run, const std::string& winner_path,
                        const std::vector<std::string>& next_commands);

// Columns: run, state, attempts, best. `runs` in the order of the rows.
Table runs_table(const std::vector<record::Run>& runs);

// "40 evals, 500000 tokens, 60 minutes" of a recorded budget.
std::string budget_text(const Json& budget);

// For a terminal: no mark-up, and what stands in it can be pasted. Sources and requests of each attempt,
// which the other two forms fold away, are left out.
std::string plain_report(const record::Run& run, const ArtifactReader& artifacts);
std::string markdown_report(const record::Run& run, const ArtifactReader& artifacts);
std::string html_report(const record::Run& run, const ArtifactReader& artifacts);

// The lines of `after` against `before`: "-", "+" or " " before each, unchanged stretches shortened to
// `around` lines. Empty: the same text.
std::string line_diff(const std::string& before, const std::string& after, int around = 3);

}  // namespace kernelwright::report

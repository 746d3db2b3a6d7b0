// An SQLite table over all runs, for listings and queries: results/index.sqlite. It is made of what the event
// logs say and can be thrown away at any time; a failure here is a warning, never the end of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/result.h"
#include "harness/store/store.h"

struct sqlite3;

namespace kernelwright::record {

struct RunRow {
    std::string id, task, started, state, why, author, target;
    int attempts = 0, passing = 0, best_attempt = 0;
    double best_seconds = 0, first_seconds = 0;
    std::string best_how;
    std::int64_t input_tokens = 0, output_tokens = 0;
    double usd = 0;
    bool operator==(const RunRow&) const = default;
};
RunRow summarise(const Run& run);

class Index {
  public:
    static Result<Index> open(const std::filesystem::path& file);
    // Opens it, made again from the runs where it is missing or damaged, and brought up to date with runs
    // that were ended before they could be written. `note`: one line when it was damaged.
    static Result<Index> open_for(const Store& store, std::string* note = nullptr);
    Index(Index&&) noexcept;
    Index& operator=(Index&&) noexcept;
    Index(const Index&) = delete;
    ~Index();

    Status update(const Run& run);
    // Drops all rows and reads every run of the store again. Runs that cannot be read are named in `skipped`.
    Status rebuild(const Store& store, std::vector<std::string>* skipped = nullptr);
    Result<std::vector<RunRow>> list(const std::string& task = "") const;  // newest first

  private:
    explicit Index(sqlite3* db) : db_(db) {}
    bool sound() const;
    Status catch_up(const Store& store);
    sqlite3* db_ = nullptr;
};

}  // namespace kernelwright::record

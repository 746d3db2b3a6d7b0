// Where runs live: ROOT/runs/ID/{events.jsonl, artifacts/SHA256, lock} and ROOT/index.sqlite.
//
// events.jsonl is the only truth. One line is one event, appended in a single write and synced before the
// run goes on; a crash can tear the last line at most, and a torn line is an event that never happened. Texts
// (prompts, replies, sources, evaluations) are artifacts named by their SHA-256, written before the event
// that names them, so an event never points at nothing; whoever reads one compares the hash. A new run is
// made as ROOT/runs/.new-ID and gets its name with its first event, so that every run that can be seen can
// be gone on with. The index is a convenience that can be rebuilt.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/clock.h"
#include "harness/core/json.h"
#include "harness/core/result.h"
#include "harness/store/run.h"

namespace kernelwright::record {

inline constexpr const char* run_schema = "kernelwright.run/1";

// The lines of a log. `torn_bytes` counts what follows the last newline, `clean_size` what precedes it.
struct EventLog {
    std::vector<Json> events;
    std::size_t clean_size = 0;
    std::size_t torn_bytes = 0;
};
// Reads a log; a torn last line is left out, any other line that is no event, or not the next one, is an
// error with its line.
Result<EventLog> read_events(const std::filesystem::path& path);

// Called after every event that reached the disk; tests use it to end the process there.
class EventObserver {
  public:
    virtual ~EventObserver() = default;
    virtual void appended(const Json& event) = 0;
};

// A run that this process holds: it alone appends. The lock is given back on destruction, and by the kernel
// when the process dies. A new run without any event vanishes on destruction.
class RunWriter {
  public:
    ~RunWriter();
    RunWriter(const RunWriter&) = delete;
    RunWriter& operator=(const RunWriter&) = delete;

    const std::string& id() const { return id_; }
    const std::filesystem::path& folder() const { return folder_; }

    // Stores a text and returns its name.
    Result<std::string> put(std::string_view content);
    // An Error when it is not what was stored.
    Result<std::string> get(const std::string& hash) const;

    // Appends one event: {"schema", "seq", "time", "run", "event": kind, ...fields}.
    Status append(const std::string& kind, Json fields);

    // The run so far, folded from the events.
    Result<Run> load() const;

    void observe(EventObserver* observer) { observer_ = observer; }

  private:
    friend class Store;
    RunWriter() = default;
    Status publish();

    std::string id_;
    std::filesystem::path folder_;
    std::filesystem::path published_folder_;  // where it goes with its first event; empty: it is there
    std::int64_t next_seq_ = 1;
    int events_fd_ = -1;
    int lock_fd_ = -1;
    const Clock* clock_ = nullptr;
    EventObserver* observer_ = nullptr;
};

class Store {
  public:
    // `root` is the results folder; it is made when a run is created.
    Store(std::filesystem::path root, const Clock& clock) : root_(std::move(root)), clock_(&clock) {}

    const std::filesystem::path& root() const { return root_; }

    // A new run, with its lock held; its folder appears with its first event. IDs sort by time:
    // 20260131-120000-softmax_rows-7f3a9c.
    Result<std::unique_ptr<RunWriter>> create(const std::string& task_name);
    // Takes an existing run for appending: its lock, then the repair of a torn last line. A run that another
    // living process holds is an error that names the process.
    Result<std::unique_ptr<RunWriter>> open(const std::string& id);

    // The ID meant by a name: a whole ID, a unique beginning or ending of one, a run folder's path, "last".
    Result<std::string> resolve(const std::string& name) const;
    std::vector<std::string> ids() const;  // oldest first

    // Reading needs no lock. A run without a beginning is an error.
    Result<Run> load(const std::string& id) const;
    Result<std::string> artifact(const std::string& id, const std::string& hash) const;
    std::filesystem::path folder(const std::string& id) const { return root_ / "runs" / id; }

  private:
    Result<std::unique_ptr<RunWriter>> take(const std::string& id, const std::filesystem::path& folder);

    std::filesystem::path root_;
    const Clock* clock_;
};

}  // namespace kernelwright::record

#include "harness/store/index.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <set>
#include <utility>

namespace kernelwright::record {
namespace {

constexpr int index_version = 1;
constexpr const char* index_file = "index.sqlite";

constexpr const char* schema = R"sql(
CREATE TABLE IF NOT EXISTS runs (
  id TEXT PRIMARY KEY, task TEXT, started TEXT, state TEXT, why TEXT, author TEXT, target TEXT,
  attempts INTEGER, passing INTEGER, best_attempt INTEGER, best_seconds REAL, first_seconds REAL,
  best_how TEXT, input_tokens INTEGER, output_tokens INTEGER, usd REAL);
CREATE TABLE IF NOT EXISTS attempts (
  run TEXT, number INTEGER, asked TEXT, outcome TEXT, stage TEXT, rule TEXT, seconds REAL, how TEXT,
  source TEXT, PRIMARY KEY (run, number));
CREATE INDEX IF NOT EXISTS runs_by_task ON runs (task, started);
)sql";

Error sql_error(sqlite3* db, const char* what) {
    return Error{fmt::format("the run index: cannot {}: {}", what,
                             db != nullptr ? sqlite3_errmsg(db) : "out of memory"),
                 {},
                 0,
                 0,
                 "it can be deleted; it is made again from the runs"};
}

Status execute(sqlite3* db, const char* sql, const char* what) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return sql_error(db, what);
    return Done{};
}

class Statement {
  public:
    Statement(sqlite3* db, const char* sql) : db_(db) {
        sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr);
    }
    Statement(const Statement&) = delete;
    ~Statement() { sqlite3_finalize(statement_); }

    bool valid() const { return statement_ != nullptr; }
    Statement& bind(const std::string& text) {
        sqlite3_bind_text(statement_, ++at_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
        return *this;
    }
    Statement& bind(std::int64_t value) {
        sqlite3_bind_int64(statement_, ++at_, value);
        return *this;
    }
    Statement& bind(int value) { return bind(static_cast<std::int64_t>(value)); }
    Statement& bind(double value) {
        sqlite3_bind_double(statement_, ++at_, value);
        return *this;
    }
    bool step_row() { return sqlite3_step(statement_) == SQLITE_ROW; }
    bool step_done() { return sqlite3_step(statement_) == SQLITE_DONE; }
    std::string text(int column) const {
        const unsigned char* value = sqlite3_column_text(statement_, column);
        return value != nullptr ? reinterpret_cast<const char*>(value) : "";
    }
    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    double real(int column) const { return sqlite3_column_double(statement_, column); }

  private:
    sqlite3* db_;
    sqlite3_stmt* statement_ = nullptr;
    int at_ = 0;
};

std::string config_text(const Run& run, const char* key) {
    const auto it = run.config.find(key);
    return it != run.config.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Status write_run(sqlite3* db, const Run& run) {
    const RunRow row = summarise(run);
    Statement insert(db, "INSERT OR REPLACE INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    if (!insert.valid()) return sql_error(db, "write a run");
    insert.bind(row.id).bind(row.task).bind(row.started).bind(row.state).bind(row.why).bind(row.author);
    insert.bind(row.target).bind(row.attempts).bind(row.passing).bind(row.best_attempt);
    insert.bind(row.best_seconds).bind(row.first_seconds).bind(row.best_how);
    insert.bind(row.input_tokens).bind(row.output_tokens).bind(row.usd);
    if (!insert.step_done()) return sql_error(db, "write a run");
    for (const Attempt& attempt : run.attempts) {
        if (!attempt.finished) continue;
        Statement one(db, "INSERT OR REPLACE INTO attempts VALUES (?,?,?,?,?,?,?,?,?)");
        if (!one.valid()) return sql_error(db, "write an attempt");
        std::string stage, rule, how;
        double seconds = 0;
        if (attempt.evaluation) {
            if (attempt.evaluation->stage) stage = to_string(*attempt.evaluation->stage);
            if (const Diagnostic* error = first_error(*attempt.evaluation)) rule = error->rule;
            if (attempt.evaluation->time) {
                seconds = attempt.evaluation->time->seconds;
                how = attempt.evaluation->time->how;
            }
        }
        one.bind(run.id).bind(attempt.number).bind(std::string(to_string(attempt.state)));
        one.bind(outcome_label(attempt)).bind(stage).bind(rule).bind(seconds).bind(how).bind(attempt.source);
        if (!one.step_done()) return sql_error(db, "write an attempt");
    }
    return Done{};
}

}  // namespace

RunRow summarise(const Run& run) {
    RunRow row;
    row.id = run.id;
    row.task = run.task;
    row.started = run.started;
    row.state = run.state;
    row.why = run.why;
    row.author = config_text(run, "author");
    row.target = config_text(run, "target");
    for (const Attempt& attempt : run.attempts) {
        if (!attempt.finished) continue;
        ++row.attempts;
        if (attempt.passed()) ++row.passing;
    }
    if (const Attempt* best = run.best()) {
        row.best_attempt = best->number;
        row.best_seconds = best->seconds().value_or(0);
        row.first_seconds = run.first_passing()->seconds().value_or(0);
        if (best->evaluation->time) row.best_how = best->evaluation->time->how;
    }
    const TurnUsage usage = run.usage();
    row.input_tokens = usage.input_tokens;
    row.output_tokens = usage.output_tokens;
    row.usd = usage.usd;
    return row;
}

Result<Index> Index::open(const std::filesystem::path& file) {
    sqlite3* db = nullptr;
    if (sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
        SQLITE_OK) {
        const Error error = sql_error(db, "open it");
        sqlite3_close(db);
        return error;
    }
    Index index(db);
    sqlite3_busy_timeout(db, 5000);
    // WAL: readers are not held up by a run that writes.
    if (Status s = execute(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;", "open it"); !s) {
        return s.error();
    }
    std::int64_t version = 0;
    {
        Statement query(db, "PRAGMA user_version");
        if (query.valid() && query.step_row()) version = query.integer(0);
    }
    if (version != 0 && version != index_version) {
        const char* drop = "DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS attempts;";
        if (Status s = execute(db, drop, "renew it"); !s) return s.error();
    }
    if (Status s = execute(db, schema, "make its tables"); !s) return s.error();
    const std::string mark = fmt::format("PRAGMA user_version={}", index_version);
    if (Status s = execute(db, mark.c_str(), "mark its version"); !s) return s.error();
    return index;
}

bool Index::sound() const {
    Statement check(db_, "PRAGMA quick_check(1)");
    return check.valid() && check.step_row() && check.text(0) == "ok";
}

Status Index::catch_up(const Store& store) {
    std::set<std::string> settled;
    {
        Statement query(db_, "SELECT id FROM runs WHERE state <> 'running'");
        if (!query.valid()) return sql_error(db_, "read it");
        while (query.step_row()) settled.insert(query.text(0));
    }
    for (const std::string& id : store.ids()) {
        if (settled.contains(id)) continue;
        const auto run = store.load(id);
        if (!run) continue;
        if (Status s = update(*run); !s) return s;
    }
    return Done{};
}

Result<Index> Index::open_for(const Store& store, std::string* note) {
    std::error_code ignored;
    std::filesystem::create_directories(store.root(), ignored);
    const std::filesystem::path file = store.root() / index_file;
    auto index = open(file);
    if (index && index->sound() && index->catch_up(store).ok()) return index;
    // Whatever ails it: it holds nothing that the runs do not.
    if (index) index = sql_error(nullptr, "read it");
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix, ignored);
    index = open(file);
    if (!index) return index;
    if (Status s = index->rebuild(store); !s) return s.error();
    if (note != nullptr) *note = file.string() + " was damaged and has been made again from the runs";
    return index;
}

Index::Index(Index&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
Index& Index::operator=(Index&& other) noexcept {
    std::swap(db_, other.db_);
    return *this;
}
Index::~Index() { sqlite3_close(db_); }

Status Index::update(const Run& run) {
    if (Status s = execute(db_, "BEGIN IMMEDIATE", "write to it"); !s) return s;
    if (Status s = write_run(db_, run); !s) {
        const Status rolled_back = execute(db_, "ROLLBACK", "roll back");
        (void)rolled_back;
        return s;
    }
    return execute(db_, "COMMIT", "write to it");
}

Status Index::rebuild(const Store& store, std::vector<std::string>* skipped) {
    if (Status s = execute(db_, "BEGIN IMMEDIATE; DELETE FROM runs; DELETE FROM attempts;", "clear it"); !s) {
        return s;
    }
    for (const std::string& id : store.ids()) {
        const auto run = store.load(id);
        if (!run) {
            if (skipped != nullptr) skipped->push_back(id);
            continue;
        }
        if (Status s = write_run(db_, *run); !s) {
            const Status rolled_back = execute(db_, "ROLLBACK", "roll back");
            (void)rolled_back;
            return s;
        }
    }
    return execute(db_, "COMMIT", "write to it");
}

Result<std::vector<RunRow>> Index::list(const std::string& task) const {
    Statement query(db_, "SELECT * FROM runs WHERE ?1 = '' OR task = ?1 ORDER BY started DESC, id DESC");
    if (!query.valid()) return sql_error(db_, "read it");
    query.bind(task);
    std::vector<RunRow> rows;
    while (query.step_row()) {
        RunRow row;
        row.id = query.text(0);
        row.task = query.text(1);
        row.started = query.text(2);
        row.state = query.text(3);
        row.why = query.text(4);
        row.author = query.text(5);
        row.target = query.text(6);
        row.attempts = static_cast<int>(query.integer(7));
        row.passing = static_cast<int>(query.integer(8));
        row.best_attempt = static_cast<int>(query.integer(9));
        row.best_seconds = query.real(10);
        row.first_seconds = query.real(11);
        row.best_how = query.text(12);
        row.input_tokens = query.integer(13);
        row.output_tokens = query.integer(14);
        row.usd = query.real(15);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace kernelwright::record

#include "harness/store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "harness/core/files.h"
#include "harness/core/hash.h"
#include "harness/store/run_events.h"

namespace kernelwright::record {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_log_bytes = std::uintmax_t{1} << 30;
constexpr const char* unpublished_prefix = ".new-";

Error system_error(const char* what, const fs::path& path) {
    return Error{fmt::format("cannot {}: {}", what, std::strerror(errno)), path.string()};
}

// A rename or a new file survives a power loss only when its folder is synced too.
void sync_folder(const fs::path& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

bool is_hash(const std::string& text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_run_id(const std::string& text) {
    static constexpr const char* allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return !text.empty() && text[0] != '.' && text.find_first_not_of(allowed) == std::string::npos;
}

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
    return name;
}

// read_file takes a file's size from the file system, which is 0 for what /proc shows.
std::string read_proc(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    char buffer[2048];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    ::close(fd);
    return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
}

// When a process started, in clock ticks since boot: with the pid it names one process for good.
std::string process_start(pid_t pid) {
    auto text = read_proc(fmt::format("/proc/{}/stat", pid));
    const std::size_t close = text.rfind(')');  // the name before it may hold anything
    if (close == std::string::npos) return {};
    std::size_t at = close + 1;
    for (int field = 3; field <= 22 && at < text.size(); ++field) {
        at = text.find_first_not_of(' ', at);
        if (at == std::string::npos) return {};
        const std::size_t end = text.find(' ', at);
        if (field == 22) return text.substr(at, end == std::string::npos ? end : end - at);
        at = end;
    }
    return {};
}

std::string random_suffix() {
    unsigned char bytes[3] = {};
    if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
        const auto fallback = static_cast<unsigned>(::getpid());
        std::memcpy(bytes, &fallback, sizeof bytes);
    }
    return fmt::format("{:02x}{:02x}{:02x}", bytes[0], bytes[1], bytes[2]);
}

std::string stamp(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    struct tm parts {};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// A record can have been edited: a key may hold anything.
std::string text_at(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::string holder_text(const Json& holder) {
    return fmt::format("process {} on {} since {}", holder.at("pid").get<std::int64_t>(),
                       text_at(holder, "host"), text_at(holder, "time"));
}

// Takes ROOT/runs/ID/lock. The kernel's lock (flock) decides on one machine and vanishes with its holder; the
// text inside names the holder, and decides where a shared file system does not carry locks between machines.
Result<int> take_lock(const fs::path& folder, const Clock& clock) {
    const fs::path file = folder / "lock";
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return system_error("open the lock", file);
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    char buffer[1024];
    const ssize_t n = ::pread(fd, buffer, sizeof buffer, 0);
    const Json holder = n > 0 ? Json::parse(buffer, buffer + n, nullptr, false) : Json();
    const bool named = holder.is_object() && holder.contains("pid") && holder["pid"].is_number_integer() &&
                       holder.contains("host") && holder["host"].is_string();
    if (!locked) {
        ::close(fd);
        return Error{
            named ? "the run is held by " + holder_text(holder) : "the run is held by another process",
            file.string(), 0, 0, "wait for it, or stop it"};
    }
    if (named && holder["host"] != host_name()) {
        ::close(fd);
        return Error{"the run was left locked by " + holder_text(holder), file.string(), 0, 0,
                     "remove the lock file when that process is gone"};
    }
    if (named) {
        // Same machine: flock would have failed, unless the file system ignores it. Believe the process
        // table.
        const auto pid = static_cast<pid_t>(holder["pid"].get<std::int64_t>());
        const std::string start = process_start(pid);
        if (pid != ::getpid() && !start.empty() && start == text_at(holder, "start")) {
            ::close(fd);
            return Error{"the run is held by " + holder_text(holder), file.string(), 0, 0,
                         "wait for it, or stop it"};
        }
    }
    const Json mine{{"pid", ::getpid()},
                    {"host", host_name()},
                    {"start", process_start(::getpid())},
                    {"time", to_rfc3339(clock.wall())}};
    const std::string text = mine.dump() + "\n";
    if (::ftruncate(fd, 0) != 0 ||
        ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
        const Error error = system_error("write the lock", file);
        ::close(fd);
        return error;
    }
    return fd;
}

Error damaged(std::string message, const fs::path& file, int line = 0) {
    return Error{std::move(message), file.string(), line, 0, "restore the file, or start a new run"};
}

Result<std::string> read_artifact(const fs::path& folder, const std::string& hash) {
    if (!is_hash(hash)) return Error{"not an artifact's name: `" + hash + "`"};
    const fs::path file = folder / "artifacts" / hash;
    auto text = read_file(file, max_log_bytes);
    if (!text) return damaged("an artifact of the run cannot be read: " + text.error().message, file);
    if (sha256_hex(*text) != hash) {
        return damaged("the artifact is not what the run stored: its SHA-256 is not its name", file);
    }
    return text;
}

// What processes that were ended before their run's first event left; a living one holds its lock.
void remove_unpublished(const fs::path& runs) {
    constexpr auto young = std::chrono::minutes(1);
    std::error_code error;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(runs, error)) {
        const auto written = entry.last_write_time(error);
        if (error || !entry.path().filename().string().starts_with(unpublished_prefix)) continue;
        if (fs::file_time_type::clock::now() - written > young) old.push_back(entry.path());
    }
    for (const fs::path& folder : old) {
        const int lock = ::open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC);
        if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, error);
        if (lock >= 0) ::close(lock);
    }
}

}  // namespace

Result<EventLog> read_events(const fs::path& path) {
    const auto text = read_file(path, max_log_bytes);
    if (!text) return text.error();
    EventLog log;
    std::size_t at = 0;
    int line = 0;
    while (at < text->size()) {
        const std::size_t end = text->find('\n', at);
        if (end == std::string::npos) break;
        ++line;
        const std::string_view row(text->data() + at, end - at);
        Json event = Json::parse(row, nullptr, false);
        const bool last = end + 1 == text->size();
        if (!event.is_object() || !event.contains("event") || !event["event"].is_string()) {
            // A crash of the machine (not of the process) can leave a last line of zeros that has its
            // newline.
            if (last) break;
            return damaged("not an event of a run", path, line);
        }
        if (const std::string schema = text_at(event, "schema"); schema != run_schema) {
            return Error{fmt::format("unknown schema `{}`; this program reads {}", schema, run_schema),
                         path.string(), line};
        }
        if (const Json seq = event.value("seq", Json()); !seq.is_number_integer() || seq != line) {
            return damaged(fmt::format("this should be event {}, it is {}: lines are missing or doubled",
                                       line, seq.dump()),
                           path, line);
        }
        log.events.push_back(std::move(event));
        at = end + 1;
        log.clean_size = at;
    }
    log.torn_bytes = text->size() - log.clean_size;
    return log;
}

RunWriter::~RunWriter() {
    if (events_fd_ >= 0) ::close(events_fd_);
    if (!published_folder_.empty()) {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    if (lock_fd_ >= 0) {
        // Emptied, not removed: removing would let two processes lock two files of one name.
        if (::ftruncate(lock_fd_, 0) != 0) errno = 0;
        ::close(lock_fd_);
    }
}

Result<std::string> RunWriter::put(std::string_view content) {
    std::string hash = sha256_hex(content);
    const fs::path file = folder_ / "artifacts" / hash;
    if (const auto there = read_file(file, max_log_bytes); there.ok() && *there == content) return hash;
    if (Status status = write_file_atomic(file, content); !status) return status.error();
    sync_folder(file.parent_path());
    return hash;
}

Result<std::string> RunWriter::get(const std::string& hash) const { return read_artifact(folder_, hash); }

Status RunWriter::publish() {
    if (published_folder_.empty()) return Done{};
    if (::rename(folder_.c_str(), published_folder_.c_str()) != 0) {
        return system_error("give the run its folder", published_folder_);
    }
    folder_ = std::move(published_folder_);
    published_folder_.clear();
    sync_folder(folder_.parent_path());
    return Done{};
}

Status RunWriter::append(const std::string& kind, Json fields) {
    Json event{{"schema", run_schema},
               {"seq", next_seq_},
               {"time", to_rfc3339(clock_->wall())},
               {"run", id_},
               {"event", kind}};
    for (auto& [key, value] : fields.items()) event[key] = std::move(value);
    // A model's bytes need not be UTF-8; the record must be.
    const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (!write_all(events_fd_, line) || ::fsync(events_fd_) != 0) {
        return system_error("append to the record", folder_ / "events.jsonl");
    }
    ++next_seq_;
    if (Status status = publish(); !status) return status;
    if (observer_ != nullptr) observer_->appended(event);
    return Done{};
}

Result<Run> RunWriter::load() const {
    const auto log = read_events(folder_ / "events.jsonl");
    if (!log) return log.error();
    return fold_events(
        log->events, [this](const std::string& hash) { return get(hash); },
        (folder_ / "events.jsonl").string());
}

Result<std::unique_ptr<RunWriter>> Store::create(const std::string& task_name) {
    std::error_code error;
    fs::create_directories(root_ / "runs", error);
    if (error) return Error{"cannot make the results folder: " + error.message(), (root_ / "runs").string()};
    std::string name;
    for (const char c : task_name.substr(0, 64)) {
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    remove_unpublished(root_ / "runs");
    for (int tries = 0; tries < 16; ++tries) {
        const std::string id = fmt::format("{}-{}-{}", stamp(clock_->wall()), name, random_suffix());
        if (fs::exists(folder(id), error)) continue;
        const fs::path place = root_ / "runs" / (unpublished_prefix + id);
        if (!fs::create_directory(place, error)) {
            if (error) return Error{"cannot make the run's folder: " + error.message(), folder(id).string()};
            continue;  // the name is taken
        }
        auto writer = take(id, place);
        if (writer) {
            (*writer)->published_folder_ = folder(id);
            sync_folder(place);
        } else {
            fs::remove_all(place, error);
        }
        return writer;
    }
    return Error{"cannot find a free name for the run", (root_ / "runs").string()};
}

Result<std::unique_ptr<RunWriter>> Store::open(const std::string& id) {
    std::error_code error;
    if (!is_run_id(id) || !fs::is_directory(folder(id), error)) {
        return Error{"there is no run `" + id + "`", root_.string()};
    }
    return take(id, folder(id));
}

Result<std::unique_ptr<RunWriter>> Store::take(const std::string& id, const fs::path& folder) {
    const auto lock = take_lock(folder, *clock_);
    if (!lock) return lock.error();
    std::unique_ptr<RunWriter> writer(new RunWriter);
    writer->id_ = id;
    writer->folder_ = folder;
    writer->lock_fd_ = *lock;
    writer->clock_ = clock_;
    std::error_code error;
    fs::create_directory(folder / "artifacts", error);
    const fs::path file = folder / "events.jsonl";
    // Without waiting: the file could be a pipe that nobody reads.
    writer->events_fd_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
    if (writer->events_fd_ < 0) return system_error("open the record", file);
    const auto log = read_events(file);
    if (!log) return log.error();
    writer->next_seq_ = static_cast<std::int64_t>(log->events.size()) + 1;
    if (log->torn_bytes > 0) {
        if (::ftruncate(writer->events_fd_, static_cast<off_t>(log->clean_size)) != 0) {
            return system_error("repair the record", file);
        }
        const Json note{{"note", fmt::format("dropped {} bytes of an event that was cut off by a crash",
                                             log->torn_bytes)}};
        if (Status status = writer->append("run.note", note); !status) return status.error();
    }
    return writer;
}

std::vector<std::string> Store::ids() const {
    std::vector<std::string> out;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root_ / "runs", error)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory(error) && is_run_id(name)) out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    return out;
}

Result<std::string> Store::resolve(const std::string& name) const {
    const std::vector<std::string> known = ids();
    if (known.empty()) return Error{"there are no runs yet", (root_ / "runs").string()};
    if (name == "last" || name == "latest") return known.back();
    std::string wanted = name;
    if (name.find('/') != std::string::npos) {
        fs::path path = fs::path(name).lexically_normal();
        if (!path.has_filename()) path = path.parent_path();
        wanted = path.filename().string();
    }
    std::vector<std::string> matches;
    for (const std::string& id : known) {
        if (id == wanted) return id;
        if (!wanted.empty() && (id.starts_with(wanted) || id.ends_with(wanted))) matches.push_back(id);
    }
    if (matches.size() == 1) return matches.front();
    if (matches.empty()) {
        return Error{"there is no run `" + name + "`", (root_ / "runs").string(), 0, 0,
                     "the last one is " + known.back()};
    }
    return Error{fmt::format("`{}` means any of {} runs", name, matches.size()), (root_ / "runs").string(), 0,
                 0, "for example " + matches[0] + " or " + matches[1]};
}

Result<std::string> Store::artifact(const std::string& id, const std::string& hash) const {
    return read_artifact(folder(id), hash);
}

Result<Run> Store::load(const std::string& id) const {
    const fs::path file = folder(id) / "events.jsonl";
    const auto log = read_events(file);
    if (!log) return log.error();
    auto run = fold_events(
        log->events, [&](const std::string& hash) { return artifact(id, hash); }, file.string());
    if (run && run->task.empty()) {
        return Error{"the run holds nothing: it was ended before it began", file.string(), 0, 0,
                     "start a new run; this one's folder can be removed"};
    }
    return run;
}

}  // namespace kernelwright::record

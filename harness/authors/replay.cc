#include "harness/authors/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr const char* schema = "kernelwright.replay/1";
constexpr std::uintmax_t largest_recording = 256U << 20;

std::string string_of(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string whole_file(const Recording& recording, std::size_t turns) {
    std::string text = header_line(recording.header) + "\n";
    for (std::size_t i = 0; i < turns; ++i) {
        text += turn_line(static_cast<int>(i) + 1, recording.turns[i]) + "\n";
    }
    return text;
}

}  // namespace

std::string header_line(const ReplayHeader& header) {
    return dump(
        Json{{"schema", schema}, {"origin", header.origin}, {"task", header.task}, {"model", header.model}});
}

std::string turn_line(int turn, const ReplayTurn& entry) {
    Json json{{"turn", turn}, {"reply", to_json(entry.reply)}};
    if (!entry.prompt_sha256.empty()) json["prompt_sha256"] = entry.prompt_sha256;
    return dump(json);
}

Result<Recording> parse_recording(const std::string& text, const std::string& file) {
    Recording recording;
    bool have_header = false;
    int number = 0;
    std::size_t start = 0;
    while (start < text.size()) {
        ++number;
        const std::size_t newline = text.find('\n', start);
        const bool last_is_open = newline == std::string::npos;
        const std::string_view line = trim(
            std::string_view(text).substr(start, last_is_open ? std::string_view::npos : newline - start));
        start = last_is_open ? text.size() : newline + 1;
        if (line.empty()) continue;
        const auto wrong = [&](std::string message, std::string hint = "") {
            return Error{std::move(message), file, number, 0, std::move(hint)};
        };
        const Json json = Json::parse(line, nullptr, false);
        if (json.is_discarded() || !json.is_object()) {
            if (last_is_open && have_header) {
                recording.torn = true;
                break;
            }
            return wrong("not a JSON object", "a recording holds one JSON object a line");
        }
        if (!have_header) {
            const std::string found = string_of(json, "schema");
            if (found != schema) {
                return wrong(
                    found.empty() ? "no `schema` in the first line" : "unknown schema `" + found + "`",
                    fmt::format("a recording starts with {{\"schema\":\"{}\", ...}}", schema));
            }
            recording.header = {string_of(json, "origin"), string_of(json, "task"), string_of(json, "model")};
            have_header = true;
            continue;
        }
        const int expected = static_cast<int>(recording.turns.size()) + 1;
        if (const auto turn = json.find("turn");
            turn == json.end() || !turn->is_number_integer() || turn->get<std::int64_t>() != expected) {
            return wrong(fmt::format("expected \"turn\": {}", expected),
                         "turns are numbered from 1 in order");
        }
        const auto body = json.find("reply");
        if (body == json.end()) return wrong("a turn has no `reply`");
        auto reply = reply_from_json(*body);
        if (!reply) return wrong(reply.error().message);
        recording.turns.push_back({std::move(*reply), string_of(json, "prompt_sha256")});
    }
    if (!have_header) return Error{"the recording is empty", file};
    return recording;
}

Result<Recording> read_recording(const std::filesystem::path& path) {
    const auto text = read_file(path, largest_recording);
    if (!text) return text.error();
    return parse_recording(*text, path.string());
}

Result<std::unique_ptr<ReplayAuthor>> ReplayAuthor::open(const std::filesystem::path& path) {
    if (path.empty()) return Error{"`replay:` needs a file", "", 0, 0, "--author replay:FILE"};
    auto recording = read_recording(path);
    if (!recording) return recording.error();
    return std::make_unique<ReplayAuthor>(std::move(*recording), path.string());
}

ReplayAuthor::ReplayAuthor(Recording recording, std::string name)
    : recording_(std::move(recording)), name_(std::move(name)) {}

std::string ReplayAuthor::describe() const {
    const std::string& model = recording_.header.model;
    return "replay:" + name_ + (model.empty() ? "" : " " + model);
}

void ReplayAuthor::skip_turns(int turns) {
    next_ = std::min(recording_.turns.size(), static_cast<std::size_t>(std::max(0, turns)));
}

Reply ReplayAuthor::ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) {
    Reply reply;
    if (limits.stop.stop_requested()) {
        reply.outcome = Outcome::cancelled;
        reply.error.message = "cancelled";
        return reply;
    }
    if (next_ >= recording_.turns.size()) {
        reply.outcome = Outcome::exhausted;
        reply.attempts = 0;
        reply.error =
            Error{fmt::format("all {} turns of the recording are used", recording_.turns.size()), name_};
        return reply;
    }
    const ReplayTurn& turn = recording_.turns[next_++];
    if (!turn.prompt_sha256.empty() && turn.prompt_sha256 != prompt_sha256(prompt)) ++changed_prompts_;
    reply = turn.reply;
    if (reply.model.empty()) reply.model = recording_.header.model;
    if (progress) {
        AskProgress told;
        told.phase = AskProgress::Phase::answering;
        told.text_bytes = reply.text.size();
        told.reasoning_bytes = reply.reasoning.size();
        progress(told);
    }
    return reply;
}

Recorder::Recorder(std::unique_ptr<Author> inner, std::filesystem::path path, int turns)
    : inner_(std::move(inner)), path_(std::move(path)), turns_(turns) {}

Result<std::unique_ptr<Recorder>> Recorder::open(std::unique_ptr<Author> inner, std::filesystem::path path,
                                                 ReplayHeader header, bool resume) {
    std::error_code none;
    const bool holds_something =
        std::filesystem::exists(path, none) && std::filesystem::file_size(path, none) > 0;
    int turns = 0;
    if (holds_something) {
        if (!resume) {
            return Error{"the recording exists already", path.string(), 0, 0,
                         "name another file, or remove this one"};
        }
        auto recording = read_recording(path);
        if (!recording) return recording.error();
        turns = static_cast<int>(recording->turns.size());
        // Also puts a missing last newline right.
        if (auto done = write_file_atomic(path, whole_file(*recording, recording->turns.size())); !done) {
            return done.error();
        }
    } else if (auto done = append_line(path, header_line(header)); !done) {
        return done.error();
    }
    return std::unique_ptr<Recorder>(new Recorder(std::move(inner), std::move(path), turns));
}

void Recorder::skip_turns(int turns) {
    inner_->skip_turns(turns);
    if (turns < 0 || turns >= turns_) return;
    const auto recording = read_recording(path_);
    const auto keep = static_cast<std::size_t>(turns);
    if (!recording || keep > recording->turns.size()) {
        trouble_ = recording ? "the recording was changed by someone else" : recording.error().str();
        return;
    }
    if (auto done = write_file_atomic(path_, whole_file(*recording, keep)); !done) {
        trouble_ = done.error().str();
        return;
    }
    turns_ = turns;
}

Reply Recorder::ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) {
    Reply reply = inner_->ask(prompt, limits, progress);
    if (is_answer(reply.outcome)) {
        if (auto done = append_line(path_, turn_line(turns_ + 1, {reply, prompt_sha256(prompt)})); done) {
            ++turns_;
        } else {
            trouble_ = done.error().str();
        }
    }
    if (!trouble_.empty()) {
        reply.warnings.push_back("the answer is not in the recording: " + std::exchange(trouble_, {}));
    }
    return reply;
}

}  // namespace kernelwright

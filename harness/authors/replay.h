// Recorded conversations. The file holds JSON lines: a header, then one line per answer of a model:
//   {"schema":"kernelwright.replay/1","origin":"...","task":"softmax_rows","model":"..."}
//   {"turn":1,"reply":{"text":"...","outcome":"complete","usage":{...}},"prompt_sha256":"..."}
// A last line that was torn by a crash is no turn. Of a reply only `text` is required.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/authors/author.h"

namespace kernelwright {

struct ReplayHeader {
    std::string origin;  // who talked to whom, in words
    std::string task;
    std::string model;
    bool operator==(const ReplayHeader&) const = default;
};

struct ReplayTurn {
    Reply reply;
    std::string prompt_sha256;  // empty: not recorded
};

struct Recording {
    ReplayHeader header;
    std::vector<ReplayTurn> turns;
    bool torn = false;  // the last line was incomplete and left out
};

Result<Recording> parse_recording(const std::string& text, const std::string& file);
Result<Recording> read_recording(const std::filesystem::path& path);
std::string header_line(const ReplayHeader& header);
std::string turn_line(int turn, const ReplayTurn& entry);

// Answers with the recorded replies in order; after the last one the outcome is `exhausted`.
class ReplayAuthor final : public Author {
  public:
    static Result<std::unique_ptr<ReplayAuthor>> open(const std::filesystem::path& path);
    ReplayAuthor(Recording recording, std::string name);

    using Author::ask;
    Reply ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) override;
    std::string describe() const override;
    void skip_turns(int turns) override;

    const ReplayHeader& header() const { return recording_.header; }
    // Prompts so far that differed from those of the recording (where it holds their hashes).
    int changed_prompts() const { return changed_prompts_; }

  private:
    Recording recording_;
    std::string name_;
    std::size_t next_ = 0;
    int changed_prompts_ = 0;
};

// Passes asks on to another author and appends each answer to a file, synced to disk before it is returned.
class Recorder final : public Author {
  public:
    // A file that holds something already is an error, unless `resume`: then it is continued.
    static Result<std::unique_ptr<Recorder>> open(std::unique_ptr<Author> inner, std::filesystem::path path,
                                                  ReplayHeader header, bool resume = false);

    using Author::ask;
    Reply ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) override;
    std::string describe() const override { return inner_->describe(); }
    // Answers beyond these belong to an attempt that did not finish: they are taken out of the file.
    void skip_turns(int turns) override;

  private:
    Recorder(std::unique_ptr<Author> inner, std::filesystem::path path, int turns);

    std::unique_ptr<Author> inner_;
    std::filesystem::path path_;
    int turns_;
    std::string trouble_;  // a failed write, told with the next reply
};

}  // namespace kernelwright

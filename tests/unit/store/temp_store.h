// A results folder of its own for one test, and a clock that only the test moves.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "harness/core/clock.h"
#include "harness/store/store.h"

namespace kernelwright::record {

class StillClock final : public Clock {
  public:
    std::chrono::steady_clock::time_point now() const override {
        return std::chrono::steady_clock::time_point(elapsed);
    }
    std::chrono::system_clock::time_point wall() const override {
        return std::chrono::system_clock::time_point(std::chrono::seconds(1'769'860'800)) + elapsed;
    }
    void sleep_for(std::chrono::milliseconds duration) override { elapsed += duration; }
    std::chrono::milliseconds elapsed{0};
};

class TempFolder {
  public:
    TempFolder() {
        // Memory where there is some: every event is synced, and these tests write many.
        const std::filesystem::path memory = "/dev/shm";
        const bool usable = ::access(memory.c_str(), W_OK) == 0;
        std::string pattern =
            ((usable ? memory : std::filesystem::temp_directory_path()) / "kw-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    TempFolder(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace kernelwright::record

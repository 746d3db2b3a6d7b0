// A results folder of its own for one test, and a clock that only the test moves.
#pragma once

#include "harness/core/clock.h"
#include "harness/store/store.h"
#include "tests/support/temp_folder.h"

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

// Every event is synced, and these tests write many.
struct MemoryFolder : TempFolder {
    MemoryFolder() : TempFolder(On::memory) {}
};

}  // namespace kernelwright::record

// Which 32-byte sectors of a buffer a launch touches, and how many different ones a single request does.
//
// Every sector has a stamp: the number of the request that touched it last, and that request's number for it.
// So counting needs neither sorting nor clearing: a sector is new to a request when its stamp is an older
// one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulator/src/memory/pages.h"

namespace emulator {

class SectorLog {
  public:
    // Per request: more sectors than a warp can touch.
    static constexpr std::uint32_t kMostSectors = 128;

    void start(std::uint64_t address, std::uint64_t bytes) {
        origin_ = address >> 5;
        sectors_ = ((address + bytes + 31) >> 5) - origin_ + 1;
        stamps_ = Pages(sectors_ * sizeof(std::uint32_t));
        request_ = 1;
        touched_ = 0;
    }
    void stop() { stamps_ = Pages(); }
    bool is_on() const { return stamps_.data() != nullptr; }
    std::uint64_t touched() const { return touched_; }  // different sectors, of all requests

    void begin_request() {
        if (++request_ >= 0xffffffffu / kMostSectors) {
            for (std::uint64_t i = 0; i < sectors_; ++i) stamps()[i] = std::min(stamps()[i], 1u);
            request_ = 1;
        }
    }
    // The request's number for this sector; `count`, how many it has, grows when it is a new one.
    std::uint32_t touch(std::uint64_t sector, std::uint32_t& count) {
        std::uint32_t& stamp = stamps()[sector - origin_];
        const bool fresh = stamp / kMostSectors != request_;
        const std::uint32_t number = fresh ? count : stamp % kMostSectors;
        touched_ += stamp == 0;
        stamp = request_ * kMostSectors + number;
        count += fresh;
        return number;
    }
    // Sectors of which only the total is asked for.
    void touch_all(std::uint64_t first, std::uint64_t last) {
        const std::uint32_t stamp = request_ * kMostSectors;
        for (std::uint64_t s = first - origin_; s <= last - origin_; ++s) {
            touched_ += stamps()[s] == 0;
            stamps()[s] = stamp;
        }
    }
    // What another log of the same buffer has touched is touched here, too.
    void join(const SectorLog& other) {
        for (std::uint64_t i = 0; i < sectors_; ++i) {
            if (other.stamps()[i] == 0) continue;
            touched_ += stamps()[i] == 0;
            stamps()[i] = std::max(stamps()[i], 1u);
        }
    }

  private:
    Pages stamps_;
    std::uint64_t origin_ = 0, sectors_ = 0, touched_ = 0;
    std::uint32_t request_ = 1;

    std::uint32_t* stamps() const { return reinterpret_cast<std::uint32_t*>(stamps_.data()); }
};

}  // namespace emulator

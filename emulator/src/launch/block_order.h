// The order in which a launch's clusters (blocks, when a cluster is one) start, and which of them is next.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// One step of a seeded generator (splitmix64).
std::uint64_t next_random(std::uint64_t& state);

class BlockOrder {
  public:
    explicit BlockOrder(const Launch& launch);
    std::uint64_t total() const { return total_; }
    std::uint64_t cluster_at(std::uint64_t turn) const;

  private:
    // Listed, or first_ + turn * stride_, or (stride_ 1) as they are.
    std::vector<std::uint64_t> listed_;
    std::uint64_t clusters_ = 0, first_ = 0, stride_ = 1, total_ = 0;
};

// Hands clusters out to the host threads that execute a launch.
class BlockQueue {
  public:
    explicit BlockQueue(const BlockOrder& order) : order_(order) {}
    std::optional<std::uint64_t> take() {  // the number of a cluster
        if (abandoned_.load(std::memory_order_relaxed) || left() == 0) return std::nullopt;
        const std::uint64_t turn = next_.fetch_add(1, std::memory_order_relaxed);
        if (turn >= order_.total()) return std::nullopt;
        return order_.cluster_at(turn);
    }
    std::uint64_t left() const {
        const std::uint64_t next = next_.load(std::memory_order_relaxed);
        return next < order_.total() ? order_.total() - next : 0;
    }
    std::uint64_t next() const { return next_.load(std::memory_order_relaxed); }
    void return_to(std::uint64_t turn) { next_ = turn, abandoned_ = false; }
    // No more blocks: what was done will not count.
    void abandon() { abandoned_.store(true, std::memory_order_relaxed); }
    bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  private:
    const BlockOrder& order_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<bool> abandoned_{false};
};

}  // namespace emulator::exec

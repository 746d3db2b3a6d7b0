// Runs the blocks of a launch: normally one after the other, each until it ends; all at once when the launch
// is cooperative; the blocks of a cluster together; a further block (cluster) beside it when one turns out to
// wait for one that has not started.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "emulator/src/exec/isa.h"
#include "emulator/src/exec/state.h"

namespace emulator::exec {

class Scheduler {
  public:
    explicit Scheduler(Launch& launch);
    void run();

  private:
    enum class Progress { ended, waiting, running };

    Launch& launch_;
    const HandlerSet& handlers_;
    // The clusters (blocks, when a cluster is one) in the order of their start: listed, or first_ + turn *
    // stride_, or (stride_ 1) as they are.
    std::vector<std::uint64_t> order_;
    std::uint64_t first_ = 0, stride_ = 1;
    std::size_t next_ = 0;
    std::vector<std::unique_ptr<Block>> resident_;
    std::vector<std::unique_ptr<Block>> spare_;
    std::chrono::steady_clock::time_point deadline_;
    std::uint64_t random_;

    std::uint64_t random();
    std::uint64_t clusters() const { return launch_.grid.count() / launch_.blocks_per_cluster; }
    std::uint64_t cluster_at(std::uint64_t turn) const;
    void start(bool for_waiting);
    void prepare(Block& block, std::uint64_t ordinal);
    bool helpless(const Block& block) const;
    void retire(std::size_t index);
    Progress run_round(Block& block);
    void wait(Block& block);
    bool limits_reached(Block& block);
};

}  // namespace emulator::exec

// Runs the blocks of a launch: normally one after the other, each until it ends; all at once when the launch
// is cooperative; the blocks of a cluster together; a further block (cluster) beside it when one turns out to
// wait for one that has not started.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "emulator/src/exec/isa.h"
#include "emulator/src/exec/state.h"
#include "emulator/src/launch/block_order.h"

namespace emulator::exec {

class Scheduler {
  public:
    using Clock = std::chrono::steady_clock;
    Scheduler(Launch& launch, BlockQueue& queue, Clock::time_point deadline);
    // Until the queue is empty, the launch has stopped, or (asked after each cluster that has ended, when no
    // other is there) `until` says so.
    void run(const std::function<bool()>& until = nullptr);

  private:
    enum class Progress { ended, waiting, running };

    Launch& launch_;
    const HandlerSet& handlers_;
    BlockQueue& queue_;
    std::vector<std::unique_ptr<Block>> resident_;
    std::vector<std::unique_ptr<Block>> spare_;
    Clock::time_point deadline_;

    bool start(bool for_waiting);  // false: there is none left
    void prepare(Block& block, std::uint64_t ordinal);
    bool helpless(const Block& block) const;
    void retire(std::size_t index);
    Progress run_round(Block& block);
    void wait(Block& block);
    bool limits_reached(Block& block);
};

}  // namespace emulator::exec

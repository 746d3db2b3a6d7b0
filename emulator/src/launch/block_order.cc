#include "emulator/src/launch/block_order.h"

#include <algorithm>
#include <numeric>

#include "emulator/src/launch/cluster.h"

namespace emulator::exec {

namespace {
constexpr std::uint64_t kListedBlocks = 1 << 20;  // of which a permutation is kept
}

std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15ull;
    std::uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

BlockOrder::BlockOrder(const Launch& launch) : clusters_(launch.grid.count() / launch.blocks_per_cluster) {
    std::uint64_t random = launch.options->schedule_seed;
    const bool seeded = launch.options->schedule_seed != 0;
    total_ = clusters_;
    if (!launch.options->blocks.empty()) {
        for (const std::uint64_t b : launch.options->blocks)
            if (b < launch.grid.count()) listed_.push_back(cluster_of(launch, b));
        if (launch.blocks_per_cluster > 1) {  // whole clusters
            std::sort(listed_.begin(), listed_.end());
            listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
        }
        total_ = listed_.size();
    } else if (seeded && clusters_ > kListedBlocks) {
        // Too many to list: a stride without a common factor visits each once.
        first_ = next_random(random) % clusters_;
        do stride_ = next_random(random) % clusters_;
        while (std::gcd(stride_, clusters_) != 1);
    } else if (seeded) {
        listed_.resize(clusters_);
        std::iota(listed_.begin(), listed_.end(), std::uint64_t{0});
    }
    if (seeded)
        for (std::size_t i = listed_.size(); i > 1; --i)
            std::swap(listed_[i - 1], listed_[next_random(random) % i]);
}

std::uint64_t BlockOrder::cluster_at(std::uint64_t turn) const {
    if (!listed_.empty()) return listed_[turn];
    if (stride_ == 1) return turn;
    const __uint128_t at = static_cast<__uint128_t>(turn) * stride_ + first_;
    return static_cast<std::uint64_t>(at % clusters_);
}

}  // namespace emulator::exec

#include "harness/profile/occupancy.h"

#include <algorithm>
#include <limits>

namespace kernelwright {
namespace {

constexpr int unlimited = std::numeric_limits<int>::max();

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

int registers_limit(const DeviceFacts& facts, int registers, int warps) {
    if (registers <= 0) return unlimited;
    // The largest count is 255, but ptxas and the driver allow for one that the hardware keeps.
    if (registers > static_cast<int>(facts.max_registers_per_thread) + 1) return 0;
    const std::uint64_t per_warp = round_up(std::uint64_t(registers) * 32, facts.register_allocation_unit);
    // The launch check assumes that all sub-partitions allocate at once.
    if (per_warp * round_up(warps, facts.sub_partitions) > facts.registers_per_block) return 0;
    const std::uint64_t warps_per_partition = facts.registers_per_sm / facts.sub_partitions / per_warp;
    return static_cast<int>(warps_per_partition * facts.sub_partitions / warps);
}

int shared_limit(const DeviceFacts& facts, std::uint64_t user) {
    if (user > facts.shared_optin_per_block) return 0;
    const std::uint64_t per_block =
        round_up(user + facts.shared_reserved_per_block, facts.shared_allocation_unit);
    return per_block == 0 ? unlimited : static_cast<int>(facts.shared_per_sm / per_block);
}

}  // namespace

Occupancy theoretical_occupancy(const DeviceFacts& facts, const KernelResources& resources,
                                std::uint32_t threads_per_block, std::uint32_t dynamic_shared,
                                std::uint64_t grid_blocks) {
    Occupancy result;
    result.blocks = grid_blocks;
    if (threads_per_block == 0 || threads_per_block > facts.max_threads_per_block) {
        result.limiter = "warps";
        return result;
    }
    const int warps = static_cast<int>((threads_per_block + 31) / 32);
    result.warps_per_block = warps;
    result.by_warps = static_cast<int>(facts.max_warps_per_sm) / warps;
    result.by_blocks = static_cast<int>(facts.max_blocks_per_sm);
    const int by_registers = registers_limit(facts, resources.registers, warps);
    const int by_shared = shared_limit(facts, std::uint64_t{resources.static_shared} + dynamic_shared);
    // NVIDIA's calculator counts barriers from compute capability 9.0 on.
    const bool barriers_count = facts.compute_capability >= 90 && resources.barriers > 0;
    const int by_barriers =
        barriers_count ? static_cast<int>(facts.barriers_per_sm) / resources.barriers : unlimited;

    result.blocks_per_sm =
        std::min({by_registers, by_shared, by_barriers, result.by_warps, result.by_blocks});
    for (auto [name, limit] : {std::pair{"registers", by_registers},
                               {"shared", by_shared},
                               {"barriers", by_barriers},
                               {"warps", result.by_warps},
                               {"blocks", result.by_blocks}})
        if (limit == result.blocks_per_sm) {
            result.limiter = name;
            break;
        }
    // A kernel at the SM's full number of warps is limited by nothing that it could change.
    result.warps_per_sm = result.blocks_per_sm * warps;
    if (result.by_warps == result.blocks_per_sm &&
        result.warps_per_sm == static_cast<int>(facts.max_warps_per_sm))
        result.limiter = "warps";
    result.fraction = double(result.warps_per_sm) / facts.max_warps_per_sm;
    result.by_registers = by_registers == unlimited ? -1 : by_registers;
    result.by_shared = by_shared == unlimited ? -1 : by_shared;
    result.by_barriers = by_barriers == unlimited ? -1 : by_barriers;
    if (result.blocks_per_sm > 0)
        result.waves = double(grid_blocks) / (double(facts.sm_count) * result.blocks_per_sm);
    return result;
}

Json to_json(const Occupancy& o) {
    return {{"warps_per_block", o.warps_per_block},
            {"blocks_per_sm", o.blocks_per_sm},
            {"warps_per_sm", o.warps_per_sm},
            {"fraction", o.fraction},
            {"limiter", o.limiter},
            {"limits",
             {{"warps", o.by_warps},
              {"blocks", o.by_blocks},
              {"registers", o.by_registers},
              {"shared", o.by_shared},
              {"barriers", o.by_barriers}}},
            {"blocks", o.blocks},
            {"waves", o.waves}};
}

Result<Occupancy> occupancy_from_json(const Json& json) {
    try {
        Occupancy o;
        json.at("warps_per_block").get_to(o.warps_per_block);
        json.at("blocks_per_sm").get_to(o.blocks_per_sm);
        json.at("warps_per_sm").get_to(o.warps_per_sm);
        json.at("fraction").get_to(o.fraction);
        json.at("limiter").get_to(o.limiter);
        const Json& limits = json.at("limits");
        limits.at("warps").get_to(o.by_warps);
        limits.at("blocks").get_to(o.by_blocks);
        limits.at("registers").get_to(o.by_registers);
        limits.at("shared").get_to(o.by_shared);
        limits.at("barriers").get_to(o.by_barriers);
        json.at("blocks").get_to(o.blocks);
        json.at("waves").get_to(o.waves);
        return o;
    } catch (const Json::exception& e) {
        return Error{std::string("not an occupancy record: ") + e.what()};
    }
}

}  // namespace kernelwright

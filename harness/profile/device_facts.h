// What is known about a GPU: its limits, its rates and its latencies, read from devices/*.yaml. This is the
// one place where such figures live; the emulated GPU's limits, the launch checks and the time model all read
// it. Every figure names its source. A product file (devices/a100-sxm.yaml) names the architecture file
// (devices/architectures/sm_80.yaml) that it builds on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "emulator/emulator.h"
#include "harness/core/dtype.h"
#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

struct DeviceFacts {
    std::string name;    // "a100-sxm": the file's stem
    std::string title;   // "NVIDIA A100 SXM4 80 GB"
    std::string target;  // what the compiler is told: "sm_80"
    std::string architecture;
    std::vector<std::string> aliases;

    // limits
    int compute_capability = 0;  // 80
    std::uint32_t max_threads_per_block = 0;
    std::uint32_t max_block_x = 0, max_block_y = 0, max_block_z = 0;
    std::uint64_t max_grid_x = 0, max_grid_y = 0, max_grid_z = 0;
    std::uint32_t max_cluster_blocks = 0;  // 1: no clusters
    std::uint32_t shared_static_per_block = 0, shared_optin_per_block = 0, shared_per_sm = 0;
    std::uint32_t shared_reserved_per_block = 0, shared_allocation_unit = 0;
    std::uint32_t l1_shared_bytes_per_sm = 0;
    std::uint32_t registers_per_sm = 0, registers_per_block = 0, max_registers_per_thread = 0;
    std::uint32_t register_allocation_unit = 0;  // registers, per warp
    std::uint32_t sub_partitions = 0, max_warps_per_sm = 0, max_blocks_per_sm = 0, barriers_per_sm = 0;

    // rates per SM and clock
    double issue_slots = 0, fp32_lanes = 0, alu_lanes = 0, xu_lanes = 0, fp64_lanes = 0, fp16_lanes = 0;
    double lsu_lanes = 0, shared_bytes_per_clock = 0, l1_lines_per_clock = 0, l1_requests_per_clock = 0;
    double l2_to_sm_bytes_per_clock = 0;
    double atomics_per_clock_and_address = 0;  // of the whole chip
    std::map<DType, double> tensor;  // dense flop per SM and clock; a type that is missing has no tensor rate

    // the product
    std::uint32_t sm_count = 0;
    double clock_mhz = 0, dram_gb_per_s = 0, l2_bytes = 0, l2_bytes_per_clock = 0, launch_us = 0;

    // latencies in clocks
    double alu_latency = 0, xu_latency = 0, shared_latency = 0, shuffle_latency = 0, barrier_latency = 0;
    double l1_latency = 0, l2_latency = 0, dram_latency = 0;

    std::map<std::string, std::string> sources;  // "product.sm_count" -> where the figure is from

    double clock_hz() const { return clock_mhz * 1e6; }
    double fp32_flops() const { return fp32_lanes * 2 * sm_count * clock_hz(); }  // an fma is two
    // Dense tensor flop/s; 0 where the device has none for the type.
    double tensor_flops(DType dtype) const;
    double dram_bytes_per_s() const { return dram_gb_per_s * 1e9; }
};

// All devices of a folder.
class DeviceTable {
  public:
    // Reads DIRECTORY/*.yaml and DIRECTORY/architectures/*.yaml. Any unknown key, missing figure or figure
    // without a source is an error with its file and line.
    static Result<DeviceTable> load(const std::filesystem::path& directory);

    // By name or alias, in any case, `-`, `_` and spaces not counting: "a100", "sm_80", "RTX 4090". Where the
    // name is a target ("sm_90"), the facts' `target` is that target. The error names the nearest one.
    Result<DeviceFacts> find(const std::string& name) const;
    const std::vector<DeviceFacts>& all() const { return devices_; }

  private:
    std::vector<DeviceFacts> devices_;
};

inline constexpr const char* default_target = "sm_80";

emulator::Limits to_emulator_limits(const DeviceFacts& facts);
// The names that a launch plan's expressions may read: sm_count, smem_optin, cc.
std::map<std::string, std::int64_t> expression_facts(const DeviceFacts& facts);
// Every figure with its source, for `doctor` and for skills.
Json to_json(const DeviceFacts& facts);

}  // namespace kernelwright

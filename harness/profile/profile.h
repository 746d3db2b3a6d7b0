// Why a launch sequence takes its time: counters, an estimated time, eight views, and findings ranked by what
// mending them should gain. Every figure says how it was obtained; nothing modelled is shown as measured.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/expr.h"
#include "harness/core/json.h"
#include "harness/core/result.h"
#include "harness/profile/device_facts.h"
#include "harness/profile/model.h"
#include "harness/profile/roofline.h"

namespace kernelwright {

// How a figure was obtained: a hardware counter or event timing, counted by the emulated GPU on every block,
// or computed from a model (which includes counts of some blocks scaled to the grid).
enum class How { measured, exact, modelled };
const char* to_string(How how);
std::optional<How> parse_how(const std::string& name);

struct CounterValue {
    std::string name;  // Nsight Compute's, where a GPU has the counter too
    std::string unit;
    double value = 0;
    How how = How::exact;
    bool operator==(const CounterValue&) const = default;
};

// A source line and its part of what its kernel does.
struct HotLine {
    std::string file;
    int line = 0;
    double instructions = 0;  // fraction of the kernel's warp instructions
    double sectors = 0;       // fraction of its global sectors
    double sectors_per_request = 0;
    double shared_conflicts = 0;  // wavefronts beyond the ideal
    bool operator==(const HotLine&) const = default;
};

struct KernelProfile {
    std::string name;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared = 0;
    KernelResources resources;
    std::uint64_t blocks = 0, counted_blocks = 0;  // counted_blocks < blocks: the counters are scaled
    std::vector<CounterValue> counters;
    // Ratios of counters that rules and reports ask for; a ratio whose denominator is 0 is left out. Names:
    // load_excess, store_excess (sectors asked for / sectors that a coalesced access needs), rereads (needed
    // sectors / distinct ones), load_bytes_per_request, staged_share (loads that go on to shared memory),
    // async_share, shared_loads_per_fma, conflict_share (of shared wavefronts), active_lanes, divergent_share
    // (of branches), longest_warp_ratio (instructions of the longest warp / average), atomics_per_block,
    // loads_per_warp, instructions_per_warp, barriers_per_warp, shuffles_per_warp, bytes_in_flight,
    // bytes_needed (per SM; modelled).
    std::map<std::string, double> derived;
    std::vector<HotLine> lines;  // hottest first, at most 12
    bool operator==(const KernelProfile&) const = default;
};

struct View {
    std::string
        name;  // "roofline", "fragment fill", "occupancy", "stalls", "waves", "memory", "mix", "selection"
    std::optional<How> how;  // nothing: not measured
    std::string verdict;     // in plain words
    bool operator==(const View&) const = default;
};

struct LineShare {
    std::string file;
    int line = 0;
    double share = 0;  // of the cause
    bool operator==(const LineShare&) const = default;
};

// One cause of lost time.
struct Finding {
    std::string id;  // kebab-case, stable: "uncoalesced-loads"
    std::string kernel;
    std::string message;  // the cause, and the figure that proves it
    std::string counter;  // the counter that proves it
    double value = 0;     // its value
    double gain = 1;      // modelled time now / modelled time without the cause
    std::vector<LineShare> lines;
    bool operator==(const Finding&) const = default;
};

struct Profile {
    std::string task;    // empty: none
    SymbolValues shape;  // the symbols' values
    std::string device, device_title, target;
    How time_how = How::modelled;
    Estimate estimate;
    std::optional<Roofline> roofline;
    std::vector<KernelProfile> kernels;  // in launch order, as estimate.kernels
    std::vector<View> views;             // the eight, always
    std::vector<Finding> findings;       // largest gain first

    // roofline bound / estimated time; 0 without a roofline.
    double roofline_fraction() const;
    // The kernel that takes longest; nullptr when nothing was launched.
    const KernelProfile* longest() const;
    // A counter of the kernel that takes longest.
    const CounterValue* counter(const std::string& name) const;
    // A metric of the sequence: `.sum` metrics are summed over the kernels, others are those of the kernel
    // that takes longest; gpu__time_duration.sum (ns) is the estimated time, launches included.
    std::optional<double> metric(const std::string& name) const;
    bool operator==(const Profile&) const = default;
};

struct ProfileInput {
    std::string task;
    SymbolValues shape;
    std::vector<ExecutedKernel> kernels;
    std::optional<Work> work;  // of the task at this shape
};

Profile make_profile(const ProfileInput& input, const DeviceFacts& facts);

// The causes of lost time, by what-if estimates; make_profile calls it.
std::vector<Finding> find_causes(const ProfileInput& input, const DeviceFacts& facts);
// The eight views; make_profile calls it.
std::vector<View> make_views(const ProfileInput& input, const Estimate& estimate,
                             const std::optional<Roofline>& roofline, const DeviceFacts& facts);

// The name of every counter that a kernel's profile carries.
std::vector<std::string> counter_names();

// Schema kernelwright.profile/1.
Json to_json(const Profile& profile);
Result<Profile> profile_from_json(const Json& json);

struct TextOptions {
    std::size_t findings = 5;
    std::size_t lines = 5;  // hot lines of a kernel
    bool views = true;
    bool counters = true;  // the low-level section; a prompt leaves it out until the kernel is right
};
// "37 %", and "under 1 %" where rounding would say that there is nothing.
std::string percent_text(double percent);
// What a good colleague would say about it, on one screen: the time and what bounds it, causes by gain, and
// the hot lines, views and counters of the kernel that takes longest.
std::string to_text(const Profile& profile, const TextOptions& options = {});

}  // namespace kernelwright

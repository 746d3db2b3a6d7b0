// The idea. A kernel is at least as slow as its busiest resource. For each resource the exact counters say
// how much work there is, the device's facts say how much of it is done in a clock, and the grid says how the
// work is spread: an SM that gets two blocks where others get one takes twice as long. Two bounds are not
// throughputs: DRAM and L2 belong to the whole chip, and `latency` is the time that one warp needs from its
// first instruction to its last when nothing else is in its way, times the number of waves of blocks. It is
// what remains when there are too few warps to cover the waiting (Little's law seen from the warp's side).
//
// The counters do not know caches. How much of the traffic reaches L2 and DRAM is guessed from three counts:
// the sectors asked for, those that a perfectly coalesced access would have asked for, and the distinct ones.
// The distinct sectors come from DRAM once. Sectors asked for again are served by L1 when what the resident
// blocks touch fits there, else by L2 when it fits there, else by DRAM again. Loads that are staged through
// shared memory and asked for again are asked for by other blocks, so L1 does not serve them.
//
// The resources overlap, though not perfectly: they are joined by a p-norm (p = 4), in which the longest
// counts most and a second of equal length adds a fifth. Coefficients that are not device facts are named
// below; none was fitted to a measurement.
#include "harness/profile/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernelwright {
namespace {

constexpr double overlap_power = 4;
constexpr double dram_efficiency = 0.9;     // of the pin bandwidth that a plain copy reaches
constexpr double l2_efficiency = 0.7;       // of the nominal L2 bandwidth
constexpr double loads_in_flight = 4;       // of one warp: compilers unroll loops of loads by four
constexpr double async_in_flight = 8;       // cp.async does not wait for a register
constexpr double independent_chains = 1.6;  // instructions of one warp that overlap, on average
constexpr double cache_use = 0.8;           // of a cache's size before it thrashes
constexpr double wave_rounding = 0.5;       // 1: a part wave takes as long as a whole one; 0: its share
constexpr double atomic_clocks = 4;  // of an L2 bank per sector of an atomic: twice a store's read and write
constexpr double sector = 32, line = 128;  // bytes

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// 1 when `need` fits into `have`, falling quickly when it does not (a cyclic reread under LRU loses
// everything).
double fit(double need, double have) {
    if (need <= 0) return 1;
    const double r = std::clamp(have / need, 0.0, 1.0);
    return r * r;
}

struct Spread {
    double blocks = 0;
    double busiest = 0;    // share of the grid's work on the SM that has most
    double resident = 0;   // blocks on that SM at a time
    double active = 0;     // SMs that have work
    double partition = 1;  // how much longer sub-partition resources take for want of warps
};

Spread spread_of(const ExecutedKernel& run, const DeviceFacts& facts, const Occupancy& occupancy) {
    Spread s;
    s.blocks = std::max<double>(1, double(run.blocks()));
    const double sms = facts.sm_count;
    s.busiest = std::ceil(s.blocks / sms) / s.blocks;
    s.active = std::min(s.blocks, sms);
    s.resident = std::min<double>(std::max(1, occupancy.blocks_per_sm), std::ceil(s.blocks / sms));
    const double warps = s.resident * std::max(1, occupancy.warps_per_block);
    s.partition = std::max(1.0, facts.sub_partitions / warps);
    return s;
}

struct Loads {
    double l2_sectors = 0, dram_sectors = 0;  // of loads
    double store_dram_sectors = 0;
};

Loads where_loads_are_served(const ExecutedKernel& run, const DeviceFacts& facts, const Spread& spread) {
    const emulator::Counters& c = run.counters;
    Loads loads;
    const double asked = double(c.global_load_sectors);
    double distinct = double(c.unique_load_sectors);
    if (distinct <= 0 || distinct > asked) distinct = asked;
    const double again = asked - distinct;
    // Sectors that only poor coalescing asks for again, and those that the program reads again.
    const double by_stride = std::min(again, std::max(0.0, asked - double(c.ideal_global_load_sectors)));
    const double by_reread = again - by_stride;
    const double staged = std::min(
        1.0, ratio(double(c.shared_store_requests + c.cp_async_requests), double(c.global_load_requests)));

    const double shared =
        double(run.resources.static_shared) + run.dynamic_shared + facts.shared_reserved_per_block;
    const double l1 = cache_use * std::max(0.0, facts.l1_shared_bytes_per_sm - spread.resident * shared);
    const double footprint = distinct * sector / spread.blocks;  // of one block, if blocks share nothing
    const double stride_hit = fit(spread.resident * run.threads() * line, l1);
    const double reread_hit = (1 - staged) * fit(spread.resident * footprint, l1);
    const double left_l1 = by_stride * (1 - stride_hit) + by_reread * (1 - reread_hit);
    loads.l2_sectors = distinct + left_l1;

    const double l2 = cache_use * facts.l2_bytes;
    const double chip = std::min(distinct * sector, spread.resident * spread.active * footprint);
    loads.dram_sectors = distinct + left_l1 * (1 - fit(chip, l2));

    const double stored = double(c.global_store_sectors);
    const double distinct_stores = double(c.unique_store_sectors);
    loads.store_dram_sectors =
        distinct_stores > 0 ? std::min(distinct_stores, stored + c.global_atomic_sectors) : stored;
    return loads;
}

// Moves of PTX are copies and constants that ptxas folds into their uses: no instruction of the GPU.
double issued_instructions(const emulator::Counters& c) {
    return std::max(0.0, double(c.warp_instructions) - double(c.inst_uniform));
}

// Sectors beyond the ideal are taken to lie in lines of their own.
double lines_looked_up(std::uint64_t sectors, std::uint64_t ideal) {
    const double useful = std::min(double(ideal), double(sectors));
    return useful * sector / line + (double(sectors) - useful);
}

double atomic_time(const emulator::Counters& c, const DeviceFacts& facts) {
    if (c.global_atomic_requests == 0) return 0;
    // All banks of L2 work on different sectors, but the operations on one address follow each other.
    const double sectors = std::max<double>(c.global_atomic_sectors, c.global_atomic_requests);
    return std::max(sectors * atomic_clocks / (facts.l2_bytes_per_clock / sector),
                    double(c.hottest_atomic_operations) / facts.atomics_per_clock_and_address);
}

// Clocks from a warp's first instruction to its last, alone on the SM.
struct Chain {
    double average = 0, longest = 0, load_latency = 0;
};

Chain chain_of(const emulator::Counters& c, const DeviceFacts& facts, const Loads& served,
               double local_latency, double warps) {
    Chain chain;
    const double per_instruction = facts.alu_latency / independent_chains;
    const double requests = double(c.global_load_requests);
    const double from_dram = std::min(1.0, ratio(served.dram_sectors, requests));
    const double from_l2 = std::min(1 - from_dram, ratio(served.l2_sectors, requests));
    chain.load_latency = from_dram * facts.dram_latency + from_l2 * facts.l2_latency +
                         (1 - from_dram - from_l2) * facts.l1_latency;
    const auto waits = [](double loads, double in_flight) {
        return std::max(std::min(loads, 1.0), loads / in_flight);
    };
    const double async = std::min(double(c.cp_async_requests), requests) / warps;
    const double plain = requests / warps - async;
    const double plain_waits = waits(plain, loads_in_flight);
    chain.average = issued_instructions(c) / warps * per_instruction +
                    (plain_waits + waits(async, async_in_flight)) * chain.load_latency +
                    waits(double(c.local_load_requests) / warps, loads_in_flight) * local_latency +
                    waits(double(c.shared_load_requests) / warps, loads_in_flight) * facts.shared_latency +
                    double(c.shuffles) / warps * facts.shuffle_latency +
                    double(c.barriers) / warps * facts.barrier_latency +
                    double(c.inst_xu) / warps / loads_in_flight * facts.xu_latency +
                    waits(double(c.global_atomic_requests) / warps, loads_in_flight) * facts.l2_latency;
    const double more_instructions =
        std::max(0.0, double(c.max_warp_instructions_of_one_warp) - double(c.warp_instructions) / warps) *
        ratio(issued_instructions(c), double(c.warp_instructions));
    const double more_waits =
        std::max(0.0, waits(double(c.max_global_loads_of_one_warp), loads_in_flight) - plain_waits);
    chain.longest = chain.average + more_instructions * per_instruction + more_waits * chain.load_latency;
    return chain;
}

}  // namespace

double KernelEstimate::time_of(const std::string& resource) const {
    for (const ResourceTime& time : times)
        if (time.name == resource) return time.us;
    return 0;
}

KernelEstimate estimate_kernel(const ExecutedKernel& run, const DeviceFacts& facts,
                               const Assumptions& assumptions) {
    const emulator::Counters& c = run.counters;
    KernelEstimate e;
    e.name = run.name;
    e.launch_us = facts.launch_us;
    e.occupancy =
        theoretical_occupancy(facts, run.resources, run.threads(), run.dynamic_shared, run.blocks());
    Spread spread = spread_of(run, facts, e.occupancy);
    if (assumptions.even_spread) spread.busiest = 1.0 / spread.active;
    e.sms_used = spread.active / facts.sm_count;
    const Loads served = where_loads_are_served(run, facts, spread);

    const double local_sectors = double(c.local_load_sectors + c.local_store_sectors);
    const double local_requests = double(c.local_load_requests + c.local_store_requests);
    e.traffic.l1_lines = lines_looked_up(c.global_load_sectors, c.ideal_global_load_sectors) +
                         lines_looked_up(c.global_store_sectors, c.ideal_global_store_sectors) +
                         local_sectors * sector / line;
    // Spilled registers live in L1 while the resident threads' frames fit there, else in L2 while those of
    // the whole chip do.
    const double shared =
        double(run.resources.static_shared) + run.dynamic_shared + facts.shared_reserved_per_block;
    const double frames = double(run.resources.stack_bytes) * run.threads() * spread.resident;
    const double in_l1 =
        fit(frames, cache_use * std::max(0.0, facts.l1_shared_bytes_per_sm - spread.resident * shared));
    const double in_l2 = fit(frames * spread.active, cache_use * facts.l2_bytes);
    const double local_left = local_sectors * (1 - in_l1), local_dram = local_left * (1 - in_l2);
    const double local_latency = in_l1 * facts.l1_latency +
                                 (1 - in_l1) * (in_l2 * facts.l2_latency + (1 - in_l2) * facts.dram_latency);
    e.traffic.l2_bytes =
        sector * (served.l2_sectors + double(c.global_store_sectors + c.global_atomic_sectors) + local_left);
    e.traffic.dram_bytes = sector * (served.dram_sectors + served.store_dram_sectors + local_dram);
    e.traffic.l1_hit = 1 - ratio(served.l2_sectors, double(c.global_load_sectors));
    e.traffic.l2_hit = 1 - ratio(served.dram_sectors, served.l2_sectors);
    if (c.global_load_sectors == 0) e.traffic.l1_hit = e.traffic.l2_hit = 0;

    const double warps = std::max<double>(1, double(c.warps_launched));
    const Chain chain = chain_of(c, facts, served, local_latency, warps);
    const double waves = e.occupancy.waves;
    const double rounding = assumptions.even_spread ? 0 : wave_rounding;
    const double rounded = waves <= 1 ? 1 : rounding * std::ceil(waves) + (1 - rounding) * waves;

    // clocks of one SM, the busiest; "partitioned" resources exist once per sub-partition
    const auto per_sm = [&](double work, double rate) { return rate > 0 ? work / rate * spread.busiest : 0; };
    const auto partitioned = [&](double work, double lanes) {
        return per_sm(work * 32, lanes) * spread.partition;
    };
    const auto add = [&](const char* name, double clocks) {
        const double us = clocks / facts.clock_mhz;
        if (us > 0) e.times.push_back({name, us});
    };
    add("issue", per_sm(issued_instructions(c), facts.issue_slots) * spread.partition);
    add("fma", partitioned(double(c.inst_fma), facts.fp32_lanes));
    add("alu", partitioned(double(c.inst_alu), facts.alu_lanes));
    add("xu", partitioned(double(c.inst_xu), facts.xu_lanes));
    add("fp64", partitioned(double(c.inst_fp64), facts.fp64_lanes));
    add("fp16", partitioned(double(c.inst_fp16), facts.fp16_lanes));
    if (c.tensor_flops > 0) {
        const auto rate = facts.tensor.find(run.tensor_dtype);
        // A type without a rate is taken as f16: the emulated GPU executed it, so the target has it.
        const double flops = rate != facts.tensor.end()          ? rate->second
                             : facts.tensor.contains(DType::f16) ? facts.tensor.at(DType::f16)
                                                                 : facts.fp32_lanes * 2;
        add("tensor", per_sm(double(c.tensor_flops), flops) * spread.partition);
    }
    add("lsu", per_sm(double(c.inst_lsu) * 32, facts.lsu_lanes));
    add("l1", std::max(per_sm(e.traffic.l1_lines, facts.l1_lines_per_clock),
                       per_sm(double(c.global_load_requests + c.global_store_requests) + local_requests,
                              facts.l1_requests_per_clock)));
    add("shared", per_sm(double(c.shared_load_wavefronts + c.shared_store_wavefronts + c.shuffles) +
                             2 * double(c.shared_atomic_wavefronts),
                         facts.shared_bytes_per_clock / 128));
    add("l2", std::max(e.traffic.l2_bytes / (facts.l2_bytes_per_clock * l2_efficiency),
                       per_sm(e.traffic.l2_bytes, facts.l2_to_sm_bytes_per_clock)));
    add("dram", e.traffic.dram_bytes / (facts.dram_bytes_per_s() * dram_efficiency) * facts.clock_hz());
    add("atomic", atomic_time(c, facts));
    add("latency", std::max(rounded * chain.average, chain.longest));

    std::stable_sort(e.times.begin(), e.times.end(),
                     [](const ResourceTime& a, const ResourceTime& b) { return a.us > b.us; });
    if (e.times.empty()) {
        e.bound = "launch";
        return e;
    }
    const double longest = e.times.front().us;
    double sum = 0;
    for (const ResourceTime& time : e.times) sum += std::pow(time.us / longest, overlap_power);
    e.us = longest * std::pow(sum, 1 / overlap_power);
    e.bound = e.launch_us > e.us ? "launch" : e.times.front().name;

    const double bytes_per_request = ratio(double(c.global_load_bytes), double(c.global_load_requests));
    e.bytes_in_flight = spread.resident * std::max(1, e.occupancy.warps_per_block) *
                        std::min(loads_in_flight, double(c.global_load_requests) / warps) * bytes_per_request;
    e.bytes_needed = facts.dram_bytes_per_s() / facts.clock_hz() * facts.dram_latency / facts.sm_count;
    return e;
}

Estimate estimate(const std::vector<ExecutedKernel>& runs, const DeviceFacts& facts) {
    Estimate total;
    total.device = facts.name;
    const KernelEstimate* longest = nullptr;
    total.kernels.reserve(runs.size());
    for (const ExecutedKernel& run : runs) {
        total.kernels.push_back(estimate_kernel(run, facts));
        total.us += total.kernels.back().us + total.kernels.back().launch_us;
    }
    for (const KernelEstimate& kernel : total.kernels)
        if (longest == nullptr || kernel.us > longest->us) longest = &kernel;
    if (longest != nullptr) total.bound = longest->bound;
    total.low_us = total.us * (1 - uncalibrated_uncertainty);
    total.high_us = total.us * (1 + uncalibrated_uncertainty);
    return total;
}

std::string slack_text(const KernelEstimate& kernel, std::size_t most) {
    std::string text;
    for (std::size_t i = 1; i < kernel.times.size() && i <= most; ++i)
        text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", kernel.times[i].name,
                            kernel.times[i].us / kernel.times[0].us);
    return text.empty() ? "nothing else of note" : text + " of the bound";
}

Json to_json(const KernelEstimate& kernel) {
    Json times = Json::array();
    for (const ResourceTime& time : kernel.times) times.push_back({{"resource", time.name}, {"us", time.us}});
    return {{"name", kernel.name},
            {"us", kernel.us},
            {"launch_us", kernel.launch_us},
            {"bound", kernel.bound},
            {"times", times},
            {"occupancy", to_json(kernel.occupancy)},
            {"traffic",
             {{"l1_lines", kernel.traffic.l1_lines},
              {"l2_bytes", kernel.traffic.l2_bytes},
              {"dram_bytes", kernel.traffic.dram_bytes},
              {"l1_hit", kernel.traffic.l1_hit},
              {"l2_hit", kernel.traffic.l2_hit}}},
            {"sms_used", kernel.sms_used},
            {"bytes_in_flight", kernel.bytes_in_flight},
            {"bytes_needed", kernel.bytes_needed}};
}

Json to_json(const Estimate& e) {
    Json kernels = Json::array();
    for (const KernelEstimate& kernel : e.kernels) kernels.push_back(to_json(kernel));
    return {{"us", e.us},       {"low_us", e.low_us}, {"high_us", e.high_us}, {"how", "modelled"},
            {"bound", e.bound}, {"device", e.device}, {"kernels", kernels}};
}

Result<Estimate> estimate_from_json(const Json& json) {
    try {
        Estimate e;
        json.at("us").get_to(e.us);
        json.at("low_us").get_to(e.low_us);
        json.at("high_us").get_to(e.high_us);
        json.at("bound").get_to(e.bound);
        json.at("device").get_to(e.device);
        for (const Json& k : json.at("kernels")) {
            KernelEstimate kernel;
            k.at("name").get_to(kernel.name);
            k.at("us").get_to(kernel.us);
            k.at("launch_us").get_to(kernel.launch_us);
            k.at("bound").get_to(kernel.bound);
            for (const Json& time : k.at("times"))
                kernel.times.push_back({time.at("resource").get<std::string>(), time.at("us").get<double>()});
            auto occupancy = occupancy_from_json(k.at("occupancy"));
            if (!occupancy) return occupancy.error();
            kernel.occupancy = *occupancy;
            const Json& traffic = k.at("traffic");
            traffic.at("l1_lines").get_to(kernel.traffic.l1_lines);
            traffic.at("l2_bytes").get_to(kernel.traffic.l2_bytes);
            traffic.at("dram_bytes").get_to(kernel.traffic.dram_bytes);
            traffic.at("l1_hit").get_to(kernel.traffic.l1_hit);
            traffic.at("l2_hit").get_to(kernel.traffic.l2_hit);
            k.at("sms_used").get_to(kernel.sms_used);
            k.at("bytes_in_flight").get_to(kernel.bytes_in_flight);
            k.at("bytes_needed").get_to(kernel.bytes_needed);
            e.kernels.push_back(std::move(kernel));
        }
        return e;
    } catch (const Json::exception& e) {
        return Error{std::string("not an estimate record: ") + e.what()};
    }
}

}  // namespace kernelwright

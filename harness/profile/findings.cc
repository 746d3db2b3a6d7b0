// Causes of lost time. Each is a what-if: the kernel's counters or resources are changed to what they would
// be without the cause, the model is asked again, and the ratio of the two times is the gain. A cause whose
// removal gains nothing is not worth a sentence, however ugly its counter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/profile/profile.h"

namespace kernelwright {
namespace {

using emulator::Counters;
using emulator::LineCounters;

constexpr double worth_saying = 1.03;  // smaller gains drown in the model's error

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::uint64_t scaled(std::uint64_t value, double factor) {
    return static_cast<std::uint64_t>(std::llround(double(value) * factor));
}

class Causes {
  public:
    Causes(const ProfileInput& input, const DeviceFacts& facts) : input_(input), facts_(facts) {
        for (const ExecutedKernel& kernel : input.kernels) {
            estimates_.push_back(estimate_kernel(kernel, facts));
            total_ += estimates_.back().us + facts.launch_us;
        }
    }

    std::vector<Finding> find() {
        for (index_ = 0; index_ < input_.kernels.size(); ++index_) {
            coalescing();
            narrow_loads();
            rereads();
            bank_conflicts();
            shared_loads();
            atomics();
            shared_atomics();
            spills();
            occupancy();
            few_blocks();
            tail();
            one_long_warp();
            divergence();
            special_functions();
            integer_arithmetic();
            double_precision();
            no_tensor();
        }
        launches();
        std::stable_sort(findings_.begin(), findings_.end(),
                         [](const Finding& a, const Finding& b) { return a.gain > b.gain; });
        return std::move(findings_);
    }

  private:
    const ExecutedKernel& kernel() const { return input_.kernels[index_]; }
    const Counters& c() const { return kernel().counters; }
    const KernelEstimate& now() const { return estimates_[index_]; }

    // Memory instructions that are no longer executed.
    static void take_away(Counters& counters, std::uint64_t instructions) {
        counters.inst_lsu -= std::min(counters.inst_lsu, instructions);
        counters.warp_instructions -= std::min(counters.warp_instructions, instructions);
    }

    double gain_of(const ExecutedKernel& changed, const Assumptions& assumptions = {}) const {
        const double then = estimate_kernel(changed, facts_, assumptions).us;
        return total_ / std::max(1e-9, total_ - now().us + then);
    }

    void say(const char* id, double gain, std::string counter, double value, std::string message,
             const std::function<double(const LineCounters&)>& part = nullptr) {
        if (!(gain >= worth_saying)) return;
        Finding f{id, kernel().name, std::move(message), std::move(counter), value, gain, {}};
        if (part) f.lines = lines(part);
        findings_.push_back(std::move(f));
    }

    // The lines that make up most of a cause, largest first.
    std::vector<LineShare> lines(const std::function<double(const LineCounters&)>& part) const {
        std::vector<LineShare> shares;
        double sum = 0;
        for (const auto& [place, counters] : c().lines) {
            const double value = part(counters);
            if (value <= 0) continue;
            sum += value;
            // What the compiler gives no line has its part of the cause, but cannot be shown.
            if (place.second > 0) shares.push_back({place.first, place.second, value});
        }
        std::stable_sort(shares.begin(), shares.end(),
                         [](const LineShare& a, const LineShare& b) { return a.share > b.share; });
        if (shares.size() > 3) shares.resize(3);
        for (LineShare& share : shares) share.share = ratio(share.share, sum);
        std::erase_if(shares, [](const LineShare& share) { return share.share < 0.05; });
        return shares;
    }

    static double load_sectors(const LineCounters& l) {
        return double(l.global_sectors) - double(l.global_store_sectors);
    }
    static double excess_loads(const LineCounters& l) {
        return load_sectors(l) - (double(l.ideal_global_sectors) - double(l.ideal_global_store_sectors));
    }
    static double excess_stores(const LineCounters& l) {
        return double(l.global_store_sectors) - double(l.ideal_global_store_sectors);
    }

    void coalescing() {
        const double loads = ratio(double(c().global_load_sectors), double(c().ideal_global_load_sectors));
        if (loads > 1.2) {
            ExecutedKernel changed = kernel();
            changed.counters.global_load_sectors = c().ideal_global_load_sectors;
            const double per = ratio(double(c().global_load_sectors), double(c().global_load_requests));
            const double ideal =
                ratio(double(c().ideal_global_load_sectors), double(c().global_load_requests));
            say("uncoalesced-loads", gain_of(changed),
                "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", per,
                fmt::format(
                    "global loads are not coalesced: a warp's load touches {:.1f} sectors of 32 bytes where "
                    "{:.1f} would hold its data; let neighbouring threads read neighbouring addresses",
                    per, ideal),
                excess_loads);
        }
        const double stores = ratio(double(c().global_store_sectors), double(c().ideal_global_store_sectors));
        if (stores > 1.2) {
            ExecutedKernel changed = kernel();
            changed.counters.global_store_sectors = c().ideal_global_store_sectors;
            const double per = ratio(double(c().global_store_sectors), double(c().global_store_requests));
            const double ideal =
                ratio(double(c().ideal_global_store_sectors), double(c().global_store_requests));
            say("uncoalesced-stores", gain_of(changed),
                "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", per,
                fmt::format(
                    "global stores are not coalesced: a warp's store touches {:.1f} sectors of 32 bytes "
                    "where {:.1f} would hold its data; let neighbouring threads write neighbouring addresses",
                    per, ideal),
                excess_stores);
        }
    }

    void narrow_loads() {
        const double bytes = ratio(double(c().global_load_bytes), double(c().global_load_requests));
        const bool coalesced = c().global_load_sectors <= 1.2 * double(c().ideal_global_load_sectors);
        const double lanes = ratio(double(c().thread_instructions), double(c().warp_instructions));
        if (!coalesced || lanes < 24 || bytes < 16 || bytes > 128) return;
        const double wider = bytes > 64 ? 4 : 8;  // to 16 bytes a lane
        const double saved = double(c().global_load_requests) * (1 - 1 / wider);
        ExecutedKernel changed = kernel();
        changed.counters.global_load_requests = scaled(c().global_load_requests, 1 / wider);
        changed.counters.max_global_loads_of_one_warp = scaled(c().max_global_loads_of_one_warp, 1 / wider);
        take_away(changed.counters, scaled(1, saved));
        say("narrow-loads", gain_of(changed), "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            double(c().global_load_requests),
            fmt::format(
                "global loads are narrow: {:.0f} bytes per warp and load, where 16-byte loads (float4, "
                "uint4) bring 512 with one instruction",
                bytes),
            [](const LineCounters& l) {
                return double(l.global_requests) - double(l.global_store_requests);
            });
    }

    void rereads() {
        const double distinct = double(c().unique_load_sectors);
        const double useful = double(std::min(c().ideal_global_load_sectors, c().global_load_sectors));
        const double times = ratio(useful, distinct);
        if (times < 1.5) return;
        ExecutedKernel changed = kernel();
        changed.counters.global_load_requests = scaled(c().global_load_requests, 1 / times);
        changed.counters.global_load_sectors = scaled(c().global_load_sectors, 1 / times);
        changed.counters.ideal_global_load_sectors = scaled(c().ideal_global_load_sectors, 1 / times);
        changed.counters.max_global_loads_of_one_warp = scaled(c().max_global_loads_of_one_warp, 1 / times);
        take_away(changed.counters, c().global_load_requests - changed.counters.global_load_requests);
        say("rereads", gain_of(changed), "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            double(c().global_load_sectors),
            fmt::format("every distinct input sector is loaded {:.1f} times ({:.3g} sectors for {:.3g} "
                        "distinct ones); "
                        "keep what is used again in registers or shared memory",
                        ratio(double(c().global_load_sectors), distinct), double(c().global_load_sectors),
                        distinct),
            load_sectors);
    }

    void bank_conflicts() {
        const double wavefronts = double(c().shared_load_wavefronts + c().shared_store_wavefronts);
        const double conflicts = double(c().shared_load_conflicts + c().shared_store_conflicts);
        if (conflicts < 0.1 * wavefronts || conflicts == 0) return;
        ExecutedKernel changed = kernel();
        changed.counters.shared_load_wavefronts -=
            std::min(c().shared_load_wavefronts, c().shared_load_conflicts);
        changed.counters.shared_store_wavefronts -=
            std::min(c().shared_store_wavefronts, c().shared_store_conflicts);
        const bool loads = c().shared_load_conflicts >= c().shared_store_conflicts;
        const double requests = double(loads ? c().shared_load_requests : c().shared_store_requests);
        const double per =
            ratio(double(loads ? c().shared_load_wavefronts : c().shared_store_wavefronts), requests);
        say("bank-conflicts", gain_of(changed),
            loads ? "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
                  : "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
            double(loads ? c().shared_load_conflicts : c().shared_store_conflicts),
            fmt::format(
                "shared-memory bank conflicts: {:.0f} of {:.0f} wavefronts are replays ({:.1f} per {}); pad "
                "the rows by one element or swizzle the column",
                conflicts, wavefronts, per, loads ? "load" : "store"),
            [](const LineCounters& l) { return double(l.shared_conflicts); });
    }

    // Products that take both factors from shared memory for each multiply-add: shared memory gives a warp
    // one value a lane and clock, and the arithmetic waits for it. A patch of p x p outputs in the registers
    // of a thread takes 2 / p loads a multiply-add.
    void shared_loads() {
        if (input_.work && !input_.work->matrix) return;
        const bool tensor = c().inst_tensor > 0;
        const double products =
            tensor ? double(c().inst_tensor) : double(c().inst_fma + c().inst_fp16 + c().inst_fp64);
        const double per = ratio(double(c().shared_load_requests), products);
        const double goal = tensor ? 0.5 : 0.25;
        if (per < 1.2 * goal || now().times.empty()) return;
        const double busy = std::max(now().time_of("shared"), now().time_of("lsu"));
        if (busy < 0.6 * now().times.front().us) return;
        ExecutedKernel changed = kernel();
        Counters& fewer = changed.counters;
        const double left = goal / per;
        for (auto member : {&Counters::shared_load_requests, &Counters::shared_load_wavefronts,
                            &Counters::shared_load_conflicts})
            fewer.*member = scaled(c().*member, left);
        take_away(fewer, c().shared_load_requests - fewer.shared_load_requests);
        say("shared-loads", gain_of(changed), "smsp__inst_executed_op_shared_ld.sum",
            double(c().shared_load_requests),
            tensor
                ? fmt::format(
                      "the tensor cores wait for shared memory: {:.1f} loads of fragments for each mma; give "
                      "a "
                      "warp several tiles of the output, so that a loaded fragment feeds more than one mma",
                      per)
                : fmt::format(
                      "multiply-adds wait for shared memory: {:.1f} shared loads for each; keep a patch of "
                      "outputs in the registers of a thread, so that a loaded value feeds several of them "
                      "(4 x 4 outputs: 0.5 loads for each, 8 x 8: 0.25)",
                      per),
            [](const LineCounters& l) { return double(l.shared_requests); });
    }

    // As many blocks as the device holds at once (about four an SM), each looping over its part of the input
    // and combining what it has for an address, send one operation each.
    void atomics() {
        if (c().global_atomic_requests == 0) return;
        const double hottest = std::max(1.0, double(c().hottest_atomic_operations));
        const double senders = std::min({hottest, 4.0 * facts_.sm_count, double(kernel().blocks())});
        ExecutedKernel changed = kernel();
        for (auto member : {&Counters::global_atomic_requests, &Counters::global_atomic_sectors,
                            &Counters::global_atomic_operations, &Counters::hottest_atomic_operations})
            changed.counters.*member = scaled(c().*member, senders / hottest);
        take_away(changed.counters, c().global_atomic_requests - changed.counters.global_atomic_requests);
        say("atomic-contention", gain_of(changed), "kernelwright__hottest_atomic_operations.max", hottest,
            fmt::format(
                "global atomics wait for each other: {:.3g} operations, {:.3g} of them on one address, "
                "which takes one a clock; combine in the warp or in shared memory first, in blocks "
                "that loop over the input, so that a block sends one value for an address",
                double(c().global_atomic_operations), hottest),
            [](const LineCounters& l) { return double(l.global_atomic_operations); });
    }

    void shared_atomics() {
        const double requests = double(c().shared_atomic_requests);
        if (double(c().shared_atomic_wavefronts) < 2 * requests || requests == 0) return;
        ExecutedKernel changed = kernel();
        changed.counters.shared_atomic_wavefronts = c().shared_atomic_requests;
        say("shared-atomic-contention", gain_of(changed), "kernelwright__shared_atomic_wavefronts.sum",
            double(c().shared_atomic_wavefronts),
            fmt::format(
                "shared-memory atomics wait for each other: {:.1f} lanes of a warp want one bank; keep "
                "a copy for each warp, or combine equal addresses in the warp first",
                double(c().shared_atomic_wavefronts) / requests),
            [](const LineCounters& l) { return double(l.shared_conflicts); });
    }

    void spills() {
        const double requests = double(c().local_load_requests + c().local_store_requests);
        if (requests == 0) return;
        ExecutedKernel changed = kernel();
        Counters& without = changed.counters;
        without.local_load_requests = without.local_load_sectors = 0;
        without.local_store_requests = without.local_store_sectors = 0;
        take_away(without, scaled(1, requests));
        say("local-memory", gain_of(changed), "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
            double(c().local_load_requests),
            fmt::format(
                "local memory is used: {:.3g} loads and stores of spilled registers or of an array indexed "
                "at run time ({} bytes of stack a thread); shorten live ranges or unroll the indexing loop",
                requests, kernel().resources.stack_bytes),
            [](const LineCounters& l) { return double(l.local_requests); });
    }

    void occupancy() {
        const Occupancy& o = now().occupancy;
        const bool fillable = o.blocks > std::uint64_t(o.blocks_per_sm) * facts_.sm_count;
        if (o.fraction > 0.5 || !fillable || o.blocks_per_sm == 0) return;
        ExecutedKernel changed = kernel();
        std::string fix;
        if (o.limiter == "registers") {
            changed.resources.registers = std::max(16, changed.resources.registers / 2);
            fix = fmt::format("{} registers a thread", kernel().resources.registers);
        } else if (o.limiter == "shared") {
            changed.resources.static_shared /= 2;
            changed.dynamic_shared /= 2;
            fix = fmt::format("{} bytes of shared memory a block",
                              kernel().resources.static_shared + kernel().dynamic_shared);
        } else if (o.limiter == "blocks") {
            // Blocks so small that the SM's number of blocks runs out: two of them as one.
            changed.block[0] *= 2;
            changed.grid[0] = std::max(1U, changed.grid[0] / 2);
            fix = fmt::format("blocks of {} threads, of which an SM takes {}", kernel().threads(),
                              facts_.max_blocks_per_sm);
        } else {
            return;
        }
        say("low-occupancy", gain_of(changed), "sm__maximum_warps_per_active_cycle_pct", 100 * o.fraction,
            fmt::format(
                "only {} of {} warps fit on an SM because of {}; too few to cover the latency of loads",
                o.warps_per_sm, facts_.max_warps_per_sm, fix));
    }

    void few_blocks() {
        if (now().sms_used > 0.95) return;
        // Over before a launch is: more blocks would do nothing sooner, and the last stage of a sum, which
        // combines what a launch before it left, would need another launch behind it.
        if (now().bound == "launch") return;
        if (index_ > 0 && double(c().global_load_bytes) <
                              0.1 * double(input_.kernels[index_ - 1].counters.global_load_bytes))
            return;
        const auto times = static_cast<std::uint32_t>(std::ceil(1 / now().sms_used));
        ExecutedKernel changed = kernel();
        changed.grid[0] *= times;
        changed.counters.warps_launched *= times;
        changed.counters.max_warp_instructions_of_one_warp /= times;
        changed.counters.max_global_loads_of_one_warp /= times;
        say("few-blocks", gain_of(changed), "sm__ctas_launched.sum", double(kernel().blocks()),
            fmt::format(
                "{} block{} on {} SMs: {:.0f} % of the device has nothing to do; split the work into more "
                "blocks",
                kernel().blocks(), kernel().blocks() == 1 ? "" : "s", facts_.sm_count,
                100 * (1 - now().sms_used)));
    }

    void tail() {
        const double waves = now().occupancy.waves, blocks = double(kernel().blocks());
        if (now().sms_used < 1 || waves <= 0) return;
        Assumptions even;
        even.even_spread = true;
        const double most = std::ceil(blocks / facts_.sm_count), last = waves - std::floor(waves);
        std::string message =
            waves > 1 && last > 0
                ? fmt::format(
                      "{:.2f} waves of {} blocks: the last one fills {:.0f} % of the device while the "
                      "rest of it waits",
                      waves, now().occupancy.blocks_per_sm * facts_.sm_count, 100 * last)
                : fmt::format("{:.0f} blocks on {} SMs: some get {:.0f}, the average is {:.2f}", blocks,
                              facts_.sm_count, most, blocks / facts_.sm_count);
        message +=
            "; choose the tile so that the blocks divide evenly, or loop over tiles in as many blocks "
            "as fit at once";
        say("tail-wave", gain_of(kernel(), even), "sm__ctas_launched.sum", blocks, std::move(message));
    }

    void one_long_warp() {
        const double average = ratio(double(c().warp_instructions), double(c().warps_launched));
        const double most = double(c().max_warp_instructions_of_one_warp);
        if (most < 2 * average) return;
        ExecutedKernel changed = kernel();
        changed.counters.max_warp_instructions_of_one_warp = scaled(1, average);
        changed.counters.max_global_loads_of_one_warp =
            scaled(1, ratio(double(c().global_load_requests), double(c().warps_launched)));
        say("uneven-warps", gain_of(changed), "smsp__inst_executed.sum", double(c().warp_instructions),
            fmt::format(
                "one warp executes {:.0f} instructions, {:.1f} times the average of {:.0f}: everything "
                "waits for it; share its work",
                most, most / average, average),
            [](const LineCounters& l) { return double(l.warp_instructions); });
    }

    void divergence() {
        const double lanes = ratio(double(c().thread_instructions), double(c().warp_instructions));
        if (c().divergent_branches == 0 || lanes >= 28 || lanes <= 0) return;
        ExecutedKernel changed = kernel();
        Counters& without = changed.counters;
        for (auto member :
             {&Counters::warp_instructions, &Counters::inst_fma, &Counters::inst_alu, &Counters::inst_xu,
              &Counters::inst_fp64, &Counters::inst_control, &Counters::inst_lsu,
              &Counters::global_load_requests, &Counters::global_store_requests,
              &Counters::shared_load_requests, &Counters::max_warp_instructions_of_one_warp,
              &Counters::max_global_loads_of_one_warp})
            without.*member = scaled(c().*member, lanes / 32);
        say("divergence", gain_of(changed), "smsp__thread_inst_executed_per_inst_executed.ratio", lanes,
            fmt::format(
                "warps diverge: {:.1f} of 32 lanes work on average, {} of {} branches split a warp; make "
                "the condition the same for a whole warp or turn it into a select",
                lanes, c().divergent_branches, c().branches),
            [](const LineCounters& l) { return double(l.divergent_branches); });
    }

    void special_functions() {
        const double xu = now().time_of("xu");
        if (now().times.empty() || xu < 0.5 * now().times.front().us) return;
        ExecutedKernel changed = kernel();
        changed.counters.inst_xu /= 2;
        say("special-functions", gain_of(changed), "smsp__inst_executed_pipe_xu.sum", double(c().inst_xu),
            fmt::format(
                "special functions are {:.0f} % of the bound ({:.3g} warp instructions, a quarter or less "
                "of the fma rate); fold scales into exp2f, use one reciprocal for many divisions",
                100 * xu / now().times.front().us, double(c().inst_xu)),
            [](const LineCounters& l) { return double(l.inst_xu); });
    }

    // Addresses, conversions, loop counters, predicates: what is left when neither memory nor the arithmetic
    // of the task is the bound.
    void integer_arithmetic() {
        const double alu = double(c().inst_alu), all = double(c().warp_instructions);
        if (now().times.empty() || alu < 0.3 * all) return;
        const double longest = now().times.front().us;
        const double busy = std::max(now().time_of("alu"), now().time_of("issue"));
        if (busy < 0.6 * longest) return;
        ExecutedKernel changed = kernel();
        Counters& fewer = changed.counters;
        fewer.inst_alu /= 2;
        fewer.warp_instructions -= std::min(fewer.warp_instructions, c().inst_alu - fewer.inst_alu);
        fewer.max_warp_instructions_of_one_warp =
            scaled(c().max_warp_instructions_of_one_warp, ratio(double(fewer.warp_instructions), all));
        say("integer-arithmetic", gain_of(changed), "smsp__inst_executed_pipe_alu.sum", alu,
            fmt::format("integer and logic instructions (addresses, guards, conversions, selects) are {:.0f} "
                        "% of all and "
                        "keep their lanes busy {:.0f} % of the bound; compute addresses once and step "
                        "pointers, use 32-bit "
                        "indices, divide by constants that are powers of two, guard a tile once, move "
                        "several values at a "
                        "time",
                        100 * alu / all, 100 * now().time_of("alu") / longest),
            [](const LineCounters& l) {
                const std::uint64_t other = l.inst_fma + l.inst_xu + l.inst_fp64 + l.global_requests +
                                            l.shared_requests + l.local_requests;
                return double(l.warp_instructions) - double(other);
            });
    }

    void double_precision() {
        if (c().inst_fp64 == 0 || (input_.work && input_.work->dtype == DType::f64)) return;
        ExecutedKernel changed = kernel();
        changed.counters.inst_fma += changed.counters.inst_fp64;
        changed.counters.inst_fp64 = 0;
        say("double-by-accident", gain_of(changed), "smsp__inst_executed_pipe_fp64.sum",
            double(c().inst_fp64),
            fmt::format(
                "{:.3g} double-precision instructions in a task without f64: a literal without `f`, a "
                "double variable, or exp() for expf()",
                double(c().inst_fp64)),
            [](const LineCounters& l) { return double(l.inst_fp64); });
    }

    void no_tensor() {
        if (!input_.work || !input_.work->matrix || c().tensor_flops > 0 || input_.work->flops == 0) return;
        const DType dtype = input_.work->dtype;
        if (dtype == DType::f32 || dtype == DType::f64 || !facts_.tensor.contains(dtype)) return;
        if (double(c().thread_ffma + c().thread_hfma) + double(c().thread_integer) / 2 <
            0.2 * input_.work->flops / 2)
            return;  // this kernel of the sequence does not do the products
        ExecutedKernel changed = kernel();
        Counters& with = changed.counters;
        // What is left when an mma does the products of a 16 x 16 x 16 tile: no arithmetic, and of the loads
        // those of two fragments, 16 values a lane where the lanes alone do 128 products. The addresses,
        // conversions and loop counters that go with loads and products go with them.
        const double products = input_.work->flops / 2 / 32;  // warp-wide
        const double loads = double(c().global_load_requests + c().shared_load_requests);
        const double kept = loads > 0 ? std::min(1.0, products / 8 / loads) : 1.0;
        const double integer_products = is_float(dtype) ? 0 : std::min(double(c().inst_alu), products);
        with.inst_fma = with.inst_fp16 = 0;
        with.inst_alu = scaled(1, (double(c().inst_alu) - integer_products) * kept);
        for (auto member : {&Counters::inst_control, &Counters::inst_uniform, &Counters::global_load_requests,
                            &Counters::global_load_sectors, &Counters::ideal_global_load_sectors,
                            &Counters::shared_load_requests, &Counters::shared_load_wavefronts,
                            &Counters::shared_load_conflicts, &Counters::max_global_loads_of_one_warp})
            with.*member = scaled(c().*member, kept);
        with.inst_lsu -= std::min(with.inst_lsu, scaled(1, loads * (1 - kept)));
        const auto gone = [&](std::uint64_t Counters::*member) {
            return double(c().*member) - double(with.*member);
        };
        const double fewer = gone(&Counters::inst_fma) + gone(&Counters::inst_fp16) +
                             gone(&Counters::inst_alu) + gone(&Counters::inst_control) +
                             gone(&Counters::inst_uniform) + gone(&Counters::inst_lsu);
        with.warp_instructions -= std::min(with.warp_instructions, scaled(1, fewer));
        with.tensor_flops = static_cast<std::uint64_t>(input_.work->flops);
        changed.tensor_dtype = dtype;
        const double left = ratio(double(with.warp_instructions), double(c().warp_instructions));
        with.max_warp_instructions_of_one_warp = scaled(c().max_warp_instructions_of_one_warp, left);
        say("no-tensor-cores", gain_of(changed), "smsp__inst_executed_pipe_tensor.sum", 0,
            fmt::format(
                "{:.3g} {} multiply-adds run on the scalar lanes; the tensor cores of this device are {:.0f} "
                "times as fast; use mma (nvcuda::wmma, or mma.sync with ldmatrix)",
                input_.work->flops / 2, to_string(dtype), facts_.tensor.at(dtype) / (2 * facts_.fp32_lanes)),
            [](const LineCounters& l) { return double(l.inst_fma); });
    }

    void launches() {
        const std::size_t count = input_.kernels.size();
        if (count < 2) return;
        const double gain = total_ / (total_ - facts_.launch_us * double(count - 1));
        if (!(gain >= worth_saying)) return;
        findings_.push_back(
            {"many-launches",
             "",
             fmt::format("{} kernels are launched, about {:.0f} us each before they do anything; "
                         "fuse those that can be",
                         count, facts_.launch_us),
             "gpu__time_duration.sum",
             total_,
             gain,
             {}});
    }

    const ProfileInput& input_;
    const DeviceFacts& facts_;
    std::vector<KernelEstimate> estimates_;
    double total_ = 0;
    std::size_t index_ = 0;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> find_causes(const ProfileInput& input, const DeviceFacts& facts) {
    return Causes(input, facts).find();
}

}  // namespace kernelwright

#include "harness/profile/profile.h"

#include <algorithm>
#include <set>

namespace kernelwright {
namespace {

// What the emulated GPU counts and no GPU does, the launch under Nsight Compute's names, and what the model
// says about counters that only hardware has.
void add_own_counters(std::vector<CounterValue>& list, const ExecutedKernel& run, const KernelEstimate& e) {
    const auto add = [&](const char* name, const char* unit, double value, How how) {
        for (const CounterValue& present : list)
            if (present.name == name) return;
        list.push_back({name, unit, value, how});
    };
    const emulator::Counters& c = run.counters;
    const How counted = run.sampled() ? How::modelled : How::exact;
    add("kernelwright__distinct_load_sectors.sum", "sector", double(c.unique_load_sectors), counted);
    add("kernelwright__distinct_store_sectors.sum", "sector", double(c.unique_store_sectors), counted);
    add("kernelwright__ideal_load_sectors.sum", "sector", double(c.ideal_global_load_sectors), counted);
    add("kernelwright__ideal_store_sectors.sum", "sector", double(c.ideal_global_store_sectors), counted);
    add("kernelwright__longest_warp_instructions.max", "inst", double(c.max_warp_instructions_of_one_warp),
        counted);
    add("kernelwright__atomic_operations.sum", "operation", double(c.global_atomic_operations), counted);
    add("kernelwright__hottest_atomic_operations.max", "operation", double(c.hottest_atomic_operations),
        counted);
    add("kernelwright__shared_atomic_wavefronts.sum", "", double(c.shared_atomic_wavefronts), counted);
    add("launch__grid_size", "block", double(run.blocks()), How::exact);
    add("launch__block_size", "thread", double(run.threads()), How::exact);
    add("launch__registers_per_thread", "register", double(run.resources.registers), How::exact);
    add("launch__shared_mem_per_block", "byte", double(run.resources.static_shared) + run.dynamic_shared,
        How::exact);
    add("launch__waves_per_multiprocessor", "", e.occupancy.waves, How::modelled);
    add("sm__maximum_warps_per_active_cycle_pct", "%", 100 * e.occupancy.fraction, How::modelled);
    add("dram__bytes.sum", "byte", e.traffic.dram_bytes, How::modelled);
}

std::map<std::string, double> derive(const ExecutedKernel& run, const KernelEstimate& e) {
    const emulator::Counters& c = run.counters;
    std::map<std::string, double> derived;
    const auto put = [&](const char* name, double a, double b) {
        if (b > 0) derived[name] = a / b;
    };
    const double useful = double(std::min(c.ideal_global_load_sectors, c.global_load_sectors));
    const double wavefronts = double(c.shared_load_wavefronts + c.shared_store_wavefronts);
    const double warps = double(c.warps_launched);
    put("load_excess", double(c.global_load_sectors), double(c.ideal_global_load_sectors));
    put("store_excess", double(c.global_store_sectors), double(c.ideal_global_store_sectors));
    put("rereads", useful, double(c.unique_load_sectors));
    put("load_bytes_per_request", double(c.global_load_bytes), double(c.global_load_requests));
    put("staged_share", double(c.shared_store_requests + c.cp_async_requests),
        double(c.global_load_requests));
    put("async_share", double(c.cp_async_requests), double(c.global_load_requests));
    put("conflict_share", double(c.shared_load_conflicts + c.shared_store_conflicts), wavefronts);
    put("active_lanes", double(c.thread_instructions), double(c.warp_instructions));
    put("divergent_share", double(c.divergent_branches), double(c.branches));
    put("longest_warp_ratio", double(c.max_warp_instructions_of_one_warp) * warps,
        double(c.warp_instructions));
    put("atomics_per_block", double(c.global_atomic_requests), double(c.blocks_launched));
    put("shared_loads_per_fma", double(c.shared_load_requests), double(c.inst_fma + c.inst_fp16));
    put("loads_per_warp", double(c.global_load_requests), warps);
    put("instructions_per_warp", double(c.warp_instructions), warps);
    put("barriers_per_warp", double(c.barriers), warps);
    put("shuffles_per_warp", double(c.shuffles), warps);
    derived["bytes_in_flight"] = e.bytes_in_flight;
    derived["bytes_needed"] = e.bytes_needed;
    return derived;
}

std::vector<HotLine> hot_lines(const emulator::Counters& c) {
    double sectors = 0;
    for (const auto& [place, line] : c.lines) sectors += double(line.global_sectors);
    std::vector<HotLine> lines;
    for (const auto& [place, line] : c.lines) {
        if (place.second <= 0) continue;  // the compiler's own: nothing that a reader could look up
        HotLine hot;
        hot.file = place.first;
        hot.line = place.second;
        if (c.warp_instructions > 0)
            hot.instructions = double(line.warp_instructions) / double(c.warp_instructions);
        if (sectors > 0) hot.sectors = double(line.global_sectors) / sectors;
        if (line.global_requests > 0)
            hot.sectors_per_request = double(line.global_sectors) / double(line.global_requests);
        hot.shared_conflicts = double(line.shared_conflicts);
        lines.push_back(std::move(hot));
    }
    const auto heat = [](const HotLine& l) { return std::max(l.instructions, l.sectors); };
    std::stable_sort(lines.begin(), lines.end(),
                     [&](const HotLine& a, const HotLine& b) { return heat(a) > heat(b); });
    if (lines.size() > 12) lines.resize(12);
    return lines;
}

KernelProfile profile_kernel(const ExecutedKernel& run, const KernelEstimate& estimate) {
    KernelProfile k;
    k.name = run.name;
    k.grid = run.grid;
    k.block = run.block;
    k.dynamic_shared = run.dynamic_shared;
    k.resources = run.resources;
    k.blocks = run.blocks();
    k.counted_blocks = run.sampled() ? run.counted_blocks : run.blocks();
    const How how = run.sampled() ? How::modelled : How::exact;
    for (const emulator::Metric& metric : emulator::metrics(run.counters))
        k.counters.push_back({metric.name, metric.unit, metric.value, how});
    // What the launch itself says is exact however many blocks were counted.
    for (CounterValue& counter : k.counters) {
        const auto known = [&](const char* name, double value) {
            if (counter.name == name && run.sampled())
                counter = {counter.name, counter.unit, value, How::exact};
        };
        known("sm__ctas_launched.sum", double(run.blocks()));
        known("smsp__warps_launched.sum", double(run.blocks()) * ((run.threads() + 31) / 32));
    }
    add_own_counters(k.counters, run, estimate);
    k.derived = derive(run, estimate);
    k.lines = hot_lines(run.counters);
    return k;
}

Json to_json(const KernelResources& r) {
    return {{"registers", r.registers},
            {"static_shared", r.static_shared},
            {"spill_store_bytes", r.spill_store_bytes},
            {"spill_load_bytes", r.spill_load_bytes},
            {"stack_bytes", r.stack_bytes},
            {"constant_bytes", r.constant_bytes},
            {"barriers", r.barriers},
            {"code_bytes", r.code_bytes}};
}

KernelResources resources_from(const Json& json) {
    KernelResources r;
    json.at("registers").get_to(r.registers);
    json.at("static_shared").get_to(r.static_shared);
    json.at("spill_store_bytes").get_to(r.spill_store_bytes);
    json.at("spill_load_bytes").get_to(r.spill_load_bytes);
    json.at("stack_bytes").get_to(r.stack_bytes);
    json.at("constant_bytes").get_to(r.constant_bytes);
    json.at("barriers").get_to(r.barriers);
    json.at("code_bytes").get_to(r.code_bytes);
    return r;
}

How how_from(const Json& json) {
    const auto how = parse_how(json.get<std::string>());
    if (!how) throw Json::other_error::create(501, "unknown `how`", &json);
    return *how;
}

}  // namespace

const char* to_string(How how) {
    switch (how) {
        case How::measured:
            return "measured";
        case How::exact:
            return "exact";
        case How::modelled:
            return "modelled";
    }
    return "modelled";
}

std::optional<How> parse_how(const std::string& name) {
    for (How how : {How::measured, How::exact, How::modelled})
        if (name == to_string(how)) return how;
    return std::nullopt;
}

double Profile::roofline_fraction() const {
    return roofline && estimate.us > 0 ? roofline->bound_us / estimate.us : 0;
}

const KernelProfile* Profile::longest() const {
    const KernelProfile* found = nullptr;
    double us = -1;
    for (std::size_t i = 0; i < kernels.size() && i < estimate.kernels.size(); ++i)
        if (estimate.kernels[i].us > us) {
            us = estimate.kernels[i].us;
            found = &kernels[i];
        }
    return found;
}

const CounterValue* Profile::counter(const std::string& name) const {
    if (const KernelProfile* kernel = longest())
        for (const CounterValue& value : kernel->counters)
            if (value.name == name) return &value;
    return nullptr;
}

std::vector<std::string> counter_names() {
    std::vector<std::string> names;
    for (const CounterValue& counter : profile_kernel({}, {}).counters) names.push_back(counter.name);
    return names;
}

std::optional<double> Profile::metric(const std::string& name) const {
    if (kernels.empty()) return std::nullopt;
    if (name == "gpu__time_duration.sum") return estimate.us * 1000;
    if (!name.ends_with(".sum")) {
        const CounterValue* value = counter(name);
        return value == nullptr ? std::nullopt : std::optional(value->value);
    }
    std::optional<double> sum;
    for (const KernelProfile& kernel : kernels)
        for (const CounterValue& value : kernel.counters)
            if (value.name == name) sum = sum.value_or(0) + value.value;
    return sum;
}

Profile make_profile(const ProfileInput& input, const DeviceFacts& facts) {
    Profile profile;
    profile.task = input.task;
    profile.shape = input.shape;
    profile.device = facts.name;
    profile.device_title = facts.title;
    profile.target = facts.target;
    profile.estimate = estimate(input.kernels, facts);
    if (input.work) profile.roofline = roofline(*input.work, facts);
    for (std::size_t i = 0; i < input.kernels.size(); ++i)
        profile.kernels.push_back(profile_kernel(input.kernels[i], profile.estimate.kernels[i]));
    profile.views = make_views(input, profile.estimate, profile.roofline, facts);
    profile.findings = find_causes(input, facts);
    return profile;
}

Json to_json(const Profile& p) {
    Json kernels = Json::array(), views = Json::array(), findings = Json::array();
    for (const KernelProfile& k : p.kernels) {
        Json counters = Json::array(), lines = Json::array();
        for (const CounterValue& c : k.counters)
            counters.push_back(
                {{"name", c.name}, {"unit", c.unit}, {"value", c.value}, {"how", to_string(c.how)}});
        for (const HotLine& l : k.lines)
            lines.push_back({{"file", l.file},
                             {"line", l.line},
                             {"instructions", l.instructions},
                             {"sectors", l.sectors},
                             {"sectors_per_request", l.sectors_per_request},
                             {"shared_conflicts", l.shared_conflicts}});
        kernels.push_back({{"name", k.name},
                           {"grid", k.grid},
                           {"block", k.block},
                           {"dynamic_shared", k.dynamic_shared},
                           {"resources", to_json(k.resources)},
                           {"blocks", k.blocks},
                           {"counted_blocks", k.counted_blocks},
                           {"counters", counters},
                           {"derived", Json(k.derived)},
                           {"lines", lines}});
    }
    for (const View& v : p.views)
        views.push_back({{"name", v.name},
                         {"how", v.how ? Json(to_string(*v.how)) : Json("not measured")},
                         {"verdict", v.verdict}});
    for (const Finding& f : p.findings) {
        Json lines = Json::array();
        for (const LineShare& l : f.lines)
            lines.push_back({{"file", l.file}, {"line", l.line}, {"share", l.share}});
        findings.push_back({{"id", f.id},
                            {"kernel", f.kernel},
                            {"message", f.message},
                            {"counter", f.counter},
                            {"value", f.value},
                            {"gain", f.gain},
                            {"lines", lines}});
    }
    Json json{{"schema", "kernelwright.profile/1"},
              {"task", p.task},
              {"shape", Json(p.shape)},
              {"device", p.device},
              {"device_title", p.device_title},
              {"target", p.target},
              {"time", {{"us", p.estimate.us}, {"how", to_string(p.time_how)}}},
              {"estimate", to_json(p.estimate)},
              {"roofline", p.roofline ? to_json(*p.roofline) : Json()},
              {"roofline_fraction", p.roofline ? Json(p.roofline_fraction()) : Json()},
              {"kernels", kernels},
              {"views", views},
              {"findings", findings}};
    return json;
}

Result<Profile> profile_from_json(const Json& json) {
    try {
        if (json.at("schema") != "kernelwright.profile/1")
            return Error{"not a kernelwright.profile/1 record"};
        Profile p;
        json.at("task").get_to(p.task);
        json.at("shape").get_to(p.shape);
        json.at("device").get_to(p.device);
        json.at("device_title").get_to(p.device_title);
        json.at("target").get_to(p.target);
        p.time_how = how_from(json.at("time").at("how"));
        auto estimate = estimate_from_json(json.at("estimate"));
        if (!estimate) return estimate.error();
        p.estimate = std::move(*estimate);
        if (!json.at("roofline").is_null()) {
            auto roofline = roofline_from_json(json.at("roofline"));
            if (!roofline) return roofline.error();
            p.roofline = *roofline;
        }
        for (const Json& k : json.at("kernels")) {
            KernelProfile kernel;
            k.at("name").get_to(kernel.name);
            k.at("grid").get_to(kernel.grid);
            k.at("block").get_to(kernel.block);
            k.at("dynamic_shared").get_to(kernel.dynamic_shared);
            kernel.resources = resources_from(k.at("resources"));
            k.at("blocks").get_to(kernel.blocks);
            k.at("counted_blocks").get_to(kernel.counted_blocks);
            for (const Json& c : k.at("counters"))
                kernel.counters.push_back({c.at("name").get<std::string>(), c.at("unit").get<std::string>(),
                                           c.at("value").get<double>(), how_from(c.at("how"))});
            k.at("derived").get_to(kernel.derived);
            for (const Json& l : k.at("lines"))
                kernel.lines.push_back({l.at("file").get<std::string>(), l.at("line").get<int>(),
                                        l.at("instructions").get<double>(), l.at("sectors").get<double>(),
                                        l.at("sectors_per_request").get<double>(),
                                        l.at("shared_conflicts").get<double>()});
            p.kernels.push_back(std::move(kernel));
        }
        for (const Json& v : json.at("views")) {
            View view;
            v.at("name").get_to(view.name);
            if (v.at("how") != "not measured") view.how = how_from(v.at("how"));
            v.at("verdict").get_to(view.verdict);
            p.views.push_back(std::move(view));
        }
        for (const Json& f : json.at("findings")) {
            Finding finding;
            f.at("id").get_to(finding.id);
            f.at("kernel").get_to(finding.kernel);
            f.at("message").get_to(finding.message);
            f.at("counter").get_to(finding.counter);
            f.at("value").get_to(finding.value);
            f.at("gain").get_to(finding.gain);
            for (const Json& l : f.at("lines"))
                finding.lines.push_back(
                    {l.at("file").get<std::string>(), l.at("line").get<int>(), l.at("share").get<double>()});
            p.findings.push_back(std::move(finding));
        }
        return p;
    } catch (const Json::exception& e) {
        return Error{std::string("not a profile record: ") + e.what()};
    }
}

}  // namespace kernelwright

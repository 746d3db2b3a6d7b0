#include "harness/profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/profile/kernels.h"

namespace kernelwright {
namespace {

using testing::Described;
using testing::execute;
using ::testing::HasSubstr;
using ::testing::Not;

const DeviceFacts& a100() {
    static const DeviceFacts facts = [] {
        auto table = DeviceTable::load(KW_SOURCE_DIR "/devices");
        EXPECT_TRUE(table.ok());
        return *table->find("a100");
    }();
    return facts;
}

ProfileInput input_of(std::vector<ExecutedKernel> kernels, std::optional<Work> work = std::nullopt) {
    ProfileInput input;
    input.task = "softmax_rows";
    input.shape = {{"M", 4096}, {"N", 4096}};
    input.kernels = std::move(kernels);
    input.work = work;
    return input;
}

Work softmax_work() {
    const double elements = 4096.0 * 4096;
    return {4 * elements, 4 * elements, 5 * elements, false, DType::f32};
}

const Finding* find(const Profile& profile, const std::string& id) {
    for (const Finding& finding : profile.findings)
        if (finding.id == id) return &finding;
    return nullptr;
}

// A kernel with one planted cause, which must come first (or among the first where two name the same thing).
struct Planted {
    const char* id;
    ExecutedKernel kernel;
};

std::vector<Planted> planted() {
    std::vector<Planted> list;
    Described d;
    d.blocks = 16384;
    {
        Described x = d;
        x.stride = 32;
        ExecutedKernel k = execute(x);
        k.counters.unique_load_sectors = k.counters.global_load_sectors;
        list.push_back({"uncoalesced-loads", k});
    }
    {
        ExecutedKernel k = execute(d);
        k.counters.global_store_sectors = 8 * k.counters.ideal_global_store_sectors;
        k.counters.unique_store_sectors = k.counters.global_store_sectors;
        list.push_back({"uncoalesced-stores", k});
    }
    {
        Described x = d;
        x.shared = 64;
        x.conflicts = 8;
        x.shared_bytes = 4096;
        list.push_back({"bank-conflicts", execute(x)});
    }
    {
        Described x = d;
        x.atomics = 8;
        list.push_back({"atomic-contention", execute(x)});
    }
    {
        Described x = d;
        x.arithmetic = 64;
        x.shared = 2 * x.loads * x.arithmetic;
        list.push_back({"shared-loads", execute(x)});
    }
    {
        ExecutedKernel k = execute(d);
        k.counters.shared_atomic_requests = 64 * k.counters.warps_launched;
        k.counters.shared_atomic_wavefronts = 32 * k.counters.shared_atomic_requests;
        list.push_back({"shared-atomic-contention", k});
    }
    {
        Described x;
        x.blocks = 4;
        x.loads = x.stores = 4096;
        list.push_back({"few-blocks", execute(x)});
    }
    {
        ExecutedKernel k = execute(d);
        k.resources.stack_bytes = 4096;
        k.counters.local_load_requests = 20 * k.counters.global_load_requests;
        k.counters.local_load_sectors = 4 * k.counters.local_load_requests;
        k.counters.inst_lsu += k.counters.local_load_requests;
        list.push_back({"local-memory", k});
    }
    {
        Described x = d;
        x.shuffles = 300;  // a long chain of dependent instructions in each warp
        x.integer = 0;
        x.loads = x.stores = 4;
        x.bytes_per_lane = 16;
        x.registers = 255;
        x.threads = 64;
        list.push_back({"low-occupancy", execute(x)});
    }
    {
        ExecutedKernel k = execute(d);
        k.counters.max_warp_instructions_of_one_warp *= 10000;
        list.push_back({"uneven-warps", k});
    }
    {
        Described x = d;
        x.arithmetic = 400;
        ExecutedKernel k = execute(x);
        k.counters.thread_instructions = 10 * k.counters.warp_instructions;
        k.counters.branches = 1000000;
        k.counters.divergent_branches = 900000;
        list.push_back({"divergence", k});
    }
    {
        Described x = d;
        x.special = 60;
        list.push_back({"special-functions", execute(x)});
    }
    {
        Described x = d;
        x.arithmetic = 400;
        ExecutedKernel k = execute(x);
        std::swap(k.counters.inst_fp64, k.counters.inst_fma);
        list.push_back({"double-by-accident", k});
    }
    {
        Described x;
        x.threads = 1024;
        x.registers = 64;
        x.blocks = 109;
        x.arithmetic = 500;
        list.push_back({"tail-wave", execute(x)});
    }
    {
        Described x = d;
        x.integer = 100;
        list.push_back({"integer-arithmetic", execute(x)});
    }
    { list.push_back({"rereads", testing::softmax_block_per_row(4096, 262144, 3)}); }
    return list;
}

TEST(Findings, APlantedCauseComesFirst) {
    for (const Planted& p : planted()) {
        const Profile profile = make_profile(input_of({p.kernel}), a100());
        ASSERT_FALSE(profile.findings.empty()) << p.id;
        EXPECT_EQ(profile.findings[0].id, p.id) << to_text(profile);
        EXPECT_GT(profile.findings[0].gain, 1.1) << p.id;
        EXPECT_FALSE(profile.findings[0].counter.empty());
    }
}

TEST(Findings, AGoodStreamHasNone) {
    Described d;
    d.blocks = 65536;
    d.bytes_per_lane = 16;
    d.loads = d.stores = 4;
    const Profile profile = make_profile(input_of({execute(d)}), a100());
    EXPECT_TRUE(profile.findings.empty()) << to_text(profile);
    EXPECT_THAT(to_text(profile), HasSubstr("nothing stands out"));
}

TEST(Findings, NarrowLoadsAndLaunchesAreNamed) {
    Described d;
    d.blocks = 216;
    d.loads = 64;
    const Profile narrow = make_profile(input_of({execute(d)}), a100());
    EXPECT_NE(find(narrow, "narrow-loads"), nullptr) << to_text(narrow);
    const Profile many = make_profile(input_of({execute({}), execute({}), execute({})}), a100());
    const Finding* launches = find(many, "many-launches");
    ASSERT_NE(launches, nullptr);
    EXPECT_NEAR(launches->gain, many.estimate.us / (many.estimate.us - 6), 1e-9);
}

TEST(Findings, ProductsOfHalvesWithoutTensorCores) {
    Described d;
    d.blocks = 4096;
    d.arithmetic = 1000;
    ExecutedKernel k = execute(d);
    Work work;
    work.matrix = true;
    work.dtype = DType::f16;
    work.flops = 2.0 * double(k.counters.thread_ffma);
    const Profile profile = make_profile(input_of({k}, work), a100());
    ASSERT_FALSE(profile.findings.empty());
    EXPECT_EQ(profile.findings[0].id, "no-tensor-cores") << to_text(profile);
    work.dtype = DType::f32;
    EXPECT_EQ(find(make_profile(input_of({k}, work), a100()), "no-tensor-cores"), nullptr);

    // Two loads, two conversions and two address steps for each product: the arithmetic is the least of it,
    // and all of it goes with the products.
    Described naive;
    naive.blocks = 4096;
    naive.loads = 768;
    naive.stores = 1;
    naive.bytes_per_lane = 2;
    naive.passes = 512;
    naive.arithmetic = 0.5;
    naive.integer = 2;
    k = execute(naive);
    work.dtype = DType::f16;
    work.flops = 2.0 * double(k.counters.thread_ffma);
    const Profile loads = make_profile(input_of({k}, work), a100());
    ASSERT_FALSE(loads.findings.empty());
    EXPECT_EQ(loads.findings[0].id, "no-tensor-cores") << to_text(loads);
    EXPECT_GT(loads.findings[0].gain, 4) << to_text(loads);
}

TEST(Findings, TheLastStageOfASumNeedsNoMoreBlocks) {
    Described first, last;
    first.blocks = 864;
    first.loads = 64;
    last.blocks = 1;
    last.threads = 1024;
    last.stores = 1;
    for (const double loads : {1.0, 256.0}) {  // over before a launch is; longer than one
        last.loads = loads;
        const Profile profile = make_profile(input_of({execute(first), execute(last)}), a100());
        EXPECT_EQ(find(profile, "few-blocks"), nullptr) << to_text(profile);
    }
    // The only kernel of a sequence that has few blocks for much work is still told.
    last.loads = 4096;
    EXPECT_NE(find(make_profile(input_of({execute(last)}), a100()), "few-blocks"), nullptr);
}

TEST(Findings, RereadsSayWhatTheMemoryViewSays) {
    Described d;
    d.blocks = 4096;
    d.stride = 2;
    d.loads = 256;
    d.passes = 64;
    const Profile profile = make_profile(input_of({execute(d)}), a100());
    ASSERT_NE(find(profile, "rereads"), nullptr) << to_text(profile);
    EXPECT_THAT(find(profile, "rereads")->message, HasSubstr("loaded 128.0 times"));
    EXPECT_THAT(profile.views[5].verdict, HasSubstr("loaded 128.0 times"));
}

TEST(Findings, NameTheLinesOfTheCause) {
    ExecutedKernel k = planted()[0].kernel;
    const auto line = [&](int number, std::uint64_t sectors) -> emulator::LineCounters& {
        emulator::LineCounters& l = k.counters.lines[{"soft.cu", number}];
        l.warp_instructions = 100;
        l.thread_instructions = 3200;
        l.global_sectors = sectors;
        l.global_requests = 30;
        l.ideal_global_sectors = 100;
        return l;
    };
    line(12, 900);
    line(20, 100);
    line(31, 300);
    // Stores have no part in what loads cost, and what the compiler gives no line is not shown.
    line(40, 5000).global_store_sectors = 5000;
    line(40, 5000).ideal_global_store_sectors = 100;
    k.counters.lines[{"soft.cu", 0}] = line(20, 100);
    const Profile profile = make_profile(input_of({k}), a100());
    ASSERT_EQ(profile.findings[0].id, "uncoalesced-loads");
    ASSERT_EQ(profile.findings[0].lines.size(), 2u);
    EXPECT_EQ(profile.findings[0].lines[0], (LineShare{"soft.cu", 12, 0.8}));
    EXPECT_EQ(profile.findings[0].lines[1], (LineShare{"soft.cu", 31, 0.2}));
    EXPECT_THAT(to_text(profile), HasSubstr("soft.cu:12 (80 %)"));
    EXPECT_THAT(to_text(profile), HasSubstr("Hot lines of kernel"));
    EXPECT_THAT(to_text(profile), Not(HasSubstr("soft.cu:0")));
    for (const HotLine& hot : profile.kernels[0].lines) EXPECT_GT(hot.line, 0);
}

TEST(Findings, EachCauseKnowsItsLines) {
    const auto first_line = [](ExecutedKernel k, const char* id,
                               std::uint64_t emulator::LineCounters::*part) {
        k.counters.lines[{"k.cu", 5}].warp_instructions = 1000;
        k.counters.lines[{"k.cu", 9}].*part = 100;
        const Profile profile = make_profile(input_of({k}), a100());
        const Finding* finding = find(profile, id);
        return finding == nullptr || finding->lines.empty() ? -1 : finding->lines[0].line;
    };
    using L = emulator::LineCounters;
    const std::map<std::string, std::uint64_t L::*> parts{{"atomic-contention", &L::global_atomic_operations},
                                                          {"local-memory", &L::local_requests},
                                                          {"special-functions", &L::inst_xu},
                                                          {"double-by-accident", &L::inst_fp64},
                                                          {"bank-conflicts", &L::shared_conflicts},
                                                          {"divergence", &L::divergent_branches},
                                                          {"shared-loads", &L::shared_requests}};
    int seen = 0;
    for (const Planted& p : planted())
        if (const auto part = parts.find(p.id); part != parts.end()) {
            EXPECT_EQ(first_line(p.kernel, p.id, part->second), 9) << p.id;
            ++seen;
        }
    EXPECT_EQ(seen, 7);
}

TEST(Findings, ProductsThatLoadBothFactorsForEachMultiplyAdd) {
    // A patch of 8 x 8 outputs takes a quarter of a load; nothing is said about it, nor about a kernel that
    // forms no products.
    Described d;
    d.blocks = 4096;
    d.loads = 16;
    d.arithmetic = 64;
    d.shared = 16 * 64 / 4;
    EXPECT_EQ(find(make_profile(input_of({execute(d)}), a100()), "shared-loads"), nullptr);
    d.shared = 16 * 64 * 2;
    const Profile tiles = make_profile(input_of({execute(d)}), a100());
    ASSERT_NE(find(tiles, "shared-loads"), nullptr) << to_text(tiles);
    EXPECT_THAT(find(tiles, "shared-loads")->message, HasSubstr("2.0 shared loads for each"));
    EXPECT_EQ(find(make_profile(input_of({execute(d)}, softmax_work()), a100()), "shared-loads"), nullptr);
}

TEST(Findings, AtomicsOfABlockOnAddressesOfItsOwnDoNotWait) {
    Described d;
    d.blocks = 4096;
    d.atomics = 1;
    d.atomic_targets = 4096 * 8;
    EXPECT_EQ(find(make_profile(input_of({execute(d)}), a100()), "atomic-contention"), nullptr);
}

TEST(Findings, GainIsWhatTheModelSaysAfterTheMend) {
    // Padding away the conflicts, in the counters of a second kernel.
    Described d;
    d.blocks = 16384;
    d.shared = 64;
    d.shared_bytes = 4096;
    d.conflicts = 8;
    const Profile before = make_profile(input_of({execute(d)}), a100());
    d.conflicts = 1;
    const Profile after = make_profile(input_of({execute(d)}), a100());
    ASSERT_NE(find(before, "bank-conflicts"), nullptr);
    EXPECT_NEAR(find(before, "bank-conflicts")->gain, before.estimate.us / after.estimate.us, 0.01);
}

TEST(Profile, SaysHowEachFigureWasObtained) {
    ExecutedKernel whole = testing::softmax_block_per_row(4096, 4096);
    Profile profile = make_profile(input_of({whole}, softmax_work()), a100());
    const auto counted = [](const CounterValue& c) {
        return c.name.starts_with("smsp__") || c.name.starts_with("l1tex__");
    };
    for (const CounterValue& c : profile.kernels[0].counters)
        if (counted(c)) {
            EXPECT_EQ(c.how, How::exact) << c.name;
        }
    whole.counted_blocks = 16;
    profile = make_profile(input_of({whole}, softmax_work()), a100());
    for (const CounterValue& c : profile.kernels[0].counters)
        if (counted(c)) {
            // What the launch says is exact however few blocks were counted.
            const bool launch = c.name == "smsp__warps_launched.sum";
            EXPECT_EQ(c.how, launch ? How::exact : How::modelled) << c.name;
        }
    EXPECT_EQ(profile.counter("sm__ctas_launched.sum")->how, How::exact);
    EXPECT_EQ(profile.counter("sm__ctas_launched.sum")->value, 4096);
    EXPECT_EQ(profile.counter("smsp__warps_launched.sum")->value, 4096 * 8);
    EXPECT_EQ(profile.counter("launch__grid_size")->how, How::exact);
    EXPECT_THAT(to_text(profile), HasSubstr("16 of 4096 blocks counted, sums scaled"));
    EXPECT_THAT(to_text(profile), HasSubstr(" us (modelled, "));
    EXPECT_THAT(to_text(profile), Not(HasSubstr("measured")));
    EXPECT_EQ(profile.time_how, How::modelled);
}

TEST(Profile, TextFitsOnAScreen) {
    for (const Planted& p : planted()) {
        const std::string text =
            to_text(make_profile(input_of({p.kernel, p.kernel}, softmax_work()), a100()));
        EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60) << text;
        std::size_t longest = 0;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            longest = std::max(longest, end - at);
            at = end + 1;
        }
        EXPECT_LE(longest, 140u) << text;
    }
}

TEST(Profile, LoadsInFlightAreComparedTheRightWayRound) {
    Described d;
    d.blocks = 65536;
    d.bytes_per_lane = 16;
    EXPECT_THAT(make_profile(input_of({execute(d)}), a100()).views[2].verdict, HasSubstr("KiB an SM) cover"));
    d.bytes_per_lane = 1;
    d.threads = 32;
    d.loads = 1;
    EXPECT_THAT(make_profile(input_of({execute(d)}), a100()).views[2].verdict, HasSubstr("too few to cover"));
    d.loads = 0;
    EXPECT_THAT(make_profile(input_of({execute(d)}), a100()).views[2].verdict,
                HasSubstr("no loads from global"));
}

TEST(Profile, HasTheEightViews) {
    const Profile profile =
        make_profile(input_of({testing::softmax_block_per_row(4096, 4096)}, softmax_work()), a100());
    std::vector<std::string> names;
    for (const View& view : profile.views) {
        names.push_back(view.name);
        EXPECT_FALSE(view.verdict.empty());
        if (!view.how) {
            EXPECT_THAT(view.verdict, HasSubstr("not measured"));
        }
    }
    EXPECT_THAT(names, ::testing::ElementsAre("roofline", "fragment fill", "occupancy", "stalls", "waves",
                                              "memory", "mix", "selection"));
    const Profile nothing = make_profile(input_of({}), a100());
    EXPECT_EQ(nothing.views.size(), 8u);
    EXPECT_EQ(nothing.longest(), nullptr);
    EXPECT_EQ(nothing.counter("smsp__inst_executed.sum"), nullptr);
}

TEST(Profile, FragmentFillComparesUsefulWithIssued) {
    ExecutedKernel k = execute({});
    k.counters.inst_tensor = 1000;
    k.counters.tensor_flops = 4096 * 1000;
    Work work;
    work.matrix = true;
    work.dtype = DType::f16;
    work.flops = 4096 * 750;
    const Profile profile = make_profile(input_of({k}, work), a100());
    EXPECT_THAT(profile.views[1].verdict, HasSubstr("fill 0.75"));
}

TEST(Profile, RooflineFraction) {
    const Profile profile =
        make_profile(input_of({testing::softmax_block_per_row(4096, 4096)}, softmax_work()), a100());
    EXPECT_GT(profile.roofline_fraction(), 0.2);
    EXPECT_LT(profile.roofline_fraction(), 1.0);
    EXPECT_EQ(make_profile(input_of({execute({})}), a100()).roofline_fraction(), 0);
}

TEST(Profile, SmallFractionsAndUncountedOperationsAreNotShownAsZero) {
    Work work = softmax_work();
    work.flops = 0;
    Profile profile = make_profile(input_of({testing::softmax_block_per_row(4096, 4096)}, work), a100());
    EXPECT_THAT(profile.views[0].verdict, HasSubstr("no operations counted"));
    EXPECT_THAT(profile.views[0].verdict, Not(HasSubstr("flop per byte")));
    work.read_bytes = work.written_bytes = 4000;
    profile = make_profile(input_of({testing::softmax_block_per_row(4096, 4096)}, work), a100());
    EXPECT_THAT(profile.views[0].verdict, HasSubstr("reaches under 1 % of that"));
    EXPECT_THAT(to_text(profile), HasSubstr("under 1 % of the roofline (3.9 ns"));
}

TEST(Profile, HotLinesAreHot) {
    ExecutedKernel k = execute({});
    k.counters.lines[{"a.cu", 7}].warp_instructions = k.counters.warp_instructions;
    k.counters.lines[{"a.cu", 8}].warp_instructions = 1;
    const std::string text = to_text(make_profile(input_of({k}), a100()));
    EXPECT_THAT(text, HasSubstr("a.cu:7 "));
    EXPECT_THAT(text, Not(HasSubstr("a.cu:8 ")));
}

TEST(Profile, GoesThroughJson) {
    for (const Planted& p : planted()) {
        ExecutedKernel k = p.kernel;
        k.counters.lines[{"a.cu", 7}] = {5, 5, 5, 5, 1};
        const Profile profile = make_profile(input_of({k, execute({})}, softmax_work()), a100());
        const Json json = to_json(profile);
        EXPECT_EQ(json.at("schema"), "kernelwright.profile/1");
        EXPECT_EQ(json.at("time").at("how"), "modelled");
        auto back = profile_from_json(Json::parse(json.dump()));
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(*back, profile);
        EXPECT_EQ(to_json(*back).dump(), json.dump());
    }
}

TEST(Profile, CarriesTheLaunchUnderNsightsNames) {
    Described d;
    d.registers = 128;
    const Profile profile = make_profile(input_of({execute(d)}), a100());
    ASSERT_NE(profile.counter("launch__registers_per_thread"), nullptr);
    EXPECT_EQ(profile.counter("launch__registers_per_thread")->value, 128);
    EXPECT_EQ(profile.counter("sm__maximum_warps_per_active_cycle_pct")->value, 25);
    EXPECT_EQ(profile.counter("sm__maximum_warps_per_active_cycle_pct")->how, How::modelled);
    EXPECT_EQ(profile.counter("dram__bytes.sum")->how, How::modelled);
    EXPECT_EQ(profile.metric("launch__grid_size"), 864);
    EXPECT_EQ(profile.metric("gpu__time_duration.sum"), profile.estimate.us * 1000);
    EXPECT_EQ(profile.metric("no__such.sum"), std::nullopt);
    // Sums are over the sequence, ratios are the longest kernel's.
    const Profile two = make_profile(input_of({execute(d), execute(d)}), a100());
    EXPECT_EQ(two.metric("smsp__inst_executed.sum"), 2 * *profile.metric("smsp__inst_executed.sum"));
    EXPECT_EQ(two.metric("launch__registers_per_thread"), 128);
}

TEST(Profile, DerivedFiguresAreOfTheCounters) {
    Described d;
    d.stride = 8;
    d.shared = 10;
    d.conflicts = 4;
    d.passes = 2;
    const Profile profile = make_profile(input_of({execute(d)}), a100());
    const auto& derived = profile.kernels[0].derived;
    EXPECT_DOUBLE_EQ(derived.at("load_excess"), 8);
    EXPECT_DOUBLE_EQ(derived.at("rereads"), 2);
    EXPECT_DOUBLE_EQ(derived.at("load_bytes_per_request"), 128);
    EXPECT_DOUBLE_EQ(derived.at("conflict_share"), 0.75);
    EXPECT_DOUBLE_EQ(derived.at("active_lanes"), 32);
}

TEST(Profile, TornJsonIsAnError) {
    const std::string text = to_json(make_profile(input_of({execute({})}, softmax_work()), a100())).dump();
    EXPECT_FALSE(profile_from_json(Json::parse("null")).ok());
    EXPECT_FALSE(profile_from_json(Json::parse("{\"schema\": \"kernelwright.profile/2\"}")).ok());
    // Every key taken away, one at a time.
    const Json json = Json::parse(text);
    for (const auto& [key, value] : json.items()) {
        if (key == "roofline_fraction") continue;  // computed again
        Json torn = json;
        torn.erase(key);
        EXPECT_FALSE(profile_from_json(torn).ok()) << key;
        torn[key] = "wrong";
        if (!value.is_string()) {
            EXPECT_FALSE(profile_from_json(torn).ok()) << key;
        }
    }
}

TEST(Profile, TextKeepsTheCountersApart) {
    const Profile profile =
        make_profile(input_of({testing::softmax_thread_per_row(4096, 4096)}, softmax_work()), a100());
    TextOptions options;
    options.counters = false;
    const std::string without = to_text(profile, options);
    EXPECT_THAT(without, Not(HasSubstr("\nCounters of")));
    EXPECT_THAT(to_text(profile), HasSubstr("\nCounters of kernel"));
    EXPECT_THAT(to_text(profile), HasSubstr("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
    EXPECT_THAT(without, HasSubstr("softmax_rows at M=4096, N=4096 on NVIDIA A100 SXM4 80 GB (sm_80)"));
    EXPECT_THAT(without, HasSubstr("roofline"));
}

}  // namespace
}  // namespace kernelwright

// The interface beside kernels: memory, refused launches, limits, sampling, schedules, metrics.
#include <algorithm>

#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

const char* const kCopy = R"(.version 9.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[16] = {1, 0, 0, 0, 2};
.const .align 4 .b8 weights[8];
.global .align 4 .u32 lookup[2] = {3, 4};
.global .align 4 .u32 counter;
.global .align 8 .u64 _ZTV5Shape[1];
.visible .entry copy(.param .u64 x, .param .u64 y, .param .u32 n)
.maxntid 256, 1, 1
{
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r6, [%rd1];
    st.global.u32 [%rd2], %r6;
DONE:
    ret;
}
.visible .entry makes_object(.param .u64 x)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    mov.u64 %rd2, _ZTV5Shape;
    st.global.u64 [%rd1], %rd2;
    ret;
}
.visible .entry forever()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 0;
LOOP:
    add.s32 %r1, %r1, 1;
    bra LOOP;
}
.visible .entry spin()
{
LOOP:
    bra LOOP;
}
.visible .entry symbols(.param .u64 y)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [y];
    ld.global.u32 %r1, [table+4];
    ld.const.u32 %r2, [weights+4];
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    st.global.u32 [table], %r3;
    mov.u64 %rd2, lookup;
    add.s64 %rd2, %rd2, 4;
    ld.global.u32 %r1, [%rd2];
    mov.u64 %rd3, counter;
    cvta.global.u64 %rd3, %rd3;
    st.u32 [%rd3], %r1;
    ret;
}
)";

TEST(Api, MemoryKeepsBuffersApart) {
    Memory memory;
    memory.set_address_seed(3);
    std::vector<std::uint64_t> at;
    for (const std::uint64_t size : {0ull, 1ull, 4096ull, 5ull << 30, 64ull})
        at.push_back(memory.allocate("b", size, BufferKind::input));
    const std::uint64_t sizes[] = {0, 1, 4096, 5ull << 30, 64};
    for (std::size_t i = 0; i < at.size(); ++i) {
        EXPECT_EQ(at[i] % 256, 0u);
        for (std::size_t j = 0; j < at.size(); ++j)
            if (at[i] < at[j]) {
                EXPECT_GE(at[j] - (at[i] + sizes[i]), 1ull << 32) << i << " " << j;
            }
    }
    Memory other;
    other.set_address_seed(4);
    EXPECT_NE(other.allocate("b", 16, BufferKind::input), at[0]);
    const std::vector<std::byte> three(3, std::byte{7});
    memory.write(at[2] + 10, three);
    EXPECT_EQ(memory.read(at[2] + 10, 3), three);
    EXPECT_TRUE(memory.read(at[2] + 4094, 3).empty());
    const std::uint64_t scratch = memory.allocate("s", 8, BufferKind::scratch, std::byte{0xaa});
    EXPECT_EQ(memory.read(scratch, 1)[0], std::byte{0xaa});
    memory.write(scratch + 2, three);
    EXPECT_EQ(memory.initialised(scratch),
              (std::vector<bool>{false, false, true, true, true, false, false, false}));
    memory.free(scratch);
    EXPECT_TRUE(memory.read(scratch, 1).empty());
}

TEST(Api, RefusedLaunches) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    const auto x = m.input("x", std::vector<int>(8, 1)), y = m.output<int>("y", 8);
    const auto rule = [&](Launch launch) {
        if (launch.arguments.empty())
            launch.arguments =
                m.pack("copy", {Machine::bytes_of(x), Machine::bytes_of(y), Machine::bytes_of(8)});
        const Outcome o = run(*m.module, m.memory, launch, m.options);
        return o.refused ? o.refused->rule : std::string("none");
    };
    Launch good{"copy", {1}, {8}, 0, {}, false, {}};
    EXPECT_EQ(rule(good), "none");
    Launch l = good;
    l.kernel = "nothing";
    EXPECT_EQ(rule(l), "kernel-not-found");
    l = good;
    l.grid = {0};
    EXPECT_EQ(rule(l), "illegal-grid");
    l.grid = {1, 70000};
    EXPECT_EQ(rule(l), "illegal-grid");
    l = good;
    l.block = {2048};
    EXPECT_EQ(rule(l), "illegal-block");
    l.block = {32, 32, 2};
    EXPECT_EQ(rule(l), "illegal-block");
    l.block = {512};  // compiled for 256
    EXPECT_EQ(rule(l), "illegal-block");
    l = good;
    l.dynamic_shared = 200000;
    EXPECT_EQ(rule(l), "too-much-shared-memory");
    l = good;
    l.arguments.resize(12);
    EXPECT_EQ(rule(l), "argument-size");
    l = good;
    l.cluster = Dim3{2};
    EXPECT_EQ(rule(l), "illegal-cluster");
    l = good;
    l.cooperative = true;
    l.grid = {100000};
    EXPECT_EQ(rule(l), "grid-not-resident");
}

TEST(Api, KernelInformation) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    const KernelInfo* info = m.module->find_kernel("copy");
    ASSERT_TRUE(info);
    ASSERT_EQ(info->parameters.size(), 3u);
    EXPECT_EQ(info->parameters[2].offset, 16u);
    EXPECT_EQ(info->parameters[2].type, "u32");
    EXPECT_EQ(info->parameter_bytes, 20u);
    std::map<std::string, bool> written;
    for (const GlobalInfo& global : m.module->globals()) written[global.name] = global.written;
    EXPECT_EQ(written, (std::map<std::string, bool>{
                           {"table", true},
                           {"weights", false},
                           {"lookup", false},
                           {"counter", true},
                           {"_ZTV5Shape", false}}));  // a table of virtual functions stays as it is
}

TEST(Api, SymbolsAreLoadedWrittenAndReset) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    const auto y = m.output<int>("y", 1);
    const std::vector<int> w = {0, 40};
    EXPECT_TRUE(m.memory.write_symbol(*m.module, "weights", std::as_bytes(std::span(w))));
    EXPECT_FALSE(m.memory.write_symbol(*m.module, "nothing", std::as_bytes(std::span(w))));
    const Outcome o = m.run("symbols", {1}, {1}, 0, y);
    EXPECT_TRUE(o.clean()) << describe(o);
    EXPECT_EQ(m.read<int>(y, 1)[0], 42);
    EXPECT_EQ(m.memory.read_symbol(*m.module, "table")[0], std::byte{42});
    m.memory.load_globals(*m.module);
    EXPECT_EQ(m.memory.read_symbol(*m.module, "table")[0], std::byte{1});
}

TEST(Api, LimitsEndALaunch) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    m.options.max_warp_instructions = 100000;
    Outcome o = m.run("forever", {1}, {32}, 0);
    ASSERT_EQ(o.faults.size(), 1u);
    EXPECT_EQ(o.faults[0].rule, "instruction-limit");
    EXPECT_GT(o.faults[0].place.ptx_line, 0);
    m.options.max_warp_instructions = ~0ull;
    m.options.max_time = std::chrono::milliseconds(50);
    o = m.run("forever", {1}, {32}, 0);
    ASSERT_EQ(o.faults.size(), 1u);
    EXPECT_EQ(o.faults[0].rule, "time-limit");
    // a loop that cannot end is known as one without waiting for a limit
    m.options.max_time = std::chrono::milliseconds(60000);
    o = m.run("spin", {1}, {32}, 0);
    ASSERT_EQ(o.faults.size(), 1u);
    EXPECT_EQ(o.faults[0].rule, "endless-loop");
}

// Wherever a limit falls, also on the last instruction of a block, a launch that was cut short says so.
TEST(Api, NoLimitIsSilent) {
    for (std::uint64_t limit = 1; limit < 400; ++limit) {
        Machine m;
        ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
        const auto x = m.input("x", std::vector<int>(128, 1)), y = m.output<int>("y", 128);
        m.options.max_warp_instructions = limit;
        const Outcome o = m.run("copy", {16}, {8}, 0, x, y, 128);
        const bool whole = o.counters.blocks_launched == 16;
        if (o.clean()) {
            EXPECT_TRUE(whole) << limit;
        } else {
            EXPECT_EQ(o.faults[0].rule, "instruction-limit") << limit;
        }
    }
}

// A grid of blocks that each end in their first slice is stopped too; one that cannot end does not begin.
TEST(Api, LimitsEndALargeGrid) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    const auto x = m.input("x", std::vector<int>(128, 1)), y = m.output<int>("y", 128);
    for (const std::uint64_t seed : {0, 5}) {
        m.options.schedule_seed = seed;
        m.options.max_warp_instructions = 6'000'000;
        Outcome o = m.run("copy", {5'000'000}, {32}, 0, x, y, 128);
        ASSERT_EQ(o.faults.size(), 1u) << describe(o);
        EXPECT_EQ(o.faults[0].rule, "instruction-limit");
        EXPECT_GT(o.counters.blocks_launched, 100'000u);
        m.options.max_time = std::chrono::milliseconds(100);
        o = m.run("copy", {5'000'000}, {32}, 0, x, y, 128);
        ASSERT_EQ(o.faults.size(), 1u) << describe(o);
        EXPECT_EQ(o.faults[0].rule, "time-limit");
        o = m.run("copy", {2147483647, 65535}, {32}, 0, x, y, 128);
        ASSERT_EQ(o.faults.size(), 1u) << describe(o);
        EXPECT_EQ(o.faults[0].rule, "instruction-limit");
        EXPECT_NE(o.faults[0].message.find("2147483647 x 65535 x 1"), std::string::npos) << describe(o);
        EXPECT_EQ(o.counters.blocks_launched, 0u);
        m.options.max_time = std::chrono::milliseconds(60000);
    }
}

// Every block of a seeded grid that is too large to list is run once.
TEST(Api, LargeSeededGridVisitsEveryBlock) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    const std::size_t n = (1u << 20) + 3;
    const auto x = m.input("x", std::vector<int>(n, 1)), y = m.output<int>("y", n);
    m.options.schedule_seed = 9;
    const Outcome o = m.run("copy", {static_cast<std::uint32_t>(n)}, {1}, 0, x, y, static_cast<int>(n));
    EXPECT_TRUE(o.clean()) << describe(o);
    EXPECT_EQ(m.read<int>(y, n), std::vector<int>(n, 1));
}

TEST(Api, SampledBlocks) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    std::vector<int> values(64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i) + 1;
    const auto x = m.input("x", values), y = m.output<int>("y", 64);
    m.options.blocks = {1, 5};
    const Outcome o = m.run("copy", {8}, {8}, 0, x, y, 64);
    EXPECT_TRUE(o.clean()) << describe(o);
    EXPECT_EQ(o.counters.blocks_launched, 2u);
    const auto written = m.memory.initialised(y);
    const auto got = m.read<int>(y, 64);
    for (std::size_t i = 0; i < 64; ++i) {
        const bool sampled = i / 8 == 1 || i / 8 == 5;
        EXPECT_EQ(written[4 * i], sampled);
        if (sampled) {
            EXPECT_EQ(got[i], values[i]);
        }
    }
}

TEST(Api, MetricsBearNsightNames) {
    Machine m;
    ASSERT_TRUE(m.load_ptx(kCopy)) << m.error;
    const auto x = m.input("x", std::vector<int>(256, 1)), y = m.output<int>("y", 256);
    const Outcome o = m.run("copy", {1}, {256}, 0, x, y, 256);
    const auto all = metrics(o.counters);
    const auto value = [&](const std::string& name) {
        const auto it =
            std::find_if(all.begin(), all.end(), [&](const Metric& metric) { return metric.name == name; });
        EXPECT_NE(it, all.end()) << name;
        return it == all.end() ? -1 : it->value;
    };
    EXPECT_EQ(value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 32);
    EXPECT_EQ(value("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), 4);
    EXPECT_EQ(value("smsp__warps_launched.sum"), 8);
    EXPECT_EQ(value("smsp__thread_inst_executed_per_inst_executed.ratio"), 32);
    Counters twice = o.counters;
    twice += o.counters;
    EXPECT_EQ(twice.global_load_sectors, 64u);
    EXPECT_FALSE(twice == o.counters);
}

// Known strides have known sectors and bank conflicts.
TEST(Api, SectorsAndBankConflicts) {
    const auto kernel = [](int global_stride, int shared_stride, const char* vector, int bytes) {
        return std::string(
                   ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
                   ".reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .shared .align 16 .b8 s[16384];\n"
                   "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, ") +
               std::to_string(global_stride) +
               "; add.s64 %rd1, %rd1, %rd2; ld.global.f32 %f1, [%rd1];\nmov.u32 %r2, s; mad.lo.u32 %r3, "
               "%r1, " +
               std::to_string(shared_stride) + ", %r2;\n" + "st.shared" + vector + ".f32 [%r3], " +
               (bytes == 4   ? "%f1"
                : bytes == 8 ? "{%f1, %f1}"
                             : "{%f1, %f1, %f1, %f1}") +
               ";\nret;\n}\n";
    };
    struct Row {
        int global_stride, shared_stride, bytes;
        std::uint64_t sectors, ideal, wavefronts, conflicts;
    };
    for (const Row& row : {Row{4, 4, 4, 4, 4, 1, 0}, Row{8, 8, 4, 8, 4, 2, 1}, Row{32, 128, 4, 32, 4, 32, 31},
                           Row{0, 132, 4, 1, 1, 1, 0}, Row{64, 16, 16, 32, 4, 4, 0}, Row{4, 8, 8, 4, 4, 2, 0},
                           Row{4, 32, 16, 4, 4, 8, 4}, Row{12, 12, 4, 12, 4, 1, 0}}) {
        Machine m;
        ASSERT_TRUE(m.load_ptx(kernel(row.global_stride, row.shared_stride,
                                      row.bytes == 4   ? ""
                                      : row.bytes == 8 ? ".v2"
                                                       : ".v4",
                                      row.bytes)))
            << m.error;
        const auto x = m.input("x", std::vector<float>(1024, 1.f));
        const Outcome o = m.run("k", {1}, {32}, 0, x);
        EXPECT_TRUE(o.clean()) << describe(o);
        EXPECT_EQ(o.counters.global_load_sectors, row.sectors) << row.global_stride;
        EXPECT_EQ(o.counters.ideal_global_load_sectors, row.ideal) << row.global_stride;
        EXPECT_EQ(o.counters.shared_store_wavefronts, row.wavefronts)
            << row.shared_stride << " bytes " << row.bytes;
        EXPECT_EQ(o.counters.shared_store_conflicts, row.conflicts)
            << row.shared_stride << " bytes " << row.bytes;
    }
}

// Operations on one address follow each other: the lanes of a float one by one, those of an integer as one.
TEST(Api, AtomicsOnOneAddress) {
    struct Row {
        const char* type;
        int stride;
        std::uint64_t operations, hottest, wavefronts;
    };
    for (const Row& row : {Row{"f32", 0, 64, 64, 64}, Row{"u32", 0, 2, 2, 64}, Row{"u32", 4, 64, 2, 2},
                           Row{"f32", 4, 64, 2, 2}, Row{"f32", 64, 64, 2, 32}, Row{"u32", 128, 64, 2, 64}}) {
        const std::string type = row.type, reg = type == "f32" ? "%f1" : "%r5";
        const std::string text =
            ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
            ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .shared .align 16 .b8 s[4096];\n"
            "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mov.u32 %r5, 0; mov.f32 %f1, 0f00000000;\n"
            "mul.lo.u32 %r2, %r1, " +
            std::to_string(row.stride) +
            "; cvt.u64.u32 %rd2, %r2; add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r3, s; add.u32 %r3, %r3, %r2;\n"
            "st.shared.u32 [%r3], %r5; bar.sync 0;\nred.global.add." +
            type + " [%rd1], " + reg + ";\nred.shared.add." + type + " [%r3], " + reg + ";\nret;\n}\n";
        Machine m;
        ASSERT_TRUE(m.load_ptx(text)) << m.error;
        m.options.check_races = false;
        const auto x = m.input("x", std::vector<float>(1024, 0.f), BufferKind::inout);
        const Outcome o = m.run("k", {2}, {32}, 0, x);
        EXPECT_TRUE(o.clean()) << describe(o);
        SCOPED_TRACE(type + " " + std::to_string(row.stride));
        EXPECT_EQ(o.counters.global_atomic_requests, 2u);
        EXPECT_EQ(o.counters.global_atomic_operations, row.operations);
        EXPECT_EQ(o.counters.hottest_atomic_operations, row.hottest);
        EXPECT_EQ(o.counters.hottest_atomic_blocks, 2u);
        EXPECT_EQ(o.counters.shared_atomic_requests, 2u);
        EXPECT_EQ(o.counters.shared_atomic_wavefronts, row.wavefronts);
    }
}

TEST(Api, DamagedTextNeverCrashes) {
    const std::string text = kCopy;
    std::uint64_t state = 1;
    for (int round = 0; round < 600; ++round) {
        std::string damaged = text;
        for (int k = 0; k < 3; ++k) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            const std::size_t at = (state >> 33) % damaged.size();
            switch ((state >> 20) % 3) {
                case 0:
                    damaged.erase(at, 1 + (state >> 40) % 8);
                    break;
                case 1:
                    damaged.insert(at, 1, "%[]{},;.@!0x\n"[(state >> 45) % 13]);
                    break;
                default:
                    damaged[at] = static_cast<char>(32 + (state >> 50) % 90);
                    break;
            }
        }
        auto loaded = Module::load(damaged);
        auto* module = std::get_if<Module>(&loaded);
        if (!module || !module->find_kernel("copy") || module->find_kernel("copy")->parameter_bytes > 4096)
            continue;
        Memory memory;
        Launch launch{"copy", {2}, {40}, 0, {}, false, {}};
        launch.arguments.resize(module->find_kernel("copy")->parameter_bytes, std::byte{0});
        const std::uint64_t x = memory.allocate("x", 64, BufferKind::input),
                            y = memory.allocate("y", 64, BufferKind::output);
        if (launch.arguments.size() >= 16) {
            std::memcpy(launch.arguments.data(), &x, 8);
            std::memcpy(launch.arguments.data() + 8, &y, 8);
        }
        Options options;
        options.max_warp_instructions = 20000;
        options.max_time = std::chrono::milliseconds(500);
        (void)run(*module, memory, launch, options);
    }
}

}  // namespace
}  // namespace emulator::test

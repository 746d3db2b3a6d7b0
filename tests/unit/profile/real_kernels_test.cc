// The model on kernels that really run: compiled by NVRTC, executed on the emulated GPU (some blocks of the
// grid), counted, scaled, estimated. Of each family the order is known to every CUDA engineer.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>

#include "emulator/emulator.h"
#include "harness/compile/nvrtc_compiler.h"
#include "harness/core/files.h"
#include "harness/profile/profile.h"
#include "harness/profile/scale.h"

namespace kernelwright {
namespace {

const DeviceTable& devices() {
    static const DeviceTable table = [] {
        auto loaded = DeviceTable::load(KW_SOURCE_DIR "/devices");
        EXPECT_TRUE(loaded.ok());
        return *loaded;
    }();
    return table;
}

// A family: one source file, kernels with the same buffers and arguments.
class Family {
  public:
    // `sizes` in floats; all but the last buffer are inputs.
    Family(const std::string& file, std::vector<std::uint64_t> sizes, std::vector<std::int32_t> integers,
           bool accumulates = false)
        : integers_(std::move(integers)) {
        auto source = read_file(KW_SOURCE_DIR "/tests/cases/profile/" + file);
        EXPECT_TRUE(source.ok());
        CompilerConfig config;
        config.cache_folder = std::filesystem::path();
        CompileRequest request;
        request.source = *source;
        request.file = file;
        CompileOutcome outcome = make_compiler(config)->compile(request);
        if (!outcome.build) {
            missing_ = outcome.environment.has_value();
            for (const Diagnostic& diagnostic : outcome.diagnostics) ADD_FAILURE() << to_line(diagnostic);
            return;
        }
        build_ = std::move(*outcome.build);
        auto loaded = emulator::Module::load(build_.ptx);
        if (auto* error = std::get_if<emulator::LoadError>(&loaded)) {
            ADD_FAILURE() << error->message;
            return;
        }
        module_ = std::make_unique<emulator::Module>(std::get<emulator::Module>(std::move(loaded)));
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const std::uint64_t bytes = sizes[i] * 4;
            buffer_bytes_ += bytes;
            const bool output = i + 1 == sizes.size();
            if (output) writable_bytes_ += bytes;
            const auto kind = !output       ? emulator::BufferKind::input
                              : accumulates ? emulator::BufferKind::inout
                                            : emulator::BufferKind::output;
            addresses_.push_back(memory_.allocate("b" + std::to_string(i), bytes, kind));
            if (!output || accumulates) memory_.write(addresses_.back(), std::vector<std::byte>(bytes));
        }
    }

    bool missing() const { return missing_; }

    // `blocks` of them spread over the grid.
    ExecutedKernel run(const std::string& name, std::array<std::uint32_t, 3> grid,
                       std::array<std::uint32_t, 3> block, std::uint64_t blocks) {
        ExecutedKernel k;
        k.name = name;
        k.grid = grid;
        k.block = block;
        if (!module_) return k;
        k.resources = build_.kernels.at(name);
        emulator::Launch launch;
        launch.kernel = name;
        launch.grid = {grid[0], grid[1], grid[2]};
        launch.block = {block[0], block[1], block[2]};
        for (std::uint64_t address : addresses_) push(launch.arguments, address);
        for (std::int32_t integer : integers_) push(launch.arguments, integer);
        emulator::Options options;
        options.check_races = false;
        const std::uint64_t total = k.blocks();
        if (blocks < total)
            for (std::uint64_t i = 0; i < blocks; ++i) options.blocks.push_back(i * total / blocks);
        const emulator::Outcome outcome = emulator::run(*module_, memory_, launch, options);
        EXPECT_FALSE(outcome.refused) << name << ": " << outcome.refused->message;
        for (const emulator::Fault& fault : outcome.faults)
            ADD_FAILURE() << name << ": " << fault.rule << ": " << fault.message;
        k.counters =
            scale_to_grid(outcome.counters, std::min(blocks, total), total, {buffer_bytes_, writable_bytes_});
        k.counted_blocks = std::min(blocks, total);
        return k;
    }

  private:
    template <class T>
    static void push(std::vector<std::byte>& bytes, T value) {
        bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), raw, raw + sizeof(T));
    }

    std::vector<std::int32_t> integers_;
    Build build_;
    std::unique_ptr<emulator::Module> module_;
    emulator::Memory memory_;
    std::vector<std::uint64_t> addresses_;
    std::uint64_t buffer_bytes_ = 0, writable_bytes_ = 0;
    bool missing_ = false;
};

// Each kernel must be estimated as at least `least` times as fast as the one before it, on every device.
struct Rung {
    ExecutedKernel kernel;
    double least;
    // Instead of `least` where L1 takes loads as fast as shared memory does.
    std::optional<double> least_with_fast_l1 = std::nullopt;
};

void expect_ladder(const std::vector<Rung>& ladder) {
    for (const DeviceFacts& facts : devices().all()) {
        std::string text = facts.name + ":";
        double before = 0;
        for (const Rung& rung : ladder) {
            const KernelEstimate e = estimate_kernel(rung.kernel, facts);
            text += " " + rung.kernel.name + " " + std::to_string(e.us) + " us (" + e.bound + ")";
            if (before > 0) {
                const bool fast_l1 = facts.l1_requests_per_clock > 0.9;
                EXPECT_GE(before / e.us, fast_l1 ? rung.least_with_fast_l1.value_or(rung.least) : rung.least)
                    << text;
            }
            before = e.us;
        }
        if (::testing::Test::HasFailure() || facts.name == "a100-sxm" || facts.name == "a6000")
            ::testing::Test::RecordProperty(facts.name, text);
    }
}

TEST(RealKernels, Softmax) {
    Family family("softmax.cu", {4096 * 4096, 4096 * 4096}, {4096, 4096});
    if (family.missing()) GTEST_SKIP() << "no NVRTC";
    const ExecutedKernel thread = family.run("thread_per_row", {16, 1, 1}, {256, 1, 1}, 1);
    const ExecutedKernel warp = family.run("warp_per_row", {1024, 1, 1}, {32, 4, 1}, 8);
    const ExecutedKernel tree = family.run("block_tree", {4096, 1, 1}, {256, 1, 1}, 8);
    const ExecutedKernel kept = family.run("block_registers", {4096, 1, 1}, {256, 1, 1}, 8);
    expect_ladder({{thread, 1}, {warp, 3}, {kept, 1}});
    expect_ladder({{thread, 1}, {tree, 3}, {kept, 1}});

    ProfileInput input;
    input.task = "softmax_rows";
    input.kernels = {thread};
    const double elements = 4096.0 * 4096;
    input.work = Work{4 * elements, 4 * elements, 5 * elements, false, DType::f32};
    const Profile profile = make_profile(input, *devices().find("a100"));
    std::set<std::string> first;
    for (std::size_t i = 0; i < profile.findings.size() && i < 3; ++i) first.insert(profile.findings[i].id);
    EXPECT_TRUE(first.contains("few-blocks")) << to_text(profile);
    EXPECT_TRUE(first.contains("uncoalesced-loads")) << to_text(profile);
    input.kernels = {kept};
    const Profile good = make_profile(input, *devices().find("a100"));
    EXPECT_GT(good.roofline_fraction(), 0.6) << to_text(good);
    for (const Finding& finding : good.findings) EXPECT_LT(finding.gain, 1.15) << to_text(good);
}

TEST(RealKernels, Transpose) {
    Family family("transpose.cu", {4096 * 4096, 4096 * 4096}, {4096});
    if (family.missing()) GTEST_SKIP() << "no NVRTC";
    const ExecutedKernel strided = family.run("strided_stores", {128, 128, 1}, {32, 8, 1}, 16);
    const ExecutedKernel conflicts = family.run("tile_32", {128, 128, 1}, {32, 8, 1}, 16);
    const ExecutedKernel padded = family.run("tile_33", {128, 128, 1}, {32, 8, 1}, 16);
    expect_ladder({{strided, 1}, {conflicts, 0.95}, {padded, 1.0}});
    const Profile profile = make_profile({"transpose", {}, {strided}, std::nullopt}, *devices().find("a100"));
    ASSERT_FALSE(profile.findings.empty());
    EXPECT_EQ(profile.findings[0].id, "uncoalesced-stores") << to_text(profile);
    ASSERT_FALSE(profile.findings[0].lines.empty());
    EXPECT_EQ(profile.findings[0].lines[0].line, 4);
    const Profile tile = make_profile({"transpose", {}, {conflicts}, std::nullopt}, *devices().find("a100"));
    ASSERT_FALSE(tile.findings.empty());
    EXPECT_EQ(tile.findings[0].id, "bank-conflicts") << to_text(tile);
    EXPECT_EQ(tile.findings[0].lines.at(0).line, 13);
}

TEST(RealKernels, Sgemm) {
    const std::uint32_t n = 2048;
    Family family("sgemm.cu", {n * n, n * n, n * n}, {static_cast<std::int32_t>(n)});
    if (family.missing()) GTEST_SKIP() << "no NVRTC";
    // Tiles without a patch in registers take as many loads as before, from shared memory instead of L1:
    // where both are as fast, that is a tie.
    expect_ladder({{family.run("lanes_down_rows", {n / 32, n / 32, 1}, {32, 32, 1}, 1), 1},
                   {family.run("lanes_along_columns", {n / 32, n / 32, 1}, {32, 32, 1}, 1), 2},
                   {family.run("shared_tiles", {n / 32, n / 32, 1}, {32, 32, 1}, 1), 1.05, 0.97},
                   {family.run("eight_outputs", {n / 64, n / 64, 1}, {512, 1, 1}, 1), 1.3},
                   {family.run("patches_scalar", {n / 128, n / 128, 1}, {256, 1, 1}, 1), 1.05},
                   {family.run("patches_wide", {n / 128, n / 128, 1}, {256, 1, 1}, 1), 1.0}});
}

TEST(RealKernels, Sum) {
    const std::uint32_t n = 1 << 24;
    Family family("sum.cu", {n, 1}, {static_cast<std::int32_t>(n)}, true);
    if (family.missing()) GTEST_SKIP() << "no NVRTC";
    expect_ladder({{family.run("atomic_each", {n / 256, 1, 1}, {256, 1, 1}, 16), 1},
                   {family.run("block_then_atomic", {n / 256, 1, 1}, {256, 1, 1}, 16), 1.5},
                   {family.run("stride_then_atomic", {864, 1, 1}, {256, 1, 1}, 16), 1.0}});
}

}  // namespace
}  // namespace kernelwright

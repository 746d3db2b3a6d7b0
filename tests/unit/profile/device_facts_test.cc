#include "harness/profile/device_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/core/files.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

DeviceTable table() {
    auto loaded = DeviceTable::load(KW_SOURCE_DIR "/devices");
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().str());
    return loaded.ok() ? *loaded : DeviceTable{};
}

TEST(DeviceFacts, EveryDeviceIsFoundByItsNames) {
    const DeviceTable devices = table();
    for (const char* name : {"sm_80", "a100", "A100-SXM", "h100", "sm_90", "sm_90a", "H200", "l4", "L40S",
                             "rtx3090", "RTX 4090", "rtx_4090", "a6000", "b200", "rtx5090", "sm_86", "sm_89"})
        EXPECT_TRUE(devices.find(name).ok()) << name;
    EXPECT_EQ(devices.find("sm_80")->name, "a100-sxm");
    EXPECT_EQ(devices.find("h100")->target, "sm_90a");
    EXPECT_EQ(devices.find("sm_90")->target, "sm_90");
    EXPECT_EQ(devices.find(default_target)->sm_count, 108u);
}

TEST(DeviceFacts, AnUnknownNameTellsTheNearest) {
    auto found = table().find("rtx4091");
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message.find("`rtx4090`"), std::string::npos) << found.error().message;
    EXPECT_NE(found.error().hint.find("a100-sxm"), std::string::npos);
}

TEST(DeviceFacts, RatesGiveTheDatasheetsPeaks) {
    // TFLOP/s of NVIDIA's datasheets: fp32, and dense f16 with f32 accumulation.
    struct Row {
        const char* name;
        double fp32, f16;
    };
    const DeviceTable devices = table();
    for (const Row& row : {Row{"a100", 19.5, 312},
                           {"h100", 61.9, 989},
                           {"l4", 30.3, 121},
                           {"l40s", 91.6, 362},
                           {"rtx3090", 35.6, 71.2},
                           {"rtx4090", 82.6, 165.2},
                           {"a6000", 38.7, 154.8},
                           {"b200", 70.3, 2250},
                           {"rtx5090", 104.8, 209.5}}) {
        const auto facts = devices.find(row.name);
        ASSERT_TRUE(facts.ok());
        EXPECT_NEAR(facts->fp32_flops() / 1e12, row.fp32, 0.02 * row.fp32) << row.name;
        EXPECT_NEAR(facts->tensor_flops(DType::f16) / 1e12, row.f16, 0.02 * row.f16) << row.name;
    }
    EXPECT_EQ(devices.find("a100")->tensor_flops(DType::e4m3), 0);
    EXPECT_GT(devices.find("l4")->tensor_flops(DType::e4m3), devices.find("l4")->tensor_flops(DType::f16));
}

TEST(DeviceFacts, EveryFigureHasASource) {
    const DeviceTable devices = table();
    for (const DeviceFacts& facts : devices.all()) {
        const Json json = to_json(facts);
        int figures = 0;
        for (const char* section : {"limits", "rates", "product", "latencies", "tensor"})
            for (const auto& [key, figure] : json.at(section).items()) {
                ++figures;
                EXPECT_FALSE(figure.at("source").get<std::string>().empty()) << facts.name << " " << key;
                EXPECT_GT(figure.at("value").get<double>(), 0) << facts.name << " " << key;
            }
        EXPECT_GT(figures, 45);
    }
}

TEST(DeviceFacts, LimitsAgreeWithTheEmulatorsDefault) {
    const emulator::Limits limits = to_emulator_limits(*table().find("sm_80"));
    const emulator::Limits standard;  // an A100
    EXPECT_EQ(limits.sm_count, standard.sm_count);
    EXPECT_EQ(limits.max_threads_per_block, standard.max_threads_per_block);
    EXPECT_EQ(limits.max_block_z, standard.max_block_z);
    EXPECT_EQ(limits.max_grid_x, standard.max_grid_x);
    EXPECT_EQ(limits.max_grid_z, standard.max_grid_z);
    EXPECT_EQ(limits.max_static_shared, standard.max_static_shared);
    EXPECT_EQ(limits.max_shared_optin, standard.max_shared_optin);
    EXPECT_EQ(limits.max_cluster_blocks, standard.max_cluster_blocks);
    EXPECT_EQ(limits.clock_mhz, standard.clock_mhz);
    EXPECT_EQ(expression_facts(*table().find("h100")).at("smem_optin"), 232448);
}

// Each case edits one line of a copy of the real files.
class BrokenDevice : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ =
            fs::temp_directory_path() / ("kw_devices_" + std::to_string(::getpid()) + "_" +
                                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_ / "architectures");
        for (const char* file : {"a100-sxm.yaml", "architectures/sm_80.yaml"})
            fs::copy_file(fs::path(KW_SOURCE_DIR "/devices") / file, folder_ / file);
    }
    void TearDown() override { fs::remove_all(folder_); }

    Error load_with(const std::string& file, const std::string& from, const std::string& to) {
        auto text = read_file(fs::path(KW_SOURCE_DIR "/devices") / file);
        EXPECT_TRUE(text.ok());
        const auto at = text->find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text->replace(at, from.size(), to);
        std::ofstream(folder_ / file) << *text;
        auto loaded = DeviceTable::load(folder_);
        EXPECT_FALSE(loaded.ok());
        return loaded.ok() ? Error{} : loaded.error();
    }

    fs::path folder_;
};

TEST_F(BrokenDevice, UnknownKey) {
    const Error error = load_with("a100-sxm.yaml", "clock_mhz:  ", "clock_mz:   ");
    EXPECT_NE(error.message.find("unknown key `clock_mz`; did you mean `clock_mhz`?"), std::string::npos)
        << error.str();
    EXPECT_EQ(error.line, 15);
}

TEST_F(BrokenDevice, MissingFigure) {
    const Error error = load_with("architectures/sm_80.yaml", "  xu_lanes: ", "  #");
    EXPECT_NE(error.message.find("`rates.xu_lanes` is missing"), std::string::npos) << error.str();
    EXPECT_GT(error.line, 0);
}

TEST_F(BrokenDevice, FigureWithoutSource) {
    const Error error = load_with("a100-sxm.yaml", "{value: 108, source: datasheet}", "{value: 108}");
    EXPECT_NE(error.message.find("needs a value and a source"), std::string::npos) << error.str();
}

TEST_F(BrokenDevice, BareNumber) {
    const Error error = load_with("a100-sxm.yaml", "{value: 108, source: datasheet}", "108");
    EXPECT_NE(error.message.find("a map is expected"), std::string::npos) << error.str();
}

TEST_F(BrokenDevice, UnknownSource) {
    const Error error =
        load_with("a100-sxm.yaml", "{value: 108, source: datasheet}", "{value: 108, source: blog}");
    EXPECT_NE(error.message.find("names a source that is not under `sources`"), std::string::npos)
        << error.str();
}

TEST_F(BrokenDevice, NegativeNotWholeNotANumber) {
    for (const char* value : {"-4", "0", "1.5", "many", ".nan", ".inf", "1e300"}) {
        const Error error = load_with("a100-sxm.yaml", "value: 108,", "value: " + std::string(value) + ",");
        EXPECT_NE(error.message.find("`product.sm_count` must be"), std::string::npos)
            << value << ": " << error.str();
    }
}

TEST_F(BrokenDevice, UnknownDtype) {
    const Error error = load_with("a100-sxm.yaml", "  tf32: ", "  tf33: ");
    EXPECT_NE(error.message.find("did you mean `tf32`?"), std::string::npos) << error.str();
}

TEST_F(BrokenDevice, UnknownArchitecture) {
    const Error error = load_with("a100-sxm.yaml", "architecture: sm_80", "architecture: ../../etc/passwd");
    EXPECT_NE(error.message.find("there is no architecture"), std::string::npos) << error.str();
}

TEST_F(BrokenDevice, NotYaml) {
    const Error error = load_with("a100-sxm.yaml", "product:", "product: {{{");
    EXPECT_NE(error.message.find("not YAML"), std::string::npos) << error.str();
    EXPECT_GT(error.line, 0);
}

TEST_F(BrokenDevice, TwoDevicesOfOneName) {
    auto text = read_file(folder_ / "a100-sxm.yaml");
    ASSERT_TRUE(text.ok());
    text->replace(text->find("name: a100-sxm"), 14, "name: other");
    std::ofstream(folder_ / "other.yaml") << *text;
    auto loaded = DeviceTable::load(folder_);
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(loaded.error().message.find("is already taken by"), std::string::npos) << loaded.error().str();
}

TEST(DeviceTable, AMissingOrEmptyFolderIsAnError) {
    EXPECT_FALSE(DeviceTable::load("/nonexistent/devices").ok());
    const fs::path empty = fs::temp_directory_path() / ("kw_no_devices_" + std::to_string(::getpid()));
    fs::create_directories(empty);
    EXPECT_FALSE(DeviceTable::load(empty).ok());
    fs::remove_all(empty);
}

}  // namespace
}  // namespace kernelwright

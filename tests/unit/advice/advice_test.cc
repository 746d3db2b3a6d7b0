// What profiles and skills say about kernels that really run: compiled, checked on small shapes, executed and
// counted at the tune shape, then estimated for every device. The cases are data: tests/cases/profile.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "harness/compile/nvrtc_compiler.h"
#include "harness/core/files.h"
#include "harness/search/evaluator.h"
#include "harness/search/skill_book.h"
#include "skills/context.h"
#include "verifiers/gate/gate.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path source_folder = KW_SOURCE_DIR;
const fs::path cases_folder = source_folder / "tests/cases";

const DeviceTable& devices() {
    static const DeviceTable table = [] {
        auto loaded = DeviceTable::load(source_folder / "devices");
        EXPECT_TRUE(loaded.ok());
        return *loaded;
    }();
    return table;
}

// One candidate as it ran at one shape; profiles for any device are made from its counters.
struct Executed {
    Task task;
    CheckReport report;
    std::string source;
    Profile on(const std::string& device) const {
        CheckReport there = report;
        there.facts = device;
        auto profiles = search::profiles_of(task, there, devices());
        EXPECT_EQ(profiles.size(), 1u);
        return profiles.empty() ? Profile{} : std::move(profiles.front());
    }
};

class Bench : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        compiler_ = make_compiler();
        device_ = make_emulated_device();
    }
    static void TearDownTestSuite() {
        compiler_.reset();
        device_.reset();
    }

    // The smallest shapes of the page are checked, so that no wrong kernel teaches anything; `shape` stands
    // in for the page's tune shape. Nothing without NVRTC.
    static std::optional<Executed> execute(const std::string& name, const std::string& file,
                                           const std::optional<SymbolValues>& shape = std::nullopt) {
        // Some right kernels belong to pages that are test cases themselves.
        const fs::path shipped = source_folder / "tasks" / (name + ".md");
        const auto task =
            load_task(fs::exists(shipped) ? shipped : cases_folder / "verdict/tasks" / (name + ".md"));
        const auto source = read_file(cases_folder / file);
        if (!task || !source) {
            ADD_FAILURE() << name << ", " << file << " cannot be read";
            return std::nullopt;
        }
        Executed out;
        out.task = *task;
        out.source = *source;
        if (out.task.check_shapes.size() > 3) out.task.check_shapes.resize(3);
        out.task.tune_shapes = {shape ? *shape : task->tune_shapes.front()};
        auto expectations = make_expectations(out.task, *compiler_, *device_);
        if (!expectations) {
            ADD_FAILURE() << expectations.error().str();
            return std::nullopt;
        }
        GateOptions options;
        options.work_per_shape = 100'000;
        out.report = check(out.task, *source, fs::path(file).filename().string(),
                           {*compiler_, *device_, **expectations, devices()}, options);
        if (out.report.environment) return std::nullopt;
        for (const Diagnostic& d : out.report.diagnostics)
            if (d.severity == Severity::error) ADD_FAILURE() << file << ": " << to_line(d);
        if (!out.report.pass || out.report.tune.size() != 1) return std::nullopt;
        return out;
    }

    static bool toolkit() {
        CompileRequest request;
        request.source = "extern \"C\" __global__ void k() {}";
        request.file = "probe.cu";
        return !compiler_->compile(request).environment;
    }

    inline static std::unique_ptr<Compiler> compiler_;
    inline static std::unique_ptr<Device> device_;
};

std::optional<SymbolValues> shape_of(const YAML::Node& node) {
    if (!node) return std::nullopt;
    SymbolValues values;
    for (const auto& entry : node) values[entry.first.as<std::string>()] = entry.second.as<std::int64_t>();
    return values;
}

int line_of(const std::string& source, const std::string& part) {
    const std::size_t at = source.find(part);
    return at == std::string::npos
               ? 0
               : 1 + static_cast<int>(
                         std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// ---- every engineer knows which is faster
// ------------------------------------------------------------------

// The rows of a YAML list, by number.
std::vector<int> rows_of(const char* file) {
    std::vector<int> rows(YAML::LoadFile(cases_folder / "profile" / file).size());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

// A name that gtest takes: letters, digits and `_`.
std::string plain(std::string text) {
    for (char& c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return text;
}

class Pair : public Bench, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Advice, Pair, ::testing::ValuesIn(rows_of("pairs.yaml")), [](const auto& info) {
    const YAML::Node pair =
        YAML::LoadFile(cases_folder / "profile/pairs.yaml")[static_cast<std::size_t>(info.param)];
    return plain(std::to_string(info.param) + "_" + fs::path(pair["slow"].as<std::string>()).stem().string());
});

TEST_P(Pair, TheFasterIsEstimatedFaster) {
    if (!toolkit()) GTEST_SKIP() << "no NVRTC";
    const YAML::Node pair =
        YAML::LoadFile(cases_folder / "profile/pairs.yaml")[static_cast<std::size_t>(GetParam())];
    const auto name = pair["task"].as<std::string>();
    const auto slow_file = pair["slow"].as<std::string>(), fast_file = pair["fast"].as<std::string>();
    SCOPED_TRACE(slow_file + " against " + fast_file);
    const auto slow = execute(name, slow_file, shape_of(pair["shape"]));
    const auto fast = execute(name, fast_file, shape_of(pair["shape"]));
    ASSERT_TRUE(slow && fast) << "not executed";
    // The order holds on every device; how much is gained is said for an A100.
    std::string table;
    double fewest = 1e9, on_a100 = 0;
    for (const DeviceFacts& facts : devices().all()) {
        const Profile before = slow->on(facts.name), after = fast->on(facts.name);
        const double ratio = before.estimate.us / after.estimate.us;
        table +=
            fmt::format("{} {:.2f} ({:.1f} us, {} to {:.1f} us, {}); ", facts.name, ratio, before.estimate.us,
                        before.estimate.bound, after.estimate.us, after.estimate.bound);
        fewest = std::min(fewest, ratio);
        if (facts.name == "a100-sxm") on_a100 = ratio;
    }
    RecordProperty("ratios", table);
    if (pair["every"])
        EXPECT_GE(fewest, pair["every"].as<double>()) << table;
    else
        EXPECT_GT(fewest, 1) << table;
    EXPECT_GE(on_a100, pair["a100"].as<double>()) << table;
    // The cause is ranked first (or among the first, where several are named), at its line.
    if (!pair["finding"]) return;
    const auto id = pair["finding"].as<std::string>();
    const Profile profile = slow->on("a100-sxm");
    const auto found = std::find_if(profile.findings.begin(), profile.findings.end(),
                                    [&](const Finding& f) { return f.id == id; });
    const auto allowed = pair["rank"] ? pair["rank"].as<int>() : 1;
    ASSERT_TRUE(found != profile.findings.end() && found - profile.findings.begin() < allowed)
        << id << " is not among the first " << allowed << "\n"
        << to_text(profile);
    if (!pair["line"]) return;
    const int line = line_of(slow->source, pair["line"].as<std::string>());
    ASSERT_GT(line, 0) << "no such line in " << slow_file;
    ASSERT_FALSE(found->lines.empty()) << to_text(profile);
    EXPECT_EQ(found->lines.front().line, line) << to_text(profile);
}

// ---- each rule fires where it should, and is silent where it should not
// --------------------------------------

class Rule : public Bench, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Advice, Rule, ::testing::ValuesIn(rows_of("skills.yaml")), [](const auto& info) {
    const YAML::Node row =
        YAML::LoadFile(cases_folder / "profile/skills.yaml")[static_cast<std::size_t>(info.param)];
    return plain(row["skill"].as<std::string>());
});

TEST_P(Rule, FiresOnItsKernelAndIsSilentOnAnother) {
    if (!toolkit()) GTEST_SKIP() << "no NVRTC";
    const SkillLibrary library = load_skills(source_folder / "skills/rules");
    const YAML::Node row =
        YAML::LoadFile(cases_folder / "profile/skills.yaml")[static_cast<std::size_t>(GetParam())];
    const Skill* skill = library.find(row["skill"].as<std::string>());
    ASSERT_NE(skill, nullptr);
    for (const char* way : {"fires", "silent"}) {
        SCOPED_TRACE(way);
        const YAML::Node node = row[way];
        ASSERT_TRUE(node);
        const std::string device = node["device"] ? node["device"].as<std::string>() : "a100-sxm";
        const auto name = node["task"].as<std::string>();
        Json context;
        std::string text;
        if (skill->phase == "draft") {
            const auto task = load_task(source_folder / "tasks" / (name + ".md"));
            ASSERT_TRUE(task.ok());
            context = make_context(search::skill_task(*task), *devices().find(device));
        } else {
            const auto run = execute(name, node["file"].as<std::string>(), shape_of(node["shape"]));
            ASSERT_TRUE(run) << "not executed";
            const Profile profile = run->on(device);
            context = make_context(search::skill_task(run->task), profile, *devices().find(device));
            text = to_text(profile);
        }
        const SkillVerdict verdict = evaluate(*skill, context);
        ASSERT_NE(verdict.state, SkillVerdict::State::broken) << verdict.error.str();
        if (std::string(way) == "fires") {
            EXPECT_TRUE(verdict.holds()) << "refused by `" << verdict.failed_pre << "`\n"
                                         << text << context["view"].dump() << context["model"].dump();
            if (node["says"]) {
                EXPECT_THAT(verdict.advice, HasSubstr(node["says"].as<std::string>()));
            }
        } else {
            EXPECT_FALSE(verdict.holds()) << verdict.advice << "\n" << text;
            if (node["because"]) {
                EXPECT_EQ(verdict.failed_pre, node["because"].as<std::string>()) << text;
            }
        }
    }
}

TEST(Rules, EachHasItsKernels) {
    const SkillLibrary library = load_skills(source_folder / "skills/rules");
    EXPECT_TRUE(library.errors.empty());
    std::set<std::string> covered;
    for (const YAML::Node& row : YAML::LoadFile(cases_folder / "profile/skills.yaml"))
        covered.insert(row["skill"].as<std::string>());
    for (const Skill& skill : library.skills)
        EXPECT_TRUE(covered.contains(skill.id))
            << skill.id << " has no kernels in tests/cases/profile/skills.yaml";
}

// A kernel that is given tensors alone reads no more than they hold, whatever scratch the plan has for
// others; one that is given scratch may.
TEST(Sampled, DistinctSectorsAreAtMostWhatTheTensorsHold) {
    const auto task = load_task(source_folder / "tasks/vector_add.md");
    ASSERT_TRUE(task.ok());
    CheckReport report;
    TuneRun tune;
    tune.symbols = {{"N", 8192}};  // 2 x 1024 sectors in
    tune.has_scratch = true;
    for (const char* buffer : {"b", "partial"}) {
        BoundKernel kernel;
        kernel.name = buffer;
        kernel.grid = {1024, 1, 1};
        kernel.arguments = {{"a", "", {}}, {buffer, "", {}}};
        tune.kernels.push_back(kernel);
        KernelRun run;
        run.blocks_run = 48;
        run.blocks_total = 1024;
        run.counters.global_load_sectors = run.counters.unique_load_sectors = 1000;
        tune.runs.push_back(run);
    }
    report.tune = {tune};
    const auto profiles = search::profiles_of(*task, report, devices());
    ASSERT_EQ(profiles.size(), 1u);
    const auto distinct = [&](std::size_t kernel) {
        for (const CounterValue& c : profiles[0].kernels[kernel].counters)
            if (c.name == "kernelwright__distinct_load_sectors.sum") return c.value;
        return -1.0;
    };
    EXPECT_EQ(distinct(0), 2048);
    EXPECT_GT(distinct(1), 2048);
}

// ---- every sentence and figure that a profile prints
// ---------------------------------------------------------

void expect_sane(const Profile& p, const DeviceFacts& facts) {
    const std::string text = to_text(p);
    for (const char* nonsense : {"nan", "inf ", "-0", " -", "of the 0.0", ":0 ", "e+1", "(0 %)", "0 warp"})
        EXPECT_EQ(text.find(nonsense), std::string::npos) << "`" << nonsense << "` in\n" << text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 62) << text;
    EXPECT_GT(p.estimate.us, 0);
    EXPECT_LT(p.estimate.low_us, p.estimate.us);
    EXPECT_GT(p.estimate.high_us, p.estimate.us);
    EXPECT_GE(p.roofline_fraction(), 0);
    EXPECT_LE(p.roofline_fraction(), 1) << text;
    for (const KernelProfile& k : p.kernels) {
        std::map<std::string, double> value;
        for (const CounterValue& c : k.counters) {
            EXPECT_TRUE(std::isfinite(c.value)) << c.name;
            EXPECT_GE(c.value, 0) << c.name;
            if (c.unit == "%") {
                EXPECT_LE(c.value, 100) << c.name;
            }
            if (c.name.starts_with("launch__grid") || c.name.starts_with("launch__block") ||
                c.name.starts_with("sm__ctas") || c.name.starts_with("smsp__warps_launched")) {
                EXPECT_EQ(c.how, How::exact) << c.name;
            }
            EXPECT_NE(c.how, How::measured) << c.name;
            EXPECT_TRUE(value.emplace(c.name, c.value).second) << c.name << " is there twice";
        }
        EXPECT_EQ(value["launch__grid_size"], value["sm__ctas_launched.sum"]);
        EXPECT_EQ(value["smsp__warps_launched.sum"],
                  value["launch__grid_size"] * std::ceil(value["launch__block_size"] / 32));
        EXPECT_LE(value["smsp__thread_inst_executed_per_inst_executed.ratio"], 32);
        EXPECT_LE(value["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"], 32 * 16);
        EXPECT_LE(value["kernelwright__hottest_atomic_operations.max"],
                  value["kernelwright__atomic_operations.sum"]);
        EXPECT_LE(value["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
                  value["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]);
        double instructions = 0, sectors = 0;
        for (const HotLine& l : k.lines) {
            EXPECT_GT(l.line, 0);
            EXPECT_FALSE(l.file.empty());
            instructions += l.instructions;
            sectors += l.sectors;
        }
        EXPECT_LE(instructions, 1.0001);
        EXPECT_LE(sectors, 1.0001);
        for (const auto& [name, ratio] : k.derived) {
            EXPECT_TRUE(std::isfinite(ratio) && ratio >= 0) << name;
            if (name.ends_with("_share") && name != "staged_share") {
                EXPECT_LE(ratio, 1) << name;
            }
        }
    }
    for (const KernelEstimate& e : p.estimate.kernels) {
        EXPECT_TRUE(std::isfinite(e.us));
        EXPECT_TRUE(e.sms_used > 0 && e.sms_used <= 1);
        EXPECT_TRUE(e.occupancy.fraction > 0 && e.occupancy.fraction <= 1) << facts.name;
        EXPECT_TRUE(e.traffic.l1_hit >= 0 && e.traffic.l1_hit <= 1) << e.traffic.l1_hit;
        EXPECT_TRUE(e.traffic.l2_hit >= 0 && e.traffic.l2_hit <= 1) << e.traffic.l2_hit;
        for (const ResourceTime& t : e.times) EXPECT_TRUE(std::isfinite(t.us) && t.us > 0) << t.name;
    }
    for (const Finding& f : p.findings) {
        EXPECT_TRUE(std::isfinite(f.gain) && f.gain >= 1.03) << f.id;
        EXPECT_TRUE(std::isfinite(f.value)) << f.id;
        EXPECT_LT(f.gain, 1e5) << f.id;
        for (const LineShare& l : f.lines)
            EXPECT_TRUE(l.line > 0 && l.share > 0 && l.share <= 1.0001) << f.id;
    }
    const auto back = profile_from_json(Json::parse(to_json(p).dump()));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, p);
}

// The naive kernel of every task, and kernels that are right in other ways.
std::vector<std::string> right_kernels() {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(cases_folder / "tasks"))
        if (entry.is_directory()) files.push_back("tasks/" + entry.path().filename().string() + "/naive.cu");
    for (const auto& entry : fs::directory_iterator(cases_folder / "verdict/good"))
        files.push_back("verdict/good/" + entry.path().filename().string());
    std::sort(files.begin(), files.end());
    return files;
}

class Figures : public Bench, public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Advice, Figures, ::testing::ValuesIn(right_kernels()),
                         [](const auto& info) { return plain(info.param); });

TEST_P(Figures, AreSaneOnEveryDevice) {
    if (!toolkit()) GTEST_SKIP() << "no NVRTC";
    const fs::path file = GetParam();
    const std::string stem = file.stem().string();
    const auto run =
        execute(stem == "naive" ? file.parent_path().filename().string() : stem.substr(0, stem.find("__")),
                file.string());
    ASSERT_TRUE(run) << "not executed";
    for (const DeviceFacts& facts : devices().all()) {
        SCOPED_TRACE(facts.name);
        expect_sane(run->on(facts.name), facts);
    }
}

}  // namespace
}  // namespace kernelwright

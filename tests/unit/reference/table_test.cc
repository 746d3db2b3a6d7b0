// The ops against tables worked out from their definitions (tests/cases/reference/*.yaml).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

Json to_json(const YAML::Node& node) {
    if (node.IsMap()) {
        Json out = Json::object();
        for (const auto& entry : node) out[entry.first.as<std::string>()] = to_json(entry.second);
        return out;
    }
    if (node.IsSequence()) {
        Json out = Json::array();
        for (const auto& entry : node) out.push_back(to_json(entry));
        return out;
    }
    const std::string text = node.as<std::string>();
    if (text == "true" || text == "false") return text == "true";
    try {
        std::size_t used = 0;
        const long long whole = std::stoll(text, &used);
        if (used == text.size()) return whole;
        const double real = std::stod(text, &used);
        if (used == text.size()) return real;
    } catch (const std::exception&) {
    }
    return text;
}

struct Table {
    DType dtype;
    Shape shape;
    std::vector<double> values;
    std::vector<std::int64_t> integers;
};

Table table(const YAML::Node& node) {
    Table t;
    t.dtype = *parse_dtype(node["dtype"].as<std::string>());
    t.shape = node["shape"].as<Shape>();
    for (const auto& value : node["values"]) {
        if (is_float(t.dtype)) {
            t.values.push_back(value.as<double>());
        } else {
            t.integers.push_back(value.as<std::int64_t>());
            t.values.push_back(static_cast<double>(t.integers.back()));
        }
    }
    return t;
}

class TableFile : public testing::TestWithParam<std::string> {};

TEST_P(TableFile, GivesWhatTheDefinitionGives) {
    const YAML::Node cases = YAML::LoadFile(GetParam());
    ASSERT_GT(cases.size(), 0U);
    for (const auto& entry : cases) {
        const std::string op = entry["op"].as<std::string>();
        SCOPED_TRACE(fmt::format("{} at line {}", op, entry.Mark().line + 1));
        std::vector<Tensor> inputs;
        for (const auto& node : entry["inputs"]) {
            const Table t = table(node);
            inputs.push_back(Tensor::from(t.dtype, t.shape, t.values));
        }
        std::vector<Table> outputs;
        std::vector<DType> dtypes;
        DeclaredShapes declared;
        for (const auto& node : entry["outputs"]) {
            outputs.push_back(table(node));
            dtypes.push_back(outputs.back().dtype);
            declared.push_back(outputs.back().shape);
        }
        const Json params = entry["params"] ? to_json(entry["params"]) : Json::object();
        const auto got = compute_reference(op, params, inputs, {}, dtypes, declared);
        ASSERT_TRUE(got.ok()) << got.error().str();
        ASSERT_EQ(got->size(), outputs.size());
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            const Expected& e = (*got)[k];
            EXPECT_EQ(e.shape, outputs[k].shape);
            EXPECT_EQ(e.dtype, outputs[k].dtype);
            ASSERT_EQ(e.value.size(), outputs[k].values.size());
            ASSERT_EQ(e.tolerance.size(), e.value.size());
            EXPECT_FALSE(e.bound.empty());
            EXPECT_EQ(e.integer, outputs[k].integers);
            for (std::size_t i = 0; i < e.value.size(); ++i) {
                const double want = outputs[k].values[i];
                if (std::isnan(want)) {
                    EXPECT_TRUE(std::isnan(e.value[i])) << i;
                } else if (std::isinf(want)) {
                    EXPECT_EQ(e.value[i], want) << i;
                } else {
                    EXPECT_NEAR(e.value[i], want, 1e-13 * std::max(1.0, std::fabs(want))) << "element " << i;
                    EXPECT_GE(e.tolerance[i], 0);
                    EXPECT_LE(e.tolerance[i], 1e-4 * std::max(1.0, std::fabs(want))) << "element " << i;
                }
            }
        }
    }
}

std::vector<std::string> files() {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(KW_SOURCE_DIR "/tests/cases/reference")) {
        if (entry.path().extension() == ".yaml") out.push_back(entry.path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

INSTANTIATE_TEST_SUITE_P(Tables, TableFile, testing::ValuesIn(files()),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

TEST(Tables, EveryOpHasOne) {
    std::set<std::string> seen;
    for (const std::string& file : files()) {
        for (const auto& entry : YAML::LoadFile(file)) seen.insert(entry["op"].as<std::string>());
    }
    for (const std::string& op : reference_ops()) EXPECT_TRUE(seen.contains(op)) << op;
    EXPECT_EQ(seen.size(), reference_ops().size());
}

}  // namespace
}  // namespace kernelwright

#include "harness/profile/device_facts.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "harness/core/files.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

// One figure of the files and the member that it fills. The table is the schema: what is not in it is an
// unknown key, what it holds must be there.
struct Figure {
    const char* section;
    const char* key;
    std::function<double(const DeviceFacts&)> get;
    std::function<void(DeviceFacts&, double)> set;
    bool whole;  // must be an integer
};

template <class T>
Figure figure(const char* section, const char* key, T DeviceFacts::*member) {
    return {section, key, [member](const DeviceFacts& f) { return static_cast<double>(f.*member); },
            [member](DeviceFacts& f, double v) { f.*member = static_cast<T>(v); }, std::is_integral_v<T>};
}

const std::vector<Figure>& figures() {
    using F = DeviceFacts;
    static const std::vector<Figure> table = {
        figure("limits", "compute_capability", &F::compute_capability),
        figure("limits", "max_threads_per_block", &F::max_threads_per_block),
        figure("limits", "max_block_x", &F::max_block_x),
        figure("limits", "max_block_y", &F::max_block_y),
        figure("limits", "max_block_z", &F::max_block_z),
        figure("limits", "max_grid_x", &F::max_grid_x),
        figure("limits", "max_grid_y", &F::max_grid_y),
        figure("limits", "max_grid_z", &F::max_grid_z),
        figure("limits", "max_cluster_blocks", &F::max_cluster_blocks),
        figure("limits", "shared_static_per_block", &F::shared_static_per_block),
        figure("limits", "shared_optin_per_block", &F::shared_optin_per_block),
        figure("limits", "shared_per_sm", &F::shared_per_sm),
        figure("limits", "shared_reserved_per_block", &F::shared_reserved_per_block),
        figure("limits", "shared_allocation_unit", &F::shared_allocation_unit),
        figure("limits", "l1_shared_bytes_per_sm", &F::l1_shared_bytes_per_sm),
        figure("limits", "registers_per_sm", &F::registers_per_sm),
        figure("limits", "registers_per_block", &F::registers_per_block),
        figure("limits", "max_registers_per_thread", &F::max_registers_per_thread),
        figure("limits", "register_allocation_unit", &F::register_allocation_unit),
        figure("limits", "sub_partitions", &F::sub_partitions),
        figure("limits", "max_warps_per_sm", &F::max_warps_per_sm),
        figure("limits", "max_blocks_per_sm", &F::max_blocks_per_sm),
        figure("limits", "barriers_per_sm", &F::barriers_per_sm),
        figure("rates", "issue_slots", &F::issue_slots),
        figure("rates", "fp32_lanes", &F::fp32_lanes),
        figure("rates", "alu_lanes", &F::alu_lanes),
        figure("rates", "xu_lanes", &F::xu_lanes),
        figure("rates", "fp64_lanes", &F::fp64_lanes),
        figure("rates", "fp16_lanes", &F::fp16_lanes),
        figure("rates", "lsu_lanes", &F::lsu_lanes),
        figure("rates", "shared_bytes_per_clock", &F::shared_bytes_per_clock),
        figure("rates", "l1_lines_per_clock", &F::l1_lines_per_clock),
        figure("rates", "l1_requests_per_clock", &F::l1_requests_per_clock),
        figure("rates", "l2_to_sm_bytes_per_clock", &F::l2_to_sm_bytes_per_clock),
        figure("rates", "atomics_per_clock_and_address", &F::atomics_per_clock_and_address),
        figure("product", "sm_count", &F::sm_count),
        figure("product", "clock_mhz", &F::clock_mhz),
        figure("product", "dram_gb_per_s", &F::dram_gb_per_s),
        figure("product", "l2_bytes", &F::l2_bytes),
        figure("product", "l2_bytes_per_clock", &F::l2_bytes_per_clock),
        figure("product", "launch_us", &F::launch_us),
        figure("latencies", "alu", &F::alu_latency),
        figure("latencies", "xu", &F::xu_latency),
        figure("latencies", "shared", &F::shared_latency),
        figure("latencies", "shuffle", &F::shuffle_latency),
        figure("latencies", "barrier", &F::barrier_latency),
        figure("latencies", "l1", &F::l1_latency),
        figure("latencies", "l2", &F::l2_latency),
        figure("latencies", "dram", &F::dram_latency),
    };
    return table;
}

Error error_at(const std::string& file, const YAML::Node& node, std::string message, std::string hint = {}) {
    const YAML::Mark mark = node.IsDefined() ? node.Mark() : YAML::Mark::null_mark();
    return Error{std::move(message), file, mark.is_null() ? 0 : mark.line + 1,
                 mark.is_null() ? 0 : mark.column + 1, std::move(hint)};
}

// A file's figures merged into `facts`. `sections` are those that this kind of file may have.
class FileReader {
  public:
    FileReader(std::string file, YAML::Node root) : file_(std::move(file)), root_(std::move(root)) {}

    Status check_keys(const YAML::Node& node, const std::vector<std::string>& known) const {
        if (!node.IsMap()) return error_at(file_, node, "a map is expected here");
        std::set<std::string> seen;
        for (const auto& entry : node) {
            if (!entry.first.IsScalar()) return error_at(file_, entry.first, "a key must be a plain word");
            const std::string key = entry.first.Scalar();
            if (std::find(known.begin(), known.end(), key) == known.end())
                return error_at(file_, entry.first, "unknown key `" + key + "`" + did_you_mean(key, known));
            if (!seen.insert(key).second) return error_at(file_, entry.first, "`" + key + "` is given twice");
        }
        return Done{};
    }

    Result<std::string> text(const char* key) const {
        const YAML::Node node = root_[key];
        if (!node || !node.IsScalar() || node.Scalar().empty())
            return error_at(file_, node ? node : root_, std::string("`") + key + "` must be a text");
        return node.Scalar();
    }

    // {value: 108, source: datasheet}
    Result<double> number(const YAML::Node& node, const std::string& path, bool whole,
                          DeviceFacts& facts) const {
        static const std::vector<std::string> known{"value", "source"};
        if (auto status = check_keys(node, known); !status) return status.error();
        const YAML::Node value = node["value"], source = node["source"];
        if (!value || !source)
            return error_at(file_, node, "`" + path + "` needs a value and a source",
                            "write {value: 1, source: datasheet}");
        double number = 0;
        if (!value.IsScalar() || !YAML::convert<double>::decode(value, number) || !std::isfinite(number) ||
            number <= 0)
            return error_at(file_, value, "`" + path + "` must be a positive number");
        if (whole && (number != std::floor(number) || number > 9e15))
            return error_at(file_, value, "`" + path + "` must be a whole number");
        const YAML::Node sources = root_["sources"];
        if (!source.IsScalar() || !sources || !sources.IsMap() || !sources[source.Scalar()] ||
            !sources[source.Scalar()].IsScalar())
            return error_at(file_, source, "`" + path + "` names a source that is not under `sources`",
                            "add it there: what document or measurement the figure is from, or `estimate`");
        facts.sources[path] = sources[source.Scalar()].Scalar();
        return number;
    }

    Status read_section(const std::string& section, DeviceFacts& facts) const {
        const YAML::Node node = root_[section];
        if (!node) return error_at(file_, root_, "the section `" + section + "` is missing");
        std::vector<std::string> known;
        for (const Figure& figure : figures())
            if (figure.section == section) known.emplace_back(figure.key);
        if (auto status = check_keys(node, known); !status) return status;
        for (const Figure& figure : figures()) {
            if (figure.section != section) continue;
            const YAML::Node entry = node[figure.key];
            if (!entry)
                return error_at(file_, node, "`" + section + "." + figure.key + "` is missing",
                                "every figure is needed; mark a guess with `source: estimate`");
            auto number = this->number(entry, section + "." + figure.key, figure.whole, facts);
            if (!number) return number.error();
            figure.set(facts, *number);
        }
        return Done{};
    }

    Status read_tensor(DeviceFacts& facts) const {
        const YAML::Node node = root_["tensor"];
        if (!node || !node.IsMap()) return error_at(file_, root_, "the section `tensor` is missing");
        std::vector<std::string> known;
        for (DType dtype : all_dtypes()) known.emplace_back(to_string(dtype));
        if (auto status = check_keys(node, known); !status) return status;
        for (const auto& entry : node) {
            const std::string key = entry.first.Scalar();
            auto number = this->number(entry.second, "tensor." + key, false, facts);
            if (!number) return number.error();
            facts.tensor[*parse_dtype(key)] = *number;
        }
        return Done{};
    }

    const YAML::Node& root() const { return root_; }
    const std::string& file() const { return file_; }

  private:
    std::string file_;
    YAML::Node root_;
};

Result<FileReader> open_yaml(const std::filesystem::path& path) {
    auto text = read_file(path, 1U << 20);
    if (!text) return text.error();
    try {
        YAML::Node root = YAML::Load(*text);
        if (!root.IsMap()) return Error{"a device file is a map of sections", path.string(), 1};
        return FileReader(path.string(), root);
    } catch (const YAML::Exception& e) {
        return Error{"not YAML: " + e.msg, path.string(), e.mark.line + 1, e.mark.column + 1};
    }
}

Status read_architecture(const std::filesystem::path& path, DeviceFacts& facts) {
    auto reader = open_yaml(path);
    if (!reader) return reader.error();
    if (auto status = reader->check_keys(reader->root(), {"name", "sources", "limits", "rates"}); !status)
        return status;
    auto name = reader->text("name");
    if (!name) return name.error();
    if (*name != path.stem().string())
        return error_at(path.string(), reader->root()["name"], "`name` must be the file's name");
    if (auto status = reader->read_section("limits", facts); !status) return status;
    return reader->read_section("rates", facts);
}

Result<DeviceFacts> read_product(const std::filesystem::path& path) {
    auto reader = open_yaml(path);
    if (!reader) return reader.error();
    if (auto status =
            reader->check_keys(reader->root(), {"name", "title", "architecture", "target", "aliases",
                                                "sources", "product", "latencies", "tensor"});
        !status)
        return status.error();
    DeviceFacts facts;
    for (auto [key, member] : {std::pair{"name", &DeviceFacts::name},
                               {"title", &DeviceFacts::title},
                               {"architecture", &DeviceFacts::architecture},
                               {"target", &DeviceFacts::target}}) {
        auto text = reader->text(key);
        if (!text) return text.error();
        facts.*member = *text;
    }
    if (facts.name != path.stem().string())
        return error_at(path.string(), reader->root()["name"], "`name` must be the file's name");
    if (const YAML::Node aliases = reader->root()["aliases"]) {
        if (!aliases.IsSequence()) return error_at(path.string(), aliases, "`aliases` must be a list");
        for (const auto& alias : aliases) {
            if (!alias.IsScalar()) return error_at(path.string(), alias, "an alias must be a text");
            facts.aliases.push_back(alias.Scalar());
        }
    }
    const auto architecture = path.parent_path() / "architectures" / (facts.architecture + ".yaml");
    std::error_code ignored;
    if (facts.architecture.find('/') != std::string::npos ||
        !std::filesystem::is_regular_file(architecture, ignored))
        return error_at(path.string(), reader->root()["architecture"],
                        "there is no architecture `" + facts.architecture + "`",
                        "add " + architecture.string());
    if (auto status = read_architecture(architecture, facts); !status) return status.error();
    if (auto status = reader->read_section("product", facts); !status) return status.error();
    if (auto status = reader->read_section("latencies", facts); !status) return status.error();
    if (auto status = reader->read_tensor(facts); !status) return status.error();
    return facts;
}

std::string normalised(std::string_view name) {
    std::string out;
    for (char c : name)
        if (c != '-' && c != '_' && c != ' ')
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

}  // namespace

double DeviceFacts::tensor_flops(DType dtype) const {
    const auto it = tensor.find(dtype);
    return it == tensor.end() ? 0 : it->second * sm_count * clock_hz();
}

Result<DeviceTable> DeviceTable::load(const std::filesystem::path& directory) {
    std::error_code failure;
    std::vector<std::filesystem::path> paths;
    for (std::filesystem::directory_iterator it(directory, failure), end; !failure && it != end;
         it.increment(failure))
        if (it->path().extension() == ".yaml") paths.push_back(it->path());
    if (failure) return Error{"the device folder cannot be read: " + failure.message(), directory.string()};
    if (paths.empty()) return Error{"no device file (*.yaml) in the folder", directory.string()};
    std::sort(paths.begin(), paths.end());
    DeviceTable table;
    std::map<std::string, std::string> names;  // normalised -> file
    for (const auto& path : paths) {
        auto facts = read_product(path);
        if (!facts) return facts.error();
        std::set<std::string> own{normalised(facts->name)};
        for (const auto& alias : facts->aliases) own.insert(normalised(alias));
        for (const auto& name : own) {
            const auto [other, fresh] = names.emplace(name, path.string());
            if (!fresh)
                return Error{"the name `" + name + "` is already taken by " + other->second, path.string()};
        }
        table.devices_.push_back(std::move(*facts));
    }
    return table;
}

Result<DeviceFacts> DeviceTable::find(const std::string& name) const {
    const std::string wanted = normalised(name);
    std::vector<std::string> known;
    for (const DeviceFacts& facts : devices_) {
        std::vector<std::string> names = facts.aliases;
        names.push_back(facts.name);
        for (const auto& candidate : names) {
            if (normalised(candidate) == wanted) {
                DeviceFacts found = facts;
                if (candidate.starts_with("sm_")) found.target = candidate;
                return found;
            }
            known.push_back(candidate);
        }
    }
    Error error{"no device `" + name + "`" + did_you_mean(name, known)};
    for (const DeviceFacts& facts : devices_)
        error.hint += (error.hint.empty() ? "known: " : ", ") + facts.name;
    error.hint += ", or an architecture such as sm_80 or sm_90a";
    return error;
}

emulator::Limits to_emulator_limits(const DeviceFacts& facts) {
    emulator::Limits limits;
    limits.sm_count = facts.sm_count;
    limits.max_threads_per_block = facts.max_threads_per_block;
    limits.max_block_x = facts.max_block_x;
    limits.max_block_y = facts.max_block_y;
    limits.max_block_z = facts.max_block_z;
    limits.max_grid_x = facts.max_grid_x;
    limits.max_grid_y = facts.max_grid_y;
    limits.max_grid_z = facts.max_grid_z;
    limits.max_static_shared = facts.shared_static_per_block;
    limits.max_shared_optin = facts.shared_optin_per_block;
    limits.max_cluster_blocks = facts.max_cluster_blocks;
    limits.clock_mhz = static_cast<std::uint32_t>(facts.clock_mhz);
    return limits;
}

std::map<std::string, std::int64_t> expression_facts(const DeviceFacts& facts) {
    return {{"sm_count", facts.sm_count},
            {"smem_optin", facts.shared_optin_per_block},
            {"cc", facts.compute_capability}};
}

Json to_json(const DeviceFacts& facts) {
    Json json{{"name", facts.name},
              {"title", facts.title},
              {"architecture", facts.architecture},
              {"target", facts.target},
              {"aliases", facts.aliases}};
    const auto put = [&](const std::string& section, const std::string& key, double value) {
        const auto source = facts.sources.find(section + "." + key);
        json[section][key] = {{"value", value},
                              {"source", source == facts.sources.end() ? "" : source->second}};
    };
    for (const Figure& figure : figures()) put(figure.section, figure.key, figure.get(facts));
    for (const auto& [dtype, rate] : facts.tensor) put("tensor", to_string(dtype), rate);
    return json;
}

}  // namespace kernelwright

#include "tests/unit/emulator_ptx/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace emulator::test {

namespace {

std::optional<CaseValue> parse_value(const std::string& token, const std::string& type) {
    CaseValue value;
    if (token == "_") {
        value.ignored = true;
        return value;
    }
    if (token == "nan") {
        value.any_nan = true;
        value.bits = type == "f64"   ? 0x7ff8000000000000u
                     : type == "f32" ? 0x7fc00000u
                     : type == "f16" ? 0x7e00u
                                     : 0x7fc0u;
        return value;
    }
    try {
        std::size_t used = 0;
        if (token.starts_with("0x")) {
            value.bits = std::stoull(token, &used, 16);
        } else if (type == "f64") {
            value.bits = std::bit_cast<std::uint64_t>(std::stod(token, &used));
        } else if (type == "f32") {
            value.bits = std::bit_cast<std::uint32_t>(std::stof(token, &used));
        } else if (type == "f16") {
            value.bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(std::stod(token, &used)));
        } else if (type == "bf16") {
            value.bits = std::bit_cast<std::uint32_t>(std::stof(token, &used)) >> 16;
        } else if (token.starts_with("-")) {
            value.bits = static_cast<std::uint64_t>(std::stoll(token, &used));
        } else {
            value.bits = std::stoull(token, &used);
        }
        if (used != token.size()) return std::nullopt;
    } catch (const std::exception&) {
        return std::nullopt;
    }
    return value;
}

std::string register_type(const std::string& type) {
    return type == "pred" ? "pred" : "b" + std::to_string(8 * element_bytes(type));
}

double real(const std::string& type, std::uint64_t bits) {
    if (type == "f64") return std::bit_cast<double>(bits);
    if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == "f16") return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double unit_in_last_place(const std::string& type, double value) {
    const int mantissa = type == "f64" ? 52 : type == "f32" ? 23 : type == "f16" ? 10 : 7;
    const int least = type == "f64" ? -1022 : type == "f16" ? -14 : -126;
    const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
    return std::ldexp(1.0, exponent - mantissa);
}

bool agrees(const CaseRegister& expected, const CaseValue& value, std::uint64_t got) {
    if (value.ignored) return true;
    const bool floating = expected.type[0] == 'f' || expected.type[0] == 'b'
                              ? expected.type.find('f') != std::string::npos
                              : false;
    if (value.any_nan) return std::isnan(real(expected.type, got));
    if (value.bits == got) return true;
    if (!floating || (!expected.ulps && !expected.absolute)) return false;
    const double x = real(expected.type, value.bits), y = real(expected.type, got);
    if (!std::isfinite(x) || !std::isfinite(y)) return std::isnan(x) && std::isnan(y);
    if (expected.absolute && std::fabs(x - y) <= *expected.absolute) return true;
    return expected.ulps && std::fabs(x - y) <= *expected.ulps * unit_in_last_place(expected.type, x);
}

std::vector<std::byte> pack(const std::vector<CaseValue>& values, std::uint32_t bytes) {
    std::vector<std::byte> out(values.size() * bytes);
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(out.data() + i * bytes, &values[i].bits, bytes);
    return out;
}

std::uint64_t unpack(const std::vector<std::byte>& data, std::size_t i, std::uint32_t bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, data.data() + i * bytes, bytes);
    return bits;
}

constexpr int kBodyFile = 1;
constexpr const char* kBodyName = "body";

// After labels and braces there is more than a directive.
bool holds_instruction(std::string line) {
    for (;;) {
        line.erase(0, line.find_first_not_of(" \t{}"));
        const std::size_t colon = line.find_first_of(":;.[ ");
        if (colon == std::string::npos || line[colon] != ':' || line.substr(colon, 2) == "::") break;
        line.erase(0, colon + 1);
    }
    return !line.empty() && line[0] != '.' && line[0] != '/';
}

std::string first_unexecuted(const std::string& body, const Counters& counters) {
    std::istringstream lines(body);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (holds_instruction(line) && counters.lines.count({kBodyName, number}) == 0) return line;
    return {};
}

}  // namespace

std::uint32_t element_bytes(const std::string& type) {
    if (type == "pred") return 4;
    if (type == "bf16") return 2;
    if (type.size() < 2) return 0;
    const int bits = std::atoi(type.c_str() + 1);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? static_cast<std::uint32_t>(bits / 8) : 0;
}

std::size_t InstructionCase::values() const {
    std::size_t count = 1;
    for (const auto* list : {&inputs, &outputs}) {
        for (const CaseRegister& r : *list) count = std::max(count, r.values.size());
    }
    return std::max<std::size_t>(count, blocks);
}

namespace {

// `NAME: BUFFER TYPE dims N .. box N .. [strides N ..] [steps N ..] [swizzle BYTES] [fill nan]`
std::string read_map(std::istringstream& words, CaseMap& map) {
    using Type = TensorMapRequest::Type;
    static const std::map<std::string, Type> types = {
        {"u8", Type::u8},   {"u16", Type::u16}, {"u32", Type::u32}, {"s32", Type::s32}, {"u64", Type::u64},
        {"s64", Type::s64}, {"f16", Type::f16}, {"f32", Type::f32}, {"f64", Type::f64}, {"bf16", Type::bf16}};
    static const std::map<std::string, TensorMapRequest::Swizzle> swizzles = {
        {"32", TensorMapRequest::Swizzle::bytes32},
        {"64", TensorMapRequest::Swizzle::bytes64},
        {"128", TensorMapRequest::Swizzle::bytes128}};
    std::string type, list, word;
    words >> map.name >> map.buffer >> type;
    if (!map.name.ends_with(':') || types.count(type) == 0)
        return "a map's name, buffer and type are expected";
    map.name.pop_back();
    map.request.type = types.at(type);
    while (words >> word) {
        const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
        const std::uint64_t value = number ? std::stoull(word) : 0;
        if (!number && list != "fill") {
            list = word;
        } else if (list == "dims") {
            map.request.dims.push_back(value);
        } else if (list == "strides") {
            map.request.strides.push_back(value);
        } else if (list == "box") {
            map.request.box.push_back(static_cast<std::uint32_t>(value));
        } else if (list == "steps") {
            map.request.element_strides.push_back(static_cast<std::uint32_t>(value));
        } else if (list == "swizzle" && swizzles.count(word) != 0) {
            map.request.swizzle = swizzles.at(word);
        } else if (list == "fill" && word == "nan") {
            map.request.fill = TensorMapRequest::Fill::nan;
        } else {
            return "`" + word + "` says nothing of a tensor map";
        }
    }
    return {};
}

// One line of a case; an empty answer, or what is wrong with it.
std::string read_line(const std::string& line, InstructionCase& test) {
    if (!line.starts_with("// ")) {
        test.body += line + "\n";
        return {};
    }
    std::istringstream words(line.substr(3));
    std::string kind, name, type;
    words >> kind;
    if (kind == "target") {
        words >> test.target;
    } else if (kind == "fault") {
        words >> test.fault;
    } else if (kind == "cluster") {
        words >> test.blocks;
        if (test.blocks < 1 || test.blocks > 16) return "a cluster has 1 to 16 blocks";
    } else if (kind == "map") {
        test.maps.emplace_back();
        return read_map(words, test.maps.back());
    } else if (kind == "module") {
        test.module_lines.push_back(line.substr(10));
    } else if (kind == "reg") {
        test.registers.push_back(line.substr(3));
    } else if ((kind == "in" || kind == "out" || kind == "mem") && line.find(':') != std::string::npos) {
        const std::size_t colon = line.find(':');
        std::istringstream head(line.substr(3, colon - 3)), values(line.substr(colon + 1));
        head >> kind >> name >> type;
        if (element_bytes(type) == 0) return "unknown type `" + type + "`";
        CaseRegister reg{name, type, {}, {}, {}};
        std::string word;
        while (head >> word) {
            double amount = 0;
            if (!(head >> amount)) return "a tolerance has no number";
            (word == "ulp" ? reg.ulps : reg.absolute) = amount;
        }
        std::vector<CaseValue> after;
        bool arrow = false;
        while (values >> word) {
            if (word == "->") {
                arrow = true;
                continue;
            }
            const auto value = parse_value(word, type);
            if (!value) return "`" + word + "` is not a value of " + type;
            (arrow ? after : reg.values).push_back(*value);
        }
        if (reg.values.empty()) return "there are no values";
        if (kind == "in") test.inputs.push_back(reg);
        if (kind == "out") test.outputs.push_back(reg);
        if (kind == "mem") {
            if (!arrow) after = reg.values;
            if (after.size() != reg.values.size()) return "the buffer changes its size";
            test.buffers.push_back({name, type, reg.values, after});
        }
    }
    return {};
}

std::string check_case(const InstructionCase& test) {
    const std::size_t values = test.values();
    if (values % test.blocks != 0) return "the blocks of the cluster have different numbers of values";
    for (const CaseMap& map : test.maps)
        if (std::none_of(test.buffers.begin(), test.buffers.end(),
                         [&](const CaseBuffer& buffer) { return buffer.name == map.buffer; }))
            return "the map `" + map.name + "` is of no buffer";
    for (const auto* list : {&test.inputs, &test.outputs}) {
        for (const CaseRegister& r : *list) {
            if (r.values.size() != values && !(list == &test.inputs && r.values.size() == 1))
                return fmt::format("`{}` has {} values, not {}", r.name, r.values.size(), values);
        }
    }
    if (test.outputs.empty() && test.buffers.empty() && test.fault.empty()) return "nothing is compared";
    return {};
}

}  // namespace

std::vector<InstructionCase> read_cases(const std::filesystem::path& file, std::string& error) {
    std::ifstream stream(file);
    if (!stream) {
        error = file.string() + ": cannot be read";
        return {};
    }
    InstructionCase common;
    common.name = file.stem().string();
    std::vector<InstructionCase> cases;
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
        if (line.starts_with("//// ")) {
            cases.push_back(common);
            cases.back().name = line.substr(5, line.find(':') - 5);
            continue;
        }
        const std::string wrong = read_line(line, cases.empty() ? common : cases.back());
        if (!wrong.empty()) {
            error = fmt::format("{}:{}: {}", file.string(), number, wrong);
            return {};
        }
    }
    if (cases.empty()) cases.push_back(common);
    for (const InstructionCase& test : cases) {
        const std::string wrong = check_case(test);
        if (wrong.empty()) continue;
        error = fmt::format("{}: {}: {}", file.string(), test.name, wrong);
        return {};
    }
    return cases;
}

std::string InstructionCase::ptx() const {
    std::string text = fmt::format(".version 9.0\n.target {}\n.address_size 64\n.file {} \"{}\"\n", target,
                                   kBodyFile, kBodyName);
    for (const std::string& line : module_lines) text += line + "\n";
    text += ".visible .entry k(";
    std::string separator, declare, load, store;
    // First, so that the maps are aligned.
    for (const CaseMap& map : maps) {
        text += fmt::format("{}.param .align 64 .b8 k_{}[128]", separator, map.name);
        separator = ", ";
    }
    const auto parameter = [&](const std::string& name) {
        text += fmt::format("{}.param .u64 k_{}", separator, name);
        separator = ", ";
    };
    declare = ".reg .b64 addr_, tid64_, at_;\n.reg .b32 tid_, value_, word_;\n.reg .pred flag_;\n";
    load = "mov.u32 tid_, %tid.x;\nmov.u32 value_, tid_;\n";
    if (blocks > 1)
        load +=
            "mov.u32 word_, %ctaid.x;\nmov.u32 value_, %ntid.x;\nmad.lo.u32 value_, word_, value_, tid_;\n";
    for (const CaseMap& map : maps) {
        declare += fmt::format(".reg .b64 {};\n", map.name);
        load += fmt::format("mov.b64 addr_, k_{0};\ncvta.param.u64 {0}, addr_;\n", map.name);
    }
    for (const CaseRegister& r : inputs) {
        parameter(r.name);
        declare += fmt::format(".reg .{} {};\n", register_type(r.type), r.name);
        load += fmt::format(
            "ld.param.u64 addr_, [k_{}];\nmul.wide.u32 tid64_, value_, {};\nadd.u64 at_, addr_, tid64_;\n",
            r.name, r.values.size() == 1 ? 0 : element_bytes(r.type));
        if (r.type == "pred") {
            load += fmt::format("ld.global.b32 word_, [at_];\nsetp.ne.u32 {}, word_, 0;\n", r.name);
        } else {
            load += fmt::format("ld.global.b{} {}, [at_];\n", 8 * element_bytes(r.type), r.name);
        }
    }
    for (const CaseBuffer& b : buffers) {
        parameter(b.name);
        declare += fmt::format(".reg .b64 {};\n", b.name);
        load += fmt::format("ld.param.u64 {0}, [k_{0}];\n", b.name);
    }
    for (const CaseRegister& r : outputs) {
        const bool also_input = std::any_of(inputs.begin(), inputs.end(),
                                            [&](const CaseRegister& input) { return input.name == r.name; });
        parameter("out_" + r.name);
        if (!also_input) declare += fmt::format(".reg .{} {};\n", register_type(r.type), r.name);
        store += fmt::format(
            "ld.param.u64 addr_, [k_out_{}];\nmul.wide.u32 tid64_, value_, {};\nadd.u64 at_, addr_, "
            "tid64_;\n",
            r.name, element_bytes(r.type));
        if (r.type == "pred") {
            store += fmt::format("selp.u32 word_, 1, 0, {};\nst.global.b32 [at_], word_;\n", r.name);
        } else {
            store += fmt::format("st.global.b{} [at_], {};\n", 8 * element_bytes(r.type), r.name);
        }
    }
    for (const std::string& line : registers) declare += "." + line + "\n";
    text += ")\n{\n" + declare + load;
    std::istringstream lines(body);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        text += fmt::format(".loc {} {} 1\n{}\n", kBodyFile, number, line);
    return text + fmt::format(".loc {} 1000000 1\n", kBodyFile) + store + "ret;\n}\n";
}

static CaseResult run_once(const InstructionCase& test, HostIsa isa, const Options& options) {
    const std::string ptx = test.ptx();
    auto loaded = Module::load(ptx, isa);
    if (const auto* error = std::get_if<LoadError>(&loaded)) {
        return {fmt::format("line {}: {} [{}]\n{}", error->ptx_line, error->message, error->instruction, ptx),
                {}};
    }
    const Module& module = std::get<Module>(loaded);
    Memory memory;
    Launch launch;
    launch.kernel = "k";
    launch.grid.x = test.blocks;
    launch.block.x = static_cast<std::uint32_t>(test.values() / test.blocks);
    if (test.blocks > 1) launch.cluster = Dim3{test.blocks, 1, 1};
    launch.arguments.resize(test.maps.size() * sizeof(TensorMap));
    const auto argument = [&](std::uint64_t address) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&address);
        launch.arguments.insert(launch.arguments.end(), bytes, bytes + 8);
    };
    for (const CaseRegister& r : test.inputs) {
        const auto data = pack(r.values, element_bytes(r.type));
        const std::uint64_t address = memory.allocate(r.name, data.size(), BufferKind::input);
        memory.write(address, data);
        argument(address);
    }
    std::vector<std::uint64_t> buffers, outputs;
    for (const CaseBuffer& b : test.buffers) {
        const auto data = pack(b.before, element_bytes(b.type));
        buffers.push_back(memory.allocate(b.name, data.size(), BufferKind::inout));
        memory.write(buffers.back(), data);
        argument(buffers.back());
    }
    for (std::size_t i = 0; i < test.maps.size(); ++i) {
        TensorMapRequest request = test.maps[i].request;
        for (std::size_t k = 0; k < test.buffers.size(); ++k)
            if (test.buffers[k].name == test.maps[i].buffer) request.address = buffers[k];
        const auto encoded = encode_tensor_map(request);
        if (const auto* error = std::get_if<TensorMapError>(&encoded)) return {error->message, {}};
        std::memcpy(launch.arguments.data() + i * sizeof(TensorMap), std::get<TensorMap>(encoded).data(),
                    sizeof(TensorMap));
    }
    for (const CaseRegister& r : test.outputs) {
        outputs.push_back(
            memory.allocate(r.name, r.values.size() * element_bytes(r.type), BufferKind::output));
        argument(outputs.back());
    }
    const Outcome outcome = run(module, memory, launch, options);
    if (outcome.refused)
        return {"refused: " + outcome.refused->message,
                outcome.refused->rule == "unsupported-launch" ? "a launch of this form" : ""};
    if (!test.fault.empty()) {
        for (const Fault& fault : outcome.faults) {
            if (fault.rule == test.fault) return {};
        }
    }
    for (const Fault& fault : outcome.faults)
        if (fault.rule == "unsupported-instruction")
            return {"unsupported-instruction: " + fault.message + " [" + fault.place.instruction + "]",
                    fault.place.instruction};
    if (!test.fault.empty())
        return {"no fault " + test.fault + (outcome.faults.empty() ? "" : " but " + outcome.faults[0].rule),
                {}};
    if (!outcome.faults.empty()) {
        const Fault& fault = outcome.faults[0];
        return {fmt::format("{}: {} [{}]", fault.rule, fault.message, fault.place.instruction), {}};
    }
    std::string wrong;
    const auto compare = [&](const CaseRegister& r, std::uint64_t address, const char* what) {
        const std::uint32_t bytes = element_bytes(r.type);
        const auto data = memory.read(address, r.values.size() * bytes);
        int shown = 0;
        for (std::size_t i = 0; i < r.values.size(); ++i) {
            const std::uint64_t got = unpack(data, i, bytes);
            if (agrees(r, r.values[i], got) || ++shown > 5) continue;
            std::string inputs;
            for (const CaseRegister& in : test.inputs) {
                inputs += fmt::format(" {}=0x{:x}", in.name, in.values[in.values.size() == 1 ? 0 : i].bits);
            }
            wrong += fmt::format("{} {}[{}]: 0x{:x}, expected {}{:x};{}\n", what, r.name, i, got,
                                 r.values[i].any_nan ? "nan " : "0x", r.values[i].bits, inputs);
        }
    };
    for (std::size_t i = 0; i < test.outputs.size(); ++i) compare(test.outputs[i], outputs[i], "register");
    if (const std::string line = first_unexecuted(test.body, outcome.counters); !line.empty())
        wrong += "`" + line + "` is not executed\n";
    for (std::size_t i = 0; i < test.buffers.size(); ++i) {
        CaseRegister content{test.buffers[i].name, test.buffers[i].type, test.buffers[i].after, {}, {}};
        compare(content, buffers[i], "buffer");
    }
    return {wrong, {}};
}

CaseResult run_case(const InstructionCase& test, Engine engine) {
    Options options;
    options.engine = engine;
    options.limits.max_cluster_blocks = 16;
    return run_once(test, HostIsa::baseline, options);
}

// On every instruction set of the host. What is asynchronous happens as late as it may; where nothing must go
// wrong, also at once.
std::string run_case(const InstructionCase& test) {
    const bool both = test.body.find("tcgen05.") != std::string::npos ||
                      (test.fault.empty() && test.body.find("async") != std::string::npos);
    std::string wrong;
    for (const HostIsa isa : {HostIsa::baseline, HostIsa::v3, HostIsa::v4}) {
        if (!supports(isa)) continue;
        Options options;
        options.limits.max_cluster_blocks = 16;
        std::string found = run_once(test, isa, options).wrong;
        if (found.empty() && both) {
            options.asynchronous = Options::Async::eager;
            found = run_once(test, isa, options).wrong;
            if (!found.empty()) found = "at once: " + found;
        }
        if (!found.empty()) wrong += fmt::format("instruction set {}: {}", static_cast<int>(isa), found);
    }
    return wrong;
}

}  // namespace emulator::test

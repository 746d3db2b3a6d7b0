// ptx-run FILE.ptx: executes one kernel on the emulated GPU and prints faults, counters and buffers. For
// looking at a kernel by hand; the harness does not use it.
//
//   ptx-run add.ptx --grid 4 --block 256 --arg x=f32[1024]:in:iota --arg y=f32[1024]:out --arg n=u32:1024
//           --print y
//
// Arguments in the kernel's order: NAME=TYPE:VALUE is a scalar; NAME=TYPE[COUNT]:KIND[:FILL] a buffer, KIND
// being in, inout, out or scratch and FILL zero, iota, random, a number, or @FILE with raw bytes.
// Exit codes: 0 clean, 1 faults, 2 the call or the file is wrong.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "emulator/emulator.h"

namespace {

using Json = nlohmann::ordered_json;

struct Argument {
    std::string name, type;
    bool is_buffer = false;
    emulator::BufferKind kind = emulator::BufferKind::input;
    std::uint64_t count = 0;
    std::string fill;
    std::uint64_t address = 0;
};

struct UsageError {
    std::string message;
};

std::size_t type_bytes(const std::string& type) {
    for (const auto& [name, size] : std::initializer_list<std::pair<const char*, std::size_t>>{{"f64", 8},
                                                                                               {"f32", 4},
                                                                                               {"f16", 2},
                                                                                               {"bf16", 2},
                                                                                               {"u64", 8},
                                                                                               {"s64", 8},
                                                                                               {"i64", 8},
                                                                                               {"u32", 4},
                                                                                               {"s32", 4},
                                                                                               {"i32", 4},
                                                                                               {"u16", 2},
                                                                                               {"s16", 2},
                                                                                               {"i16", 2},
                                                                                               {"u8", 1},
                                                                                               {"s8", 1},
                                                                                               {"i8", 1}}) {
        if (type == name) return size;
    }
    throw UsageError{
        fmt::format("unknown type `{}`: f64 f32 f16 bf16 u64 i64 u32 i32 u16 i16 u8 i8 are known", type)};
}

std::uint64_t encode(const std::string& type, double value) {
    if (type == "f64") return std::bit_cast<std::uint64_t>(value);
    if (type == "f32") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type == "f16") return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    if (type == "bf16") return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16;
    return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                     : static_cast<std::uint64_t>(value);
}

double decode(const std::string& type, const std::byte* data) {
    std::uint64_t bits = 0;
    const std::size_t size = type_bytes(type);
    std::memcpy(&bits, data, size);
    if (type == "f64") return std::bit_cast<double>(bits);
    if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == "f16") return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    if (type == "bf16") return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
    if (type[0] == 'u') return static_cast<double>(bits);
    const int unused = static_cast<int>(64 - 8 * size);
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

double number(const std::string& text, const std::string& where) {
    std::size_t used = 0;
    try {
        const double value = std::stod(text, &used);
        if (used == text.size()) return value;
    } catch (const std::exception&) {
    }
    throw UsageError{fmt::format("`{}` in `{}` is not a number", text, where)};
}

Argument parse_argument(const std::string& text) {
    Argument argument;
    const std::size_t equals = text.find('='), colon = text.find(':');
    if (equals == std::string::npos || colon == std::string::npos || colon < equals) {
        throw UsageError{
            fmt::format("`{}`: NAME=TYPE:VALUE or NAME=TYPE[COUNT]:KIND[:FILL] is expected", text)};
    }
    argument.name = text.substr(0, equals);
    argument.type = text.substr(equals + 1, colon - equals - 1);
    std::string rest = text.substr(colon + 1);
    const std::size_t bracket = argument.type.find('[');
    if (bracket == std::string::npos) {
        argument.fill = rest;
        type_bytes(argument.type);
        return argument;
    }
    argument.is_buffer = true;
    const std::string count = argument.type.substr(bracket + 1, argument.type.size() - bracket - 2);
    const double amount = number(count, text);
    argument.count = amount >= 1 && amount <= 4294967296.0 ? static_cast<std::uint64_t>(amount) : 0;
    argument.type.resize(bracket);
    if (argument.count == 0 || argument.count > (std::uint64_t{1} << 32) / type_bytes(argument.type)) {
        throw UsageError{fmt::format("`{}`: the count must be positive and the buffer at most 4 GiB", text)};
    }
    if (const std::size_t second = rest.find(':'); second != std::string::npos) {
        argument.fill = rest.substr(second + 1);
        rest.resize(second);
    }
    using emulator::BufferKind;
    if (rest == "in") {
        argument.kind = BufferKind::input;
    } else if (rest == "inout") {
        argument.kind = BufferKind::inout;
    } else if (rest == "out") {
        argument.kind = BufferKind::output;
    } else if (rest == "scratch") {
        argument.kind = BufferKind::scratch;
    } else {
        throw UsageError{fmt::format("`{}`: the kind must be in, inout, out or scratch", text)};
    }
    if (argument.fill.empty() && (rest == "in" || rest == "inout")) argument.fill = "zero";
    return argument;
}

std::vector<std::byte> content(const Argument& argument, std::uint64_t seed) {
    const std::size_t size = type_bytes(argument.type);
    std::vector<std::byte> bytes(argument.count * size);
    if (argument.fill.starts_with("@")) {
        std::ifstream file(argument.fill.substr(1), std::ios::binary);
        if (!file) throw UsageError{fmt::format("`{}` cannot be read", argument.fill.substr(1))};
        file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return bytes;
    }
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    const double constant = argument.fill == "zero" ? 0
                            : argument.fill == "iota" || argument.fill == "random"
                                ? 0
                                : number(argument.fill, argument.fill);
    for (std::uint64_t i = 0; i < argument.count; ++i) {
        double value = constant;
        if (argument.fill == "iota") value = static_cast<double>(i);
        if (argument.fill == "random")
            value = argument.type.find('f') != std::string::npos ? normal(random)
                                                                 : static_cast<double>(random() % 100);
        const std::uint64_t bits = encode(argument.type, value);
        std::memcpy(bytes.data() + i * size, &bits, size);
    }
    return bytes;
}

emulator::Dim3 parse_dim(const std::vector<std::uint32_t>& parts) {
    emulator::Dim3 dim;
    if (parts.size() > 3) throw UsageError{"a grid or block has at most three dimensions"};
    if (!parts.empty()) dim.x = parts[0];
    if (parts.size() > 1) dim.y = parts[1];
    if (parts.size() > 2) dim.z = parts[2];
    return dim;
}

std::string place_text(const emulator::Place& place) {
    return fmt::format("{} (PTX line {}: {})", to_string(place), place.ptx_line, place.instruction);
}

Json place_json(const emulator::Place& place) {
    Json calls = Json::array();
    for (const auto& call : place.inlined_at) calls.push_back({{"file", call.file}, {"line", call.line}});
    return {{"file", place.file},
            {"line", place.line},
            {"inlined_at", calls},
            {"ptx_line", place.ptx_line},
            {"instruction", place.instruction}};
}

struct Request {
    std::string file, kernel;
    std::vector<std::uint32_t> grid{1}, block{1}, cluster;
    std::vector<std::string> arguments, print, dump;
    std::uint32_t shared = 0;
    std::uint64_t seed = 1, schedule = 0;
    unsigned host_threads = 1;
    bool json = false, no_races = false, cooperative = false, eager = false, specification = false;
    std::size_t limit = 16;
};

int execute(const Request& request) {
    std::ifstream stream(request.file, std::ios::binary);
    if (!stream) throw UsageError{fmt::format("`{}` cannot be read", request.file)};
    std::stringstream text;
    text << stream.rdbuf();
    auto loaded = emulator::Module::load(text.str());
    if (const auto* error = std::get_if<emulator::LoadError>(&loaded)) {
        throw UsageError{fmt::format("{}:{}: {}{}", request.file, error->ptx_line, error->message,
                                     error->instruction.empty() ? "" : " [" + error->instruction + "]")};
    }
    const emulator::Module& module = std::get<emulator::Module>(loaded);
    emulator::Launch launch;
    launch.kernel = request.kernel;
    if (launch.kernel.empty() && module.kernels().size() == 1) launch.kernel = module.kernels()[0].name;
    const emulator::KernelInfo* kernel = module.find_kernel(launch.kernel);
    if (kernel == nullptr) {
        std::string names;
        for (const auto& k : module.kernels()) names += " " + k.name;
        throw UsageError{fmt::format("--kernel must be one of:{}", names)};
    }
    launch.grid = parse_dim(request.grid);
    launch.block = parse_dim(request.block);
    launch.dynamic_shared = request.shared;
    launch.cooperative = request.cooperative;
    if (!request.cluster.empty()) launch.cluster = parse_dim(request.cluster);
    launch.arguments.resize(kernel->parameter_bytes);
    if (request.arguments.size() != kernel->parameters.size()) {
        throw UsageError{fmt::format("{} takes {} arguments, {} are given", kernel->name,
                                     kernel->parameters.size(), request.arguments.size())};
    }
    emulator::Memory memory;
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        Argument argument = parse_argument(request.arguments[i]);
        const emulator::ParameterInfo& parameter = kernel->parameters[i];
        std::uint64_t bits = 0;
        if (argument.is_buffer) {
            argument.address =
                memory.allocate(argument.name, argument.count * type_bytes(argument.type), argument.kind);
            if (!argument.fill.empty()) memory.write(argument.address, content(argument, request.seed + i));
            bits = argument.address;
        } else {
            bits = encode(argument.type, number(argument.fill, request.arguments[i]));
        }
        std::memcpy(launch.arguments.data() + parameter.offset, &bits,
                    std::min<std::size_t>(parameter.size, 8));
        arguments.push_back(std::move(argument));
    }
    emulator::Options options;
    options.check_races = !request.no_races;
    options.schedule_seed = request.schedule;
    options.host_threads = request.host_threads;
    if (request.eager) options.asynchronous = emulator::Options::Async::eager;
    if (text.str().find(".target sm_9") != std::string::npos) {  // an H100's limits
        options.limits.sm_count = 132;
        options.limits.max_shared_optin = 232448;
        options.limits.max_cluster_blocks = 8;
        options.limits.clock_mhz = 1980;
    }
    if (request.specification) options.engine = emulator::Engine::specification;
    const emulator::Outcome outcome = emulator::run(module, memory, launch, options);

    const auto find = [&](const std::string& name) -> const Argument& {
        for (const Argument& argument : arguments) {
            if (argument.is_buffer && argument.name == name) return argument;
        }
        throw UsageError{fmt::format("there is no buffer `{}`", name)};
    };
    for (const std::string& dump : request.dump) {
        const std::size_t equals = dump.find('=');
        if (equals == std::string::npos) throw UsageError{"--dump NAME=FILE"};
        const Argument& argument = find(dump.substr(0, equals));
        const auto bytes = memory.read(argument.address, argument.count * type_bytes(argument.type));
        std::ofstream file(dump.substr(equals + 1), std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file) throw UsageError{fmt::format("`{}` cannot be written", dump.substr(equals + 1))};
    }
    Json json = {{"kernel", launch.kernel}, {"clean", outcome.clean()}, {"printed", outcome.printed}};
    json["refused"] = outcome.refused ? Json(outcome.refused->message) : Json();
    json["faults"] = Json::array();
    for (const emulator::Fault& fault : outcome.faults) {
        Json entry = place_json(fault.place);
        entry["rule"] = fault.rule;
        entry["message"] = fault.message;
        entry["occurrences"] = fault.occurrences;
        if (fault.other) {
            entry["other"] = place_json(fault.other->place);
            entry["other"]["note"] = fault.other->note;
        }
        json["faults"].push_back(std::move(entry));
        if (!request.json) {
            fmt::print("{}: {}\n  at {}\n", fault.rule, fault.message, place_text(fault.place));
            if (fault.other) fmt::print("  with {} {}\n", fault.other->note, place_text(fault.other->place));
        }
    }
    json["counters"] = Json::object();
    for (const emulator::Metric& metric : emulator::metrics(outcome.counters)) {
        json["counters"][metric.name] = metric.value;
        if (!request.json && metric.value != 0)
            fmt::print("{:<72} {:>14g} {}\n", metric.name, metric.value, metric.unit);
    }
    json["buffers"] = Json::object();
    for (const std::string& name : request.print) {
        const Argument& argument = find(name);
        const std::size_t size = type_bytes(argument.type);
        const auto bytes = memory.read(argument.address, argument.count * size);
        Json values = Json::array();
        for (std::size_t i = 0; i < argument.count && i < request.limit; ++i)
            values.push_back(decode(argument.type, bytes.data() + i * size));
        if (!request.json) fmt::print("{}: {}\n", name, values.dump());
        json["buffers"][name] = std::move(values);
    }
    if (request.json) {
        fmt::print("{}\n", json.dump(1));
    } else {
        fmt::print("{}{}\n", outcome.printed,
                   outcome.refused   ? "refused: " + outcome.refused->message
                   : outcome.clean() ? "clean"
                                     : "faults");
    }
    return outcome.clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Request request;
    CLI::App app{"Runs one kernel of a PTX file on the emulated GPU"};
    app.add_option("file", request.file, "PTX text")->required();
    app.add_option("--kernel", request.kernel, "the kernel's symbol (default: the only one)");
    app.add_option("--grid", request.grid, "blocks, x[,y[,z]]")->delimiter(',');
    app.add_option("--block", request.block, "threads, x[,y[,z]]")->delimiter(',');
    app.add_option("--cluster", request.cluster, "blocks of a cluster, x[,y[,z]]")->delimiter(',');
    app.add_option("--shared", request.shared, "dynamic shared memory, bytes");
    app.add_option("--arg", request.arguments,
                   "NAME=TYPE:VALUE or NAME=TYPE[COUNT]:in|inout|out|scratch[:FILL]")
        ->allow_extra_args(false);
    app.add_option("--print", request.print, "buffer to print")->allow_extra_args(false);
    app.add_option("--dump", request.dump, "NAME=FILE: raw bytes of a buffer")->allow_extra_args(false);
    app.add_option("--limit", request.limit, "values that --print shows");
    app.add_option("--seed", request.seed, "of random fills");
    app.add_option("--schedule", request.schedule, "seed of the order of warps and blocks");
    app.add_option("--host-threads", request.host_threads,
                   "host threads over the blocks of a launch where they do not communicate")
        ->check(CLI::Range(1, 64));
    app.add_flag("--json", request.json, "one JSON document");
    app.add_flag("--no-races", request.no_races, "leave the race check out");
    app.add_flag("--eager", request.eager, "asynchronous copies land at once");
    app.add_option_function<std::string>(
           "--engine", [&](const std::string& name) { request.specification = name == "specification"; },
           "fast, or specification: the slow executor that it is compared with")
        ->check(CLI::IsMember({"fast", "specification"}));
    app.add_flag("--cooperative", request.cooperative, "a cooperative launch");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        return execute(request);
    } catch (const UsageError& error) {
        fmt::print(stderr, "ptx-run: {}\n", error.message);
        return 2;
    }
}

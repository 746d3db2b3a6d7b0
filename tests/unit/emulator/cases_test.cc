// Every .cu file of tests/cases/emulator is a CUDA program with, in comments, buffers, launches and the one
// outcome that the emulated GPU must give; a .case file holds the comments alone, for a program that is also
// a case of the verifiers:
//   // source: FILE                                 (below tests/cases; lines below are its lines)
//   // buffer: NAME input|inout|output|scratch f32|i32|f16|i64 COUNT [mod N]
//   // target: compute_90a                           (default compute_80; from sm_90 on, an H100's limits)
//   // launch: KERNEL grid=X,Y,Z block=X,Y,Z [cluster=X,Y,Z] [shared=BYTES] [cooperative] args=a,b,i:5,f:1.5
//     (an argument map:NAME:TYPE:DIMS:BOX[:SWIZZLE[:nan]] is a tensor map of a dense buffer, innermost
//     dimension first: map:x:f32:64x32:16x8:128)
//   // expect: clean | RULE [line N] [other N] [via N]  (more rules may follow, one a line; all must be
//   found;
//      via: an inlined call that leads to either line)
//   // either: RULE [line N] [other N] [via N]      (at least one of these lines must be found)
//   // also: RULE                                     (a consequence that some schedules show)
//   // value: NAME[I] = V                             (of a buffer after the last launch, f32 or i32)
// A case is run under several schedules, each with asynchronous copies landing late and at once; the verdict
// must not depend on them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emulator/tensor_map.h"
#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

struct Expected {
    std::string rule;
    int line = 0, other = 0;
    std::vector<int> via = {};
};
struct Value {
    std::string buffer;
    std::size_t index = 0;
    double value = 0;
};
struct Case {
    std::string source, target;
    std::vector<Value> values;
    std::vector<std::string> buffers, launches, options;
    std::vector<Expected> expected, either;
    std::vector<std::string> also;
    bool clean = false;
};

const std::filesystem::path kCases = std::filesystem::path(KW_SOURCE_DIR) / "tests/cases";

std::string read_text(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

Case read_case(const std::filesystem::path& path) {
    Case c;
    c.source = read_text(path);
    std::istringstream in(c.source);
    std::string line;
    while (std::getline(in, line)) {
        const auto after = [&](const char* key) -> std::optional<std::string> {
            const std::string prefix = std::string("// ") + key + ": ";
            if (line.rfind(prefix, 0) != 0) return std::nullopt;
            return line.substr(prefix.size());
        };
        if (const auto text = after("source")) c.source = read_text(kCases / *text);
        if (const auto text = after("target")) {
            c.target = *text;
            c.options.push_back("--gpu-architecture=" + *text);
        }
        if (const auto text = after("value")) {
            Value v;
            const std::size_t bracket = text->find('[');
            v.buffer = text->substr(0, bracket);
            v.index = std::stoul(text->substr(bracket + 1));
            v.value = std::stod(text->substr(text->find('=') + 1));
            c.values.push_back(v);
        }
        if (const auto text = after("buffer")) c.buffers.push_back(*text);
        if (const auto text = after("launch")) c.launches.push_back(*text);
        if (const auto text = after("option")) c.options.push_back(*text);
        if (const auto text = after("also")) c.also.push_back(*text);
        const auto either = after("either");
        if (const auto text = either ? either : after("expect")) {
            std::istringstream words(*text);
            Expected e;
            words >> e.rule;
            std::string word;
            while (words >> word) {
                if (word == "line") words >> e.line;
                if (word == "other") words >> e.other;
                if (word == "via") words >> e.via.emplace_back();
            }
            if (e.rule == "clean")
                c.clean = true;
            else
                (either ? c.either : c.expected).push_back(e);
        }
    }
    return c;
}

Dim3 dims(const std::string& text) {
    Dim3 d;
    char comma;
    std::istringstream in(text);
    in >> d.x;
    if (in >> comma) in >> d.y;
    if (in >> comma) in >> d.z;
    return d;
}

// map:NAME:TYPE:DIMS:BOX[:SWIZZLE[:nan]]; nothing when it is not valid.
std::optional<std::vector<std::byte>> tensor_map(const std::string& text,
                                                 const std::map<std::string, std::uint64_t>& buffers) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    std::string part;
    while (std::getline(in, part, ':')) parts.push_back(part);
    const auto numbers = [](const std::string& list) {
        std::vector<std::uint64_t> out;
        std::istringstream stream(list);
        std::string number;
        while (std::getline(stream, number, 'x')) out.push_back(std::stoull(number));
        return out;
    };
    if (parts.size() < 5 || !buffers.count(parts[1])) return std::nullopt;
    TensorMapRequest request;
    request.type = parts[2] == "f16"   ? TensorMapRequest::Type::f16
                   : parts[2] == "i32" ? TensorMapRequest::Type::s32
                                       : TensorMapRequest::Type::f32;
    request.address = buffers.at(parts[1]);
    request.dims = numbers(parts[3]);
    for (const std::uint64_t n : numbers(parts[4])) request.box.push_back(static_cast<std::uint32_t>(n));
    std::uint64_t stride = element_bytes(request.type);
    for (std::size_t i = 0; i + 1 < request.dims.size(); ++i)
        request.strides.push_back(stride *= request.dims[i]);
    if (parts.size() > 5)
        request.swizzle = parts[5] == "128"  ? TensorMapRequest::Swizzle::bytes128
                          : parts[5] == "64" ? TensorMapRequest::Swizzle::bytes64
                          : parts[5] == "32" ? TensorMapRequest::Swizzle::bytes32
                                             : TensorMapRequest::Swizzle::none;
    if (parts.size() > 6 && parts[6] == "nan") request.fill = TensorMapRequest::Fill::nan;
    const auto map = encode_tensor_map(request);
    if (const auto* bytes = std::get_if<TensorMap>(&map)) return std::vector(bytes->begin(), bytes->end());
    return std::nullopt;
}

bool has_clusters(const std::string& target) {  // sm_90 and later
    constexpr std::string_view prefix = "compute_";
    return target.starts_with(prefix) && std::atoi(target.c_str() + prefix.size()) >= 90;
}

struct Schedule {
    std::uint64_t seed = 0;
    bool eager = false;
    HostIsa isa = best_host_isa();
    unsigned host_threads = 1;
};
struct Ran {
    Machine machine;
    std::map<std::string, std::uint64_t> buffers;
    std::vector<Outcome> outcomes;
};

void allocate(Ran& ran, const std::string& text) {
    std::istringstream in(text);
    std::string name, kind, type, word;
    std::size_t count = 0;
    int mod = 0;
    in >> name >> kind >> type >> count;
    if (in >> word && word == "mod") in >> mod;
    const BufferKind k = kind == "input"    ? BufferKind::input
                         : kind == "inout"  ? BufferKind::inout
                         : kind == "output" ? BufferKind::output
                                            : BufferKind::scratch;
    const std::size_t size = type == "f16" ? 2 : type == "i64" ? 8 : 4;
    const std::uint64_t at = ran.machine.memory.allocate(name, count * size, k);
    if (k == BufferKind::input || k == BufferKind::inout) {
        std::vector<std::byte> bytes(count * size);
        for (std::size_t i = 0; i < count; ++i) {
            const long long value = mod ? static_cast<long long>(i * i % static_cast<std::size_t>(mod)) : 0;
            const float real = static_cast<float>(i % 17) * 0.25f;
            if (type == "f32")
                std::memcpy(&bytes[i * 4], &real, 4);
            else
                std::memcpy(&bytes[i * size], &value, size);
        }
        ran.machine.memory.write(at, bytes);
    }
    ran.buffers[name] = at;
}

// Nothing when an argument is not known.
std::optional<Launch> parse_launch(const Ran& ran, const std::string& text) {
    std::istringstream in(text);
    Launch launch;
    in >> launch.kernel;
    std::string word;
    std::vector<std::vector<std::byte>> arguments;
    while (in >> word) {
        if (word.rfind("grid=", 0) == 0) launch.grid = dims(word.substr(5));
        if (word.rfind("block=", 0) == 0) launch.block = dims(word.substr(6));
        if (word.rfind("cluster=", 0) == 0) launch.cluster = dims(word.substr(8));
        if (word.rfind("shared=", 0) == 0)
            launch.dynamic_shared = static_cast<std::uint32_t>(std::stoul(word.substr(7)));
        if (word == "cooperative") launch.cooperative = true;
        if (word.rfind("args=", 0) != 0) continue;
        std::istringstream list(word.substr(5));
        std::string a;
        while (std::getline(list, a, ',')) {
            if (a.rfind("i:", 0) == 0) {
                arguments.push_back(Machine::bytes_of(std::stoi(a.substr(2))));
            } else if (a.rfind("f:", 0) == 0) {
                arguments.push_back(Machine::bytes_of(std::stof(a.substr(2))));
            } else if (a.rfind("map:", 0) == 0) {
                const auto map = tensor_map(a, ran.buffers);
                if (!map) return std::nullopt;
                arguments.push_back(*map);
            } else if (a == "null") {
                arguments.push_back(Machine::bytes_of(std::uint64_t{0}));
            } else {
                if (!ran.buffers.count(a)) return std::nullopt;
                arguments.push_back(Machine::bytes_of(ran.buffers.at(a)));
            }
        }
    }
    launch.arguments = ran.machine.pack(launch.kernel, arguments);
    return launch;
}

// Runs the case's launches; null when the case itself is wrong.
std::unique_ptr<Ran> execute(const Case& c, const std::string& ptx, const Schedule& schedule) {
    auto ran = std::make_unique<Ran>();
    Machine& m = ran->machine;
    if (schedule.eager) m.options.asynchronous = Options::Async::eager;
    if (has_clusters(c.target)) {  // an H100
        m.options.limits.sm_count = 132;
        m.options.limits.max_shared_optin = 232448;
        m.options.limits.max_cluster_blocks = 8;
    }
    if (!m.load_ptx(ptx, schedule.isa)) return nullptr;
    m.options.schedule_seed = schedule.seed;
    m.memory.set_address_seed(schedule.seed);
    m.options.max_time = std::chrono::milliseconds(20000);
    m.options.host_threads = schedule.host_threads;
    m.options.least_shared_work = 0;
    for (const std::string& text : c.buffers) allocate(*ran, text);
    for (const std::string& text : c.launches) {
        const auto launch = parse_launch(*ran, text);
        if (!launch) return nullptr;
        ran->outcomes.push_back(run(*m.module, m.memory, *launch, m.options));
    }
    return ran;
}

// The same faults, counters and bytes.
void expect_same(const Ran& usual, const Ran& other) {
    ASSERT_EQ(other.outcomes.size(), usual.outcomes.size());
    for (std::size_t i = 0; i < usual.outcomes.size(); ++i) {
        EXPECT_EQ(describe(other.outcomes[i]), describe(usual.outcomes[i]));
        EXPECT_EQ(other.outcomes[i].printed, usual.outcomes[i].printed);
        EXPECT_TRUE(other.outcomes[i].counters == usual.outcomes[i].counters) << "launch " << i;
    }
    for (const auto& [name, address] : usual.buffers) {
        const std::vector<bool> written = usual.machine.memory.initialised(address);
        EXPECT_EQ(other.machine.memory.read(address, written.size()),
                  usual.machine.memory.read(address, written.size()))
            << name;
        EXPECT_EQ(other.machine.memory.initialised(address), written) << name;
    }
}

class EmulatorCase : public testing::TestWithParam<std::string> {};

TEST_P(EmulatorCase, GivesTheExpectedOutcome) {
    NEED_TOOLKIT();
    const Case c = read_case(kCases / "emulator" / GetParam());
    ASSERT_TRUE(c.clean || !c.expected.empty() || !c.either.empty()) << "no expectation";
    ASSERT_FALSE(c.launches.empty());
    std::string log;
    const auto ptx = Nvrtc::get().compile(c.source, "kernel.cu", &log, c.options);
    ASSERT_TRUE(ptx) << log;
    const bool asynchronous = has_clusters(c.target);
    for (const std::uint64_t round : {0, 1, 7, 1000, 1007}) {
        if (round >= 1000 && !asynchronous) continue;
        const std::uint64_t seed = round % 1000;
        const auto ran = execute(c, *ptx, {.seed = seed, .eager = round >= 1000});
        ASSERT_TRUE(ran) << "the PTX does not load, or an argument is not known";
        if (round == 7) {
            SCOPED_TRACE("another instruction set of the host, and several of its threads");
            const auto other = execute(c, *ptx, {.seed = seed, .isa = HostIsa::baseline, .host_threads = 3});
            ASSERT_TRUE(other);
            expect_same(*ran, *other);
        }
        std::vector<Fault> faults;
        for (const Outcome& o : ran->outcomes) {
            ASSERT_FALSE(o.refused) << o.refused->message;
            if (c.clean) {
                EXPECT_TRUE(o.clean()) << "seed " << round << ": " << describe(o);
            }
            faults.insert(faults.end(), o.faults.begin(), o.faults.end());
        }
        for (const Value& v : c.values) {
            const auto raw = ran->machine.memory.read(ran->buffers.at(v.buffer) + 4 * v.index, 4);
            float real = 0;
            std::int32_t integer = 0;
            std::memcpy(&real, raw.data(), 4);
            std::memcpy(&integer, raw.data(), 4);
            const bool is_integer = std::any_of(c.buffers.begin(), c.buffers.end(), [&](const auto& b) {
                return b.rfind(v.buffer + " ", 0) == 0 && b.find(" i32 ") != std::string::npos;
            });
            EXPECT_EQ(is_integer ? integer : static_cast<double>(real), v.value)
                << "seed " << seed << " " << v.buffer << "[" << v.index << "]";
        }
        const auto fits = [&](const Expected& e, const Fault& f) {
            if (f.rule != e.rule) return false;
            for (const int line : e.via) {
                const auto leads = [&](const Place& p) {
                    return std::any_of(p.inlined_at.begin(), p.inlined_at.end(),
                                       [&](const Place::Call& call) { return call.line == line; });
                };
                if (!leads(f.place) && !(f.other && leads(f.other->place))) return false;
            }
            if (e.other == 0) return e.line == 0 || f.place.line == e.line;
            // Either party may be named first: which one comes second depends on the schedule.
            const int other = f.other ? f.other->place.line : 0;
            return (f.place.line == e.line && other == e.other) ||
                   (f.place.line == e.other && other == e.line);
        };
        const auto found = [&](const Expected& e) {
            return std::any_of(faults.begin(), faults.end(), [&](const Fault& f) { return fits(e, f); });
        };
        Outcome all;
        all.faults = faults;
        for (const Expected& e : c.expected)
            EXPECT_TRUE(found(e)) << "seed " << round << ": expected " << e.rule << " at line " << e.line
                                  << ", got:\n"
                                  << describe(all);
        if (!c.either.empty()) {
            EXPECT_TRUE(std::any_of(c.either.begin(), c.either.end(), found))
                << "seed " << round << ": none of the rules expected, got:\n"
                << describe(all);
        }
        // and nothing else
        for (const Fault& f : faults) {
            bool known = false;
            for (const auto* list : {&c.expected, &c.either})
                for (const Expected& e : *list) known |= f.rule == e.rule;
            for (const std::string& rule : c.also) known |= f.rule == rule;
            Outcome one;
            one.faults = {f};
            EXPECT_TRUE(known || c.clean) << "seed " << seed << ": unexpected " << describe(one);
        }
    }
}

std::vector<std::string> case_files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kCases / "emulator")) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() == ".cu" || path.extension() == ".case")
            names.push_back(path.filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}
INSTANTIATE_TEST_SUITE_P(Files, EmulatorCase, testing::ValuesIn(case_files()), [](const auto& info) {
    std::string name = info.param.substr(0, info.param.rfind('.'));
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

}  // namespace
}  // namespace emulator::test

// Every .cu file of tests/cases/emulator is a CUDA program with, in comments, buffers, launches and the one
// outcome that the emulated GPU must give; a .case file holds the comments alone, for a program that is also
// a case of the verifiers:
//   // source: FILE                                 (below tests/cases; lines below are its lines)
//   // buffer: NAME input|inout|output|scratch f32|i32|f16|i64 COUNT [mod N]
//   // launch: KERNEL grid=X,Y,Z block=X,Y,Z [shared=BYTES] [cooperative] args=a,b,i:5,f:1.5
//   // expect: clean | RULE [line N] [other N]        (more rules may follow, one a line; all must be found)
//   // also: RULE                                     (a consequence that some schedules show)
// A case is run under several schedules; the verdict must not depend on them.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

struct Expected {
    std::string rule;
    int line = 0, other = 0;
};
struct Case {
    std::string source;
    std::vector<std::string> buffers, launches, options;
    std::vector<Expected> expected;
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
        if (const auto text = after("buffer")) c.buffers.push_back(*text);
        if (const auto text = after("launch")) c.launches.push_back(*text);
        if (const auto text = after("option")) c.options.push_back(*text);
        if (const auto text = after("also")) c.also.push_back(*text);
        if (const auto text = after("expect")) {
            std::istringstream words(*text);
            Expected e;
            words >> e.rule;
            std::string word;
            while (words >> word) {
                if (word == "line") words >> e.line;
                if (word == "other") words >> e.other;
            }
            if (e.rule == "clean")
                c.clean = true;
            else
                c.expected.push_back(e);
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

class EmulatorCase : public testing::TestWithParam<std::string> {};

TEST_P(EmulatorCase, GivesTheExpectedOutcome) {
    NEED_TOOLKIT();
    const Case c = read_case(kCases / "emulator" / GetParam());
    ASSERT_TRUE(c.clean || !c.expected.empty()) << "no expectation";
    ASSERT_FALSE(c.launches.empty());
    std::string log;
    const auto ptx = Nvrtc::get().compile(c.source, "kernel.cu", &log, c.options);
    ASSERT_TRUE(ptx) << log;
    for (const std::uint64_t seed : {0, 1, 7}) {
        Machine m;
        ASSERT_TRUE(m.load_ptx(*ptx)) << m.error;
        m.options.schedule_seed = seed;
        m.memory.set_address_seed(seed);
        m.options.max_time = std::chrono::milliseconds(20000);
        std::map<std::string, std::uint64_t> buffers;
        for (const std::string& text : c.buffers) {
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
            const std::uint64_t at = m.memory.allocate(name, count * size, k);
            if (k == BufferKind::input || k == BufferKind::inout) {
                std::vector<std::byte> bytes(count * size);
                for (std::size_t i = 0; i < count; ++i) {
                    const long long value =
                        mod ? static_cast<long long>(i * i % static_cast<std::size_t>(mod)) : 0;
                    const float real = static_cast<float>(i % 17) * 0.25f;
                    if (type == "f32")
                        std::memcpy(&bytes[i * 4], &real, 4);
                    else
                        std::memcpy(&bytes[i * size], &value, size);
                }
                m.memory.write(at, bytes);
            }
            buffers[name] = at;
        }
        std::vector<Fault> faults;
        for (const std::string& text : c.launches) {
            std::istringstream in(text);
            Launch launch;
            in >> launch.kernel;
            std::string word;
            std::vector<std::vector<std::byte>> arguments;
            while (in >> word) {
                if (word.rfind("grid=", 0) == 0) launch.grid = dims(word.substr(5));
                if (word.rfind("block=", 0) == 0) launch.block = dims(word.substr(6));
                if (word.rfind("shared=", 0) == 0)
                    launch.dynamic_shared = static_cast<std::uint32_t>(std::stoul(word.substr(7)));
                if (word == "cooperative") launch.cooperative = true;
                if (word.rfind("args=", 0) == 0) {
                    std::istringstream list(word.substr(5));
                    std::string a;
                    while (std::getline(list, a, ',')) {
                        if (a.rfind("i:", 0) == 0)
                            arguments.push_back(Machine::bytes_of(std::stoi(a.substr(2))));
                        else if (a.rfind("f:", 0) == 0)
                            arguments.push_back(Machine::bytes_of(std::stof(a.substr(2))));
                        else if (a == "null")
                            arguments.push_back(Machine::bytes_of(std::uint64_t{0}));
                        else {
                            ASSERT_TRUE(buffers.count(a)) << a;
                            arguments.push_back(Machine::bytes_of(buffers[a]));
                        }
                    }
                }
            }
            launch.arguments = m.pack(launch.kernel, arguments);
            const Outcome o = run(*m.module, m.memory, launch, m.options);
            ASSERT_FALSE(o.refused) << o.refused->message;
            if (c.clean) {
                EXPECT_TRUE(o.clean()) << "seed " << seed << ": " << describe(o);
            }
            faults.insert(faults.end(), o.faults.begin(), o.faults.end());
        }
        for (const Expected& e : c.expected) {
            bool found = false;
            Outcome all;
            all.faults = faults;
            for (const Fault& f : faults) {
                bool fits = f.rule == e.rule && (e.line == 0 || f.place.line == e.line);
                if (e.other != 0) {
                    // Either party may be named first: which one comes second depends on the schedule.
                    const int other = f.other ? f.other->place.line : 0;
                    fits = f.rule == e.rule && ((f.place.line == e.line && other == e.other) ||
                                                (f.place.line == e.other && other == e.line));
                }
                found |= fits;
            }
            EXPECT_TRUE(found) << "seed " << seed << ": expected " << e.rule << " at line " << e.line
                               << ", got:\n"
                               << describe(all);
        }
        // and nothing else
        for (const Fault& f : faults) {
            bool known = false;
            for (const Expected& e : c.expected) known |= f.rule == e.rule;
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

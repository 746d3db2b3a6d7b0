#include "tests/differential/hostile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace emulator::differential {

namespace {

constexpr std::uint64_t kInstructions = 3000;
constexpr std::uint64_t kBufferBytes = 4096;

void run_kernel(const Module& module, const KernelInfo& kernel, Engine engine) {
    Memory memory;
    emulator::Launch launch;
    launch.kernel = kernel.name;
    launch.block = kernel.required_block.value_or(Dim3{37, 1, 1});
    launch.grid = {2, 1, 1};
    launch.dynamic_shared = 256;
    launch.cooperative = kernel.uses_grid_sync;
    launch.arguments.resize(kernel.parameter_bytes);
    for (const ParameterInfo& p : kernel.parameters) {
        std::uint64_t value = 24;
        if (p.size == 8) value = memory.allocate(p.name, kBufferBytes, BufferKind::inout);
        if (p.offset + p.size <= launch.arguments.size())
            std::memcpy(launch.arguments.data() + p.offset, &value, std::min<std::size_t>(p.size, 8));
    }
    Options options;
    options.engine = engine;
    options.max_warp_instructions = kInstructions;
    options.max_time = std::chrono::milliseconds{2000};
    (void)run(module, memory, launch, options);
}

}  // namespace

bool exercise(std::string_view text) {
    const auto loaded = Module::load(text);
    const auto* module = std::get_if<Module>(&loaded);
    if (!module) return false;
    std::size_t left = 2;
    for (const KernelInfo& kernel : module->kernels()) {
        if (left-- == 0) break;
        if (kernel.required_block && kernel.required_block->count() > 1024) continue;
        run_kernel(*module, kernel, Engine::fast);
        run_kernel(*module, kernel, Engine::specification);
    }
    return true;
}

namespace {

// The words of a line: names, numbers, and single signs.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$';
    };
    for (const char c : line) {
        if (is_word(c) && !words.empty() && is_word(words.back().back()))
            words.back() += c;
        else
            words.emplace_back(1, c);
    }
    return words;
}
std::string odd_word(Random& random) {
    static const std::vector<std::string> odd = {"%r0",
                                                 "%d0",
                                                 "%h0",
                                                 "%p0",
                                                 "%p1",
                                                 "%never",
                                                 "%a",
                                                 "%in",
                                                 "%out",
                                                 "%loc",
                                                 "%sown",
                                                 "-1",
                                                 "0",
                                                 "1",
                                                 "33",
                                                 "255",
                                                 "0xffffffff",
                                                 "0x8000000000000000",
                                                 "18446744073709551615",
                                                 "0f7FC00000",
                                                 "0d7FF0000000000000",
                                                 "_",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ";",
                                                 ",",
                                                 "|",
                                                 "!",
                                                 "@",
                                                 "local_bytes",
                                                 "shared_bytes",
                                                 "table",
                                                 "k",
                                                 "f0",
                                                 "ret0",
                                                 "u8",
                                                 "s16",
                                                 "b32",
                                                 "u64",
                                                 "f16x2",
                                                 "f64",
                                                 "b128",
                                                 "v2",
                                                 "v4",
                                                 "v8",
                                                 "cc",
                                                 "sat",
                                                 "ftz",
                                                 "global",
                                                 "shared",
                                                 "local",
                                                 "param",
                                                 "const",
                                                 "volatile",
                                                 "acquire",
                                                 "sync",
                                                 "wide",
                                                 "hi",
                                                 "rz",
                                                 "<",
                                                 ">",
                                                 "(",
                                                 ")",
                                                 "4294967295",
                                                 "1099511627776"};
    return random.pick(odd);
}
// A word of another line of the program, or an odd one.
std::string some_word(const Program& program, Random& random) {
    if (random.one_in(2)) return odd_word(random);
    const auto words = words_of(random.pick(program.lines));
    return words.empty() ? " " : random.pick(words);
}
// Plain names of a case become registers of the program.
std::string with_registers(const std::string& line, Random& random) {
    std::string out;
    bool opcode = true;
    for (const std::string& word : words_of(line)) {
        const bool name = std::isalpha(static_cast<unsigned char>(word[0])) && word.size() <= 2;
        if (!opcode && name)
            out += fmt::format("%{}{}", random.pick(std::vector<char>{'r', 'r', 'd', 'h', 'p'}),
                               random.below(5));
        else
            out += word;
        if (word == " ") opcode = false;
    }
    return out;
}

}  // namespace

void mutate(Program& program, Random& random, const std::vector<std::string>& lines) {
    for (std::uint64_t k = 4 + random.below(12); k > 0 && !program.lines.empty(); --k) {
        const std::vector<std::string> before = program.lines;
        const std::size_t at = random.below(program.lines.size());
        std::string& line = program.lines[at];
        const auto position = program.lines.begin() + static_cast<std::ptrdiff_t>(at);
        switch (random.below(10)) {
            case 0:
                program.lines.erase(position);
                break;
            case 1: {
                const std::string copy = random.pick(program.lines);
                program.lines.insert(position, copy);
                break;
            }
            case 2:
                std::swap(line, program.lines[random.below(program.lines.size())]);
                break;
            case 3:
                if (!lines.empty())
                    program.lines.insert(position, with_registers(random.pick(lines), random));
                break;
            case 4:
                if (!line.empty()) line[random.below(line.size())] = static_cast<char>(random.below(256));
                break;
            case 5:
                line = line.substr(0, random.below(line.size() + 1));
                break;
            default: {
                auto words = words_of(line);
                if (words.empty()) break;
                words[random.below(words.size())] = some_word(program, random);
                line.clear();
                for (const std::string& word : words) line += word;
                break;
            }
        }
        // Most changes make a text that is no PTX, which only the parser meets: mostly taken back.
        const bool loads = std::holds_alternative<Module>(Module::load(program.text()));
        if (!loads && !random.one_in(40)) program.lines = before;
    }
}

std::string mutate_bytes(std::string text, Random& random, const std::vector<std::string>& others) {
    for (std::uint64_t k = 1 + random.below(4); k > 0; --k) {
        const std::size_t at = random.below(text.size() + 1);
        const std::size_t length = std::min<std::size_t>(1 + random.below(40), text.size() - at);
        switch (random.below(6)) {
            case 0:
                text.insert(at, 1, static_cast<char>(random.below(256)));
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
                break;
            case 3:
                text.insert(at, text.substr(at, length));
                break;
            case 4:
                text.insert(at, odd_word(random));
                break;
            default: {
                const std::string& other = random.pick(others);
                if (other.empty()) break;
                const std::size_t from = random.below(other.size());
                text.replace(at, length, other.substr(from, random.below(200)));
                break;
            }
        }
    }
    return text;
}

void exercise_bytes(std::span<const std::byte> bytes) {
    std::uint64_t seed = 0, changes = 0;
    std::memcpy(&seed, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
    for (std::size_t i = 8; i < bytes.size(); ++i)
        changes = changes * 0x100000001b3ull + std::to_integer<std::uint64_t>(bytes[i]) + 1;
    Program program = generate(seed);
    Random random(changes);
    if (changes) mutate(program, random, {});
    exercise(program.text());
}

}  // namespace emulator::differential

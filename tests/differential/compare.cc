#include "tests/differential/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "emulator/src/specification/specification.h"

namespace emulator::differential {

namespace {

struct Run {
    Outcome outcome;
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::vector<bool>> written;
    std::vector<std::byte> device_words;
};

Run run_once(const Module& module, const Program& program, const Options& options,
             specification::RaceDetails* details) {
    const Buffers sizes = buffers_of(program);
    Memory memory;
    const std::uint64_t in = memory.allocate("input", sizes.input, BufferKind::input);
    const std::uint64_t out = memory.allocate("output", sizes.output, BufferKind::output);
    const std::uint64_t inout = memory.allocate("inout", sizes.inout, BufferKind::inout);
    const std::uint64_t scratch = memory.allocate("scratch", sizes.scratch, BufferKind::scratch);
    memory.write(in, special_values(program.seed, sizes.input));
    std::vector<std::byte> counters = special_values(program.seed + 1, kSharedCounters);
    counters.resize(sizes.inout);
    memory.write(inout, counters);
    memory.load_globals(module);

    emulator::Launch launch;
    launch.kernel = "k";
    launch.grid = program.grid;
    launch.block = program.block;
    launch.dynamic_shared = program.dynamic_shared;
    const KernelInfo* kernel = module.find_kernel("k");
    launch.arguments.resize(kernel ? kernel->parameter_bytes : 0);
    const std::uint64_t values[6] = {in, out, inout, scratch, 12345, 0x123456789abcdef0ull};
    for (std::size_t i = 0; kernel && i < kernel->parameters.size() && i < 6; ++i) {
        const ParameterInfo& p = kernel->parameters[i];
        std::memcpy(launch.arguments.data() + p.offset, &values[i], std::min<std::size_t>(p.size, 8));
    }
    Run result;
    result.outcome = options.engine == Engine::specification && details && kernel
                         ? specification::execute(module, memory, launch, options, details)
                         : run(module, memory, launch, options);
    for (const auto& [address, size] :
         {std::pair{in, sizes.input}, {out, sizes.output}, {inout, sizes.inout}, {scratch, sizes.scratch}}) {
        result.memory.push_back(memory.read(address, size));
        result.written.push_back(memory.initialised(address));
    }
    result.device_words = memory.read_symbol(module, "device_words");
    return result;
}

bool is_race(const Fault& f) { return f.rule == "shared-race" || f.rule == "global-race"; }
bool is_limit(const Fault& f) {
    return f.rule == "instruction-limit" || f.rule == "time-limit" || f.rule == "endless-loop";
}
// A thread that polls in vain: how long it did when that was noticed is nobody's business.
bool is_vain_poll(const Fault& f) {
    const auto polls = [](const Place& place) {
        const std::string& text = place.instruction;
        return text.find("ld.") != std::string::npos || text.find("atom.") != std::string::npos ||
               text.find("mbarrier.") != std::string::npos;
    };
    return f.rule == "deadlock" && (polls(f.place) || (f.other && polls(f.other->place)));
}
std::string text_of(const std::optional<Dim3>& d) {
    return d ? fmt::format("({},{},{})", d->x, d->y, d->z) : "-";
}
std::string text_of(const Fault& f, bool with_other) {
    std::string text = fmt::format("{} at PTX line {} by block {} thread {}", f.rule, f.place.ptx_line,
                                   text_of(f.block), text_of(f.thread));
    if (f.other && with_other)
        text += fmt::format(" with PTX line {} by block {} thread {}", f.other->place.ptx_line,
                            text_of(f.other->block), text_of(f.other->thread));
    return text;
}

void compare_memory(const Run& a, const Run& b, std::string& out) {
    static const char* const names[] = {"input", "output", "inout", "scratch"};
    for (std::size_t i = 0; i < a.memory.size(); ++i) {
        for (std::size_t at = 0; at < a.memory[i].size(); ++at)
            if (a.memory[i][at] != b.memory[i][at]) {
                out += fmt::format("memory: byte {} of {} is {:02x} in fast, {:02x} in specification\n", at,
                                   names[i], static_cast<unsigned>(a.memory[i][at]),
                                   static_cast<unsigned>(b.memory[i][at]));
                break;
            }
        if (a.written[i] != b.written[i]) out += fmt::format("memory: what was written of {}\n", names[i]);
    }
    if (a.device_words != b.device_words) out += "memory: device_words\n";
}

// Races are found by different means: the fast engine remembers two reads and two writes per four bytes. What
// it reports must be among what the specification found; and what cannot have been forgotten it must report.
void compare_races(const Run& fast, const specification::RaceDetails& details, const Dim3& grid,
                   const Dim3& block, std::string& out) {
    using Party = specification::RaceDetail::Party;
    const auto party = [&](const Place& place, const Dim3& b, const Dim3& t) {
        return Party{(std::uint64_t{b.z} * grid.y + b.y) * grid.x + b.x,
                     (t.z * block.y + t.y) * block.x + t.x, place.ptx_line};
    };
    std::set<std::pair<std::string, std::pair<int, int>>> reported;
    bool source_lines = false;
    for (const Fault& f : fast.outcome.faults) {
        if (!is_race(f)) continue;
        int a = f.place.ptx_line, b = f.other->place.ptx_line;
        if (a > b) std::swap(a, b);
        reported.insert({f.rule, {a, b}});
        source_lines |= f.place.line > 0 || f.other->place.line > 0;
        const auto known = details.find({f.rule, {a, b}});
        if (known == details.end() ||
            !known->second.pairs.contains({party(f.place, *f.block, *f.thread),
                                           party(f.other->place, *f.other->block, *f.other->thread)}))
            out += "race only in fast: " + text_of(f, true) + "\n";
    }
    for (const auto& [key, detail] : details) {
        const bool said = reported.contains(key) || (source_lines && !reported.empty());
        if (detail.adjacent && !said) {
            const auto& [later, earlier] = *detail.pairs.begin();
            out += fmt::format(
                "race only in specification: {} at PTX line {} by block {} thread {} with PTX line {} by "
                "block {} thread {}\n",
                key.first, later.ptx_line, later.block, later.thread, earlier.ptx_line, earlier.block,
                earlier.thread);
        }
    }
}

void compare_faults(const Run& fast, const Run& slow, std::string& out) {
    const auto all = [](const Run& run) {
        std::multiset<std::string> texts;
        for (const Fault& f : run.outcome.faults)
            if (!is_race(f)) texts.insert(text_of(f, f.rule != "non-coherent-read"));
        return texts;
    };
    const auto a = all(fast), b = all(slow);
    for (const std::string& t : a)
        if (!b.contains(t)) out += "only in fast: " + t + "\n";
    for (const std::string& t : b)
        if (!a.contains(t)) out += "only in specification: " + t + "\n";
}

void compare_counters(const Counters& a, const Counters& b, std::string& out) {
    if (a == b) return;
    const auto x = metrics(a), y = metrics(b);
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
        if (x[i].value != y[i].value && !(x[i].value != x[i].value && y[i].value != y[i].value))
            out += fmt::format("counter {}: {} in fast, {} in specification\n", x[i].name, x[i].value,
                               y[i].value);
#define FIELD(NAME)       \
    if (a.NAME != b.NAME) \
    out += fmt::format("counter " #NAME ": {} in fast, {} in specification\n", a.NAME, b.NAME)
    FIELD(inst_uniform);
    FIELD(inst_control);
    FIELD(inst_alu);
    FIELD(thread_integer);
    FIELD(unique_load_sectors);
    FIELD(unique_store_sectors);
    FIELD(ideal_global_load_sectors);
    FIELD(ideal_global_store_sectors);
    FIELD(constant_requests);
    FIELD(barriers);
    FIELD(shuffles);
    FIELD(votes);
    FIELD(shared_bytes);
    FIELD(global_atomic_operations);
    FIELD(hottest_atomic_operations);
    FIELD(hottest_atomic_blocks);
    FIELD(max_warp_instructions_of_one_warp);
    FIELD(max_global_loads_of_one_warp);
    FIELD(shared_atomic_wavefronts);
    FIELD(divergent_branches);
#undef FIELD
    Counters only_lines = a;
    only_lines.lines = b.lines;
    if (!(only_lines == a)) {
        out += "counters of source lines:";
        for (const auto& [place, line] : a.lines)
            if (const auto it = b.lines.find(place);
                it == b.lines.end() || it->second.global_sectors != line.global_sectors ||
                it->second.warp_instructions != line.warp_instructions ||
                it->second.divergent_branches != line.divergent_branches ||
                it->second.shared_wavefronts != line.shared_wavefronts)
                out += fmt::format(" {}", place.second);
        out += "\n";
    }
    if (out.empty()) out += "counters\n";
}

}  // namespace

Outcome run_fast(const Program& program, const Bounds& bounds) {
    auto loaded = Module::load(program.text());
    const auto* module = std::get_if<Module>(&loaded);
    if (!module) return {};
    Options options;
    options.max_warp_instructions = bounds.warp_instructions;
    options.schedule_seed = bounds.schedule_seed;
    options.max_faults = 1000;
    return run_once(*module, program, options, nullptr).outcome;
}

Verdict compare(const Program& program, const Bounds& bounds) {
    Verdict verdict;
    auto loaded = Module::load(program.text());
    if (const auto* error = std::get_if<LoadError>(&loaded)) {
        verdict.kind = Verdict::Kind::not_loaded;
        verdict.difference = fmt::format("line {}: {}\n", error->ptx_line, error->message);
        return verdict;
    }
    const Module& module = std::get<Module>(loaded);
    Options options;
    options.max_warp_instructions = bounds.warp_instructions;
    options.max_faults = 1000;
    Options fast_options = options;
    fast_options.schedule_seed = bounds.schedule_seed;
    options.engine = Engine::specification;
    specification::RaceDetails details;
    const Run fast = run_once(module, program, fast_options, nullptr);
    if (fast.outcome.refused) {
        verdict.kind = Verdict::Kind::not_comparable;
        verdict.difference = fast.outcome.refused->message + "\n";
        return verdict;
    }
    const Run slow = run_once(module, program, options, &details);
    const auto has = [](const Run& run, auto&& what) {
        return std::any_of(run.outcome.faults.begin(), run.outcome.faults.end(), what);
    };
    const auto unknown = [](const Fault& f) { return f.rule == "unsupported-instruction"; };
    if (slow.outcome.refused || has(fast, unknown) || has(slow, unknown) || has(fast, is_limit) ||
        has(slow, is_limit)) {
        verdict.kind = Verdict::Kind::not_comparable;
        for (const Run* run : {&fast, &slow})
            for (const Fault& f : run->outcome.faults)
                if (unknown(f) || is_limit(f))
                    verdict.difference += fmt::format("{}: {}: {}\n", run == &fast ? "fast" : "specification",
                                                      f.rule, f.place.instruction);
        return verdict;
    }
    std::string& out = verdict.difference;
    compare_faults(fast, slow, out);
    compare_races(fast, details, program.grid, program.block, out);
    compare_memory(fast, slow, out);
    if (!has(fast, is_vain_poll) || !has(slow, is_vain_poll))
        compare_counters(fast.outcome.counters, slow.outcome.counters, out);
    if (!out.empty()) verdict.kind = Verdict::Kind::different;
    return verdict;
}

Program reduce(Program program, const Bounds& bounds) {
    const auto differs = [&](const Program& p) {
        return compare(p, bounds).kind == Verdict::Kind::different;
    };
    if (!differs(program)) return program;
    for (std::size_t size = std::max<std::size_t>(program.lines.size() / 2, 1); size > 0;) {
        bool removed = false;
        for (std::size_t at = 0; at < program.lines.size();) {
            Program smaller = program;
            const auto begin = smaller.lines.begin() + static_cast<std::ptrdiff_t>(at);
            smaller.lines.erase(
                begin, begin + static_cast<std::ptrdiff_t>(std::min(size, smaller.lines.size() - at)));
            if (differs(smaller)) {
                program = std::move(smaller);
                removed = true;
            } else {
                at += size;
            }
        }
        if (!removed) size /= 2;
    }
    return program;
}

}  // namespace emulator::differential

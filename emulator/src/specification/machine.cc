// Which lanes run. A warp's lanes stand in groups; the group in the deepest call, then at the lowest
// instruction, runs, and goes on until it reaches the place of another group of its activation, or control
// flow parts it; groups at one place become one. A group that polls memory (atomics, volatile and acquiring
// reads) sixteen times, or twice without any change of memory between, gives way at its next backward branch.
// Warps take turns of 4096 instructions, blocks run one after the other.
#include "emulator/src/specification/machine.h"

#include <algorithm>
#include <cstring>

#include "emulator/src/memory/module_memory.h"

namespace emulator::specification {

namespace {
constexpr std::uint64_t kTurn = 4096;
constexpr std::uint64_t kManyPolls = 16;
constexpr std::uint64_t kManyLoops = 200'000;
constexpr int kIdleRounds = 200;        // of polling without a change of memory: nobody will make one
constexpr std::uint64_t kProduct = 63;  // a product of matrices counts as so many instructions more
constexpr std::size_t kNowhere = ~std::size_t{0};
constexpr std::uint64_t kMostThreads = 4096;  // every pair of them has a clock

bool is_collective(const ptx::Instruction& in) {
    const std::string& op = in.opcode;
    return is_matrix_instruction(in) || op == "elect" || op == "shfl" || op == "vote" || op == "match" ||
           op == "redux" || (op == "bar" && in.has("warp"));
}
bool is_warp_barrier(const ptx::Instruction& in) { return in.opcode == "bar" && in.has("warp"); }
const ptx::Instruction& instruction_of(const Group& g) { return g.at->function->code[g.pc]; }
}  // namespace

Machine::Machine(const Module& module, Memory& memory, const emulator::Launch& launch, const Options& options,
                 RaceDetails* details)
    : handle_(module),
      module_(module.impl().text),
      memory_(memory.impl()),
      launch_(launch),
      options_(options),
      details_(details) {}

Outcome Machine::run() {
    kernel_ = &module_.functions[static_cast<std::size_t>(module_.find_function(launch_.kernel))];
    variables_ = module_variables(handle_, memory_, false);
    threads_ = static_cast<std::uint32_t>(launch_.block.count());
    warps_ = (threads_ + kWarpSize - 1) / kWarpSize;
    if (launch_.cooperative || launch_.cluster || kernel_->required_cluster ||
        launch_.grid.count() > kMostThreads / threads_) {
        outcome_.refused = LaunchError{
            "unsupported-launch", "the specification engine runs plain launches of at most 4096 threads"};
        return std::move(outcome_);
    }
    shared_bytes_ = static_cast<std::uint32_t>(kernel_->uses_dynamic_shared || launch_.dynamic_shared
                                                   ? kernel_->dynamic_shared_offset + launch_.dynamic_shared
                                                   : kernel_->static_shared);
    const auto frame = [](const ptx::Function& f) {
        return (f.frame_bytes + 15) / 16 * 16 + (f.is_kernel ? 0 : (f.parameter_bytes + 15) / 16 * 16);
    };
    const bool calls = std::any_of(kernel_->code.begin(), kernel_->code.end(),
                                   [](const ptx::Instruction& in) { return in.opcode == "call"; });
    local_limit_ = frame(*kernel_) + (calls ? 65536 : 0);
    for (const ptx::Function& f : module_.functions)
        for (const ptx::Instruction& in : f.code) function_of_[&in] = &f;

    const std::uint64_t slot = memory_.next_slot, drawn = memory_.drawn;
    parameters_ =
        &memory_.add("the kernel's parameters", std::max<std::uint64_t>(launch_.arguments.size(), 1),
                     BufferKind::input, Buffer::Role::parameters, true, std::byte{0});
    if (!launch_.arguments.empty())
        std::memcpy(parameters_->data(), launch_.arguments.data(), launch_.arguments.size());
    if (options_.check_races) start_order(static_cast<std::uint32_t>(launch_.grid.count()) * threads_);

    std::vector<std::uint64_t> blocks = options_.blocks;
    if (blocks.empty())
        for (std::uint64_t b = 0; b < launch_.grid.count(); ++b) blocks.push_back(b);
    if (blocks.size() > options_.max_warp_instructions / warps_)
        report("instruction-limit", {&kernel_->code.front(), 0, 0}, "more warps than warp instructions",
               true);
    for (const std::uint64_t b : blocks)
        if (!stopped_ && b < launch_.grid.count()) run_block(b);
    if (options_.check_races) report_peeked();
    if (options_.count)
        finish_counters();
    else
        outcome_.counters = {};
    memory_.remove(*parameters_);
    memory_.drawn = drawn;
    memory_.next_slot = slot;
    return std::move(outcome_);
}

void Machine::start_block(std::uint64_t linear) {
    block_ = std::make_unique<Block>();
    Block& b = *block_;
    b.linear = linear;
    b.index = block_index(linear);
    b.live_threads = threads_;
    b.shared.assign(shared_bytes_, Byte{});
    for (std::uint32_t i = 0; i < warps_; ++i) {
        auto w = std::make_unique<Warp>();
        w->index = i;
        for (std::uint32_t lane = 0; lane < kWarpSize && i * kWarpSize + lane < threads_; ++lane)
            w->present |= LaneMask{1} << lane;
        w->live = w->present;
        w->polled.fill(~std::uint64_t{0});
        Group g;
        g.lanes = w->present;
        g.at = enter(*w, *kernel_, nullptr, nullptr, 0, w->present);
        w->groups.push_back(g);
        b.warps.push_back(std::move(w));
        outcome_.counters.warps_launched += 1;
    }
    outcome_.counters.blocks_launched += 1;
}

// Is the launch past its limit? Said where the first warp that still runs stands.
bool Machine::over_limit() {
    if (executed_ <= options_.max_warp_instructions) return false;
    for (const auto& warp : block_->warps) {
        if (!warp->live || warp->groups.empty()) continue;
        report("instruction-limit", who(*warp, instruction_of(warp->groups.front()), lowest(warp->live)),
               "the launch executed more warp instructions than it may", true);
        return true;
    }
    return false;
}

void Machine::run_block(std::uint64_t linear) {
    start_block(linear);
    Block& b = *block_;
    int idle = 0;
    while (!stopped_ && !over_limit()) {
        const std::uint64_t changes = b.changes;
        bool live = false, ran = false, all_poll = true;
        Warp* spinning = nullptr;
        for (const auto& w : b.warps) {
            if (!w->live) continue;
            live = true;
            const std::uint64_t before = w->instructions, polls = w->poll_count;
            run_turn(*w);
            ran |= w->instructions != before;
            if (w->instructions != before) spinning = w.get();
            all_poll &= w->instructions == before || w->poll_count != polls;
            executed_ += w->instructions - before;
            if (stopped_ || over_limit()) break;
        }
        if (!live || b.live_threads == 0 || stopped_) break;
        idle = b.changes == changes && all_poll ? idle + 1 : 0;
        if ((b.changes == changes && !ran) || idle > kIdleRounds) {
            report_waiting(spinning);
            break;
        }
    }
    for (const auto& w : b.warps) {
        Counters& c = outcome_.counters;
        c.max_warp_instructions_of_one_warp = std::max(c.max_warp_instructions_of_one_warp, w->instructions);
        c.max_global_loads_of_one_warp = std::max(c.max_global_loads_of_one_warp, w->global_loads);
    }
}

void Machine::run_turn(Warp& w) {
    const std::uint64_t end = w.instructions + kTurn;
    w.ends_turn = false;
    while (w.instructions < end && w.live && !stopped_) {
        std::size_t limit = kNowhere;
        Group* g = choose(w, limit);
        if (!g || stopped_) return;
        run_group(w, *g, limit, end);
        if (w.ends_turn) return;
        if (w.gives_way) {
            w.gives_way = false;
            const bool others = std::any_of(w.groups.begin(), w.groups.end(), [](const Group& other) {
                return other.lanes && other.state == Group::State::ready && other.polls < kManyPolls;
            });
            if (!others) return;
        }
    }
}

Group& Machine::split(Warp& w, Group& g, LaneMask lanes, Activation* at, std::size_t pc) {
    g.lanes &= ~lanes;
    Group other;
    other.lanes = lanes;
    other.pc = pc;
    other.at = at;
    other.last_run = w.instructions;
    w.groups.push_back(other);
    return w.groups.back();
}

// `limit`: the lowest instruction beyond its own where another group of its activation stands.
Group* Machine::choose(Warp& w, std::size_t& limit) {
    auto& groups = w.groups;
    if (groups.size() == 1 && groups.front().lanes && groups.front().state == Group::State::ready)
        return &groups.front();
    for (auto a = groups.begin(); a != groups.end(); ++a)
        for (auto b = std::next(a); b != groups.end(); ++b)
            if (a->lanes && b->lanes && a->at == b->at && a->pc == b->pc && a->state == b->state) {
                a->lanes |= b->lanes;
                a->polls = std::min(a->polls, b->polls);
                b->lanes = 0;
            }
    groups.remove_if([](const Group& g) { return g.lanes == 0; });
    for (Group& g : groups)
        if (g.state == Group::State::at_collective && complete_for(w, g, instruction_of(g), g.lanes))
            g.state = Group::State::ready;
    finish_warp_barriers(w);
    Group* best = nullptr;
    bool someone = false;
    for (Group& g : groups) {
        if (g.state != Group::State::ready) continue;
        someone = true;
        if (g.polls >= kManyPolls) continue;
        if (!best || g.at->depth > best->at->depth || (g.at->depth == best->at->depth && g.pc < best->pc))
            best = &g;
    }
    if (!someone) return nullptr;
    if (!best) {  // all of them poll: from the start again, with the one that has waited longest
        for (Group& g : groups) g.polls = 0;
        for (Group& g : groups)
            if (g.state == Group::State::ready && (!best || g.last_run < best->last_run)) best = &g;
    }
    for (const Group& g : groups)
        if (&g != best && g.at == best->at && g.pc > best->pc) limit = std::min(limit, g.pc);
    return best;
}

LaneMask Machine::executing(Warp& w, const Group& g, const ptx::Instruction& in) {
    if (!in.predicate) return g.lanes;
    LaneMask lanes = 0;
    LaneMask undefined = 0;
    each_lane(g.lanes, [&](int lane) {
        const Value& p = slot(*g.at, lane, *in.predicate);
        if ((p.bits != 0) != in.predicate_negated) lanes |= LaneMask{1} << lane;
        if (p.undefined) undefined |= LaneMask{1} << lane;
    });
    if (undefined) {
        const int lane = lowest(undefined);
        use_undefined(w, in, lane, origin_for(w, in, slot(*g.at, lane, *in.predicate), lane));
        each_lane(undefined, [&](int l) { slot(*g.at, l, *in.predicate).undefined = 0; });
    }
    return lanes;
}

void Machine::run_group(Warp& w, Group& g, std::size_t limit, std::uint64_t end) {
    const bool several = w.groups.size() > 1;
    std::uint64_t loops = 0;
    while (w.instructions < end) {
        const ptx::Instruction& in = instruction_of(g);
        const LaneMask exec = executing(w, g, in);
        g.last_run = w.instructions;
        if (stopped_) return;
        if (is_collective(in)) {
            if (exec && !complete_for(w, g, in, exec)) {
                if (exec != g.lanes) split(w, g, g.lanes & ~exec, g.at, g.pc + 1);
                g.state = Group::State::at_collective;
                return;
            }
            count_instruction(in, g.lanes, exec, false);
            w.instructions += 1;
            if (in.opcode == "mma" && exec) executed_ += kProduct;
            if (exec) collective(w, g, in, exec);
            if (stopped_) return;
            g.pc += 1;
            if (g.pc >= limit) return;
            continue;
        }
        w.instructions += 1;
        const std::string& op = in.opcode;
        const bool control = op == "bra" || op == "brx" || op == "call" || op == "ret" || op == "exit" ||
                             op == "trap" || op == "bar" || op == "barrier" || op == "nanosleep";
        if (control) count_instruction(in, g.lanes, exec, false);
        g.last_run = w.instructions;
        if (op == "bra") {
            const auto* label =
                in.operands.size() == 1 ? std::get_if<ptx::Label>(&in.operands[0].value) : nullptr;
            if (!label) {
                report("unsupported-instruction", who(w, in, lowest(g.lanes)), in.text, true);
                return;
            }
            if (exec && exec != g.lanes) {
                outcome_.counters.divergent_branches += 1;
                line(in).divergent_branches += 1;
                g.pc += 1;
                split(w, g, exec, g.at, label->target);
                return;
            }
            const bool backward = exec && label->target <= g.pc;
            g.pc = exec ? label->target : g.pc + 1;
            if (backward) {
                const bool in_vain = w.polls_in_vain;
                w.polls_in_vain = false;
                if (in_vain || (several && (g.polls >= kManyPolls || ++loops > kManyLoops))) {
                    g.polls = kManyPolls;
                    w.gives_way = in_vain;
                    return;
                }
            }
            if (g.pc >= limit) return;
            continue;
        }
        if (op == "nanosleep") {
            g.pc += 1;
            g.polls = kManyPolls;
            w.ends_turn = true;
            return;
        }
        if (control) {
            if (exec == 0) {
                g.pc += 1;
                if (g.pc >= limit) return;
                continue;
            }
            if (op == "call")
                call(w, g, in, exec);
            else if (op == "ret" && !g.at->function->is_kernel)
                leave(w, g, exec);
            else if (op == "ret" || op == "exit")
                exit(w, g, exec);
            else if (op == "brx")
                indexed_branch(w, g, in, exec);
            else if (op == "trap")
                report("trap", who(w, in, lowest(exec)), "the kernel executes a trap", true);
            else {
                if (exec != g.lanes) split(w, g, g.lanes & ~exec, g.at, g.pc + 1);
                g.state = Group::State::at_barrier;
                g.arrived = false;
                arrive(w);
            }
            return;
        }
        // An instruction is counted before it is executed, and one that is not known as control flow.
        const bool known = plain(w, g, in, 0);
        count_instruction(in, g.lanes, exec, !known);
        if (exec) {
            if (known)
                plain(w, g, in, exec);
            else
                report("unsupported-instruction", who(w, in, lowest(exec)), in.text, true);
        }
        if (stopped_) return;
        g.pc += 1;
        if (g.pc >= limit) return;
    }
}

// `spinning`: the last warp that polls memory which nobody changes.
void Machine::report_waiting(Warp* spinning) {
    struct Waiting {
        Warp* warp;
        Group* group;
    };
    std::vector<Waiting> barriers, collectives;
    for (const auto& w : block_->warps)
        for (Group& g : w->groups) {
            if (!w->live || !g.lanes) continue;
            if (g.state == Group::State::at_barrier) barriers.push_back({w.get(), &g});
            if (g.state == Group::State::at_collective) collectives.push_back({w.get(), &g});
        }
    const auto who_waits = [&](const Waiting& x) {
        return who(*x.warp, instruction_of(*x.group), lowest(x.group->lanes));
    };
    if (!collectives.empty()) {
        const Waiting& c = collectives.front();
        const Waiting* rest = nullptr;
        for (const Waiting& x : collectives)
            if (x.warp == c.warp && x.group != c.group) rest = &x;
        for (const Waiting& x : barriers)
            if (x.warp == c.warp) rest = &x;
        const Who other = rest ? who_waits(*rest) : Who{};
        report(is_warp_barrier(instruction_of(*c.group)) ? "deadlock" : "invalid-shuffle", who_waits(c),
               "lanes named in the member mask never arrive here", true, rest ? &other : nullptr);
        return;
    }
    if (!barriers.empty()) {
        const Waiting& first = barriers.front();
        const ptx::Instruction& in = instruction_of(*first.group);
        const Waiting* different = nullptr;
        for (const Waiting& x : barriers)
            if (&instruction_of(*x.group) != &in) different = &x;
        if (spinning) {
            const Who poll = who(*spinning, *spinning->last_poll, spinning->last_poll_lane);
            report("deadlock", who_waits(first), "waits at a barrier while another thread polls in vain",
                   true, &poll);
            return;
        }
        const Who other = different ? who_waits(*different) : Who{};
        const std::size_t plain_operands = in.has("red") ? 3 : 1;
        const bool counted = in.operands.size() > plain_operands;
        report(!counted && different ? "divergent-barrier" : "deadlock", who_waits(first),
               "waits at a barrier that not all threads reach", true, different ? &other : nullptr);
        return;
    }
    if (spinning && spinning->polls_shared) {
        const Who poll = who(*spinning, *spinning->last_poll, spinning->last_poll_lane);
        const auto it =
            spinning->awaited ? block_->mbarriers.find(*spinning->awaited) : block_->mbarriers.end();
        const Who* event = nullptr;
        if (it != block_->mbarriers.end()) {
            const Mbarrier& m = it->second;
            event = m.bytes != 0 ? &m.expecting : &m.arrived;
            if (!event->instruction) event = &m.made;
        }
        report("deadlock", poll, "waits for a change that nobody makes", true, event);
        return;
    }
    for (const auto& w : block_->warps)
        if (w->live && !w->groups.empty()) {
            report("endless-loop", who(*w, instruction_of(w->groups.front()), lowest(w->live)),
                   "a loop that can never end", true);
            return;
        }
}

Outcome execute(const Module& module, Memory& memory, const emulator::Launch& launch, const Options& options,
                RaceDetails* details) {
    return Machine(module, memory, launch, options, details).run();
}

}  // namespace emulator::specification

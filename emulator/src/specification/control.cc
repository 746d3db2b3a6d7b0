// Calls and returns, exits, and the barriers of a block.
#include <algorithm>

#include "emulator/src/specification/machine.h"

namespace emulator::specification {

namespace {

constexpr unsigned kMostCalls = 512;

std::uint64_t to16(std::uint64_t v) { return (v + 15) / 16 * 16; }
std::uint64_t frame_bytes(const ptx::Function& f) {
    return to16(f.frame_bytes) + (f.is_kernel ? 0 : to16(f.parameter_bytes));
}
const ptx::Instruction& instruction_of(const Group& g) { return g.at->function->code[g.pc]; }

struct BarrierForm {
    enum class Kind { sync, arrive, popc, all, any } kind = Kind::sync;
    bool aligned = true;
    bool reduces() const { return kind > Kind::arrive; }
    std::size_t number = 0;
    std::optional<std::size_t> count;
    std::size_t predicate = 0;
};
std::optional<BarrierForm> barrier_form(const ptx::Instruction& in) {
    BarrierForm form;
    Words words(in);
    words.take("cta");
    const bool said = words.take("aligned");
    form.aligned = in.opcode == "bar" || said;
    const bool sync = words.take("sync"), arrives = words.take("arrive"), red = words.take("red");
    if (red) {
        const auto operation = words.take_one_of({"popc", "and", "or"});
        if (!operation) return std::nullopt;
        form.kind = *operation == "popc"  ? BarrierForm::Kind::popc
                    : *operation == "and" ? BarrierForm::Kind::all
                                          : BarrierForm::Kind::any;
        words.take_one_of({"u32", "pred"});
        form.number = 1;
    } else if (arrives) {
        form.kind = BarrierForm::Kind::arrive;
    } else if (!sync) {
        return std::nullopt;
    }
    if (!words.empty()) return std::nullopt;
    const std::size_t least = red ? 3 : arrives ? 2 : 1, most = red ? 4 : 2;
    if (in.operands.size() < least || in.operands.size() > most) return std::nullopt;
    if (in.operands.size() == most) form.count = form.number + 1;
    form.predicate = in.operands.size() - 1;
    return form;
}

}  // namespace

Activation* Machine::enter(Warp& w, const ptx::Function& f, Activation* caller, const ptx::Instruction* call,
                           std::size_t return_pc, LaneMask lanes) {
    auto a = std::make_unique<Activation>();
    a->function = &f;
    a->caller = caller;
    a->call = call;
    a->return_pc = return_pc;
    a->depth = caller ? caller->depth + 1 : 0;
    a->local_base = caller ? caller->local_base + frame_bytes(*caller->function) : 0;
    if (a->local_base + frame_bytes(f) > local_limit_ || a->depth >= kMostCalls) {
        report("stack-overflow", who(w, *call, lowest(lanes)), "a call needs more stack than there is", true);
        return nullptr;
    }
    Value unset;
    unset.origin = kNeverSet;
    each_lane(~LaneMask{0}, [&](int lane) {  // a shuffle may look at a lane that is not here
        const auto i = static_cast<std::size_t>(lane);
        const auto fill = [&](std::vector<Value>& file, std::size_t n, int bits) {
            unset.undefined = options_.check_initialised ? truncated(~std::uint64_t{0}, bits) : 0;
            file.assign(n, unset);
        };
        fill(a->narrow[i], f.narrow_registers, 32);
        fill(a->wide[i], f.wide_registers, 64);
        fill(a->predicates[i], f.predicates, 1);
        unset.undefined = options_.check_initialised;
        a->carry[i] = unset;
        if (!((lanes >> lane) & 1)) return;
        auto& local = w.local[i];
        local.resize(std::max<std::size_t>(local.size(), a->local_base + frame_bytes(f)));
        for (std::uint64_t at = a->local_base; at < a->local_base + frame_bytes(f); ++at) local[at] = Byte{};
    });
    w.activations.push_back(std::move(a));
    return w.activations.back().get();
}

void Machine::call(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    const auto unsupported = [&] {
        report("unsupported-instruction", who(w, in, lowest(exec)), in.text, true);
    };
    Words words(in);
    words.take("uni");
    if (!words.empty() || in.operands.empty()) return unsupported();
    const auto* symbol = std::get_if<ptx::Symbol>(&in.operands[0].value);
    const auto* through = std::get_if<ptx::Register>(&in.operands[0].value);
    if (!symbol && (!through || ptx::file_of(through->type) != ptx::File::wide)) return unsupported();
    for (const auto* list : {&in.call_arguments, &in.call_returns})
        for (const ptx::Operand& operand : *list) {
            const auto* piece = std::get_if<ptx::Symbol>(&operand.value);
            if (!piece || !piece->variable || !frame_offset(*g.at->function, *piece->variable))
                return unsupported();
        }
    Activation* caller = g.at;
    const std::size_t return_pc = g.pc + 1;
    const LaneMask skipping = g.lanes & ~exec;
    if (through) {  // an undefined target
        LaneMask undefined = 0;
        each_lane(exec, [&](int lane) {
            if (slot(*g.at, lane, *through).undefined) undefined |= LaneMask{1} << lane;
        });
        if (undefined) {
            const int lane = lowest(undefined);
            use_undefined(w, in, lane, origin_for(w, in, slot(*g.at, lane, *through), lane));
            each_lane(undefined, [&](int l) { slot(*g.at, l, *through).undefined = 0; });
        }
    }
    bool first = true;
    for (LaneMask rest = exec; rest && !stopped_;) {
        LaneMask together = rest;
        std::int64_t number = symbol ? symbol->function : -1;
        if (through) {
            const std::uint64_t target = slot(*caller, lowest(rest), *through).bits;
            together = 0;
            each_lane(rest, [&](int lane) {
                if (slot(*caller, lane, *through).bits == target) together |= LaneMask{1} << lane;
            });
            number = static_cast<std::int64_t>(target - kFunctionAddress);
            if (target < kFunctionAddress || target - kFunctionAddress >= module_.functions.size() ||
                module_.functions[target - kFunctionAddress].is_extern ||
                module_.functions[target - kFunctionAddress].is_kernel) {
                report("illegal-instruction", who(w, in, lowest(together)), "not the address of a function",
                       true);
                return;
            }
        }
        if (number < 0 || (symbol && symbol->variable)) return unsupported();
        rest &= ~together;
        const ptx::Function& callee = module_.functions[static_cast<std::size_t>(number)];
        if (callee.is_extern || callee.is_kernel) return unsupported();
        for (const auto* list : {&callee.parameters, &callee.returns})
            for (const ptx::Variable& v : *list)
                if (v.in_register) return unsupported();
        if (symbol && (in.call_arguments.size() != callee.parameters.size() ||
                       in.call_returns.size() > callee.returns.size()))
            return unsupported();
        Activation* a = enter(w, callee, caller, &in, return_pc, together);
        if (!a) return;
        for (std::size_t i = 0; i < in.call_arguments.size() && i < callee.parameters.size(); ++i) {
            const ptx::Variable& from = *std::get<ptx::Symbol>(in.call_arguments[i].value).variable;
            const ptx::Variable& to = callee.parameters[i];
            each_lane(together, [&](int lane) {
                auto& local = w.local[static_cast<std::size_t>(lane)];
                for (std::uint64_t b = 0; b < std::min(from.size, to.size); ++b)
                    local[a->local_base + *frame_offset(callee, to) + b] =
                        local[caller->local_base + *frame_offset(*caller->function, from) + b];
            });
        }
        if (first) {
            if (skipping) split(w, g, skipping, caller, return_pc);
            g.lanes = together;
            g.at = a;
            g.pc = 0;
            first = false;
        } else {
            Group other;
            other.lanes = together;
            other.at = a;
            other.last_run = w.instructions;
            w.groups.push_back(other);
        }
    }
}

void Machine::leave(Warp& w, Group& g, LaneMask exec) {
    Activation* a = g.at;
    Activation* caller = a->caller;
    for (std::size_t i = 0; i < a->call->call_returns.size() && i < a->function->returns.size(); ++i) {
        const ptx::Variable& to = *std::get<ptx::Symbol>(a->call->call_returns[i].value).variable;
        const ptx::Variable& from = a->function->returns[i];
        each_lane(exec, [&](int lane) {
            auto& local = w.local[static_cast<std::size_t>(lane)];
            for (std::uint64_t b = 0; b < std::min(from.size, to.size); ++b)
                local[caller->local_base + *frame_offset(*caller->function, to) + b] =
                    local[a->local_base + *frame_offset(*a->function, from) + b];
        });
    }
    if (exec != g.lanes) {
        g.pc += 1;
        split(w, g, exec, caller, a->return_pc);
    } else {
        g.at = caller;
        g.pc = a->return_pc;
    }
}

void Machine::exit(Warp& w, Group& g, LaneMask exec) {
    g.lanes &= ~exec;
    g.pc += 1;
    w.live &= ~exec;
    block_->live_threads -= static_cast<std::uint32_t>(population(exec));
    block_->changes += 1;
    check_barriers();
}

void Machine::indexed_branch(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    Words words(in);
    words.take("uni");
    const auto* table = in.operands.size() == 2 ? std::get_if<ptx::Name>(&in.operands[1].value) : nullptr;
    if (!words.take("idx") || !words.empty() || !table || table->index < 0 ||
        !readable(g, in.operands[0], ptx::Type::u32)) {
        report("unsupported-instruction", who(w, in, lowest(exec)), in.text, true);
        return;
    }
    const auto& targets = g.at->function->branch_tables[static_cast<std::size_t>(table->index)];
    const Group before = g;
    std::array<std::uint64_t, kWarpSize> index{};
    LaneMask undefined = 0;
    each_lane(exec, [&](int lane) {
        const Value v = read(w, g, lane, in.operands[0], ptx::Type::u32);
        index[static_cast<std::size_t>(lane)] = v.bits;
        if (v.undefined) undefined |= LaneMask{1} << lane;
    });
    if (undefined) {
        const int lane = lowest(undefined);
        use_undefined(w, in, lane, origin_for(w, in, read(w, g, lane, in.operands[0], ptx::Type::u32), lane));
        if (const auto* reg = std::get_if<ptx::Register>(&in.operands[0].value))
            each_lane(undefined, [&](int l) { slot(*g.at, l, *reg).undefined = 0; });
    }
    if (exec != g.lanes) split(w, g, g.lanes & ~exec, g.at, g.pc + 1);
    LaneMask outside = 0;
    each_lane(exec, [&](int lane) {
        if (index[static_cast<std::size_t>(lane)] >= targets.size()) outside |= LaneMask{1} << lane;
    });
    if (outside) {
        report("illegal-instruction", who(w, in, lowest(outside)), "an indexed branch outside its table",
               true);
        return;
    }
    const auto target_of = [&](int lane) { return targets[index[static_cast<std::size_t>(lane)]]; };
    std::uint64_t ways = exec != before.lanes;
    bool first = true;
    for (LaneMask rest = exec; rest; ++ways) {
        const std::uint32_t target = target_of(lowest(rest));
        LaneMask together = 0;
        each_lane(rest, [&](int lane) {
            if (target_of(lane) == target) together |= LaneMask{1} << lane;
        });
        rest &= ~together;
        if (first) {
            g.lanes = together;
            g.pc = target;
            first = false;
        } else {
            Group other;
            other.lanes = together;
            other.at = before.at;
            other.pc = target;
            other.last_run = w.instructions;
            w.groups.push_back(other);
        }
    }
    // A branch with two targets that both have lanes is divergent once.
    outcome_.counters.divergent_branches += ways - 1;
    line(in).divergent_branches += ways - 1;
}

// ---- barriers of the block ----

void Machine::arrive(Warp& w) {
    for (Group& g : w.groups) {
        if (g.state != Group::State::at_barrier || g.arrived || !g.lanes) continue;
        const ptx::Instruction& in = instruction_of(g);
        const auto form = barrier_form(in);
        if (!form || !readable(g, in.operands[form->number], ptx::Type::u32) ||
            (form->count && !readable(g, in.operands[*form->count], ptx::Type::u32)) ||
            (form->reduces() && !readable(g, in.operands[form->predicate], ptx::Type::pred))) {
            report("unsupported-instruction", who(w, in, lowest(g.lanes)), in.text, true);
            return;
        }
        if (form->aligned && g.lanes != w.live) {
            for (Group& other : w.groups) {
                if (&other == &g || !other.lanes || other.state != Group::State::at_barrier) continue;
                if (other.at == g.at && other.pc == g.pc) {
                    g.lanes |= other.lanes;
                    other.lanes = 0;
                } else if (&instruction_of(other) != &in) {
                    const Who party = who(w, instruction_of(other), lowest(other.lanes));
                    report("divergent-barrier", who(w, in, lowest(g.lanes)),
                           "threads of the block wait at different barriers", true, &party);
                    return;
                }
            }
            if (g.lanes != w.live) continue;
        }
        const int lane = lowest(g.lanes);
        const std::uint64_t number = read(w, g, lane, in.operands[form->number], ptx::Type::u32).bits;
        if (number >= 16) {
            report("illegal-instruction", who(w, in, lane), "there are the barriers 0 to 15", true);
            return;
        }
        std::uint32_t count = 0;
        if (form->count)
            count =
                static_cast<std::uint32_t>(read(w, g, lane, in.operands[*form->count], ptx::Type::u32).bits);
        if (count % kWarpSize != 0) {
            report("illegal-instruction", who(w, in, lane), "a thread count that is no multiple of 32", true);
            return;
        }
        BlockBarrier& barrier = block_->barriers[number];
        barrier.expected = count;
        barrier.threads +=
            count && form->aligned ? kWarpSize : static_cast<std::uint32_t>(population(g.lanes));
        outcome_.counters.barriers += 1;
        const bool waits = form->kind != BarrierForm::Kind::arrive;
        if (form->reduces())
            each_lane(g.lanes, [&](int l) {
                barrier.predicates += 1;
                barrier.true_predicates +=
                    read(w, g, l, in.operands[form->predicate], ptx::Type::pred).bits != 0;
            });
        barrier.arrivals.push_back({&w, g.lanes, &in, waits});
        if (waits) {
            g.arrived = true;
        } else {
            g.state = Group::State::ready;
            g.pc += 1;
        }
        try_complete(barrier);
        if (stopped_) return;
    }
}

void Machine::try_complete(BlockBarrier& barrier) {
    const bool waited_for = std::any_of(barrier.arrivals.begin(), barrier.arrivals.end(),
                                        [](const Arrival& a) { return a.waits; });
    const std::uint32_t expected = barrier.expected ? barrier.expected : block_->live_threads;
    if (waited_for && barrier.threads >= expected) complete(barrier);
}

void Machine::complete(BlockBarrier& barrier) {
    const Arrival* first = nullptr;
    for (const Arrival& a : barrier.arrivals) {
        if (!a.waits) continue;
        if (!first) first = &a;
        const bool strict = barrier.expected == 0 && barrier_form(*a.instruction)->aligned &&
                            barrier_form(*first->instruction)->aligned;
        if (strict && a.instruction != first->instruction) {
            const Who other = who(*first->warp, *first->instruction, lowest(first->lanes));
            report("divergent-barrier", who(*a.warp, *a.instruction, lowest(a.lanes)),
                   "threads of the block wait at different barriers", true, &other);
            return;
        }
    }
    if (options_.check_races) {
        std::vector<std::uint32_t> arriving, waiting;
        for (const Arrival& a : barrier.arrivals)
            // A warp arrives as a whole: lanes that have exited did so before.
            each_lane(a.lanes | (a.warp->present & ~a.warp->live), [&](int lane) {
                arriving.push_back(number_of(*a.warp, lane));
                if (a.waits && ((a.lanes >> lane) & 1)) waiting.push_back(number_of(*a.warp, lane));
            });
        if (barrier.expected == 0)
            for (const auto& w : block_->warps)
                each_lane(w->present & ~w->live, [&](int lane) { arriving.push_back(number_of(*w, lane)); });
        synchronise(arriving, waiting);
    }
    for (const Arrival& a : barrier.arrivals) {
        if (!a.waits) continue;
        const BarrierForm form = *barrier_form(*a.instruction);
        for (Group& g : a.warp->groups) {
            if (g.state != Group::State::at_barrier || !g.arrived || !(g.lanes & a.lanes)) continue;
            each_lane(g.lanes, [&](int lane) {
                if (!form.reduces()) return;
                Value v;
                v.bits = form.kind == BarrierForm::Kind::popc  ? barrier.true_predicates
                         : form.kind == BarrierForm::Kind::all ? barrier.true_predicates == barrier.predicates
                                                               : barrier.true_predicates != 0;
                write(*a.warp, g, lane, a.instruction->operands[0], v);
            });
            g.state = Group::State::ready;
            g.arrived = false;
            g.pc += 1;
        }
    }
    block_->changes += 1;
    barrier = BlockBarrier{};
}

void Machine::check_barriers() {
    for (const auto& w : block_->warps) {
        if (!w->live) continue;
        arrive(*w);
        if (stopped_) return;
    }
    for (BlockBarrier& barrier : block_->barriers) {
        if (!barrier.arrivals.empty()) try_complete(barrier);
        if (stopped_) return;
    }
}

}  // namespace emulator::specification

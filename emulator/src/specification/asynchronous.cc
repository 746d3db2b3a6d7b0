// cp.async and mbarrier objects. A copy reads its source at once; its bytes arrive in shared memory when the
// thread waits for them, as late as may be, and until then nothing is there that may be read. An mbarrier's
// phase completes when its arrivals have come and the bytes that were announced are complete.
#include <algorithm>

#include "emulator/src/specification/machine.h"

namespace emulator::specification {

using ptx::Space;
using ptx::Type;

namespace {

constexpr std::uint64_t kMostArrivals = (1u << 20) - 1;
constexpr std::int64_t kMostBytes = (1 << 20) - 1;

// What the object's eight bytes hold, and an arrival returns: 20 bits of pending arrivals, 20 of expected
// ones, 21 of pending bytes, 3 of the phase.
std::uint64_t state_of(const Mbarrier& m) {
    return m.pending | m.expected << 20 | truncated(static_cast<std::uint64_t>(m.bytes), 21) << 40 |
           m.phase % 8 << 61;
}
const ptx::Address* address_in(const ptx::Instruction& in, std::size_t k) {
    const auto* address = k < in.operands.size() ? std::get_if<ptx::Address>(&in.operands[k].value) : nullptr;
    return address && address->coordinates.empty() ? address : nullptr;
}

}  // namespace

// The address of one lane, in the space's own window when it is one of shared memory.
std::uint64_t Machine::effective_address(Group& g, int lane, const ptx::Address& address, bool shared) {
    auto at = static_cast<std::uint64_t>(address.offset);
    if (const auto* reg = std::get_if<ptx::Register>(&address.base)) {
        at += slot(*g.at, lane, *reg).bits;
        if (ptx::file_of(reg->type) == ptx::File::narrow) at = truncated(at, 32);
    } else if (const auto* symbol = std::get_if<ptx::Symbol>(&address.base)) {
        at += address_of(*g.at->function, *symbol);
    } else {
        at += std::get<ptx::Immediate>(address.base).bits;
    }
    if (shared && at >> kSlotShift == kSharedWindow >> kSlotShift) at -= kSharedWindow;
    return at;
}
bool Machine::can_address(const Group& g, const ptx::Address& address) const {
    if (const auto* reg = std::get_if<ptx::Register>(&address.base))
        return reg->type != Type::pred && reg->type != Type::b128;
    const auto* symbol = std::get_if<ptx::Symbol>(&address.base);
    return !symbol || !symbol->variable || !frame_offset(*g.at->function, *symbol->variable);
}
// An undefined address is a fault, once.
void Machine::use_address(Warp& w, Group& g, const ptx::Instruction& in, const ptx::Address& address,
                          LaneMask exec) {
    const auto* reg = std::get_if<ptx::Register>(&address.base);
    if (!reg) return;
    LaneMask undefined = 0;
    each_lane(exec, [&](int lane) {
        if (slot(*g.at, lane, *reg).undefined) undefined |= LaneMask{1} << lane;
    });
    if (!undefined) return;
    const int lane = lowest(undefined);
    use_undefined(w, in, lane, origin_for(w, in, slot(*g.at, lane, *reg), lane));
    each_lane(undefined, [&](int l) { slot(*g.at, l, *reg).undefined = 0; });
}

// ---- cp.async ----

bool Machine::asynchronous_copy(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    Words words(in);
    if (!words.take("async")) return false;
    if (words.take("mbarrier")) return copies_arrive(w, g, in, exec);
    if (words.take("commit_group")) {
        if (!words.empty() || !in.operands.empty()) return false;
        each_lane(exec, [&](int lane) {
            const auto i = static_cast<std::size_t>(lane);
            w.copy_groups[i].push_back(std::move(w.open_copies[i]));
            w.open_copies[i].clear();
        });
        return true;
    }
    if (words.take("wait_all")) {
        if (!words.empty() || !in.operands.empty()) return false;
        each_lane(exec, [&](int lane) { land_all(w, g, lane); });
        return true;
    }
    if (words.take("wait_group")) {
        const auto* most =
            in.operands.size() == 1 ? std::get_if<ptx::Immediate>(&in.operands[0].value) : nullptr;
        if (!words.empty() || !most || most->is_float) return false;
        each_lane(exec, [&](int lane) {
            auto& groups = w.copy_groups[static_cast<std::size_t>(lane)];
            while (groups.size() > most->bits) {
                land(w, g, lane, groups.front());
                groups.erase(groups.begin());
            }
        });
        return true;
    }
    const bool cg = words.take("cg");
    if (!cg && !words.take("ca")) return false;
    if (!words.take_one_of({"shared", "shared::cta", "shared::cluster"}) || !words.take("global"))
        return false;
    words.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
    const std::size_t count = in.operands.size() - (words.take("L2::cache_hint") ? 1 : 0);
    const auto *to = address_in(in, 0), *from = address_in(in, 1);
    if (!words.empty() || count < 3 || count > 4 || !to || !from || !can_address(g, *to) ||
        !can_address(g, *from))
        return false;
    const auto* size = std::get_if<ptx::Immediate>(&in.operands[2].value);
    if (!size || (size->bits != 4 && size->bits != 8 && size->bits != 16) || (cg && size->bits != 16))
        return false;
    const std::uint64_t bytes = size->bits;
    const auto* last = count == 4 ? std::get_if<ptx::Register>(&in.operands[3].value) : nullptr;
    const bool ignores = last && last->type == Type::pred;
    if (count == 4 && !readable(g, in.operands[3], ignores ? Type::pred : Type::u32)) return false;
    if (!exec) return true;
    use_address(w, g, in, *to, exec);
    if (!stopped_) use_address(w, g, in, *from, exec);
    if (stopped_) return true;

    std::vector<LaneAccess> sources, destinations;
    std::array<std::uint64_t, kWarpSize> taken{};
    each_lane(exec, [&](int lane) {
        destinations.push_back({lane, effective_address(g, lane, *to, true)});
        sources.push_back({lane, effective_address(g, lane, *from, false)});
        std::uint64_t& take = taken[static_cast<std::size_t>(lane)] = bytes;
        if (count == 3) return;
        const Value v = read(w, g, lane, in.operands[3], ignores ? Type::pred : Type::u32);
        take = ignores ? (v.bits ? 0 : bytes) : std::min(bytes, truncated(v.bits, 32));
    });
    for (std::size_t k = 0; k < sources.size(); ++k) {
        const std::uint64_t at = sources[k].address, take = taken[static_cast<std::size_t>(sources[k].lane)];
        const Buffer* b = memory_.at(at);
        const std::uint64_t place = destinations[k].address;
        const char* rule = nullptr;
        if (take && (!b || !b->contains(at, take)))
            rule = !b && at < std::uint64_t{1} << kSlotShift ? "null-access" : "out-of-bounds";
        else if (at % bytes != 0)
            rule = "misaligned-access";
        else if (place > shared_bytes_ || bytes > shared_bytes_ - place)
            rule = "out-of-bounds";
        else if (place % bytes != 0)
            rule = "misaligned-access";
        if (!rule) continue;
        report(rule, who(w, in, sources[k].lane), "an address that must not be used", true);
        return true;
    }
    MemoryForm reads, writes;
    reads.load = true;
    reads.element_bytes = writes.element_bytes = static_cast<unsigned>(bytes);
    writes.store = true;
    std::vector<LaneAccess> read_lanes;
    for (const LaneAccess& at : sources)
        if (taken[static_cast<std::size_t>(at.lane)]) read_lanes.push_back(at);
    if (options_.count) {
        if (!read_lanes.empty()) count_access(w, in, reads, read_lanes, Space::global);
        outcome_.counters.cp_async_requests += 1;
        for (const std::uint64_t take : taken) outcome_.counters.cp_async_bytes += take;
    }
    for (std::size_t k = 0; k < sources.size(); ++k) {
        const int lane = sources[k].lane;
        Copy copy;
        copy.to = destinations[k].address;
        copy.instruction = &in;
        copy.data.resize(bytes);
        const std::uint64_t take = taken[static_cast<std::size_t>(lane)];
        if (take && options_.check_races) {
            reads.element_bytes = static_cast<unsigned>(take);
            record(w, g, in, reads, {sources[k]}, Space::global);
        }
        copy.defined = true;
        for (std::uint64_t b = 0; b < take; ++b) {
            const Byte byte = load_byte(w, lane, Space::global, sources[k].address + b);
            copy.data[b] = byte.value;
            copy.defined &= byte.written;
        }
        for (std::uint64_t b = 0; b < bytes; ++b) block_->shared[copy.to + b].written = false;
        for (std::uint64_t b = 0; b < bytes; ++b) block_->shared[copy.to + b].origin = 0;
        w.open_copies[static_cast<std::size_t>(lane)].push_back(std::move(copy));
    }
    const std::vector<std::uint8_t> unknown;
    if (options_.check_races) record(w, g, in, writes, destinations, Space::shared, &unknown);
    return true;
}

void Machine::land(Warp& w, Group& g, int lane, const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
        MemoryForm form;
        form.store = true;
        form.element_bytes = static_cast<unsigned>(copy.data.size());
        if (options_.check_races)
            record(w, g, *copy.instruction, form, {{lane, copy.to}}, Space::shared, &copy.data);
        for (std::size_t b = 0; b < copy.data.size(); ++b) {
            Byte& byte = block_->shared[copy.to + b];
            byte.value = copy.data[b];
            byte.written |= copy.defined;
        }
        block_->changes += 1;
    }
}
void Machine::land_all(Warp& w, Group& g, int lane) {
    const auto i = static_cast<std::size_t>(lane);
    for (const auto& copies : w.copy_groups[i]) land(w, g, lane, copies);
    w.copy_groups[i].clear();
    land(w, g, lane, w.open_copies[i]);
    w.open_copies[i].clear();
}

// ---- mbarrier ----

// The place of the lane's object; nothing after a fault.
std::optional<std::uint64_t> Machine::mbarrier_place(Warp& w, Group& g, const ptx::Instruction& in, int lane,
                                                     const ptx::Address& address) {
    if (stopped_) return std::nullopt;
    const std::uint64_t at = effective_address(g, lane, address, true);
    const char* rule = at > shared_bytes_ || 8 > shared_bytes_ - at ? "out-of-bounds"
                       : at % 8 != 0                                ? "misaligned-access"
                                                                    : nullptr;
    if (!rule) return at;
    report(rule, who(w, in, lane), "an address that must not be used", true);
    return std::nullopt;
}
// The object itself; null after a fault.
Mbarrier* Machine::mbarrier_at(Warp& w, Group& g, const ptx::Instruction& in, int lane,
                               const ptx::Address& address) {
    const auto at = mbarrier_place(w, g, in, lane, address);
    if (!at) return nullptr;
    if (options_.check_races) {
        MemoryForm form;
        form.load = form.store = form.strong = true;
        form.element_bytes = 8;
        record(w, g, in, form, {{lane, *at}}, Space::shared);
        if (stopped_) return nullptr;
    }
    const auto it = block_->mbarriers.find(*at);
    if (it == block_->mbarriers.end()) {
        report("mbarrier-misuse", who(w, in, lane), "no mbarrier was made here", true);
        return nullptr;
    }
    std::uint64_t bits = 0;
    for (unsigned b = 0; b < 8; ++b) bits |= std::uint64_t{block_->shared[*at + b].value} << (8 * b);
    if (bits != it->second.kept) {
        report("mbarrier-misuse", who(w, in, lane), "the mbarrier was overwritten", true, &it->second.made);
        return nullptr;
    }
    return &it->second;
}
void Machine::keep(std::uint64_t at, Mbarrier& m) {
    m.kept = state_of(m);
    for (unsigned b = 0; b < 8; ++b)
        block_->shared[at + b].value = static_cast<std::uint8_t>(m.kept >> (8 * b));
    block_->changes += 1;
}
void Machine::settle(std::uint64_t at, Mbarrier& m) {
    if (m.pending == 0 && m.bytes == 0) {
        m.pending = m.expected;
        m.phase += 1;
        m.completed = m.arriving;
    }
    keep(at, m);
}
bool Machine::announce(Warp& w, const ptx::Instruction& in, int lane, std::uint64_t at, Mbarrier& m,
                       std::int64_t bytes) {
    if (m.bytes + bytes > kMostBytes || m.bytes + bytes < -kMostBytes) {
        report("mbarrier-misuse", who(w, in, lane), "more bytes pending than there can be", true);
        return false;
    }
    m.bytes += bytes;
    m.expecting = who(w, in, lane);
    settle(at, m);
    return true;
}
bool Machine::arrive_at(Warp& w, const ptx::Instruction& in, int lane, std::uint64_t at, Mbarrier& m,
                        std::uint64_t count, bool drops, bool no_complete) {
    if (count == 0 || count > kMostArrivals) {
        report("mbarrier-misuse", who(w, in, lane), "a count of arrivals that cannot be", true);
        return false;
    }
    if (count > m.pending) {
        const Who& other = m.pending == 0 && m.bytes != 0 ? m.expecting : m.arrived;
        report("mbarrier-misuse", who(w, in, lane), "more arrivals than the phase takes", true,
               other.instruction ? &other : nullptr);
        return false;
    }
    if (no_complete && count == m.pending && m.bytes == 0) {
        report("mbarrier-misuse", who(w, in, lane), "an arrival with .noComplete completes the phase", true);
        return false;
    }
    m.pending -= count;
    if (drops) m.expected -= count;
    m.arrived = who(w, in, lane);
    settle(at, m);
    return true;
}
// What the thread has done and knows goes to those who wait for the phase; `relaxed`: what it has published.
void Machine::release_to(Mbarrier& m, std::uint32_t number, bool relaxed) {
    acquire_pending(number, false);
    ThreadOrder& o = order_[number];
    join(m.arriving.published, o.published);
    join(m.arriving.published_in_block, o.published_in_block);
    join(m.arriving.clock, relaxed ? o.published_in_block : o.clock);
    if (!relaxed) new_epoch(number);
}

bool Machine::copies_arrive(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    Words words(in);
    const bool no_increment = words.take("noinc");
    words.take_one_of({"shared", "shared::cta"});
    const auto* address = address_in(in, 0);
    if (!words.take("async") || !words.take("mbarrier") || !words.take("arrive") || !words.take("b64") ||
        !words.empty() || in.operands.size() != 1 || !address || !can_address(g, *address))
        return false;
    if (!exec) return true;
    use_address(w, g, in, *address, exec);
    each_lane(exec, [&](int lane) {
        if (!stopped_) land_all(w, g, lane);
    });
    each_lane(exec, [&](int lane) {
        Mbarrier* m = mbarrier_at(w, g, in, lane, *address);
        if (!m) return;
        if (options_.check_races) release_to(*m, number_of(w, lane), false);
        // Without .noinc the arrival was added to the expected ones by the instruction itself.
        if (no_increment)
            arrive_at(w, in, lane, effective_address(g, lane, *address, true), *m, 1, false, false);
    });
    return true;
}

bool Machine::mbarrier(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec) {
    Words words(in);
    const auto operation = words.take_one_of({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                                              "complete_tx", "test_wait", "try_wait", "pending_count"});
    if (!operation) return false;
    const std::string& op = *operation;
    const bool no_complete = words.take("noComplete"), relaxed = words.take("relaxed");
    if (!relaxed) words.take_one_of({"release", "acquire"});
    words.take_one_of({"cta", "cluster"});
    const bool arrives = op == "arrive" || op == "arrive_drop",
               counts = op == "expect_tx" || op == "complete_tx";
    const auto space = words.take_one_of({"shared", "shared::cta", "shared::cluster"});
    if (space == "shared::cluster" && !arrives && !counts) return false;
    const bool waits = op == "test_wait" || op == "try_wait", parity = waits && words.take("parity"),
               announces = arrives && words.take("expect_tx");
    if (!words.take("b64") || !words.empty()) return false;
    const std::size_t n = in.operands.size();

    if (op == "pending_count") {
        if (n != 2 || !writable(in.operands[0], Type::u32) || !readable(g, in.operands[1], Type::b64))
            return false;
        each_lane(exec, [&](int lane) {
            Value v = read(w, g, lane, in.operands[1], Type::b64);
            v.bits = truncated(v.bits, 20);
            if (v.undefined) {
                v.origin = origin_for(w, in, v, lane);
                v.undefined = ~std::uint64_t{0};
            }
            write(w, g, lane, in.operands[0], v);
        });
        return true;
    }
    const bool has_result =
        waits || (arrives && n > 0 && !std::holds_alternative<ptx::Address>(in.operands[0].value));
    const std::size_t place = has_result ? 1 : 0;
    const auto* address = address_in(in, place);
    if (!address || !can_address(g, *address)) return false;
    if (has_result && !writable(in.operands[0], waits ? Type::pred : Type::b64)) return false;
    const bool has_operand = n >= place + 2;
    const bool needs_operand = op == "init" || waits || counts || announces;
    if (needs_operand && !has_operand) return false;
    if (op == "inval" && has_operand) return false;
    if (n > place + (op == "try_wait" ? 3u : 2u)) return false;
    const Type type = waits && !parity ? Type::b64 : Type::u32;
    if (has_operand && !readable(g, in.operands[place + 1], type)) return false;
    if (!exec) return true;
    use_address(w, g, in, *address, exec);

    LaneMask done = 0;
    std::vector<LaneAccess> polled;
    each_lane(exec, [&](int lane) {
        if (stopped_) return;
        Value operand;
        operand.bits = 1;
        if (has_operand) operand = read(w, g, lane, in.operands[place + 1], type);
        if (op == "init") {
            const auto at = mbarrier_place(w, g, in, lane, *address);
            if (!at) return;
            const std::uint64_t count = truncated(operand.bits, 32);
            if (count == 0 || count > kMostArrivals) {
                report("mbarrier-misuse", who(w, in, lane), "a count of arrivals that cannot be", true);
                return;
            }
            Mbarrier m;
            m.pending = m.expected = count;
            if (options_.check_races) {  // several threads may make the same one, as they may store one value
                MemoryForm form;
                form.store = true;
                form.element_bytes = 8;
                std::vector<std::uint8_t> bytes;
                for (unsigned b = 0; b < 8; ++b)
                    bytes.push_back(static_cast<std::uint8_t>(state_of(m) >> (8 * b)));
                record(w, g, in, form, {{lane, *at}}, Space::shared, &bytes);
                if (stopped_) return;
            }
            m.made = who(w, in, lane);
            for (unsigned b = 0; b < 8; ++b) block_->shared[*at + b].written = true;
            keep(*at, m);
            block_->mbarriers[*at] = m;
            return;
        }
        Mbarrier* m = mbarrier_at(w, g, in, lane, *address);
        if (!m) return;
        const std::uint64_t at = effective_address(g, lane, *address, true);
        if (op == "inval") {
            block_->mbarriers.erase(at);
            for (unsigned b = 0; b < 8; ++b) {
                block_->shared[at + b].written = false;
                block_->shared[at + b].origin = 0;
            }
            block_->changes += 1;
            return;
        }
        if (waits) {
            polled.push_back({lane, at});
            const std::uint64_t phase = operand.bits >> 61;
            if (!parity && (m->phase - phase) % 8 > 1) {
                report("mbarrier-misuse", who(w, in, lane), "a state of an older phase", true);
                return;
            }
            const std::uint64_t odd = parity ? operand.bits & 1 : phase & 1;
            if (m->phase % 2 == odd) return;
            done |= LaneMask{1} << lane;
            if (options_.check_races && relaxed) {  // a fence after it makes it an acquire
                join(order_of(w, lane).pending_in_block, m->completed.clock);
                note_acquiring_warp(number_of(w, lane));
            } else if (options_.check_races) {
                ThreadOrder& o = order_of(w, lane);
                note_acquiring_warp(number_of(w, lane));
                join(o.clock, m->completed.clock);
                join(o.published, m->arriving.published);
                join(o.published_in_block, m->arriving.published_in_block);
            }
            return;
        }
        if (arrives && options_.check_races) release_to(*m, number_of(w, lane), relaxed);
        Value state;
        state.bits = state_of(*m);
        if (operand.undefined) {
            state.undefined = ~std::uint64_t{0};
            state.origin = origin_for(w, in, operand, lane);
        }
        const std::uint64_t amount = truncated(operand.bits, 32);
        if (counts || announces) {
            const auto bytes = static_cast<std::int64_t>(amount);
            if (!announce(w, in, lane, at, *m, op == "complete_tx" ? -bytes : bytes)) return;
        }
        if (arrives &&
            !arrive_at(w, in, lane, at, *m, announces ? 1 : amount, op == "arrive_drop", no_complete))
            return;
        if (has_result) write(w, g, lane, in.operands[0], state);
    });
    if (!waits || stopped_) return true;
    polls(w, g, in, polled, Space::shared);
    w.polls_in_vain = done != exec;
    if (done != exec) {
        w.last_poll_lane = lowest(exec & ~done);
        w.awaited = effective_address(g, w.last_poll_lane, *address, true);
    }
    each_lane(exec, [&](int lane) {
        Value p;
        p.bits = (done >> lane) & 1;
        const Value operand = read(w, g, lane, in.operands[2], type);
        if (operand.undefined) {
            p.undefined = 1;
            p.origin = origin_for(w, in, operand, lane);
        }
        write(w, g, lane, in.operands[0], p);
    });
    return true;
}

}  // namespace emulator::specification

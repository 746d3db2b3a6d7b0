// Data races by the definition: two accesses of different threads to a byte, at least one a write, not both
// strong enough for each other, and neither ordered before the other. Every access of the launch is kept, and
// the order is a vector clock per thread. What orders: the program order of a thread, barriers,
// bar.warp.sync, and a release pattern (fence, then a strong write) seen by an acquire pattern (a strong
// read, then a fence; barriers count as one; a strong access needs none for itself). Lanes that exchange
// values (shfl, vote, match, redux) have what they read behind them: it is ordered before what any of them
// writes after, and nothing else is.
#include <algorithm>

#include "emulator/src/specification/machine.h"

namespace emulator::specification {

void join(Clock& into, const Clock& from) {
    if (from.empty()) return;
    if (into.size() < from.size()) into.resize(from.size(), 0);
    for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

namespace {

bool covers(const Clock& clock, const AccessRecord& r) {
    return r.number < clock.size() && clock[r.number] >= r.epoch;
}

bool names_order(const AccessRecord& r) {
    for (const std::string& modifier : r.instruction->modifiers)
        if (modifier == "relaxed" || modifier == "acquire" || modifier == "release") return true;
    return false;
}
// May both happen at once? Volatile accesses of one warp count as plain ones, those that name an order do
// not.
bool compatible(const AccessRecord& a, const AccessRecord& b) {
    if (!(a.atomic || a.strong) || !(b.atomic || b.strong)) return false;
    if (a.block != b.block && (a.block_scope || b.block_scope)) return false;
    if (a.atomic || b.atomic) return true;
    return a.block != b.block || a.thread / kWarpSize != b.thread / kWarpSize ||
           (names_order(a) && names_order(b));
}

}  // namespace

void Machine::start_order(std::uint32_t threads) {
    order_.resize(threads);
    for (std::uint32_t i = 0; i < threads; ++i) {
        order_[i].clock.assign(threads, 0);
        order_[i].clock[i] = 1;
    }
}
std::uint32_t Machine::number_of(const Warp& w, int lane) const {
    return static_cast<std::uint32_t>(block_->linear) * threads_ + w.index * kWarpSize +
           static_cast<std::uint32_t>(lane);
}
ThreadOrder& Machine::order_of(const Warp& w, int lane) { return order_[number_of(w, lane)]; }
void Machine::exchange(Warp& w, LaneMask lanes) {
    // When all that are left take part, those that have ended have read before as well.
    const LaneMask from = (w.live & ~lanes) == 0 ? w.present : lanes;
    each_lane(lanes, [&](int lane) {
        Clock& reads = order_of(w, lane).reads;
        reads.resize(order_.size(), 0);
        each_lane(from, [&](int other) {
            const std::uint32_t number = number_of(w, other);
            reads[number] = order_[number].clock[number];
        });
    });
    each_lane(lanes, [&](int lane) { new_epoch(number_of(w, lane)); });
}
void Machine::new_epoch(std::uint32_t number) { order_[number].clock[number] += 1; }

void Machine::note_acquiring_warp(std::uint32_t number) {
    acquiring_warps_.insert({number / threads_, number % threads_ / kWarpSize});
}
void Machine::acquire_pending(std::uint32_t number, bool block_scope) {
    ThreadOrder& o = order_[number];
    if (!o.pending.empty() || !o.pending_in_block.empty()) note_acquiring_warp(number);
    join(o.clock, o.pending_in_block);
    o.pending_in_block.clear();
    if (block_scope) return;
    join(o.clock, o.pending);
    o.pending.clear();
}
void Machine::fence(Warp& w, LaneMask lanes, bool acquires, bool releases, bool block_scope) {
    each_lane(lanes, [&](int lane) {
        const std::uint32_t number = number_of(w, lane);
        if (acquires) acquire_pending(number, block_scope);
        if (!releases) return;
        ThreadOrder& o = order_[number];
        join(o.published_in_block, o.clock);
        if (!block_scope) join(o.published, o.clock);
        new_epoch(number);
    });
}
void Machine::note_release(Warp& w, int lane, std::uint64_t address, bool shared, bool block_scope) {
    const ThreadOrder& o = order_of(w, lane);
    if (shared) {
        join(block_->shared_releases[address], o.published_in_block);
        return;
    }
    Release& r = releases_[address];
    join(r.in_block[block_->linear], o.published_in_block);
    if (!block_scope) join(r.anywhere, o.published);
}
void Machine::note_acquire(Warp& w, int lane, std::uint64_t address, bool shared, bool block_scope) {
    ThreadOrder& o = order_of(w, lane);
    if (shared) {
        if (const auto it = block_->shared_releases.find(address); it != block_->shared_releases.end()) {
            join(o.pending_in_block, it->second);
            if (!o.pending_in_block.empty()) note_acquiring_warp(number_of(w, lane));
        }
        return;
    }
    const auto it = releases_.find(address);
    if (it == releases_.end()) return;
    if (const auto own = it->second.in_block.find(block_->linear); own != it->second.in_block.end())
        join(o.pending_in_block, own->second);
    if (!block_scope) join(o.pending, it->second.anywhere);
    if (!o.pending.empty() || !o.pending_in_block.empty()) note_acquiring_warp(number_of(w, lane));
}
// A barrier of some threads: what those that arrive have done, and know, and have published, is passed on to
// those that wait.
void Machine::synchronise(const std::vector<std::uint32_t>& arriving,
                          const std::vector<std::uint32_t>& waiting) {
    ThreadOrder all;
    for (const std::uint32_t number : arriving) {
        acquire_pending(number, false);
        join(all.clock, order_[number].clock);
        join(all.published, order_[number].published);
        join(all.published_in_block, order_[number].published_in_block);
    }
    for (const std::uint32_t number : waiting) {
        join(order_[number].clock, all.clock);
        join(order_[number].published, all.published);
        join(order_[number].published_in_block, all.published_in_block);
    }
    for (const std::uint32_t number : arriving) new_epoch(number);
}

void Machine::record(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                     const std::vector<LaneAccess>& lanes, ptx::Space space,
                     const std::vector<std::uint8_t>* data) {
    const bool shared = space == ptx::Space::shared;
    const bool updates = form.load && form.store;
    serial_ += 1;
    for (const LaneAccess& at : lanes) {
        if (!shared) {
            const Buffer* b = memory_.at(at.address);
            if (!b->writable || b->role == Buffer::Role::workspace) continue;
        }
        AccessRecord r;
        r.block = block_->linear;
        r.thread = w.index * kWarpSize + static_cast<std::uint32_t>(at.lane);
        r.number = number_of(w, at.lane);
        r.epoch = order_[r.number].clock[r.number];
        r.serial = serial_;
        r.instruction = &in;
        r.reads = form.load;
        r.writes = form.store;
        r.atomic = updates;
        r.strong = form.strong;
        r.block_scope = form.block_scope;
        r.non_coherent = form.non_coherent && !shared;
        std::map<std::uint64_t, AccessRecord> parts;  // by address / 4
        for (unsigned b = 0; b < form.bytes(); ++b) {
            const std::uint64_t address = at.address + b;
            AccessRecord& part = parts.try_emplace(address / 4, r).first->second;
            part.bytes |= 1u << (address % 4);
            part.unknown = data && data->empty();
            if (data && !data->empty()) {
                part.stored[address % 4] = (*data)[b];
            } else if (form.store && !updates && !data) {
                const ptx::Operand element = element_of(in.operands[1], b / form.element_bytes);
                const Value v = read(w, g, at.lane, element, form.type);
                part.stored[address % 4] =
                    static_cast<std::uint8_t>(v.bits >> (8 * (b % form.element_bytes)));
            }
        }
        auto& all = shared ? block_->shared_accesses : global_accesses_;
        for (auto& [granule, part] : parts) touch(all[granule], part, shared);
    }
}

// The accesses that came before, the latest first; those of one instruction from its lowest lane on.
void Machine::touch(std::vector<AccessRecord>& records, AccessRecord now, bool shared) {
    const ThreadOrder& order = order_[now.number];
    const bool validates = now.instruction->has("cas");
    if (validates) {
        // A compare-and-swap of what this thread read last here: had it changed since, it would have failed.
        for (auto r = records.rbegin(); r != records.rend(); ++r) {
            if (r->number != now.number) continue;
            if (r->reads && !r->writes && !r->strong && !(r->bytes & ~now.bytes))
                peeks_[identity(*r->instruction)].validated = true;
            break;
        }
    }
    std::vector<const AccessRecord*> earlier;
    for (const AccessRecord& r : records) earlier.push_back(&r);
    std::stable_sort(earlier.begin(), earlier.end(), [](const AccessRecord* a, const AccessRecord* b) {
        return a->serial != b->serial ? a->serial > b->serial : a->thread < b->thread;
    });
    for (const AccessRecord* r : earlier) {
        if (!(r->bytes & now.bytes) || !(r->writes || now.writes)) continue;
        if (r->non_coherent || now.non_coherent) {
            const Who earlier_party{r->instruction, r->block, r->thread};
            report("non-coherent-read", {now.instruction, now.block, now.thread},
                   "data that the launch writes and reads as data that no thread writes", false,
                   &earlier_party);
        }
        if (r->number == now.number || compatible(*r, now) || covers(order.clock, *r)) continue;
        if (r->reads && !r->writes && now.writes && covers(order.reads, *r)) continue;
        if ((now.strong || now.atomic) && (covers(order.pending, *r) || covers(order.pending_in_block, *r)))
            continue;
        if (r->writes && now.writes && !r->atomic && !now.atomic) {  // the same value is no harm
            bool same = !r->unknown && !now.unknown;
            for (unsigned b = 0; b < 4; ++b)
                if ((r->bytes & now.bytes) >> b & 1) same &= r->stored[b] == now.stored[b];
            if (same) continue;
        }
        // Nothing between the two touched these four bytes: no record can have been lost.
        bool adjacent = true;
        std::set<unsigned> parts;  // which bytes the lanes of the earlier instruction touched here
        for (const AccessRecord& other : records) {
            adjacent &= other.serial <= r->serial || other.serial >= now.serial;
            if (other.serial == r->serial) parts.insert(other.bytes);
        }
        adjacent &= parts.size() <= 2;
        race(*r, now, shared, adjacent);
        if (stopped_) break;
    }
    // The same read or atomic again, as a thread that polls makes it: nothing that comes can tell the two
    // apart, and the later one stands for both.
    std::erase_if(records, [&](const AccessRecord& r) {
        return r.number == now.number && r.epoch == now.epoch && r.instruction == now.instruction &&
               r.bytes == now.bytes && (!r.writes || r.atomic);
    });
    records.push_back(now);
}

void Machine::race(const AccessRecord& earlier, const AccessRecord& later, bool shared, bool adjacent) {
    const bool later_peeks = !later.writes && earlier.atomic, earlier_peeks = !earlier.writes && later.atomic;
    if (details_) {
        const auto party = [](const AccessRecord& r) {
            return RaceDetail::Party{r.block, r.thread, r.instruction->source.ptx_line};
        };
        int a = earlier.instruction->source.ptx_line, b = later.instruction->source.ptx_line;
        if (a > b) std::swap(a, b);
        RaceDetail& detail = (*details_)[{shared ? "shared-race" : "global-race", {a, b}}];
        detail.pairs.insert({party(later), party(earlier)});
        // Where a warp has acquired something through memory, an engine may take all of its lanes to have.
        // And where another warp of its block has, that the block knows what other blocks did.
        const auto of_block = acquiring_warps_.lower_bound({later.block, 0});
        const bool exact = earlier.block == later.block
                               ? !acquiring_warps_.contains({later.block, later.thread / kWarpSize})
                               : of_block == acquiring_warps_.end() || of_block->first != later.block;
        detail.adjacent |= adjacent && exact && !later_peeks && !earlier_peeks;
    }
    // A plain read against an atomic: harmless where a compare-and-swap validates what was read, which is
    // known when the launch ends.
    if (later_peeks || earlier_peeks) {
        Peek& peek = peeks_[identity(*(later_peeks ? later : earlier).instruction)];
        if (peek.raced) return;
        peek.raced = true;
        peek.earlier = earlier;
        peek.later = later;
        peek.shared = shared;
        return;
    }
    const Who other{earlier.instruction, earlier.block, earlier.thread};
    report(shared ? "shared-race" : "global-race", {later.instruction, later.block, later.thread},
           "two threads use the same memory without synchronisation between", false, &other);
}

void Machine::report_peeked() {
    for (const auto& [place, peek] : peeks_) {
        if (!peek.raced || peek.validated) continue;
        const Who other{peek.earlier.instruction, peek.earlier.block, peek.earlier.thread};
        report(peek.shared ? "shared-race" : "global-race",
               {peek.later.instruction, peek.later.block, peek.later.thread},
               "two threads use the same memory without synchronisation between", false, &other);
    }
}

}  // namespace emulator::specification

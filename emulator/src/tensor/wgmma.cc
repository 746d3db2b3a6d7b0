// What must hold around wgmma.mma_async: agreement of the warpgroup, fences, and registers that are not
// touched while they are in flight.
//
// PTX asks for a wgmma.fence before the first product, and between any other access to a register and a
// product that uses it (accumulators that go from one product to the next of the same shape need none).
// Compilers keep neither to it: they copy accumulators with `mov`, place constants late, and let arithmetic
// sink below a fence that the source has after it. So a `mov` is no access here but hands the state of its
// source on, and a write between the fence and the product counts only where the source has it there, or
// where there is no source.
#include "emulator/src/tensor/wgmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

namespace {

constexpr std::size_t kGroupWarps = 4;
// Entries of a WarpgroupLog that all warps have issued. It bounds memory: no program has that many in flight.
constexpr std::size_t kLogged = 1024;

Products& products_of(Warp& w) {
    if (!w.products) w.products = std::make_shared<Products>();
    w.watched = true;
    return *w.products;
}

RegisterWatch& watch_of(Warp& w, Products& products) {
    if (products.current_frame == w.frame) return *products.current;
    RegisterWatch& watch = products.watches[w.frame];
    const std::size_t registers = w.frame->function->narrow;
    if (watch.pending.size() < registers) {
        watch.pending.resize(registers);
        watch.read.resize(registers);
        watch.written_after.resize(registers, 0);
        watch.writer.resize(registers, 0);
    }
    products.current_frame = w.frame;
    products.current = &watch;
    return watch;
}

OtherParty party(Warp& w, std::uint32_t id, const char* note) {
    OtherParty other;
    other.id = id;
    other.note = note;
    other.block = w.block->linear;
    other.thread = w.first_thread;
    return other;
}

// The line of the kernel's own text, when there is one, that an instruction came from.
struct Line {
    std::int32_t file = -1, line = 0;
};
Line outer_line(const Warp& w, std::uint32_t id) {
    const ptx::Source& s = w.launch->program->text[id]->source;
    if (s.outer_line > 0) return {s.outer_file, s.outer_line};
    return {s.file, s.line};
}

// Does the source have the write between the fence and the product? Without a source: as it was executed.
bool between(const Warp& w, std::uint32_t fence, std::uint32_t write, std::uint32_t product) {
    const Line f = outer_line(w, fence), x = outer_line(w, write), p = outer_line(w, product);
    if (f.line == 0 || x.line == 0 || p.line == 0) return true;
    if (f.file != x.file || f.file != p.file) return false;
    return f.line < p.line ? f.line < x.line && x.line <= p.line : f.line < x.line || x.line <= p.line;
}

void report_without_fence(Warp& w, const Instr& in, std::uint32_t writer, const char* what) {
    if (repeated(*w.launch, "missing-wgmma-fence", in.id, writer)) return;
    const OtherParty other = party(w, writer, "the write that is not fenced");
    report(w, "missing-wgmma-fence", in, 0,
           fmt::format("uses {} that was written after the last wgmma.fence", what), false, &other);
}

// The registers of A or C: written since the last fence?
void check_fence(Warp& w, const Instr& in, const Products& products, const RegisterWatch& watch,
                 const Slot* slots, std::size_t count, const char* what) {
    for (std::size_t i = 0; i < count; ++i) {
        if (slots[i].base != Base::narrow) continue;
        const std::uint32_t number = slots[i].number();
        if (watch.written_after[number] != products.fences) continue;
        if (!between(w, products.last_fence->id, watch.writer[number], in.id)) continue;
        report_without_fence(w, in, watch.writer[number], what);
        return;
    }
}

void report_in_flight(Warp& w, const Instr& in, const Product& product, const char* does, const char* what) {
    if (w.launch->program->text[product.instr->id]->opcode == "tcgen05") {
        if (repeated(*w.launch, "unwaited-tcgen05", in.id, product.instr->id)) return;
        const OtherParty other = party(w, product.instr->id, "the load that is still in flight");
        report(w, "unwaited-tcgen05", in, 0,
               fmt::format("{} a register of a tcgen05.ld that no tcgen05.wait::ld has waited for", does),
               false, &other);
        return;
    }
    if (repeated(*w.launch, "unwaited-wgmma", in.id, product.instr->id)) return;
    const OtherParty other = party(w, product.instr->id, "the product that is still in flight");
    report(w, "unwaited-wgmma", in, 0,
           fmt::format("{} {} of a wgmma.mma_async that no wgmma.wait_group has waited for", does, what),
           false, &other);
}

void fail(Warp& w, const Instr& in, int lane, std::string message, const OtherParty* other = nullptr) {
    report(w, "divergent-wgmma", in, lane, std::move(message), true, other);
}

// One value for all lanes of the warp.
bool uniform(Warp& w, const Instr& in, const Slot& slot, const char* what, std::uint64_t& value) {
    value = lane_value(w, slot, 0);
    for (int lane = 1; lane < kLanes; ++lane) {
        if (lane_value(w, slot, lane) == value) continue;
        fail(w, in, lane, fmt::format("the lanes of a warp give different {}", what));
        return false;
    }
    return true;
}

bool check_group(Warp& w, const Instr& in, Mask exec, Product& product, Products& products) {
    Block& block = *w.block;
    const std::size_t group = w.index / kGroupWarps, first = group * kGroupWarps;
    if (exec != kAllLanes) {
        fail(w, in, std::countr_zero(~exec),
             fmt::format("{} of a warp's 32 lanes execute a wgmma.mma_async, which takes all of them",
                         std::popcount(exec)));
        return false;
    }
    if (first + kGroupWarps > block.warps.size() ||
        block.warps[first + kGroupWarps - 1]->present != kAllLanes) {
        fail(w, in, 0,
             fmt::format("a wgmma.mma_async takes four warps, {} to {}; the block has {} threads", first,
                         first + kGroupWarps - 1, w.launch->threads_per_block));
        return false;
    }
    if (block.warpgroups.size() <= group) block.warpgroups.resize(group + 1);
    if (!block.warpgroups[group]) block.warpgroups[group] = std::make_shared<WarpgroupLog>();
    WarpgroupLog& log = *block.warpgroups[group];
    const std::uint64_t number = product.number = products.issued++;
    if (number - log.first == log.entries.size()) {
        log.entries.push_back({&in, product.a, product.b, product.accumulate, w.index, {}});
        std::uint64_t issued = number, waited = number;  // by all four
        for (std::size_t i = first; i < first + kGroupWarps; ++i) {
            const auto& other = block.warps[i]->products;
            issued = std::min(issued, other ? other->issued : 0);
            waited = std::min(waited, other ? other->waited : 0);
        }
        while (log.first < issued && (log.first < waited || log.entries.size() > kLogged)) {
            log.entries.pop_front();
            log.first += 1;
        }
        return true;
    }
    const WarpgroupLog::Entry& entry = log.entries[number - log.first];
    const char* what = entry.instr != &in                       ? "another wgmma.mma_async"
                       : entry.a != product.a                   ? "another descriptor of A"
                       : entry.b != product.b                   ? "another descriptor of B"
                       : entry.accumulate != product.accumulate ? "another scale-d"
                                                                : nullptr;
    if (what == nullptr) return true;
    OtherParty other = party(w, entry.instr->id, "what that warp executes");
    other.thread = entry.warp * kLanes;
    fail(w, in, 0, fmt::format("warp {} of the warpgroup has {} than warp {}", w.index, what, entry.warp),
         &other);
    return false;
}

}  // namespace

std::shared_ptr<Product> begin_product(Warp& w, const Instr& in, Mask exec) {
    Products& products = products_of(w);
    RegisterWatch& watch = watch_of(w, products);
    auto product = std::make_shared<Product>();
    product->instr = &in;
    product->fences = products.fences;
    const bool in_registers = (in.sub & warpgroup::a_in_registers) != 0;
    const int b_at = in_registers ? 4 : 1, scale_at = b_at + 1;
    const int c_at = scale_at + (in.sub & warpgroup::sparse ? 2 : 1);
    if ((!in_registers && !uniform(w, in, in.source(0), "descriptors of A", product->a)) ||
        !uniform(w, in, in.source(b_at), "descriptors of B", product->b)) {
        return nullptr;
    }
    const Mask scale = mask_of(w, in.source(scale_at));
    if (scale != 0 && scale != kAllLanes) {
        fail(w, in, std::countr_zero(scale ^ (scale & 1 ? kAllLanes : 0)),
             "the lanes of a warp give different values of scale-d");
        return nullptr;
    }
    product->accumulate = scale != 0;
    if (!check_group(w, in, exec, *product, products)) return nullptr;

    if (products.fences == 0) {
        if (!repeated(*w.launch, "missing-wgmma-fence", in.id, ~0u)) {
            report(w, "missing-wgmma-fence", in, 0, "no wgmma.fence comes before the first wgmma.mma_async",
                   false);
        }
    } else {
        if (in_registers) check_fence(w, in, products, watch, in.op + in.destinations, 4, "a register of A");
        if (product->accumulate) {
            check_fence(w, in, products, watch, in.op + in.destinations + c_at, in.destinations,
                        "an accumulator");
        }
    }
    for (int r = 0; in_registers && r < 4; ++r) {
        const Slot& slot = in.source(r);
        if (slot.base == Base::narrow && watch.pending[slot.number()].product) {
            report_in_flight(w, in, *watch.pending[slot.number()].product, "multiplies", "an accumulator");
        }
        std::copy_n(narrow(w, slot), kLanes, product->a_registers[static_cast<std::size_t>(r)].begin());
        if (const Mask undefined = taint_of(w, slot)) {
            product->a_undefined[static_cast<std::size_t>(r)] = undefined;
            product->origin = origin_of(w, in, slot);
        }
    }
    if (in.sub & warpgroup::sparse) {
        const Slot& slot = in.source(scale_at + 1);
        std::copy_n(narrow(w, slot), kLanes, product->metadata.begin());
        if (taint_of(w, slot)) {
            product->a_undefined.fill(kAllLanes);
            product->origin = origin_of(w, in, slot);
        }
    }
    const auto registers = static_cast<std::size_t>(in.destinations);
    for (std::size_t r = 0; product->accumulate && r < registers; ++r) {
        const Slot& slot = in.source(c_at + static_cast<int>(r));
        if (slot.base == Base::narrow) {
            const Pending& pending = watch.pending[slot.number()];
            if (pending.product) {
                const Instr& before = *pending.product->instr;
                if ((before.target != in.target || before.imm != in.imm) &&
                    pending.product->fences == products.fences &&
                    !repeated(*w.launch, "missing-wgmma-fence", in.id, before.id)) {
                    const OtherParty other = party(w, before.id, "the product of another shape");
                    report(w, "missing-wgmma-fence", in, 0,
                           "takes over the accumulators of a product of another shape without a wgmma.fence "
                           "between",
                           false, &other);
                }
                if (product->c_pending.empty()) product->c_pending.resize(registers);
                product->c_pending[r] = pending;
                pending.product->taken_over = true;
                continue;
            }
        }
        if (product->c.empty()) product->c.resize(registers * kLanes);
        std::copy_n(narrow(w, slot), kLanes, product->c.data() + r * kLanes);
        if (const Mask undefined = taint_of(w, slot)) {
            if (product->c_undefined.empty()) product->c_undefined.resize(registers, 0);
            product->c_undefined[r] = undefined;
            product->origin = origin_of(w, in, slot);
        }
    }
    return w.launch->stopped ? nullptr : product;
}

// From now on the registers that the product gives and reads are watched.
static void watch_product(Warp& w, const std::shared_ptr<Product>& product) {
    Products& products = products_of(w);
    RegisterWatch& watch = watch_of(w, products);
    const Instr& in = *product->instr;
    products.flights.push_back({product, product->number, products.committed});
    for (int r = 0; r < in.destinations; ++r) {
        const Slot& slot = in.destination(r);
        const std::uint32_t number = slot.number();
        watch.pending[number] = {product, static_cast<std::uint32_t>(r)};
        watch.written_after[number] = 0;
        if (w.tainted) taint_lanes(w, slot, kAllLanes, 0, 0);
    }
    for (int r = 0; (in.sub & warpgroup::a_in_registers) && r < 4; ++r) {
        if (in.source(r).base == Base::narrow) watch.read[in.source(r).number()] = product;
    }
}

void issue_product(Warp& w, const std::shared_ptr<Product>& product) {
    WarpgroupLog& log = *w.block->warpgroups[w.index / kGroupWarps];
    log.entries[product->number - log.first].stamps[w.index % kGroupWarps] = product->stamp;
    watch_product(w, product);
}

void product_fence(Warp& w, const Instr& in) {
    Products& products = products_of(w);
    products.fences += 1;
    products.last_fence = &in;
}

void commit_products(Warp& w) { products_of(w).committed += 1; }

std::uint64_t awaited_products(const Warp& w, std::uint64_t pending) {
    if (!w.products) return 0;
    std::uint64_t count = 0;
    for (const Products::Flight& flight : w.products->flights) {
        if (flight.group + pending >= w.products->committed) break;
        count = flight.number + 1;
    }
    return count;
}

bool warpgroup_has_issued(const Warp& w, const Instr& wait) {
    const std::uint64_t count = awaited_products(w, static_cast<std::uint64_t>(wait.imm));
    const std::size_t first = w.index / kGroupWarps * kGroupWarps;
    for (std::size_t i = first; count > 0 && i < first + kGroupWarps; ++i) {
        const auto& other = w.block->warps[i]->products;
        if (!other || other->issued < count) return false;
    }
    return true;
}

std::vector<std::pair<Warp*, std::shared_ptr<Product>>> unfinished_products(const Warp& w,
                                                                            std::uint64_t count) {
    std::vector<std::pair<Warp*, std::shared_ptr<Product>>> unfinished;
    const std::size_t first = w.index / kGroupWarps * kGroupWarps;
    for (std::size_t i = first; count > 0 && i < first + kGroupWarps; ++i) {
        Warp& member = *w.block->warps[i];
        for (const Products::Flight& flight : member.products->flights) {
            if (flight.number >= count) break;
            if (flight.product && !flight.product->done) unfinished.emplace_back(&member, flight.product);
        }
    }
    return unfinished;
}

std::vector<std::shared_ptr<Product>> take_finished(Warp& w, std::uint64_t count) {
    std::vector<std::shared_ptr<Product>> finished;
    if (count == 0) return finished;
    Products& products = *w.products;
    while (!products.flights.empty() && products.flights.front().number < count) {
        if (products.flights.front().product) finished.push_back(std::move(products.flights.front().product));
        products.flights.pop_front();
        if (products.worked_out > 0) products.worked_out -= 1;
    }
    products.waited = std::max(products.waited, count);
    const WarpgroupLog& log = *w.block->warpgroups[w.index / kGroupWarps];
    if (count > log.first)
        for (const std::uint32_t stamp : log.entries[count - 1 - log.first].stamps)
            if (stamp != 0) races::complete_async(w, stamp);
    return finished;
}

std::shared_ptr<Product> take_overdue(Warp& w) {
    Products& products = *w.products;
    auto& flights = products.flights;
    if (flights.size() - products.worked_out <= kMostInFlight) return nullptr;
    // What came before has been added to by now, or stands in registers.
    if (products.worked_out > 0) {
        auto& before = flights[products.worked_out - 1].product;
        if (before && before.use_count() == 1) before.reset();
    }
    while (!flights.front().product && products.worked_out > 1) {
        flights.pop_front();
        products.worked_out -= 1;
    }
    return flights[products.worked_out++].product;
}

void write_accumulators(Warp& w, const Product& product, bool finished) {
    for (auto& [frame, watch] : w.products->watches) {
        for (std::size_t number = 0; number < watch.pending.size(); ++number) {
            Pending& pending = watch.pending[number];
            if (pending.product.get() == &product) {
                const std::uint32_t* value = product.d.data() + std::size_t{pending.index} * kLanes;
                std::byte* registers = frame->base[static_cast<std::size_t>(Base::narrow)];
                std::memcpy(registers + number * kLanes * sizeof(std::uint32_t), value,
                            kLanes * sizeof(std::uint32_t));
                if (frame == w.frame && (w.tainted || !product.d_undefined.empty())) {
                    Slot slot;
                    slot.offset = static_cast<std::uint32_t>(number) * 128;
                    const Mask undefined =
                        product.d_undefined.empty() ? 0 : product.d_undefined[pending.index];
                    if (undefined && product.origin == 0) {
                        taint_register(w, *product.instr, slot, undefined);
                    } else {
                        taint_lanes(w, slot, kAllLanes, undefined, product.origin);
                    }
                }
                if (finished) pending = {};
            }
            if (finished && watch.read[number].get() == &product) watch.read[number].reset();
        }
    }
}

void load_registers(Warp& w, const std::shared_ptr<Product>& values) {
    watch_product(w, values);
    if (w.launch->options->asynchronous == Options::Async::eager) write_accumulators(w, *values, false);
    std::deque<Products::Flight>& flights = w.products->flights;
    if (flights.size() <= kMostInFlight) return;
    write_accumulators(w, *flights.front().product, true);
    flights.pop_front();
}

void finish_loads(Warp& w) {
    if (!w.products) return;
    const auto flights = std::exchange(w.products->flights, {});
    for (const Products::Flight& flight : flights) write_accumulators(w, *flight.product, true);
}

bool watch_registers(Warp& w, const Instr& in, Mask exec) {
    (void)exec;
    if (in.has(flag::async_product)) return true;
    Products& products = *w.products;
    RegisterWatch& watch = watch_of(w, products);
    const bool moves = (in.flow == Flow::copy && !in.has(flag::selects)) || in.flow == Flow::unpack;
    const bool renames = moves && in.sources == in.destinations;
    const bool in_flight = !products.flights.empty();
    for (int k = 0; in_flight && !renames && k < in.sources; ++k) {
        const Slot& slot = in.source(k);
        if (slot.base != Base::narrow) continue;
        if (const Pending& pending = watch.pending[slot.number()]; pending.product) {
            report_in_flight(w, in, *pending.product, "reads", "an accumulator");
        }
    }
    for (int k = 0; k < in.destinations; ++k) {
        const Slot& to = in.destination(k);
        if (to.base != Base::narrow) continue;
        const std::uint32_t number = to.number();
        const Slot* from = renames && in.source(k).base == Base::narrow ? &in.source(k) : nullptr;
        if (in_flight) {
            Pending& pending = watch.pending[number];
            if (pending.product && !(from && from->number() == number)) {
                // A `mov` may end one of several names of the value, or one that another product has taken
                // over.
                const bool other_name =
                    moves && std::count_if(watch.pending.begin(), watch.pending.end(), [&](const Pending& p) {
                                 return p.product == pending.product && p.index == pending.index;
                             }) > 1;
                if (!other_name && !pending.product->taken_over) {
                    report_in_flight(w, in, *pending.product, "writes", "an accumulator");
                }
                pending = {};
            }
            if (watch.read[number] && !moves) {
                report_in_flight(w, in, *watch.read[number], "writes", "a register of the A");
                watch.read[number].reset();
            }
            if (from) pending = watch.pending[from->number()];
        }
        watch.written_after[number] =
            moves ? (from ? watch.written_after[from->number()] : 0) : products.fences;
        watch.writer[number] = from ? watch.writer[from->number()] : in.id;
    }
    return !w.launch->stopped;
}

void forget_registers(Warp& w, Frame* frame) {
    if (!w.products) return;
    w.products->watches.erase(frame);
    if (w.products->current_frame == frame) w.products->current_frame = nullptr;
}

// A warp has ended, or the block has, without a product that others of its warpgroup have issued.
static void report_missing(Block& block, const WarpgroupLog& log, const Warp& missing, bool fatal,
                           const OtherParty* other) {
    const WarpgroupLog::Entry& entry =
        log.entries[(missing.products ? missing.products->issued : 0) - log.first];
    report_id(
        *block.launch, "divergent-wgmma", entry.instr->id, block.linear, entry.warp * kLanes,
        fmt::format("warp {} of the warpgroup executes it, warp {} does not", entry.warp, missing.index),
        fatal, other);
}

void check_warpgroups(Block& block) {
    for (std::size_t group = 0; group < block.warpgroups.size(); ++group) {
        if (!block.warpgroups[group]) continue;
        const WarpgroupLog& log = *block.warpgroups[group];
        const std::uint64_t most = log.first + log.entries.size();
        for (std::size_t i = group * kGroupWarps; i < (group + 1) * kGroupWarps; ++i) {
            const Warp& w = *block.warps[i];
            if ((w.products ? w.products->issued : 0) == most) continue;
            report_missing(block, log, w, false, nullptr);
            return;
        }
    }
}

// The instruction of a fragment, when it is a wait for the warpgroup.
static const Instr* warpgroup_wait(const Warp& w, const Fragment& f) {
    if (f.state != Fragment::State::at_collective || f.mask != w.live || w.live == 0) return nullptr;
    const Instr& in = f.frame->function->code[f.pc];
    return in.has(flag::four_warps) ? &in : nullptr;
}

std::optional<MissingWarp> missing_warp(const Block& block) {
    const auto issued = [](const auto& w) { return w->products ? w->products->issued : 0; };
    for (const auto& w : block.warps) {
        for (const Fragment& f : w->fragments) {
            const Instr* wait = warpgroup_wait(*w, f);
            if (wait == nullptr) continue;
            const auto first = block.warps.begin() + w->index / kGroupWarps * kGroupWarps;
            const auto least =
                std::min_element(first, first + kGroupWarps,
                                 [&](const auto& a, const auto& b) { return issued(a) < issued(b); });
            return MissingWarp{w.get(), wait, least->get()};
        }
    }
    return std::nullopt;
}

void report_missing_warp(const MissingWarp& m) {
    Block& block = *m.waits->block;
    if (m.missing->live == 0) {
        const OtherParty other = party(*m.waits, m.wait->id, "the wait for it");
        report_missing(block, *block.warpgroups[m.waits->index / kGroupWarps], *m.missing, true, &other);
        return;
    }
    const auto at = std::find_if(m.missing->fragments.begin(), m.missing->fragments.end(),
                                 [](const Fragment& f) { return f.mask != 0; });
    const OtherParty other = party(*m.missing, at->frame->function->code[at->pc].id, "where that warp waits");
    report(*m.waits, "deadlock", *m.wait, 0,
           fmt::format("waits for a wgmma.mma_async that warp {} of the warpgroup has not come to: all four "
                       "warps must execute it",
                       m.missing->index),
           true, &other);
}

}  // namespace emulator::exec

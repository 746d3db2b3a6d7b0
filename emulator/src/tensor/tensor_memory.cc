// Allocation, orders and completion of tcgen05; the arithmetic is in handlers_tcgen05.cc.
#include "emulator/src/tensor/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/src/exec/report.h"
#include "emulator/src/launch/mbarrier.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

namespace {

constexpr const char* kRule = "tensor-memory";
constexpr std::size_t kMostQueued =
    64;  // past this many the oldest is carried out, that memory stays bounded

OtherParty party(const Block& block, const TensorAccess& access, const char* note) {
    OtherParty other;
    other.id = access.id;
    other.note = note;
    other.block = block.linear;
    other.thread = access.thread;
    return other;
}

std::optional<ptx::Type> float_type(TensorKind kind, std::uint32_t code) {
    using enum ptx::Type;
    switch (kind) {
        case TensorKind::f16:
            return code == 0 ? std::optional(f16) : code == 1 ? std::optional(bf16) : std::nullopt;
        case TensorKind::tf32:
            return code == 2 ? std::optional(tf32) : std::nullopt;
        case TensorKind::i8:
            return code == 0 ? std::optional(u8) : code == 1 ? std::optional(s8) : std::nullopt;
        case TensorKind::mxf4:
        case TensorKind::mxf4nvf4:
            return code == 1 ? std::optional(e2m1) : std::nullopt;
        default: {
            constexpr ptx::Type types[] = {e4m3, e5m2, none, e2m3, e3m2, e2m1, none, none};
            return types[code] == none ? std::nullopt : std::optional(types[code]);
        }
    }
}

}  // namespace

std::optional<TensorShapeError> read_shape(TensorKind kind, std::uint32_t d, std::uint32_t groups,
                                           TensorShape& s) {
    const auto field = [&](int at, int bits) { return d >> at & ((1u << bits) - 1); };
    const auto wrong = [](std::string message) { return TensorShapeError{std::move(message), false}; };
    const bool scaled = kind >= TensorKind::mxf8f6f4;
    if (field(2, 1)) return TensorShapeError{"sparse products", true};
    const auto a = float_type(kind, field(7, 3)), b = float_type(kind, field(10, 3));
    if (!a || !b)
        return wrong(
            fmt::format("the instruction descriptor {:#x} has types {} and {} of A and B, which this "
                        "kind does not have",
                        d, field(7, 3), field(10, 3)));
    s.a = *a;
    s.b = *b;
    s.m = field(24, 5) * 16;
    s.n = field(17, 6) * 8;
    s.negate_a = field(13, 1) != 0;
    s.negate_b = field(14, 1) != 0;
    s.across_a = field(15, 1) != 0;
    s.across_b = field(16, 1) != 0;
    const bool narrow = kind == TensorKind::mxf4 || kind == TensorKind::mxf4nvf4;
    s.bits = kind == TensorKind::f16 ? 16 : kind == TensorKind::tf32 ? 32 : narrow ? 4 : 8;
    s.k = 256 / s.bits;
    if (scaled) {
        if (field(31, 1)) return TensorShapeError{"K = 96", true};
        s.d = ptx::Type::f32;
        s.scale = field(23, 1) ? ptx::Type::ue8m0 : ptx::Type::ue4m3;
        s.groups = groups;
        s.scale_a = field(29, 2);
        s.scale_b = field(4, 2);
        if (kind != TensorKind::mxf4nvf4 && s.scale != ptx::Type::ue8m0)
            return wrong(
                fmt::format("the instruction descriptor {:#x} has scales of type ue4m3, which only "
                            "kind::mxf4nvf4 has",
                            d));
        if (groups == 4 ? s.scale_a + s.scale_b != 0 : groups == 2 && (s.scale_a % 2 || s.scale_b % 2))
            return wrong(fmt::format("the scale factor ids {} and {} do not go with {} scales of a row",
                                     s.scale_a, s.scale_b, groups));
    } else {
        const std::uint32_t type = field(4, 2);
        s.d = type == 0 ? ptx::Type::f16 : type == 1 ? ptx::Type::f32 : ptx::Type::s32;
        const bool halves = kind == TensorKind::f8f6f4 ||
                            (kind == TensorKind::f16 && s.a == ptx::Type::f16 && s.b == ptx::Type::f16);
        if (type > 2 || (kind == TensorKind::i8) != (type == 2) || (type == 0 && !halves))
            return wrong(
                fmt::format("the instruction descriptor {:#x} has type {} of D, which does not go "
                            "with its A and B",
                            d, type));
        s.saturate = field(3, 1) != 0;
    }
    if ((s.negate_a || s.negate_b) && kind == TensorKind::i8)
        return wrong("integers cannot be negated by the instruction descriptor");
    const bool bytes = s.bits >= 16 || kind == TensorKind::i8 ||
                       ((s.a == ptx::Type::e4m3 || s.a == ptx::Type::e5m2) &&
                        (s.b == ptx::Type::e4m3 || s.b == ptx::Type::e5m2));
    if ((s.across_a || s.across_b) && !bytes) return wrong("elements of four and six bits must lie along k");
    const bool good_n = s.n >= 8 && s.n <= 256 && (kind != TensorKind::i8 || s.n <= 32 || s.n % 16 == 0);
    if ((s.m != 128 && (s.m != 64 || scaled)) || !good_n)
        return wrong(
            fmt::format("the instruction descriptor {:#x} asks for {} x {}: M is {}128 and N a "
                        "multiple of 8 up to 256",
                        d, s.m, s.n, scaled ? "" : "64 or "));
    return std::nullopt;
}

std::optional<TensorShapeError> read_matrix(std::uint64_t bits, MatrixDescriptor& out) {
    const auto layout = static_cast<std::uint32_t>(bits >> 61);
    if ((bits >> 46 & 7) != 1)
        return TensorShapeError{
            fmt::format("bits 46 to 48 of the shared memory descriptor {:#x} are {}: they must be 1", bits,
                        bits >> 46 & 7),
            false};
    if (bits >> 52 & 1) return TensorShapeError{"an absolute leading dimension", true};
    if (layout == 1) return TensorShapeError{"a swizzle of 128 bytes with 32-byte atoms", true};
    if (layout % 2 != 0)
        return TensorShapeError{
            fmt::format("the swizzle {} of the shared memory descriptor {:#x} does not exist", layout, bits),
            false};
    out = MatrixDescriptor(bits, layout == 0 ? 1 : 16u >> (layout / 2));  // 2: 128 bytes, 4: 64, 6: 32
    return std::nullopt;
}

TensorMemory& tensor_memory(Block& block) {
    if (!block.tensor_memory) {
        auto memory = std::make_shared<TensorMemory>();
        const std::size_t cells = std::size_t{kTensorLanes} * kTensorColumns;
        memory->cells.assign(cells, 0x7fc0dead);
        memory->written.assign(cells / 64, 0);
        memory->granules.resize(cells / 16);
        memory->warps.resize(block.warps.size());
        block.tensor_memory = std::move(memory);
    }
    return *block.tensor_memory;
}

// ---- allocation ----

bool allocate_columns(Warp& w, const Instr& in, std::uint32_t columns, std::uint32_t& address) {
    TensorMemory& memory = tensor_memory(*w.block);
    if (columns < 32 || columns > kTensorColumns || !std::has_single_bit(columns)) {
        report(w, kRule, in, 0,
               fmt::format("allocates {} columns of Tensor Memory: 32, 64, 128, 256 or 512 are possible",
                           columns),
               true);
        return false;
    }
    if (memory.relinquished) {
        OtherParty other;
        other.id = memory.relinquished->id;
        other.block = w.block->linear;
        other.has_thread = false;
        other.note = "where the permit was given up";
        report(w, kRule, in, 0, "allocates Tensor Memory after tcgen05.relinquish_alloc_permit", true,
               &other);
        return false;
    }
    std::uint32_t used = 0;
    for (const auto& a : memory.allocations) used += a.columns;
    for (std::uint32_t column = 0; column + columns <= kTensorColumns; column += 32) {
        const bool free = std::none_of(
            memory.allocations.begin(), memory.allocations.end(), [&](const TensorMemory::Allocation& a) {
                return column < a.column + a.columns && a.column < column + columns;
            });
        if (!free) continue;
        memory.allocations.push_back({column, columns, w.first_thread, &in});
        // What lay there before is gone.
        for (std::size_t i = TensorMemory::cell(0, column); i < TensorMemory::cell(0, column + columns); ++i)
            memory.set(i, 0x7fc0dead, false);
        address = column;
        return true;
    }
    report(w, kRule, in, 0,
           fmt::format("allocates {} columns of Tensor Memory, of which {} of {} are taken: it would wait "
                       "until another warp gives them back, which is not emulated",
                       columns, used, kTensorColumns),
           true);
    return false;
}

void deallocate_columns(Warp& w, const Instr& in, std::uint32_t address, std::uint32_t columns) {
    TensorMemory& memory = tensor_memory(*w.block);
    const auto at = std::find_if(
        memory.allocations.begin(), memory.allocations.end(),
        [&](const TensorMemory::Allocation& a) { return a.column == address && a.columns == columns; });
    if (at == memory.allocations.end()) {
        report(w, kRule, in, 0,
               fmt::format("gives back {} columns of Tensor Memory at {:#x}, which were not allocated so",
                           columns, address),
               true);
        return;
    }
    if (w.launch->check_races) {
        for (std::size_t g = std::size_t{address} * 8; g < std::size_t{address + columns} * 8; ++g) {
            TensorGranule& granule = memory.granules[g];
            for (TensorAccess* a : {&granule.write, &granule.pipe_read, &granule.load}) {
                const TensorWarp& owner = memory.warps[a->warp];
                const bool done =
                    a->id == ~0u || (a->by == TensorAccess::By::pipe
                                         ? races::is_complete(w, a->stamp)
                                         : a->stamp <= (a->by == TensorAccess::By::load ? owner.loads_done
                                                                                        : owner.stores_done));
                if (!done && !repeated(*w.launch, "unwaited-tcgen05", in.id, a->id)) {
                    const OtherParty other = party(*w.block, *a, "what is still in flight");
                    report(w, "unwaited-tcgen05", in, 0,
                           "gives back Tensor Memory that an operation in flight uses", false, &other);
                }
            }
            granule = {};
        }
    }
    memory.allocations.erase(at);
}

void relinquish_columns(Warp& w, const Instr& in) { tensor_memory(*w.block).relinquished = &in; }

// ---- orders ----

TensorAccess begin_access(Warp& w, const Instr& in, int lane, TensorAccess::By by) {
    TensorAccess a;
    a.id = in.id;
    a.warp = w.index;
    a.thread = w.first_thread + static_cast<std::uint32_t>(lane);
    a.by = by;
    if (!w.launch->check_races) return a;
    a.now = w.block->now;
    TensorWarp& state = tensor_memory(*w.block).warps[w.index];
    using races::Agent;
    a.stamp = races::async_stamp(*w.block,
                                 races::warp_agent(w, by == TensorAccess::By::pipe   ? Agent::tensor_pipe
                                                      : by == TensorAccess::By::load ? Agent::tensor_loads
                                                                                     : Agent::tensor_stores));
    if (by == TensorAccess::By::load) state.load_stamp = a.stamp;
    if (by == TensorAccess::By::store) state.store_stamp = a.stamp;
    return a;
}

namespace {

bool knows(const Warp& w, const std::vector<std::uint32_t>& clock, std::uint32_t stamp) {
    const auto agent = static_cast<std::size_t>(w.launch->stamp_owner[stamp] >> kAgentShift);
    return agent < clock.size() && clock[agent] >= stamp;
}

// Is `before` ordered before an access of this warp by `by`? Reports when it is not.
void check_order(Warp& w, const Instr& in, int lane, const TensorAccess& before, bool before_writes,
                 const TensorAccess& now, bool writes) {
    using By = TensorAccess::By;
    if (before.id == ~0u) return;
    TensorMemory& memory = *w.block->tensor_memory;
    const TensorWarp& owner = memory.warps[before.warp];
    const bool own = before.warp == w.index;
    const bool waited = before.by == By::pipe   ? races::is_complete(w, before.stamp)
                        : before.by == By::load ? before.stamp <= owner.loads_done
                                                : before.stamp <= owner.stores_done;
    if (own && (before.by == By::pipe && now.by == By::pipe)) return;  // in the order of their issue
    if (own && waited) return;
    if (own && before.by == now.by) return;  // two loads, or two stores of one warp, stay in order
    if (!own && knows(w, memory.warps[w.index].seen, before.stamp)) return;
    const char* verb = writes ? "writes" : "reads";
    const char* did = before_writes ? "writes" : "reads";
    const auto say = [&](const char* rule, const std::string& message, const char* note) {
        if (repeated(*w.launch, rule, in.id, before.id)) return;
        const OtherParty other = party(*w.block, before, note);
        report(w, rule, in, lane, message, false, &other);
    };
    const bool ordered = before.by != By::pipe && !own && w.slot < w.clock.size() &&
                         w.clock[w.block->warps[before.warp]->slot] >= before.now;
    // Seen complete and ordered. The ISA asks for tcgen05.fence around the threads' synchronisation as well;
    // CUTLASS leaves it out between mbarriers, so its absence is not reported.
    if (!own && waited && (before.by == By::pipe || ordered)) return;
    if (before.by == By::pipe || !waited) {
        const char* missing = before.by == By::pipe
                                  ? "no wait on the mbarrier of its tcgen05.commit has seen it complete"
                              : before.by == By::load ? "no tcgen05.wait::ld has waited for it"
                                                      : "no tcgen05.wait::st has waited for it";
        say("unwaited-tcgen05",
            fmt::format("{} Tensor Memory that an operation in flight {}: {}", verb, did, missing),
            "the operation in flight");
        return;
    }
    say("tensor-race",
        fmt::format("{} Tensor Memory that another warp {}, and nothing orders the two", verb, did),
        "the other access");
}

}  // namespace

bool touch_cells(Warp& w, const Instr& in, int lane, const TensorArea& area, bool is_write,
                 TensorAccess& access) {
    TensorMemory& memory = tensor_memory(*w.block);
    std::uint32_t column = area.column;
    const std::uint32_t end = area.column + area.columns;
    while (column < end) {  // allocations may lie side by side
        const auto a = std::find_if(memory.allocations.begin(), memory.allocations.end(),
                                    [&](const TensorMemory::Allocation& x) {
                                        return column >= x.column && column < x.column + x.columns;
                                    });
        if (a == memory.allocations.end()) {
            report(w, kRule, in, lane,
                   fmt::format("{} columns {} to {} of Tensor Memory, of which column {} is not allocated",
                               is_write ? "writes" : "reads", area.column, end - 1, column),
                   true);
            return false;
        }
        column = a->column + a->columns;
    }
    if (!w.launch->check_races) return true;
    for (std::uint32_t c = area.column; c < end && !w.launch->stopped; ++c)
        for (std::uint32_t g = 0; g < 8; ++g) {
            if (!(area.groups >> g & 1)) continue;
            TensorGranule& granule = memory.granules[std::size_t{c} * 8 + g];
            check_order(w, in, lane, granule.write, true, access, is_write);
            if (is_write) {
                check_order(w, in, lane, granule.pipe_read, false, access, true);
                check_order(w, in, lane, granule.load, false, access, true);
                granule.write = access;
            } else if (access.by == TensorAccess::By::pipe) {
                granule.pipe_read = access;
            } else {
                granule.load = access;
            }
        }
    return !w.launch->stopped;
}

void wait_loads(Warp& w) {
    TensorWarp& state = tensor_memory(*w.block).warps[w.index];
    state.loads_done = state.load_stamp;
}
void wait_stores(Warp& w) {
    TensorWarp& state = tensor_memory(*w.block).warps[w.index];
    state.stores_done = state.store_stamp;
}
void tensor_fence(Warp& w, bool after) {
    if (!w.launch->check_races) return;
    TensorWarp& state = tensor_memory(*w.block).warps[w.index];
    if (after) {
        state.seen = w.clock;
        return;
    }
    if (state.loads_done) races::complete_async(w, state.loads_done);
    if (state.stores_done) races::complete_async(w, state.stores_done);
}

// ---- the pipe ----

void issue_operation(Warp& w, const TensorOperation& operation) {
    TensorWarp& state = tensor_memory(*w.block).warps[w.index];
    w.block->writes += 1;
    state.queue.push_back(operation);
    if (w.launch->options->asynchronous == Options::Async::eager)
        carry_out(*w.block, w.index, ~std::uint64_t{0});
    else if (state.queue.size() > kMostQueued)
        carry_out(*w.block, w.index, state.first + 1);
}

void carry_out(Block& block, std::uint32_t warp, std::uint64_t upto) {
    if (!block.tensor_memory) return;
    TensorWarp& state = block.tensor_memory->warps[warp];
    while (!state.queue.empty() && state.first < upto) {
        const TensorOperation operation = state.queue.front();
        state.queue.pop_front();
        state.first += 1;
        operation.run(block, operation);
    }
}

void commit_operations(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t barrier) {
    TensorWarp& state = tensor_memory(*w.block).warps[w.index];
    TensorCommit commit;
    commit.instr = &in;
    commit.block = w.block->linear;
    commit.thread = w.first_thread + static_cast<std::uint32_t>(lane);
    commit.barrier = barrier;
    commit.from = w.block;
    commit.warp = w.index;
    commit.upto = state.first + state.queue.size();
    if (w.launch->check_races) {
        // The operations were issued after what the warp knows, so that is before what follows the wait.
        races::mbarrier_arrive(w, home, barrier, false);
        races::mbarrier_landed(home, barrier,
                               races::async_stamp(*w.block, races::warp_agent(w, races::Agent::tensor_pipe)));
    }
    w.block->writes += 1;
    if (&home != w.block) home.writes += 1;
    home.commits.push_back(commit);
    if (w.launch->options->asynchronous != Options::Async::eager) return;
    const auto at = home.mbarrier_objects.find(barrier);
    if (at != home.mbarrier_objects.end()) land_commits(home, barrier, at->second);
}

void land_commits(Block& home, std::uint32_t barrier, Mbarrier& m) {
    const auto mine = [&](const TensorCommit& c) { return c.barrier == barrier; };
    const bool eager = home.launch->options->asynchronous == Options::Async::eager;
    const std::uint64_t phase = m.phase;
    while (m.phase == phase) {
        const auto waiting = std::count_if(home.commits.begin(), home.commits.end(), mine);
        if (waiting == 0 || (!eager && m.pending > static_cast<std::uint64_t>(waiting))) return;
        const auto at = std::find_if(home.commits.begin(), home.commits.end(), mine);
        const TensorCommit commit = *at;
        home.commits.erase(at);
        if (commit.from) carry_out(*commit.from, commit.warp, commit.upto);
        arrive_commit(home, barrier, m, commit);
        if (home.launch->stopped) return;
    }
}

void end_tensor_memory(Block& block) {
    if (!block.tensor_memory) return;
    for (std::uint32_t w = 0; w < block.warps.size(); ++w) carry_out(block, w, ~std::uint64_t{0});
    for (Block* other : block.cluster->blocks)
        for (std::size_t i = 0; other && i < other->commits.size(); ++i)
            if (other->commits[i].from == &block) other->commits[i].from = nullptr;
    for (const auto& a : block.tensor_memory->allocations)
        report_id(*block.launch, kRule, a.instr->id, block.linear, a.thread,
                  fmt::format("the block ends with {} columns of Tensor Memory that no tcgen05.dealloc has "
                              "given back",
                              a.columns),
                  false);
}

}  // namespace emulator::exec

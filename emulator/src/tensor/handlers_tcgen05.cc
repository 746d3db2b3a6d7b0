// tcgen05: data movement between registers, shared and Tensor Memory, and the products.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/mbarrier.h"
#include "emulator/src/races/races.h"
#include "emulator/src/tensor/arithmetic.h"
#include "emulator/src/tensor/handlers.h"
#include "emulator/src/tensor/tensor_lanes.h"
#include "emulator/src/tensor/tensor_memory.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

namespace {

using ptx::Type;
using By = TensorAccess::By;

constexpr int kPanelRows = 16;
constexpr std::size_t kPanel = 1024;  // elements of A, and of B's columns that are worked on together
constexpr const char* kRule = "tensor-memory";

std::uint32_t address_at(Warp& w, const Instr& in, int source, int lane) {
    return static_cast<std::uint32_t>(lane_value(w, in.source(source), lane) +
                                      lane_value(w, in.source(source + 1), lane));
}

// Instructions of a whole warp: all lanes take part, and give one value. False after a fault.
bool is_whole(Warp& w, const Instr& in, Mask exec) {
    if (exec == kAllLanes) return true;
    report(w, "illegal-instruction", in, std::countr_zero(exec),
           fmt::format("{} of a warp's 32 lanes execute it, which takes all of them", std::popcount(exec)),
           true);
    return false;
}
bool is_uniform(Warp& w, const Instr& in, int source, const char* what) {
    for (int lane = 1; lane < kLanes; ++lane) {
        if (lane_value(w, in.source(source), lane) == lane_value(w, in.source(source), 0)) continue;
        report(w, "illegal-instruction", in, lane, fmt::format("the lanes of a warp give different {}", what),
               true);
        return false;
    }
    return true;
}

// ---- allocation ----

void alloc(Warp& w, const Instr& in, Mask exec) {
    if (!is_whole(w, in, exec) || !is_uniform(w, in, 0, "addresses") || !is_uniform(w, in, 2, "sizes"))
        return;
    std::uint32_t address = 0;
    if (!allocate_columns(w, in, static_cast<std::uint32_t>(lane_value(w, in.source(2), 0)), address)) return;
    const std::uint64_t to = lane_value(w, in.source(0), 0) + lane_value(w, in.source(1), 0);
    const bool generic = in.source(0).is_wide() && is_shared_window(to);
    store_lane(w, in, 0, generic ? ptx::Space::generic : ptx::Space::shared, to, 4, &address);
}
void dealloc(Warp& w, const Instr& in, Mask exec) {
    if (!is_whole(w, in, exec) || !is_uniform(w, in, 0, "addresses") || !is_uniform(w, in, 1, "sizes"))
        return;
    deallocate_columns(w, in, static_cast<std::uint32_t>(lane_value(w, in.source(0), 0)),
                       static_cast<std::uint32_t>(lane_value(w, in.source(1), 0)));
}
void relinquish(Warp& w, const Instr& in, Mask exec) {
    if (is_whole(w, in, exec)) relinquish_columns(w, in);
}

// ---- ld, st ----

struct Movement {
    TensorLanes shape;
    std::uint32_t lane, column, registers;
    bool packs;
};
// Where the warp's registers lie; the access is checked. False after a fault.
bool begin_movement(Warp& w, const Instr& in, Mask exec, bool store, Movement& m) {
    if (!is_whole(w, in, exec) || !is_uniform(w, in, 0, "addresses of Tensor Memory")) return false;
    const std::uint32_t address = address_at(w, in, 0, 0);
    m.shape = static_cast<TensorLanes>(in.rounding);
    m.lane = address >> 16;
    m.column = address & 0xffff;
    m.registers = tensor_registers(m.shape, in.vector);
    m.packs = in.sub2 != 0;
    const std::uint32_t rows = tensor_rows(m.shape), quarter = w.index % 4 * 32;
    if (m.lane < quarter || m.lane + rows > quarter + 32 || m.lane % 16 != 0) {
        report(w, kRule, in, 0,
               fmt::format("{} lanes {} to {} of Tensor Memory: warp {} reaches lanes {} to {}, in whole 16s",
                           store ? "writes" : "reads", m.lane, m.lane + rows - 1, w.index, quarter,
                           quarter + 31),
               true);
        return false;
    }
    TensorArea area;
    area.groups = (rows == 32 ? 3u : 1u) << (m.lane / 16);
    area.column = m.column;
    area.columns = tensor_columns(m.shape, in.vector) * (m.packs ? 2 : 1);
    TensorAccess access = begin_access(w, in, 0, store ? By::store : By::load);
    if (!touch_cells(w, in, 0, area, store, access)) return false;
    if (m.shape != TensorLanes::b16x32x2) return true;
    area.column += static_cast<std::uint32_t>(in.imm);
    return touch_cells(w, in, 0, area, store, access);
}
// Calls f(thread, register, cell of the low half, cell of the high half): equal without packing.
template <class F>
void each_cell(const Instr& in, const Movement& m, F&& f) {
    for (std::uint32_t r = 0; r < m.registers; ++r)
        for (std::uint32_t t = 0; t < kLanes; ++t) {
            const TensorCell at = tensor_cell(m.shape, t, r);
            const std::uint32_t split = at.second ? static_cast<std::uint32_t>(in.imm) : 0;
            const std::uint32_t column = m.column + split + at.column * (m.packs ? 2 : 1);
            f(t, r, TensorMemory::cell(m.lane + at.lane, column),
              TensorMemory::cell(m.lane + at.lane, column + m.packs));
        }
}

void load(Warp& w, const Instr& in, Mask exec) {
    Movement m{};
    if (!begin_movement(w, in, exec, false, m)) return;
    const TensorMemory& memory = *w.block->tensor_memory;
    const bool check = w.launch->check_initialised;
    auto values = std::make_shared<Product>();
    values->instr = &in;
    values->done = true;
    values->d.resize(std::size_t{m.registers} * kLanes);
    each_cell(in, m, [&](std::uint32_t t, std::uint32_t r, std::size_t low, std::size_t high) {
        std::uint32_t value = memory.cells[low];
        if (m.packs) value = (value & 0xffff) | memory.cells[high] << 16;
        values->d[r * kLanes + t] = value;
        if (!check || (memory.is_written(low) && memory.is_written(high))) return;
        if (values->d_undefined.empty()) values->d_undefined.resize(m.registers, 0);
        values->d_undefined[r] |= Mask{1} << t;
    });
    load_registers(w, values);
}

void store(Warp& w, const Instr& in, Mask exec) {
    Movement m{};
    if (!begin_movement(w, in, exec, true, m)) return;
    TensorMemory& memory = *w.block->tensor_memory;
    each_cell(in, m, [&](std::uint32_t t, std::uint32_t r, std::size_t low, std::size_t high) {
        const Slot& from = in.source(2 + static_cast<int>(r));
        const auto value = static_cast<std::uint32_t>(lane_value(w, from, static_cast<int>(t)));
        const bool defined = !w.tainted || !(taint_of(w, from) >> t & 1);
        memory.set(low, m.packs ? value & 0xffff : value, defined);
        if (m.packs) memory.set(high, value >> 16, defined);
    });
    w.block->writes += 1;
}

void wait(Warp& w, const Instr& in, Mask exec) {
    if (!is_whole(w, in, exec)) return;
    w.launch->clock.pass(20, 40);
    if (in.sub == 0) {
        wait_stores(w);
        return;
    }
    wait_loads(w);
    finish_loads(w);
}
void fence(Warp& w, const Instr& in, Mask) { tensor_fence(w, in.sub != 0); }

// ---- shared memory ----

// Bits [at, at + width) of 16 bytes.
inline std::uint32_t bits_at(const std::byte* unit, std::uint32_t at, std::uint32_t width) {
    std::uint64_t word = 0;
    std::memcpy(&word, unit + std::min<std::uint32_t>(at / 8, 8), 8);
    return static_cast<std::uint32_t>(word >> (at - std::min<std::uint32_t>(at / 8, 8) * 8) &
                                      ((std::uint64_t{1} << width) - 1));
}
std::uint32_t width_of(Type type) {
    switch (type) {
        case Type::e2m1:
            return 4;
        case Type::e2m3:
        case Type::e3m2:
            return 6;
        case Type::f16:
        case Type::bf16:
            return 16;
        case Type::tf32:
            return 32;
        default:
            return 8;
    }
}
// What the arithmetic takes: a sign flipped, tf32's unread bits dropped, integers extended.
std::uint32_t prepared(Type type, bool negate, std::uint32_t x) {
    if (negate) x ^= 1u << (width_of(type) - 1);
    if (type == Type::tf32) return x >> 13;
    if (type == Type::s8) return static_cast<std::uint32_t>(static_cast<std::int32_t>(x << 24) >> 24);
    return x;
}

// Calls f(address of a unit, rows from, k from) for the units of rows [first, first + count) of an operand.
template <class F>
void each_unit_of(const MatrixDescriptor& d, bool across, std::uint32_t bits, std::uint32_t k,
                  std::uint32_t first, std::uint32_t count, F&& f) {
    const std::uint32_t per = 128 / bits;
    if (across) {
        for (std::uint32_t u = first / per; u * per < first + count; ++u)
            for (std::uint32_t p = 0; p < k; ++p) f(d.across_k(u, p), u * per, p);
        return;
    }
    for (std::uint32_t row = first; row < first + count; ++row)
        for (std::uint32_t u = 0; u * per < k; ++u) f(d.along_k(row, u), row, u * per);
}
// Calls put(row - first, k, element), and undefined(row - first).
template <class Put, class Undefined>
void load_operand(const Block& block, const MatrixDescriptor& d, bool across, Type type, bool negate,
                  std::uint32_t bits, std::uint32_t k, std::uint32_t first, std::uint32_t count, Put&& put,
                  Undefined&& undefined) {
    const std::uint32_t per = 128 / bits, width = width_of(type);
    const bool check = block.launch->check_initialised;
    each_unit_of(d, across, bits, k, first, count,
                 [&](std::uint32_t address, std::uint32_t row, std::uint32_t p) {
                     const std::byte* unit = block.shared + address;
                     // Elements of less than a byte leave the end of their 16 bytes unused.
                     const std::uint32_t bytes = std::min(16u, per * width / 8);
                     const bool defined = !check || all_bits(block.shared_written, address, bytes);
                     for (std::uint32_t e = 0; e < per; ++e) {
                         const std::uint32_t at = across ? row + e : row, depth = across ? p : p + e;
                         if (at < first || at >= first + count) continue;
                         put(at - first, depth, prepared(type, negate, bits_at(unit, e * width, width)));
                         if (!defined) undefined(at - first);
                     }
                 });
}

// ---- mma ----

std::uint32_t lane_of_row(const TensorShape& s, std::uint32_t base, std::uint32_t row) {
    return (base >> 16) + (s.m == 64 ? row % 16 + row / 16 * 32 : row);
}

// The scales of one row or column; false: something undefined.
bool load_scales(const TensorMemory& memory, std::uint32_t base, std::uint32_t quarter, std::uint32_t index,
                 std::uint32_t byte, std::uint32_t groups, std::uint32_t* to, std::uint32_t stride) {
    const std::size_t cell = TensorMemory::cell(32 * quarter + index % 32, (base & 0xffff) + index / 32);
    for (std::uint32_t g = 0; g < groups; ++g) to[g * stride] = memory.cells[cell] >> (8 * (byte + g)) & 0xff;
    return memory.is_written(cell);
}

void run_product(Block& block, const TensorOperation& op) {
    const TensorShape& s = op.shape;
    TensorMemory& memory = *block.tensor_memory;
    const Launch& launch = *block.launch;
    const std::uint32_t width = std::min<std::uint32_t>(32, static_cast<std::uint32_t>(kPanel) / s.k);
    FloatRecipe recipe;
    recipe.a = format_of(s.a);
    recipe.b = format_of(s.b);
    // Blackwell: 25 fraction bits, 35 for blocks of e2m1, and one step for all of K (arXiv 2511.10909).
    recipe.fraction_bits = s.bits == 4 ? 35 : 25;
    recipe.chunk = static_cast<int>(s.k);
    recipe.output_f16 = s.d == Type::f16;
    recipe.approximation = launch.options->approximation;
    recipe.seed = launch.options->schedule_seed;
    // B, panel by panel of `width` columns, each k x columns.
    std::vector<std::uint32_t> b(std::size_t{s.k} * s.n), scales_b(std::size_t{s.groups} * s.n);
    std::vector<char> undefined_b(s.n, 0);
    for (std::uint32_t first = 0; first < s.n; first += width) {
        const std::uint32_t count = std::min(width, s.n - first);
        std::uint32_t* panel = b.data() + std::size_t{first} * s.k;
        load_operand(
            block, op.b, s.across_b, s.b, s.negate_b, s.bits, s.k, first, count,
            [&](std::uint32_t column, std::uint32_t p, std::uint32_t x) { panel[p * count + column] = x; },
            [&](std::uint32_t column) { undefined_b[first + column] = 1; });
    }
    alignas(64) std::uint32_t a[kPanel], c[kPanel], d[kPanel];
    for (std::uint32_t top = 0; top < s.m; top += kPanelRows) {
        std::uint32_t undefined_a = 0;
        std::uint32_t scales_a[kPanelRows * 4] = {};
        const std::uint32_t lane = lane_of_row(s, op.d, top), quarter = lane / 32;
        if (op.instr->sub2 & tensor_mma::a_in_memory) {
            const std::uint32_t from = lane_of_row(s, op.a_address, top), per = 32 / s.bits;
            for (std::uint32_t row = 0; row < kPanelRows; ++row)
                for (std::uint32_t p = 0; p < s.k; ++p) {
                    const std::size_t cell =
                        TensorMemory::cell(from + row, (op.a_address & 0xffff) + p / per);
                    const std::uint32_t mask = s.bits == 32 ? ~0u : (1u << s.bits) - 1;
                    a[row * s.k + p] =
                        prepared(s.a, s.negate_a, memory.cells[cell] >> (p % per * s.bits) & mask);
                    if (!memory.is_written(cell)) undefined_a |= 1u << row;
                }
        } else {
            load_operand(
                block, op.a, s.across_a, s.a, s.negate_a, s.bits, s.k, top, kPanelRows,
                [&](std::uint32_t row, std::uint32_t p, std::uint32_t x) { a[row * s.k + p] = x; },
                [&](std::uint32_t row) { undefined_a |= 1u << row; });
        }
        for (std::uint32_t row = 0; s.groups != 0 && row < kPanelRows; ++row)
            if (!load_scales(memory, op.scale_a, quarter, top + row, s.scale_a, s.groups,
                             scales_a + row * s.groups, 1))
                undefined_a |= 1u << row;
        for (std::uint32_t first = 0; first < s.n; first += width) {
            const std::uint32_t count = std::min(width, s.n - first);
            const std::uint32_t column = (op.d & 0xffff) + first;
            std::vector<char> undefined(undefined_b.begin() + first, undefined_b.begin() + first + count);
            for (std::uint32_t j = 0; s.groups != 0 && j < count; ++j)
                if (!load_scales(memory, op.scale_b, quarter, first + j, s.scale_b, s.groups,
                                 scales_b.data() + j, count))
                    undefined[j] = 1;
            for (std::uint32_t i = 0; i < kPanelRows; ++i)
                for (std::uint32_t j = 0; j < count; ++j) {
                    std::uint32_t value = 0;
                    if (op.accumulate) value = memory.cells[TensorMemory::cell(lane + i, column + j)];
                    if (recipe.output_f16) value &= 0xffff;
                    c[i * count + j] =
                        op.scale_d == 0 || !op.accumulate ? value : scaled_down(recipe, value, op.scale_d);
                }
            const int m = kPanelRows, n = static_cast<int>(count), k = static_cast<int>(s.k);
            const std::uint32_t* panel = b.data() + std::size_t{first} * s.k;
            if (s.d == Type::s32)
                multiply_integer(m, n, k, reinterpret_cast<const std::int32_t*>(a),
                                 reinterpret_cast<const std::int32_t*>(panel), c, d, s.saturate);
            else if (s.groups != 0)
                multiply_scaled(recipe, m, n, k, a, panel, c, d, static_cast<int>(s.groups), s.scale,
                                scales_a, scales_b.data());
            else
                multiply_float(recipe, m, n, k, a, panel, c, d);
            for (std::uint32_t i = 0; i < kPanelRows; ++i) {
                const std::uint32_t at = lane + i;
                if (op.masked[at / 32] >> (at % 32) & 1) continue;
                for (std::uint32_t j = 0; j < count; ++j) {
                    const std::size_t cell = TensorMemory::cell(at, column + j);
                    const bool defined = !(undefined_a >> i & 1) && !undefined[j] &&
                                         (!op.accumulate || memory.is_written(cell));
                    memory.set(cell, d[i * count + j], defined);
                }
            }
        }
    }
}

// What is wrong with a descriptor ends the launch.
bool refuse(Warp& w, const Instr& in, int lane, const std::optional<TensorShapeError>& error) {
    if (!error) return false;
    report(w, error->unsupported ? "unsupported-instruction" : "illegal-instruction", in, lane,
           error->unsupported ? "tcgen05 with " + error->message + " is not supported" : error->message,
           true);
    return true;
}

// The units of an operand lie in shared memory and are read by the async proxy; false after a fault.
bool read_units(Warp& w, const Instr& in, int lane, const MatrixDescriptor& d, bool across,
                std::uint32_t bits, std::uint32_t k, std::uint32_t rows, std::uint32_t bytes,
                std::uint32_t stamp) {
    bool good = true;
    std::uint64_t units = 0;
    each_unit_of(d, across, bits, k, 0, rows, [&](std::uint32_t address, std::uint32_t, std::uint32_t) {
        units += 1;
        if (!good) return;
        if (address + 16 > w.block->shared_bytes) {
            report_bad_shared(w, in, lane, address, 16, false);
            good = false;
        } else if (w.launch->check_races) {
            races::async_shared(w, in, lane, *w.block, address, bytes, races::Kind::read, stamp, false);
            good = !w.launch->stopped;
        }
    });
    w.launch->accesses[in.id].operand_bytes += units * 16;
    return good;
}

void mma_of_lane(Warp& w, const Instr& in, int lane) {
    Launch& launch = *w.launch;
    TensorOperation op;
    op.instr = &in;
    op.warp = w.index;
    op.thread = w.first_thread + static_cast<std::uint32_t>(lane);
    const bool in_memory = (in.sub2 & tensor_mma::a_in_memory) != 0;
    int next = 0;
    op.d = address_at(w, in, next, lane);
    next += 2;
    std::uint64_t a = 0;
    if (in_memory) {
        op.a_address = address_at(w, in, next, lane);
        next += 2;
    } else {
        a = lane_value(w, in.source(next++), lane);
    }
    const std::uint64_t b = lane_value(w, in.source(next++), lane);
    const auto descriptor = static_cast<std::uint32_t>(lane_value(w, in.source(next++), lane));
    if (in.sub2 & tensor_mma::scaled) {
        op.scale_a = address_at(w, in, next, lane);
        op.scale_b = address_at(w, in, next + 2, lane);
        next += 4;
    }
    if (in.sub2 & tensor_mma::masked) {
        for (std::uint32_t& word : op.masked)
            word = static_cast<std::uint32_t>(lane_value(w, in.source(next++), lane));
    }
    op.accumulate = mask_of(w, in.source(next)) >> lane & 1;
    op.scale_d = static_cast<int>(in.imm);
    op.run = run_product;
    TensorShape& s = op.shape;
    if (refuse(w, in, lane, read_shape(static_cast<TensorKind>(in.sub), descriptor, in.vector, s))) return;
    if (refuse(w, in, lane, read_matrix(b, op.b))) return;
    if (!in_memory && refuse(w, in, lane, read_matrix(a, op.a))) return;
    if (in_memory && (s.across_a || width_of(s.a) != s.bits)) {
        refuse(w, in, lane,
               s.across_a ? TensorShapeError{"an A in Tensor Memory has no transposition", false}
                          : TensorShapeError{"elements of less than a byte in Tensor Memory", true});
        return;
    }
    for (const std::uint32_t address : {op.d, in_memory ? op.a_address : op.d})
        if ((address >> 16) != 0 && (s.m != 64 || (address >> 16) != 16)) {
            report(w, kRule, in, lane,
                   fmt::format("a matrix of {} rows at lane {} of Tensor Memory: lane 0{} is possible", s.m,
                               address >> 16, s.m == 64 ? " or 16" : ""),
                   true);
            return;
        }
    TensorAccess access = begin_access(w, in, lane, By::pipe);
    const std::uint32_t groups = s.m == 128 ? 0xff : op.d >> 16 ? 0xaa : 0x55;
    if (op.accumulate && !touch_cells(w, in, lane, {groups, op.d & 0xffff, s.n}, false, access)) return;
    if (in_memory && !touch_cells(w, in, lane,
                                  {s.m == 128           ? 0xffu
                                   : op.a_address >> 16 ? 0xaau
                                                        : 0x55u,
                                   op.a_address & 0xffff, 8},
                                  false, access))
        return;
    if (s.groups != 0 &&
        (!touch_cells(w, in, lane, {0xff, op.scale_a & 0xffff, s.m / 32}, false, access) ||
         !touch_cells(w, in, lane, {0xff, op.scale_b & 0xffff, (s.n + 31) / 32}, false, access)))
        return;
    if (!touch_cells(w, in, lane, {groups, op.d & 0xffff, s.n}, true, access)) return;
    const auto bytes_of = [&](Type type, bool across) {
        return across ? 16u : std::min(16u, 128 / s.bits * width_of(type) / 8);
    };
    if (!in_memory &&
        !read_units(w, in, lane, op.a, s.across_a, s.bits, s.k, s.m, bytes_of(s.a, s.across_a), access.stamp))
        return;
    if (!read_units(w, in, lane, op.b, s.across_b, s.bits, s.k, s.n, bytes_of(s.b, s.across_b), access.stamp))
        return;
    const std::uint64_t work = std::uint64_t{s.m} * s.n * s.k;
    launch.accesses[in.id].flops += 2 * work;
    launch.surcharge += work / kLanes;
    issue_operation(w, op);
}
void mma(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        if (!w.launch->stopped) mma_of_lane(w, in, lane);
    });
}

// ---- cp ----

std::uint32_t rows_of(const Instr& in) { return in.sub; }

void run_copy(Block& block, const TensorOperation& op) {
    const Instr& in = *op.instr;
    TensorMemory& memory = *block.tensor_memory;
    const std::uint32_t rows = rows_of(in);
    for (std::uint32_t lane = 0; lane < kTensorLanes; ++lane) {
        const std::uint32_t row = rows == 32    ? lane % 32
                                  : in.imm == 2 ? lane % 32 + lane / 64 * 32
                                                : lane % rows;
        for (std::uint32_t u = 0; u < in.sub2; ++u) {
            const std::uint32_t address = op.a.along_k(row, u);
            for (std::uint32_t word = 0; word < 4; ++word) {
                std::uint32_t value = 0;
                std::memcpy(&value, block.shared + address + 4 * word, 4);
                memory.set(TensorMemory::cell(lane, (op.d & 0xffff) + 4 * u + word), value,
                           all_bits(block.shared_written, address + 4 * word, 4));
            }
        }
    }
}
void copy(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        if (w.launch->stopped) return;
        TensorOperation op;
        op.instr = &in;
        op.warp = w.index;
        op.thread = w.first_thread + static_cast<std::uint32_t>(lane);
        op.d = address_at(w, in, 0, lane);
        op.run = run_copy;
        if (refuse(w, in, lane, read_matrix(lane_value(w, in.source(2), lane), op.a))) return;
        if (op.d >> 16 != 0) {
            report(w, kRule, in, lane,
                   fmt::format("copies to lane {} of Tensor Memory: lane 0 is possible", op.d >> 16), true);
            return;
        }
        TensorAccess access = begin_access(w, in, lane, By::pipe);
        if (!touch_cells(w, in, lane, {0xff, op.d & 0xffff, in.sub2 * 4u}, true, access)) return;
        if (!read_units(w, in, lane, op.a, false, 8, in.sub2 * 16u, rows_of(in), 16, access.stamp)) return;
        issue_operation(w, op);
    });
}

// ---- commit ----

void commit(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int lane) {
        if (w.launch->stopped) return;
        std::uint64_t at = lane_value(w, in.source(0), lane) + lane_value(w, in.source(1), lane);
        if (!in.source(0).is_wide()) at = static_cast<std::uint32_t>(at);
        if (is_shared_window(at)) at -= kSharedWindow;
        Block* home = w.block;
        if (in.has(flag::in_cluster)) {
            home = home_of(w, in, lane, at);
            if (!home) return;
        } else {
            at -= w.block->shared_base;
        }
        if (is_beyond(at, 8, home->shared_bytes)) {
            report_bad_shared(w, in, lane, at, 8, true);
            return;
        }
        const auto offset = static_cast<std::uint32_t>(at);
        const auto arrive = [&](Block& to) {
            if (w.launch->check_races) {
                std::uint64_t addresses[kLanes] = {};
                addresses[lane] = offset;
                races::shared_access(w, in, Mask{1} << lane, to, addresses, 8, races::Kind::atomic);
            }
            if (!w.launch->stopped && find_mbarrier(w, in, lane, to, offset))
                commit_operations(w, in, lane, to, offset);
        };
        if (in.sub2 == 0) {
            arrive(*home);
            return;
        }
        const auto ranks = static_cast<std::uint32_t>(lane_value(w, in.source(2), lane)) & 0xffff;
        for (std::uint32_t rank = 0; rank < 16 && !w.launch->stopped; ++rank) {
            if (!(ranks >> rank & 1)) continue;
            std::uint64_t address = std::uint64_t{rank} << kRankShift | offset;
            if (Block* to = home_of(w, in, lane, address)) arrive(*to);
        }
    });
}

constexpr HandlerEntry entries[] = {
    {"tcgen05.alloc", alloc},   {"tcgen05.dealloc", dealloc}, {"tcgen05.relinquish", relinquish},
    {"tcgen05.ld", load},       {"tcgen05.st", store},        {"tcgen05.wait", wait},
    {"tcgen05.fence", fence},   {"tcgen05.mma", mma},         {"tcgen05.cp", copy},
    {"tcgen05.commit", commit},
};

}  // namespace

HandlerTable tcgen05_handlers() { return {entries, std::size(entries)}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

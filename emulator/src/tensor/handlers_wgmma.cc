// wgmma.mma_async: one warp's 16 rows, in panels of columns.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/races/races.h"
#include "emulator/src/tensor/arithmetic.h"
#include "emulator/src/tensor/handlers.h"
#include "emulator/src/tensor/plan.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

namespace {

using ptx::Type;

constexpr std::uint32_t kRows = 16;   // of a warp
constexpr std::size_t kPanel = 1024;  // elements of A, and of B's columns that are worked on together

// Elements of 16 bytes of shared memory, one to a word; single bits stay in words of 32.
template <class Put>
void split_unit(const std::byte* data, int bytes, Put&& put) {
    switch (bytes) {
        case 1:
            for (int e = 0; e < 16; ++e) put(e, std::to_integer<std::uint32_t>(data[e]));
            break;
        case 2:
            for (int e = 0; e < 8; ++e) {
                std::uint16_t half;
                std::memcpy(&half, data + 2 * e, 2);
                put(e, half);
            }
            break;
        default:
            for (int e = 0; e < 4; ++e) {
                std::uint32_t word;
                std::memcpy(&word, data + 4 * e, 4);
                put(e, word);
            }
    }
}

// How elements become what the arithmetic takes: a sign flipped, tf32's unread bits dropped, integers
// extended.
struct Preparation {
    std::uint32_t flip = 0;
    int drop = 0;          // low bits
    bool extends = false;  // from 8 bits
    std::uint32_t operator()(std::uint32_t x) const {
        x = (x ^ flip) >> drop;
        return extends ? static_cast<std::uint32_t>(static_cast<std::int32_t>(x << 24) >> 24) : x;
    }
};
Preparation preparation(Type type, int bytes, bool negate) {
    Preparation p;
    if (negate) p.flip = 1u << (8 * bytes - 1);
    if (type == Type::tf32) p.drop = 13;
    p.extends = type == Type::s8;
    return p;
}

struct Operands {
    const WarpgroupForm& form;
    MatrixDescriptor a, b;
    std::uint32_t n, k, kept;  // columns; words along k; those of A, before a sparse one is expanded
    std::uint32_t first_row;
    bool a_in_registers, sparse, a_transposed, b_transposed;

    explicit Operands(const Warp& w, const Product& p)
        : form(form_of(*p.instr)),
          a(p.a),
          b(p.b),
          n(p.instr->target),
          k(static_cast<std::uint32_t>(form.bytes == 0 ? depth_of(*p.instr) / 32 : depth_of(*p.instr))),
          kept(static_cast<std::uint32_t>(form.bytes == 0 ? form.k / 32 : form.k)),
          first_row(w.index % 4 * kRows),
          a_in_registers((p.instr->sub & warpgroup::a_in_registers) != 0),
          sparse((p.instr->sub & warpgroup::sparse) != 0),
          a_transposed((p.instr->sub & warpgroup::a_transposed) != 0),
          b_transposed((p.instr->sub & warpgroup::b_transposed) != 0) {}
    std::uint32_t b_row_bytes() const { return sparse ? 64 : 32; }
    template <class F>
    void each_of_a(F&& f) const {
        each_unit(a, a_transposed, first_row, kRows, kept, 32, f);
    }
    template <class F>
    void each_of_b(std::uint32_t first, std::uint32_t count, F&& f) const {
        each_unit(b, b_transposed, first, count, k, b_row_bytes(), f);
    }
};

bool defined(const Warp& w, std::uint32_t address) {
    return !w.launch->check_initialised || all_bits(w.block->shared_written, address, 16);
}

// Rows of A, words along k; a set bit in `undefined`: the row has something undefined.
void load_a(Warp& w, const Product& p, const Operands& o, std::uint32_t* a, std::uint32_t& undefined) {
    const int bytes = o.form.bytes;
    const Preparation prepare = preparation(o.form.a, bytes, (p.instr->sub & warpgroup::negate_a) != 0);
    if (o.a_in_registers) {
        const std::uint32_t bits = bytes == 0 ? 32 : static_cast<std::uint32_t>(8 * bytes), per = 32 / bits;
        const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
        for (std::uint32_t r = 0; r < 4; ++r) {
            for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                const std::uint32_t row = lane / 4 + 8 * (r % 2), col = lane % 4 * per + 4 * per * (r / 2);
                for (std::uint32_t e = 0; e < per; ++e) {
                    a[row * o.kept + col + e] = prepare(p.a_registers[r][lane] >> (e * bits) & mask);
                }
                if (p.a_undefined[r] >> lane & 1) undefined |= 1u << row;
            }
        }
        return;
    }
    o.each_of_a([&](std::uint32_t address, std::uint32_t row, std::uint32_t at) {
        row -= o.first_row;
        if (!defined(w, address)) undefined |= (o.a_transposed ? 0xffu : 1u) << row;
        const std::uint32_t per = 16 / static_cast<std::uint32_t>(bytes == 0 ? 4 : bytes);
        split_unit(w.block->shared + address, bytes, [&](int e, std::uint32_t x) {
            const auto offset = static_cast<std::uint32_t>(e);
            a[o.a_transposed ? (row + offset) * o.kept + at : row * o.kept + at * per + offset] = prepare(x);
        });
    });
}

void load_b(Warp& w, const Product& p, const Operands& o, std::uint32_t first, std::uint32_t count,
            std::uint32_t* b, std::uint32_t& undefined) {
    const int bytes = o.form.bytes;
    const Preparation prepare = preparation(o.form.b, bytes, (p.instr->sub & warpgroup::negate_b) != 0);
    o.each_of_b(first, count, [&](std::uint32_t address, std::uint32_t column, std::uint32_t at) {
        column -= first;
        if (!defined(w, address)) undefined |= (o.b_transposed ? 0xffu : 1u) << column;
        const std::uint32_t per = 16 / static_cast<std::uint32_t>(bytes == 0 ? 4 : bytes);
        split_unit(w.block->shared + address, bytes, [&](int e, std::uint32_t x) {
            const auto offset = static_cast<std::uint32_t>(e);
            b[o.b_transposed ? at * count + column + offset : (at * per + offset) * count + column] =
                prepare(x);
        });
    });
}

// Calls f(register, lane, shift, element of a 16 x count panel) for the accumulators of a panel.
template <class F>
void each_accumulator(std::uint32_t first, std::uint32_t count, bool halves, F&& f) {
    for (std::uint32_t tile = 0; tile < count / 8; ++tile) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t number = (first / 8 + tile) * 4 + i;
            for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                const std::uint32_t row = lane / 4 + 8 * (i / 2), column = tile * 8 + lane % 4 * 2 + i % 2;
                f(halves ? number / 2 : number, lane, halves ? 16 * (i % 2) : 0, row * count + column);
            }
        }
    }
}

// The product, with shared memory as it is now; false after a fault.
bool compute(Warp& w, Product& p) {
    const Instr& in = *p.instr;
    const Operands o(w, p);
    const std::size_t registers = in.destinations;
    const bool halves = o.form.d == Type::f16;
    alignas(64) std::uint32_t a[kPanel], b[kPanel], c[kPanel], d[kPanel];
    std::uint32_t undefined_rows = 0;
    load_a(w, p, o, a, undefined_rows);
    if (o.sparse) {
        alignas(64) std::uint32_t full[kPanel];
        const auto fault = tensor::expand_sparse(o.form.a, kRows, static_cast<int>(o.k), in.rounding, false,
                                                 p.metadata.data(), a, full);
        if (fault) {
            report(w, "illegal-instruction", in, static_cast<int>(fault->lane), fault->what, true);
            return false;
        }
        std::copy_n(full, kRows * o.k, a);
    }
    p.d.assign(registers * kLanes, 0);
    // C, register by register: values, or what an earlier product has left.
    std::vector<const std::uint32_t*> c_registers(registers, nullptr);
    for (std::size_t r = 0; p.accumulate && r < registers; ++r) {
        if (!p.c_pending.empty() && p.c_pending[r].product) {
            const Product& before = *p.c_pending[r].product;
            c_registers[r] = before.d.data() + std::size_t{p.c_pending[r].index} * kLanes;
            if (!before.d_undefined.empty() && before.d_undefined[p.c_pending[r].index]) {
                if (p.c_undefined.empty()) p.c_undefined.resize(registers, 0);
                p.c_undefined[r] = before.d_undefined[p.c_pending[r].index];
                p.origin = before.origin;
            }
        } else {
            c_registers[r] = p.c.data() + r * kLanes;
        }
    }
    if (!p.c_undefined.empty()) p.d_undefined = p.c_undefined;
    FloatRecipe recipe;
    recipe.a = format_of(o.form.a);
    recipe.b = format_of(o.form.b);
    recipe.fraction_bits = static_cast<int>(in.imm & 0xff);
    recipe.chunk = static_cast<int>(in.imm >> 8 & 0xff);
    recipe.output_bits = static_cast<int>(in.imm >> 16 & 0xff);
    recipe.approximation = w.launch->options->approximation;
    recipe.seed = w.launch->options->schedule_seed;
    recipe.output_f16 = halves;
    const std::uint32_t width = std::min<std::uint32_t>(32, static_cast<std::uint32_t>(kPanel) / o.k);
    for (std::uint32_t first = 0; first < o.n; first += width) {
        const std::uint32_t count = std::min(width, o.n - first);
        std::uint32_t undefined_columns = 0;
        load_b(w, p, o, first, count, b, undefined_columns);
        if (p.accumulate) {
            each_accumulator(
                first, count, halves, [&](std::size_t r, std::size_t lane, int shift, std::size_t at) {
                    c[at] = halves ? c_registers[r][lane] >> shift & 0xffff : c_registers[r][lane];
                });
        } else {
            std::fill_n(c, kRows * count, 0);
        }
        const int m = kRows, n = static_cast<int>(count), k = static_cast<int>(o.k);
        if (o.form.d != Type::s32) {
            multiply_float(recipe, m, n, k, a, b, c, d);
        } else if (o.form.bytes == 0) {
            multiply_bits(m, n, k, a, b, c, d, false);
        } else {
            multiply_integer(m, n, k, reinterpret_cast<const std::int32_t*>(a),
                             reinterpret_cast<const std::int32_t*>(b), c, d, in.has(flag::sat));
        }
        each_accumulator(first, count, halves,
                         [&](std::size_t r, std::size_t lane, int shift, std::size_t at) {
                             p.d[r * kLanes + lane] |= d[at] << shift;
                         });
        if (undefined_rows == 0 && undefined_columns == 0) continue;
        if (p.d_undefined.empty()) p.d_undefined.resize(registers, 0);
        each_accumulator(first, count, halves, [&](std::size_t r, std::size_t lane, int, std::size_t at) {
            if ((undefined_rows >> (at / count) | undefined_columns >> (at % count)) & 1) {
                p.d_undefined[r] |= Mask{1} << lane;
            }
        });
    }
    p.done = true;
    p.c.clear();
    p.c_pending.clear();
    return true;
}

// Everything that the warp reads lies in the block's shared memory, was written there before, and stays until
// the product is waited for; false after a fatal fault.
bool check_operands(Warp& w, const Instr& in, Product& p) {
    const Operands o(w, p);
    bool good = true;
    const auto check = [&](std::uint32_t address, std::uint32_t, std::uint32_t) {
        if (!good || address + 16 <= w.block->shared_bytes) return;
        report_bad_shared(w, in, 0, address, 16, false);
        good = false;
    };
    if (!o.a_in_registers) o.each_of_a(check);
    if (good) o.each_of_b(0, o.n, check);
    if (!good || !w.launch->check_races) return good;
    races::warp_sync(w, kAllLanes);  // .sync: what lanes of the warp have stored comes before
    p.stamp = races::async_stamp(*w.block, races::warp_agent(w, races::Agent::wgmma));
    const auto read = [&](std::uint32_t address, std::uint32_t, std::uint32_t) {
        races::async_shared(w, in, 0, *w.block, address, 16, races::Kind::read, p.stamp, false);
    };
    if (!o.a_in_registers) o.each_of_a(read);
    o.each_of_b(0, o.n, read);
    return !w.launch->stopped;
}

void mma_async(Warp& w, const Instr& in, Mask exec) {
    Launch& launch = *w.launch;
    const std::shared_ptr<Product> p = begin_product(w, in, exec);
    if (!p || !check_operands(w, in, *p)) return;
    const auto work =
        static_cast<std::uint64_t>(kRows) * in.target * static_cast<std::uint64_t>(depth_of(in));
    launch.accesses[in.id].flops += 2 * work;
    launch.surcharge += work / kLanes;
    const std::uint64_t of_a = in.sub & warpgroup::a_in_registers ? 0 : kRows * 32;
    launch.accesses[in.id].operand_bytes += of_a + in.target * (in.sub & warpgroup::sparse ? 64u : 32u) / 4;
    issue_product(w, p);
    if (launch.options->asynchronous == Options::Async::eager) {
        if (compute(w, *p)) write_accumulators(w, *p, false);
    }
    if (const auto overdue = take_overdue(w); overdue && !overdue->done) compute(w, *overdue);
}

void fence(Warp& w, const Instr& in, Mask) { product_fence(w, in); }

void commit_group(Warp& w, const Instr&, Mask) { commit_products(w); }

// imm: how many of the latest groups may stay in flight.
void wait_group(Warp& w, const Instr& in, Mask) {
    w.launch->clock.pass(100, 200);
    const std::uint64_t count = awaited_products(w, static_cast<std::uint64_t>(in.imm));
    for (const auto& [member, p] : unfinished_products(w, count))
        if (!compute(*member, *p)) return;
    for (const std::shared_ptr<Product>& p : take_finished(w, count)) write_accumulators(w, *p, true);
}

constexpr HandlerEntry entries[] = {
    {"wgmma.mma_async", mma_async},
    {"wgmma.fence", fence},
    {"wgmma.commit_group", commit_group},
    {"wgmma.wait_group", wait_group},
};

}  // namespace

HandlerTable wgmma_handlers() { return {entries, std::size(entries)}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec

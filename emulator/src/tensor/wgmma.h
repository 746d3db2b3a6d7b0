// wgmma.mma_async: products of a warpgroup (four warps) that run on their own until a wgmma.wait_group.
//
// D is 64 x N; warp q of the warpgroup owns rows 16 q .. 16 q + 15 of D and of A, and works on them alone, so
// that what one warp does here is a 16 x N x K product (`Product`). Its accumulators take their values when
// the warp waits (Options late) or at once (eager); until it has waited they, and the registers that hold A,
// must not be touched. A group is the whole warpgroup's, though: when a wait_group returns, all four warps'
// parts of it are complete, and one thread may hand on the shared memory that all of them read. So a warp
// waits until the other three have issued what it waits for, and then works out their parts, too; they get
// their accumulators at their own wait. That is followed by register (`RegisterWatch`): what a `mov` copies
// is still the same pending value under another name, because compilers move accumulators about; every other
// use is a fault.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// ---- the instruction -------------------------------------------------------------------------------------

// Types that go together. Instr::imm holds the recipe (as for mma) and the number of the form above 24 bits,
// Instr::target N. Sources: A (four registers or a descriptor), B's descriptor, scale-d, (metadata), C.
struct WarpgroupForm {
    ptx::Type a, b, d;
    int k;      // dense; a sparse product's is twice that
    int bytes;  // of an element of A and B; 0: single bits
};
const std::vector<WarpgroupForm>& warpgroup_forms();

namespace warpgroup {  // bits of Instr::sub
enum : std::uint8_t {
    a_in_registers = 1,
    negate_a = 2,
    negate_b = 4,
    a_transposed = 8,
    b_transposed = 16,
    sparse = 32
};
}

inline const WarpgroupForm& form_of(const Instr& in) {
    return warpgroup_forms()[static_cast<std::size_t>(in.imm >> 24)];
}
inline int depth_of(const Instr& in) { return form_of(in).k * (in.sub & warpgroup::sparse ? 2 : 1); }

// A matrix in shared memory, cut into units of 16 bytes (PTX ISA, "Matrix descriptor format"; CuTe's
// GmmaDescriptor and the canonical layouts of make_gmma_desc, which give these offsets).
struct MatrixDescriptor {
    std::uint32_t start = 0, leading = 0, stride = 0;  // bytes
    std::uint32_t width = 1;                           // units that the swizzle permutes: 1 (none), 2, 4 or 8
    std::uint32_t base_offset = 0;

    MatrixDescriptor() = default;
    explicit MatrixDescriptor(std::uint64_t bits)  // bits 62 and 63: the swizzle, of 128, 64 or 32 bytes
        : MatrixDescriptor(bits, bits >> 62 == 0 ? 1 : 16u >> (bits >> 62)) {}
    MatrixDescriptor(std::uint64_t bits, std::uint32_t swizzle_width)
        : start(static_cast<std::uint32_t>(bits & 0x3fff) << 4),
          leading(static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4),
          stride(static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4),
          width(swizzle_width),
          base_offset(static_cast<std::uint32_t>(bits >> 49 & 7)) {}
    // K-major: the unit that holds bytes 16 u .. 16 u + 15 along k of this row (column of B).
    std::uint32_t along_k(std::uint32_t row, std::uint32_t u) const {
        const std::uint32_t inner = width == 1 ? u * leading : u % width * 16 + u / width * leading;
        return swizzled(row % 8 * width * 16 + row / 8 * stride + inner);
    }
    // MN-major: the unit number u along M (along N of B) at this k; of 16-bit elements it holds rows 8 u to
    // 8 u + 7.
    std::uint32_t across_k(std::uint32_t u, std::uint32_t k) const {
        if (width == 1) return start + u * stride + k % 8 * 16 + k / 8 * leading;
        return swizzled(u % width * 16 + u / width * leading + k % 8 * width * 16 + k / 8 * stride);
    }

  private:
    // Bits 4 .. 6 of the address are exchanged by the row of the pattern, bits 7 .. 9, counted from where the
    // pattern begins.
    std::uint32_t swizzled(std::uint32_t offset) const {
        const std::uint32_t address = start + offset;
        return address ^ (((address >> 7) - base_offset) & (width - 1)) << 4;
    }
};

// Calls f(address, row group, unit or k) for every unit that a warp reads of an operand. `first`, `count`:
// rows of A or columns of B, multiples of 8. Across k a call stands for eight rows at one k, along k for one
// row.
template <class F>
void each_unit(const MatrixDescriptor& d, bool transposed, std::uint32_t first, std::uint32_t count,
               std::uint32_t k, std::uint32_t row_bytes, F&& f) {
    if (transposed) {
        for (std::uint32_t u = first / 8; u < (first + count) / 8; ++u)
            for (std::uint32_t p = 0; p < k; ++p) f(d.across_k(u, p), 8 * u, p);
    } else {
        for (std::uint32_t row = first; row < first + count; ++row)
            for (std::uint32_t u = 0; u < row_bytes / 16; ++u) f(d.along_k(row, u), row, u);
    }
}

// ---- what is in flight -----------------------------------------------------------------------------------

struct Product;
struct Pending {  // register `index` of the product's accumulators
    std::shared_ptr<Product> product;
    std::uint32_t index = 0;
};

struct Product {
    const Instr* instr = nullptr;
    std::uint64_t a = 0, b = 0;  // descriptors
    bool accumulate = false;
    std::uint32_t fences = 0;  // wgmma.fence of the warp before it
    std::uint32_t stamp = 0;   // of its accesses (races/)
    std::uint64_t number = 0;  // among the warp's
    std::array<std::array<std::uint32_t, kLanes>, 4> a_registers{};
    std::array<std::uint32_t, kLanes> metadata{};
    std::vector<std::uint32_t> c, d;  // accumulators: register by register, 32 lanes each
    std::vector<Pending> c_pending;   // those of C that another product has still to give; empty: none
    std::vector<Mask> c_undefined, d_undefined;  // lanes, by register; empty: none
    std::array<Mask, 4> a_undefined{};
    std::uint32_t origin = 0;  // of what is undefined
    bool done = false;
    bool taken_over = false;  // another product accumulates on its result
};

struct RegisterWatch {  // of one frame, by narrow register
    std::vector<Pending> pending;
    std::vector<std::shared_ptr<Product>> read;  // as A of this product
    std::vector<std::uint32_t> written_after;  // the warp's count of wgmma.fence at the latest write, and who
    std::vector<std::uint32_t> writer;
};

struct Products {  // of a warp
    struct Flight {
        std::shared_ptr<Product> product;  // null: worked out ahead of its wait, and nothing stands for it
        std::uint64_t number = 0, group = 0;
    };
    std::uint32_t fences = 0;
    const Instr* last_fence = nullptr;
    std::deque<Flight> flights;   // not waited for, in order
    std::size_t worked_out = 0;   // of them, from the front
    std::uint64_t committed = 0;  // groups so far; what is issued belongs to the next one
    std::unordered_map<Frame*, RegisterWatch> watches;
    Frame* current_frame = nullptr;  // and its entry
    RegisterWatch* current = nullptr;
    std::uint64_t issued = 0;  // products so far
    std::uint64_t waited = 0;  // of them, from the first
};

// What the warps of a warpgroup have issued, so that they can be compared and waited for.
struct WarpgroupLog {
    struct Entry {
        const Instr* instr = nullptr;
        std::uint64_t a = 0, b = 0;
        bool accumulate = false;
        std::uint32_t warp = 0;                 // which came first
        std::array<std::uint32_t, 4> stamps{};  // Product::stamp, by warp
    };
    std::deque<Entry> entries;
    std::uint64_t first = 0;  // the number of the first one kept
};

// Everything that must hold as a wgmma is issued, and its inputs; null after a fatal fault.
std::shared_ptr<Product> begin_product(Warp& w, const Instr& in, Mask exec);
// Its registers become pending.
void issue_product(Warp& w, const std::shared_ptr<Product>& product);
void product_fence(Warp& w, const Instr& in);
void commit_products(Warp& w);
// How many of the warp's products, from its first, a wait_group that leaves `pending` groups waits for; 0:
// for none that is in flight.
std::uint64_t awaited_products(const Warp& w, std::uint64_t pending);
// Have all warps of the warpgroup issued what this wait_group waits for?
bool warpgroup_has_issued(const Warp& w, const Instr& wait);
// The first `count` products of the warpgroup that are not worked out, each with its warp, in an order in
// which they can be.
std::vector<std::pair<Warp*, std::shared_ptr<Product>>> unfinished_products(const Warp& w,
                                                                            std::uint64_t count);
// Those of the first `count` that the warp has not waited for, oldest first; they are no longer in flight,
// and what the warpgroup has read for them comes before what follows.
std::vector<std::shared_ptr<Product>> take_finished(Warp& w, std::uint64_t count);
// A program need never wait. Past this many in flight the oldest is to be worked out, that memory stays
// bounded.
constexpr std::size_t kMostInFlight = 64;
std::shared_ptr<Product> take_overdue(Warp& w);  // null: none
// The result, which is in Product::d, reaches the registers that stand for it; `finished`: they are free
// again.
void write_accumulators(Warp& w, const Product& product, bool finished);

// tcgen05.ld is followed like a product: its registers are pending until the wait (take all of them).
void load_registers(Warp& w, const std::shared_ptr<Product>& values);
void finish_loads(Warp& w);

// Before every instruction of a warp that has executed a wgmma.fence or a tcgen05.ld: is it allowed to touch
// its registers?
bool watch_registers(Warp& w, const Instr& in, Mask exec);
void forget_registers(Warp& w, Frame* frame);  // the frame ends
// A block ends: its warpgroups must have issued the same products.
void check_warpgroups(Block& block);
// No warp of the block can go on: a warp that waits for its warpgroup, and the one that it waits for.
struct MissingWarp {
    Warp* waits = nullptr;
    const Instr* wait = nullptr;
    Warp* missing = nullptr;
};
std::optional<MissingWarp> missing_warp(const Block& block);
void report_missing_warp(const MissingWarp& missing);

}  // namespace emulator::exec

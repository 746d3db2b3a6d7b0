// tcgen05: Tensor Memory and the operations of the fifth-generation tensor cores (sm_100a).
//
// A block has 128 lanes of 512 columns of 32 bits, of which it allocates columns. Warps move data with
// tcgen05.ld and tcgen05.st, each warp in its quarter of the lanes (warp q in lanes 32 (q mod 4) to + 31);
// both are asynchronous until a tcgen05.wait. Single threads issue the operations of the tensor pipe (mma,
// cp), which run in the order of their issue and are complete when the mbarrier of a tcgen05.commit says so:
// with Options late they are carried out when a wait relies on that, with eager at once.
//
// What is followed, apart from values: which cells were ever written; and per column and group of 16 lanes
// the latest write and reads, so that an access which nothing orders after them is a fault. Orders are those
// of races/ (clocks of warps, entries for the pipe and for each warp's loads and stores), with two
// differences that PTX makes: another warp's accesses count only up to the latest tcgen05.fence::
// after_thread_sync, and only what a tcgen05.fence::before_thread_sync has covered is passed on.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/src/exec/state.h"
#include "emulator/src/tensor/wgmma.h"

namespace emulator::exec {

constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512;

// ---- tcgen05.mma -----------------------------------------------------------------------------------------

enum class TensorKind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// Instr::sub2 of tcgen05.mma.
namespace tensor_mma {
enum : std::uint8_t { a_in_memory = 1, scaled = 2, masked = 4, scales_d = 8, two_blocks = 16 };
}

// What the instruction descriptor says (PTX ISA, "Instruction descriptor"; CuTe's InstrDescriptor and
// InstrDescriptorBlockScaled).
struct TensorShape {
    std::uint32_t m = 0, n = 0, k = 0;
    std::uint32_t bits = 0;  // of an element of A and B in shared memory, padding included
    ptx::Type a = ptx::Type::none, b = ptx::Type::none, d = ptx::Type::none;
    ptx::Type scale = ptx::Type::none;
    std::uint32_t groups = 0;                // scales along k
    std::uint32_t scale_a = 0, scale_b = 0;  // the byte of a cell where they begin
    bool negate_a = false, negate_b = false, across_a = false, across_b = false, saturate = false;
};
// `groups`: as the instruction asks for. An error is what is wrong with the descriptor.
struct TensorShapeError {
    std::string message;
    bool unsupported = false;
};
std::optional<TensorShapeError> read_shape(TensorKind kind, std::uint32_t descriptor, std::uint32_t groups,
                                           TensorShape& out);

// A matrix in shared memory (PTX ISA, "Shared memory descriptor"; CuTe's UMMA::SmemDescriptor).
std::optional<TensorShapeError> read_matrix(std::uint64_t descriptor, MatrixDescriptor& out);

// ---- what is in flight -----------------------------------------------------------------------------------

struct TensorOperation {
    const Instr* instr = nullptr;
    std::uint32_t warp = 0, thread = 0;
    TensorShape shape;
    MatrixDescriptor a, b;
    std::uint32_t d = 0, a_address = 0, scale_a = 0, scale_b = 0;  // addresses in Tensor Memory
    bool accumulate = false;
    std::array<std::uint32_t, 4> masked{};  // lanes of D that stay
    int scale_d = 0;                        // D is multiplied by 2^-scale_d first
    void (*run)(Block& block, const TensorOperation& operation) = nullptr;
};

struct TensorAccess {  // id ~0: none
    std::uint32_t id = ~0u, warp = 0, thread = 0;
    std::uint32_t stamp = 0;  // races::async_stamp
    std::uint32_t now = 0;    // Block::now
    enum class By : std::uint8_t { pipe, load, store } by = By::pipe;
};
struct TensorGranule {  // 16 lanes of a column
    TensorAccess write, pipe_read, load;
};

struct TensorWarp {
    std::vector<std::uint32_t> seen;  // Warp::clock at the latest fence::after_thread_sync
    std::uint32_t load_stamp = 0, loads_done = 0, store_stamp = 0, stores_done = 0;
    std::deque<TensorOperation> queue;  // not carried out
    std::uint64_t first = 0;            // number of the front one
};

struct TensorMemory {
    struct Allocation {
        std::uint32_t column = 0, columns = 0, thread = 0;
        const Instr* instr = nullptr;
    };
    std::vector<std::uint32_t> cells;    // [column][lane]
    std::vector<std::uint64_t> written;  // one bit per cell
    std::vector<TensorGranule> granules;
    std::vector<Allocation> allocations;
    const Instr* relinquished = nullptr;
    std::vector<TensorWarp> warps;

    static std::size_t cell(std::uint32_t lane, std::uint32_t column) {
        return std::size_t{column} * kTensorLanes + lane;
    }
    bool is_written(std::size_t cell) const { return written[cell / 64] >> (cell % 64) & 1; }
    void set(std::size_t cell, std::uint32_t value, bool defined) {
        cells[cell] = value;
        const std::uint64_t bit = std::uint64_t{1} << (cell % 64);
        written[cell / 64] = defined ? written[cell / 64] | bit : written[cell / 64] & ~bit;
    }
};
TensorMemory& tensor_memory(Block& block);

// Each of these reports what is wrong; false: the launch has ended.
bool allocate_columns(Warp& w, const Instr& in, std::uint32_t columns, std::uint32_t& address);
void deallocate_columns(Warp& w, const Instr& in, std::uint32_t address, std::uint32_t columns);
void relinquish_columns(Warp& w, const Instr& in);
// An access to `lanes` x `columns` cells; the 16-lane groups that it touches are bits of `groups` (bit 0:
// lanes 0 to 15). A stamp is made where `access` has none yet.
struct TensorArea {
    std::uint32_t groups = 0, column = 0, columns = 0;
};
bool touch_cells(Warp& w, const Instr& in, int lane, const TensorArea& area, bool is_write,
                 TensorAccess& access);
TensorAccess begin_access(Warp& w, const Instr& in, int lane, TensorAccess::By by);

void wait_loads(Warp& w);
void wait_stores(Warp& w);
void tensor_fence(Warp& w, bool after);

// Into the warp's queue; eager: carried out.
void issue_operation(Warp& w, const TensorOperation& operation);
// Everything that the warp has issued so far, then an arrival at the mbarrier: queued at `home`.
void commit_operations(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t barrier);
void carry_out(Block& block, std::uint32_t warp, std::uint64_t upto);
// Commits for this mbarrier arrive where they are all that its phase waits for.
void land_commits(Block& home, std::uint32_t barrier, Mbarrier& m);
// A block ends: what is left is carried out; columns that are still allocated are a fault.
void end_tensor_memory(Block& block);

}  // namespace emulator::exec

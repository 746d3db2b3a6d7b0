// The emulated GPU's public interface: load PTX, give it memory, launch, read what happened.
//
// A Module is parsed PTX. A Memory is the device's global memory: named buffers at fixed addresses, far apart
// from each other, with a shadow that knows which bytes were ever written. A launch executes one grid, warp
// by warp, and returns an Outcome: faults with source places and both parties, exact counters, printed text.
// Nothing here knows about tasks, references or verdicts. No call throws for what a program does.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emulator/counters.h"

namespace emulator {

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    bool operator==(const Dim3&) const = default;
    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// What the launch must fit into; the caller fills it from its device table. The defaults are an A100 (sm_80),
// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
struct Limits {
    std::uint32_t sm_count = 108;
    std::uint32_t max_threads_per_block = 1024;
    std::uint32_t max_block_x = 1024, max_block_y = 1024, max_block_z = 64;
    std::uint64_t max_grid_x = 2147483647, max_grid_y = 65535, max_grid_z = 65535;
    std::uint32_t max_static_shared = 49152;  // bytes
    std::uint32_t max_shared_optin = 166912;  // bytes, static + dynamic
    std::uint32_t max_cluster_blocks = 1;     // 8 on sm_90
    std::uint32_t clock_mhz = 1410;           // what %clock64 and %globaltimer advance by
};

// ---- module ---------------------------------------------------------------------------------------------

// Why PTX could not be loaded: a syntax error, or a declaration that is not supported. Instructions that are
// not known do not keep a module from loading: executing one is the fault "unsupported-instruction".
struct LoadError {
    enum class Kind { syntax, unsupported } kind = Kind::syntax;
    int ptx_line = 0;         // 1-based
    std::string instruction;  // the text of the instruction, when it is one
    std::string message;
    std::string file;  // source place from the last .loc before it; empty: unknown
    int line = 0;
};

struct ParameterInfo {
    std::string name;
    std::uint32_t size = 0;    // bytes
    std::uint32_t align = 1;   // bytes
    std::uint32_t offset = 0;  // bytes, within the argument block
    std::string type;          // PTX fundamental type: "u64", "f32", "b8" (aggregates are arrays of b8)
    bool is_array = false;     // .param .align A .b8 name[N]: an aggregate
    bool is_pointer = false;   // .ptr was given (newer code generators); false does not exclude a pointer
};

struct KernelInfo {
    std::string name;  // the exact PTX symbol
    std::vector<ParameterInfo> parameters;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t static_shared = 0;     // bytes of the .shared variables that the kernel can reach
    std::uint32_t local_bytes = 0;       // per thread, frames of called functions not included
    std::optional<Dim3> required_block;  // .reqntid
    std::optional<Dim3> max_block;       // .maxntid
    bool uses_grid_sync = false;         // reads %envreg1/2 as cooperative groups' grid sync does
};

struct GlobalInfo {
    std::string name;
    std::string space;       // "global" or "const"
    std::uint64_t size = 0;  // bytes
    bool initialised = false;
    bool written =
        false;  // some instruction of the module may store to it (its address is taken or stored to)
};

// The instruction sets of the host that the executor's loops are compiled for: baseline x86-64, x86-64-v3
// (AVX2) and x86-64-v4 (AVX-512). All give the same bits.
enum class HostIsa : std::uint8_t { baseline, v3, v4 };
HostIsa best_host_isa();  // of this processor
bool supports(HostIsa isa);

class Module {
  public:
    Module();
    Module(Module&&) noexcept;
    Module& operator=(Module&&) noexcept;
    ~Module();

    // `ptx` as NVRTC writes it (any .target); nothing is executed. `isa` must be one that the processor
    // supports.
    static std::variant<Module, LoadError> load(std::string_view ptx, HostIsa isa = best_host_isa());

    const std::vector<KernelInfo>& kernels() const;
    const KernelInfo* find_kernel(std::string_view name) const;
    const std::vector<GlobalInfo>& globals() const;

    struct Impl;
    const Impl& impl() const { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

// ---- memory ---------------------------------------------------------------------------------------------

// What a buffer is for decides what is a fault.
enum class BufferKind {
    input,   // initialised; a write is the fault "input-write"
    inout,   // initialised and writable (an output that shares an input's buffer)
    output,  // undefined before the first kernel; a read before a write is "uninitialised-output-read"
    scratch  // undefined before the first kernel; a read before a write is "uninitialised-read"
};

class Memory {
  public:
    Memory();
    Memory(Memory&&) noexcept;
    Memory& operator=(Memory&&) noexcept;
    ~Memory();

    // A buffer of `size` bytes at a multiple of 256, at least 2^32 bytes away from any other, so that no
    // access computed from one lands in another unnoticed. `address_seed` varies the addresses between runs.
    // Returns the device address. Undefined content is filled with `poison` (a repeated byte).
    std::uint64_t allocate(std::string name, std::uint64_t size, BufferKind kind,
                           std::byte poison = std::byte{0xd5});
    void set_address_seed(std::uint64_t seed);                            // affects later allocations
    void write(std::uint64_t address, std::span<const std::byte> bytes);  // marks the bytes initialised
    std::vector<std::byte> read(std::uint64_t address, std::uint64_t size) const;
    // One flag per byte of the buffer at `address`: was it ever written (by write() or by a kernel)?
    std::vector<bool> initialised(std::uint64_t address) const;
    void free(std::uint64_t address);
    // Copies bytes into a __constant__ or __device__ variable of a module loaded by load_globals.
    bool write_symbol(const Module& module, std::string_view symbol, std::span<const std::byte> bytes);
    std::vector<std::byte> read_symbol(const Module& module, std::string_view symbol) const;
    // Gives the module's .global and .const variables their first content ("module load"); called by the
    // first launch of a module when it was not called before. Calling it again resets them.
    void load_globals(const Module& module);

    struct Impl;
    Impl& impl() { return *impl_; }
    const Impl& impl() const { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

// ---- launch ---------------------------------------------------------------------------------------------

struct Launch {
    std::string kernel;
    Dim3 grid, block;
    std::uint32_t dynamic_shared = 0;  // bytes
    std::vector<std::byte> arguments;  // laid out as KernelInfo::parameters says
    bool cooperative = false;          // all blocks resident, grid sync allowed
    std::optional<Dim3> cluster;
};

// Who executes. `specification` is the slow, obvious executor that says what the fast one must do
// (emulator/src/specification): for finding out which of two is wrong, and for what it costs a thousand times
// more than `fast`. It takes plain launches of at most 4096 threads, in natural order.
enum class Engine : std::uint8_t { fast, specification };

struct Options {
    Limits limits;
    Engine engine = Engine::fast;
    bool check_races = true;  // shared memory and between blocks
    bool check_initialised = true;
    bool count = true;  // fill Counters
    // When what is asynchronous (bulk copies, TMA, wgmma, tcgen05) takes effect: as late as the program's
    // waits allow, so that a missing wait shows, or as it is issued. Both are legal.
    enum class Async { late, eager } asynchronous = Async::late;
    // What PTX only bounds: results of .approx functions, the order and width of a tensor core's sums.
    // nominal: as a GPU plausibly has them. strictest: the exact value, rounded once. lower, upper, seeded:
    // as low, as high, or anywhere (by schedule_seed and the argument) as the documented bound allows. A
    // right kernel works with all.
    enum class Approximation {
        nominal,
        strictest,
        lower,
        upper,
        seeded
    } approximation = Approximation::nominal;
    std::uint64_t schedule_seed = 0;  // 0: warps and blocks in natural order; else a seeded permutation
    std::uint64_t max_warp_instructions =
        2'000'000'000;  // over the whole launch; one on a
                        // tensor core counts as 64, an atomic more by its lanes
    std::chrono::milliseconds max_time{60'000};
    std::uint64_t max_printf_bytes = 1 << 20;
    std::size_t max_faults =
        16;  // distinct (rule, place); execution of the launch stops at the first fatal one
    // Host threads that execute blocks: more than one for launches whose blocks do not communicate
    // (emulator/src/launch/parallel.h), once what is left seems to be this many warp instructions. The
    // outcome does not depend on either.
    unsigned host_threads = 1;
    std::uint64_t least_shared_work = 500'000;
    // Execute only these linear block numbers (sorted); empty: all. Blocks left out are not started; a kernel
    // whose blocks communicate must be run whole.
    std::vector<std::uint64_t> blocks;
};

// Where an instruction comes from: the innermost line of the file that the kernel's own text is in. A line of
// an inlined function comes with the calls that lead to it.
struct Place {
    std::string file;  // from .loc; empty: unknown
    int line = 0;
    int column = 0;
    int ptx_line = 0;
    std::string instruction;  // PTX text
    struct Call {
        std::string file;
        int line = 0, column = 0;
    };
    std::vector<Call> inlined_at =
        {};  // innermost first; empty: the line is the kernel's (or function's) own
};
// "helper.cuh:12, inlined at kernel.cu:40"
std::string to_string(const Place& place);

// One thing that went wrong. Rules: "out-of-bounds", "misaligned-access", "null-access", "input-write",
// "uninitialised-read" (shared, local, scratch), "uninitialised-output-read", "shared-race", "global-race",
// "non-coherent-read" (of what the launch writes), "divergent-barrier", "inter-block-wait", "deadlock",
// "endless-loop", "trap", "assert", "invalid-shuffle" (a lane named in the mask that does not take part),
// "stack-overflow", "unsupported-instruction", "illegal-instruction", "instruction-limit", "time-limit",
// "printf-limit"; of asynchronous copies and clusters "mbarrier-misuse" (more arrivals or bytes than it
// takes, an object that was never made or was overwritten), "missing-proxy-fence" (an ordinary write that
// the async proxy reads without fence.proxy.async, a changed tensor map without its fences), "unawaited-copy"
// (a block ends before its copies have), "bulk-copy" (an address, size or tensor map that a bulk copy cannot
// have), "cluster-access" (the shared memory of a block that has ended or may not have begun); of wgmma
// "unwaited-wgmma" (a register of a product in flight is touched), "missing-wgmma-fence", "divergent-wgmma"
// (the warps of a warpgroup do not do the same); of tcgen05 "tensor-memory" (an allocation or an address that
// is not possible, columns that are never given back), "unwaited-tcgen05" (registers or Tensor Memory of an
// operation in flight are touched), "tensor-race".
struct Fault {
    std::string rule;
    std::string kernel;
    Place place;
    struct Party {
        Place place;
        std::string note;
        std::optional<Dim3> block, thread;
    };
    std::optional<Party> other;  // the second party, where there are two
    std::string message;  // names the buffer, offset and size: "reads 4 bytes at offset 4124 of `x`, which
                          // has 4124 bytes"
    std::optional<Dim3> block, thread;
    std::uint64_t occurrences = 1;
};

// A launch that cannot start. Rules: "kernel-not-found", "illegal-grid", "illegal-block",
// "too-much-shared-memory", "argument-size", "cooperative-required", "grid-not-resident", "illegal-cluster".
struct LaunchError {
    std::string rule;
    std::string message;
};

struct Outcome {
    std::optional<LaunchError> refused;  // nothing was executed
    std::vector<Fault> faults;           // empty: the launch was clean
    Counters counters;
    std::string printed;
    unsigned host_threads =
        1;  // that executed it: at most Options::host_threads, 1 when one had to start over
    bool clean() const { return !refused && faults.empty(); }
};

// Executes the grid. The same module, memory content, launch and options give the same outcome, bit for bit.
Outcome run(const Module& module, Memory& memory, const Launch& launch, const Options& options);

}  // namespace emulator

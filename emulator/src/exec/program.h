// Executable form of a module: every instruction is a handler (a function that does it for all 32 lanes of a
// warp) with its operands resolved to places. The decoder makes it once per module; addresses of variables
// are filled in per launch (Relocation), because they depend on the Memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulator/src/ptx/parsed.h"

namespace emulator::exec {

constexpr int kLanes = 32;
// Shared memory that a GPU of sm_80 and later keeps for the system; cooperative groups use it for tiles of
// several warps (%reserved_smem_offset_1). It stands after the block's own, kReservedShared bytes apart, so
// that an index past the end of an array does not land in it.
constexpr std::uint32_t kReservedShared = 1024;
using Mask = std::uint32_t;  // bit i: lane i
constexpr Mask kAllLanes = 0xffffffffu;

struct Warp;
struct Instr;
struct HandlerSet;
using Handler = void (*)(Warp&, const Instr&, Mask);

// The arrays that an operand can stand in. Registers belong to the current frame, constants to the function.
// Narrow values are uint32_t[32], wide ones uint64_t[32], a predicate is one Mask.
enum class Base : std::uint8_t { narrow, narrow_constant, wide, wide_constant, predicate };
constexpr int kBases = 5;

struct Slot {
    std::uint32_t offset = 0;  // bytes from the base
    Base base = Base::narrow;
    bool negated = false;  // a predicate source read as !p
    bool is_wide() const { return base == Base::wide || base == Base::wide_constant; }
    bool is_register() const { return base == Base::narrow || base == Base::wide || base == Base::predicate; }
    std::uint32_t number() const {  // the register's number within its file
        return base == Base::predicate ? offset / 4 : base == Base::wide ? offset / 256 : offset / 128;
    }
};

// What the interpreter does itself, because it changes which lanes run where.
enum class Control : std::uint8_t {
    plain,    // call the handler
    branch,   // target
    indexed,  // brx.idx: branch tables
    call,     // direct, indirect or of a built-in
    ret,
    exit,
    barrier,     // bar / barrier: block-wide
    collective,  // handler, after the lanes named in its mask have converged (shfl, vote, mma ...)
    trap,
    unsupported,  // an instruction that is not known: the fault comes when lanes get here
    timed,        // reads a clock: handler, with the warp's instructions counted up to here
    yield         // nanosleep: handler, then another fragment gets its turn
};

// The pipe of a GPU that an instruction would use, for the instruction mix.
enum class Pipe : std::uint8_t { uniform, fma, alu, xu, fp64, fp16, tensor, lsu, control };
// Work that active lanes do, for the thread-level counters.
enum class Work : std::uint8_t { none, fadd, fmul, ffma, dadd, dmul, dfma, hadd, hmul, hfma, integer };

// How undefined bits of the sources reach the destinations (launch/propagate.cc).
enum class Flow : std::uint8_t {
    whole,  // an undefined bit in flow_width bits of any source makes all of the results undefined
    copy,   // also selp: the chosen source
    pack,
    unpack,
    logic_and,
    logic_or,
    logic_xor,  // and not
    shift_left,
    shift_right,
    shift_right_signed,
    permute,  // prmt in its general form
    extract,  // bfe
    extract_signed,
    halves,  // f16x2, bf16x2, f32x2: each half, of flow_width bits, by itself
    join,    // cvt.f16x2.f32: two values, the first to the upper half
    widen,   // cvt between integers: flow_width bits, the rest zero
    widen_signed
};

namespace flag {
enum : std::uint64_t {
    ftz = 1u << 0,
    sat = 1u << 1,
    is_signed = 1u << 2,
    narrow_address = 1u << 3,  // the address operand is a 32-bit register
    frame_relative = 1u << 4,  // the address counts from the frame's local memory
    is_volatile = 1u << 5,     // volatile, relaxed, acquire, release, mmio: strong, sync-relevant
    acquire = 1u << 6,
    release = 1u << 7,
    reduction = 1u << 8,   // red: no result
    nan_result = 1u << 9,  // min/max .NaN
    xorsign_abs = 1u << 10,
    relu = 1u << 11,
    carry_in = 1u << 12,
    carry_out = 1u << 13,
    whole_warp = 1u << 14,      // .aligned collective without a mask operand: every live lane must come
    cross_lane = 1u << 15,      // a result lane depends on other lanes (for taint)
    divergent_ok = 1u << 16,    // barrier without .aligned
    explicit_count = 1u << 17,  // barrier with a thread count
    arrive_only = 1u << 18,
    four_warps = 1u << 19,     // wgmma.wait_group: the warpgroup must have issued what it waits for
    selects = 1u << 20,        // selp: only the chosen source taints
    loads = 1u << 21,          // the handler sets the taint of its destinations itself
    kernel_param = 1u << 22,   // ld.param of the launch's arguments
    local_param = 1u << 23,    // .param storage of device functions: local memory, not counted
    narrow_gap = 1u << 24,     // a load into a 16-bit register
    non_coherent = 1u << 26,   // ld.global.nc
    block_scope = 1u << 25,    // .cta or .cluster: strong within the cluster only
    in_cluster = 1u << 27,     // an address in the shared memory of any block of the cluster
    relaxed = 1u << 28,        // an arrival that orders nothing
    async_product = 1u << 29,  // wgmma.mma_async
    magnitude = 1u << 30,      // min/max of three, redux: .abs
    satfinite = 1u << 31,      // cvt: the largest finite value instead of an infinity
    two_addresses = std::uint64_t{1} << 32  // source(1) is an address, too (cp.async)
};
}

// Where an operand of the text landed, and modifiers as bits; handlers document which fields they read.
struct Instr {
    Handler fn = nullptr;
    const Slot* op = nullptr;  // destinations first, then sources
    std::int64_t imm = 0;      // address offset, barrier count, mode ...
    std::uint32_t id = 0;      // index in Program::places and the counters
    std::uint32_t target = 0;  // branch target, callee, table
    std::uint64_t flags = 0;
    std::int16_t predicate = -1;
    bool predicate_negated = false;
    Control control = Control::plain;
    std::uint8_t destinations = 0, sources = 0;
    ptx::Space space = ptx::Space::generic;
    std::uint8_t size = 0;           // bytes of one element in memory
    std::uint8_t vector = 1;         // elements
    std::uint8_t sub = 0, sub2 = 0;  // operation, comparison, type: by handler
    std::uint8_t rounding = 0;
    Pipe pipe = Pipe::uniform;
    Work work = Work::none;
    std::uint8_t work_amount = 1;
    Flow flow = Flow::whole;
    std::uint8_t flow_width = 64;  // bits of a source that count

    bool has(std::uint64_t bits) const { return (flags & bits) != 0; }
    const Slot& destination(int i) const { return op[i]; }
    const Slot& source(int i) const { return op[destinations + i]; }
};

// A constant whose value is an address that only a launch knows.
struct Relocation {
    enum class Kind : std::uint8_t { variable, function, parameter, dynamic_shared } kind = Kind::variable;
    std::uint32_t constant = 0;  // index in the pool
    bool wide = false;
    std::uint32_t index = 0;  // variable or function number, or parameter offset
    std::int64_t addend = 0;
};

struct CallSite {                // one per call instruction (Instr::target)
    std::int32_t function = -1;  // -1: indirect
    std::string builtin;         // vprintf, malloc, free, __assertfail
    Slot callee;                 // indirect: the register
    struct Piece {               // in the caller's frame
        std::uint32_t offset = 0, bytes = 0;
        bool in_register = false;  // a literal or register instead
        Slot reg;
    };
    std::vector<Piece> arguments, results;
};

struct FunctionCode {
    std::string name;
    bool is_kernel = false;
    bool decoded = false;
    bool allocates = false;  // has an alloca
    std::vector<Instr> code;
    std::vector<Slot> slots;
    std::vector<std::uint32_t> narrow_constants;  // one value each; broadcast per launch
    std::vector<std::uint64_t> wide_constants;
    std::vector<Relocation> relocations;
    std::vector<CallSite> calls;
    std::vector<std::vector<std::uint32_t>> branch_tables;
    std::uint32_t narrow = 0, wide = 0, predicates = 0;  // registers, scratch ones included
    std::uint32_t frame_bytes = 0;                       // locals, then parameters and returns
    std::uint32_t parameter_offset = 0;                  // of the parameter block within the frame
    std::uint32_t parameter_bytes = 0;
    std::vector<Slot> unwritten;  // registers that some path reads before any write (decode/data_flow.cc)
    std::int32_t true_predicate = -1;  // a predicate register that is always true, when constants need one
};

struct Program {
    const HandlerSet* handlers = nullptr;              // where the instructions' handlers come from
    std::vector<FunctionCode> functions;               // same numbers as ptx::Module::functions
    std::vector<const ptx::Instruction*> text;         // by Instr::id
    std::vector<std::int32_t> function_of;             // by Instr::id
    std::map<std::uint32_t, std::string> unsupported;  // by Instr::id: why it is not known
    std::vector<std::uint32_t> places;       // by Instr::id: equal for instructions of one source line
    std::vector<const Instr*> instructions;  // by Instr::id
    std::vector<bool> blind_atomics;         // by Instr::id: red, and atom whose result nobody reads
};

}  // namespace emulator::exec

// PTX after parsing: names are resolved (registers to numbers, labels to instruction indices, variables to
// objects), nothing is executed and no semantics is attached yet. The decoder turns this into executable
// form. Grammar and names: PTX ISA 9.0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emulator/emulator.h"

namespace emulator::ptx {

enum class Type : std::uint8_t {
    none,
    pred,
    b8,
    b16,
    b32,
    b64,
    b128,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    f16x2,
    bf16,
    bf16x2,
    tf32,
    f32,
    f32x2,
    f64,
    e4m3,
    e5m2,
    e2m1,  // of matrices only, as the scales ue8m0 and ue4m3
    e2m3,
    e3m2,
    ue8m0,
    ue4m3,
    e4m3x2,
    e5m2x2,
    e2m1x2,
    e2m3x2,
    e3m2x2,
    ue8m0x2,
    s16x2,
    u16x2,
    u4,
    s4,
    b1
};
std::optional<Type> parse_type(std::string_view name);  // "f32"; not every modifier is a type
const char* to_string(Type type);
std::uint32_t size_bytes(Type type);  // in a register or in memory; pred: 1; u4/s4/b1: 0 (sub-byte)

enum class Space : std::uint8_t { generic, reg, global, shared, local, constant, param };

// A register of a function. 32-bit and smaller registers, 64-bit ones and predicates are numbered apart, so
// that an executor can keep three dense files. b128 registers are numbered with the 64-bit ones and take two
// numbers.
struct Register {
    Type type = Type::none;
    std::uint32_t index = 0;  // within its file
    bool operator==(const Register&) const = default;
};
enum class File : std::uint8_t { narrow, wide, predicate };
File file_of(Type type);

struct Source {  // where an instruction came from
    int ptx_line = 0;
    std::int32_t file = -1;  // index into Module::files; -1: unknown
    std::int32_t line = 0, column = 0;
    // the call that was inlined, as .loc inlined_at says: index into Module::call_sites; -1: none
    std::int32_t call_site = -1;
    // the outermost call site of a chain of inlined calls: where the kernel's own text stands; -1 when none
    std::int32_t outer_file = -1, outer_line = 0;
};
struct CallSite {
    std::int32_t file = -1, line = 0, column = 0;
    std::int32_t call_site = -1;  // where the calling function was inlined itself
};

struct Variable {  // .global .const .shared .local .param
    std::string name;
    Space space = Space::global;
    Type type = Type::none;
    std::uint32_t align = 1;
    std::uint64_t size = 0;  // bytes; 0 for an extern unsized array (dynamic shared memory)
    bool is_extern = false;
    bool is_array = false;
    std::vector<std::byte>
        data;            // initialiser, empty when none (then zero); shorter than size is zero-filled
    struct Relocation {  // an address in the initialiser: data[offset..] += address of symbol
        std::uint64_t offset = 0;
        std::string symbol;  // a variable or a function
        std::int64_t addend = 0;
        bool generic = false;
        std::uint32_t width = 8;
        std::uint32_t shift = 0;  // bits: mask forms such as 0xff00(symbol) store (address >> shift)
    };
    std::vector<Relocation> relocations;
    std::optional<Register> in_register;  // a function's parameter or return value declared .reg
    bool is_pointer = false;              // .param ... .ptr
    bool is_managed = false;              // .attribute(.managed)
    std::uint64_t offset =
        0;  // shared/local/param: offset in the function's frame or in the module's shared layout
};

struct Operand;
struct Immediate {  // integers keep all 64 bits; 0f.../0d... are kept as their bits with is_float set
    std::uint64_t bits = 0;
    bool is_float =
        false;  // a floating literal, `bits` is a double (0d) or float (0f) pattern, see is_double
    bool is_double = false;
};
struct Special {  // %tid.x -> {"tid", 0}; %laneid -> {"laneid", 0}
    std::string name;
    std::uint8_t component = 0;
};
struct Symbol {                          // address of a variable (or a function) plus a constant
    const Variable* variable = nullptr;  // null: a function
    std::int32_t function = -1;          // index into Module::functions
    std::int64_t addend = 0;
};
struct Address {  // [base + offset]; base is a register, a symbol or an immediate
    std::variant<Register, Symbol, Immediate> base;
    std::int64_t offset = 0;
    std::vector<Operand> coordinates;  // [base, {x, y}] of the tensor forms
};
struct Vector {
    std::vector<Operand> elements;
};  // {a, b}
struct Label {
    std::uint32_t target = 0;
};               // instruction index in the function
struct Sink {};  // _
struct Name {
    std::string text;
    std::int32_t index = -1;  // brx.idx: into Function::branch_tables; call: into Function::prototypes
};                            // anything else, e.g. a call prototype's or a table's label

struct Operand {
    std::variant<Register, Immediate, Special, Symbol, Address, Vector, Label, Sink, Name> value;
    bool negated = false;          // !p as a source predicate, or -x where the grammar allows it
    std::optional<Register> pair;  // d|p: the second destination
    std::string selector;          // "b0", "h10": the part a video instruction selects of a register
};

struct Instruction {
    std::string opcode;  // "ld", "mad", "mma", "bar", "call"
    std::vector<std::string>
        modifiers;  // in order, without the dots: {"global","v4","f32"}; "::" stays inside
    std::optional<Register> predicate;  // @p
    bool predicate_negated = false;     // @!p
    // In order of the text. A call's are: the function (a Symbol or a Register) and, when the text has one,
    // the prototype's or target list's Name; its return values and arguments stand apart.
    std::vector<Operand> operands;
    std::vector<Operand> call_returns, call_arguments;
    Source source;
    std::string text;  // as written, one line, without the trailing semicolon
    bool has(std::string_view modifier) const;
};

struct Function {
    std::string name;
    bool is_kernel = false;
    bool is_extern = false;  // declared only: vprintf, malloc, __assertfail ...
    // Parameters have offsets from 0; a device function's return values follow them in the same block.
    // Symbols of the code point to the elements of these three vectors: they must not be resized.
    std::vector<Variable> parameters;   // .param (or .reg) in order
    std::vector<Variable> returns;      // .param or .reg return values
    std::vector<Variable> locals;       // .local and in-body .param variables, offsets within the frame
    std::uint64_t parameter_bytes = 0;  // parameters (and return values)
    std::uint64_t frame_bytes = 0;      // locals plus in-body params
    std::uint32_t narrow_registers = 0, wide_registers = 0, predicates = 0;
    std::vector<Instruction> code;
    std::optional<Dim3> required_block, max_block;
    std::vector<std::string> prototypes;
    std::vector<std::vector<std::uint32_t>> branch_tables;  // for brx.idx

    // Shared memory of a kernel: what it can reach through its code, the functions it mentions and their
    // addresses in initialisers. Static variables have Variable::offset (no two that one kernel reaches
    // overlap); every .extern .shared array starts at dynamic_shared_offset. Zero for device functions.
    std::vector<const Variable*> shared;
    std::uint64_t static_shared = 0;          // bytes
    std::uint64_t dynamic_shared_offset = 0;  // static_shared aligned as the dynamic arrays ask, at least 16
    bool uses_dynamic_shared = false;

    std::optional<Dim3> required_cluster;  // .reqnctapercluster
    bool explicit_cluster = false;
    bool no_return = false;
    std::uint32_t min_blocks_per_sm = 0, max_registers = 0, max_cluster_rank = 0;  // 0: not given
    int ptx_line = 0;                                                              // of the declaration
};

struct Module {
    std::string version, target;     // "9.0", "sm_80"
    std::vector<std::string> files;  // .file table, index = our own number
    std::vector<CallSite> call_sites;
    std::vector<std::unique_ptr<Variable>>
        variables;  // module scope and functions' .shared, stable addresses
    std::vector<Function> functions;
    std::int32_t find_function(std::string_view name) const;  // -1: none
};

// Parses a whole module. An unknown directive is an error; an unknown instruction is not (the decoder
// decides).
std::variant<Module, LoadError> parse(std::string_view text);

Place place_of(const Module& module, const Instruction& instruction);

}  // namespace emulator::ptx

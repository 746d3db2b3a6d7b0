// The PTX parser's inside. One pass over the tokens; every routine returns false after fail() has kept the
// first error. Nesting of braces and of constant expressions is bounded and brace scopes are a stack of
// values, so no text can exhaust the call stack.
//
// Names: the module's variables and functions live in one table. A function body is a stack of scopes, each
// with its registers, variables and labels. `.reg .b32 %r<100>` only records the prefix: a register gets its
// number in the function's file when the text first mentions it, so the files are dense and a scope's
// registers never share numbers with another's. A word that is no name yet (a label further down) waits in
// its scope's list and is looked up when the scope closes, then in the enclosing ones.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "emulator/src/ptx/lexer.h"
#include "emulator/src/ptx/parsed.h"

namespace emulator::ptx {

struct Constant {
    std::uint64_t bits = 0;
    bool is_float = false, is_double = false;  // the literal's kind; both: a double
    bool is_unsigned = false;
    double real() const;
    Immediate immediate() const { return {bits, is_float, is_double}; }
};

struct Entry {
    enum class Kind : std::uint8_t { reg, variable, function } kind = Kind::reg;
    Type type = Type::none;
    std::int64_t index = -1;  // register number (-1: not used yet) or function
    std::uint8_t vector = 1;  // registers of a vector register
    const Variable* variable = nullptr;
};

struct Waiting {  // a word to look up when its scope closes
    enum class Where : std::uint8_t { operand, table } where = Where::operand;
    std::string_view name;
    std::size_t holder = 0, slot = 0;  // instruction and operand, or branch table and entry
    int line = 0;
};

struct Scope {
    struct Range {
        std::uint64_t count = 0;
        Type type = Type::none;
    };
    std::unordered_map<std::string_view, Entry> names;
    std::unordered_map<std::string_view, Range> ranges;  // by prefix
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, Name> tables;
    std::vector<Waiting> waiting;
};

struct Linking {
    bool is_extern = false;
};

class Parser {
  public:
    explicit Parser(std::string_view text) : lexer_(text) {}
    std::variant<Module, LoadError> run();

  private:
    // parser.cc: errors, the module's directives
    bool fail(std::string message, int line = 0);
    bool unsupported(std::string message, int line = 0);
    bool expect(char c, const char* after);
    bool take_integer(std::uint64_t& value, const char* what);
    bool take_word(std::string_view& word, const char* what);
    bool module_statement();
    bool header();
    bool file_directive();
    bool skip_section();
    bool skip_statement();
    bool alias();
    void place_error();
    void apply_aliases();
    std::int32_t file_index(std::uint64_t number);

    // constants.cc
    bool constant(Constant& out, int minimum = 0);
    bool constant_operand(Constant& out);
    bool literal(const Token& token, Constant& out);

    // declarations.cc
    bool variable_list(Space space, Linking linking, bool in_body);
    bool variable_head(Variable& variable, std::uint64_t& vector, bool is_parameter);
    bool variable_tail(Variable& variable, std::uint64_t vector, bool initialiser_allowed);
    bool initialiser(Variable& variable, const std::vector<std::uint64_t>& dims);
    bool initial_element(Variable& variable, std::uint64_t offset);
    bool attribute(Variable& variable);
    bool parameter_list(Function& function, std::vector<Variable>& list, bool returns);
    bool function(bool is_kernel, Linking linking);
    bool function_directives(Function& function, bool& body);
    bool dimensions(Dim3& dim);
    bool check_relocations();

    // body.cc
    bool body();
    bool body_directive();
    bool registers();
    bool label_statement();
    bool location();
    void inline_at(CallSite site);
    bool instruction();
    bool call(Instruction& instruction);
    bool operand_list(std::vector<Operand>& list, char close);
    bool close_scope();
    void settle_locals();
    void end_with_return();
    std::string statement_text(std::string_view from) const;

    // operands.cc
    bool operand(Operand& out, int depth);
    bool address(Operand& out, int depth);
    bool named_operand(Operand& out);
    bool special(std::string_view name, Operand& out);
    bool displacement(std::int64_t& offset);
    bool take_register(Register& out);
    Entry* find(std::string_view name);
    Register use(Entry& entry);

    Lexer lexer_;
    Module module_;
    std::optional<LoadError> error_;
    std::unordered_map<std::string_view, Entry> names_;
    std::unordered_map<std::uint64_t, std::int32_t> files_;  // .file number -> index
    std::vector<std::pair<std::int32_t, std::int32_t>> aliases_;
    std::uint64_t initialised_bytes_ = 0, module_bytes_ = 0;
    int constant_depth_ = 0;

    // the function whose body is read
    Function* function_ = nullptr;
    std::vector<Scope> scopes_;
    std::deque<Variable> locals_;
    std::size_t operand_slot_ = 0;
    bool may_wait_ = false;  // the operand being read is one that may be a label
    std::string_view statement_;
    Source source_;
    std::map<std::array<std::int32_t, 3>, std::int32_t> inlined_;     // file, line, column -> its call site
    std::map<std::array<std::int32_t, 4>, std::int32_t> call_sites_;  // its members -> index in the module
};

// layout.cc: offsets of static shared variables and what each kernel reaches.
bool lay_out_shared(Module& module, std::string& message);

inline std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

}  // namespace emulator::ptx

// Variables, initialisers, parameters and functions' heads.
#include <bit>

#include "emulator/src/ptx/parser.h"

namespace emulator::ptx {

namespace {

// One variable's; of all together (module_bytes_) twice as much. A device's memory, not more than a host's.
constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 32;
constexpr std::uint64_t max_frame_bytes = std::uint64_t{1} << 19;  // local memory of a thread
constexpr std::uint64_t max_initialised_bytes = std::uint64_t{1} << 28;
constexpr std::size_t max_dimensions = 16;

bool multiply(std::uint64_t& product, std::uint64_t factor) {
    return !__builtin_mul_overflow(product, factor, &product) && product <= max_variable_bytes;
}

void store(std::vector<std::byte>& data, std::uint64_t offset, std::uint64_t bits, std::uint32_t width) {
    if (data.size() < offset + width) data.resize(offset + width);
    for (std::uint32_t i = 0; i < width && i < 8; ++i) {
        data[offset + i] = static_cast<std::byte>(bits >> (8 * i));
    }
}

}  // namespace

bool Parser::attribute(Variable& variable) {
    if (!expect('(', ".attribute")) return false;
    int depth = 1;
    while (depth > 0) {
        const Token token = lexer_.take();
        if (token.kind == Token::Kind::end) return fail("the attribute list does not end", token.line);
        if (token.is('(')) ++depth;
        if (token.is(')')) --depth;
        if (token.is(".managed")) variable.is_managed = true;
    }
    return true;
}

// What stands between the space and the name: alignment, vector, type, pointer notes.
bool Parser::variable_head(Variable& variable, std::uint64_t& vector, bool is_parameter) {
    vector = 1;
    std::uint64_t align = 0;
    while (lexer_.peek().kind == Token::Kind::dotted) {
        const Token token = lexer_.take();
        const std::string_view word = token.text.substr(1);
        if (word == "align") {
            std::uint64_t value = 0;
            if (!take_integer(value, "an alignment")) return false;
            if (!std::has_single_bit(value) || value > (1u << 20)) {
                return fail("an alignment must be a power of two", token.line);
            }
            if (!variable.is_pointer) align = value;  // after .ptr it is the pointed-to object's
        } else if (word == "v2" || word == "v4" || word == "v8") {
            vector = static_cast<std::uint64_t>(word[1] - '0');
        } else if (const auto type = parse_type(word); type && size_bytes(*type) > 0) {
            variable.type = *type;
        } else if (word == "attribute") {
            if (!attribute(variable)) return false;
        } else if (is_parameter && word == "ptr") {
            variable.is_pointer = true;
        } else if (variable.is_pointer && (word == "global" || word == "const" || word == "shared" ||
                                           word == "local" || word == "generic" || word == "param")) {
            continue;
        } else if (word == "texref" || word == "samplerref" || word == "surfref") {
            return unsupported("textures, samplers and surfaces are not supported", token.line);
        } else {
            return fail("`" + std::string(token.text) + "` is not known in a declaration", token.line);
        }
    }
    if (variable.type == Type::none) return fail("the declaration has no type");
    const std::uint64_t natural = size_bytes(variable.type) * vector;
    variable.align = static_cast<std::uint32_t>(align != 0 ? align : natural);
    return true;
}

// Name, dimensions and initialiser.
bool Parser::variable_tail(Variable& variable, std::uint64_t vector, bool initialiser_allowed) {
    std::string_view name;
    if (!take_word(name, "the variable's name")) return false;
    variable.name = std::string(name);
    variable.size = size_bytes(variable.type) * vector;
    std::vector<std::uint64_t> dims;
    while (lexer_.peek().is('[')) {
        lexer_.take();
        std::uint64_t extent = 0;
        if (lexer_.peek().is(']')) {
            if (!dims.empty()) return fail("only the first dimension may be left open");
        } else {
            Constant value;
            if (!constant(value)) return false;
            if (value.is_float || (!value.is_unsigned && static_cast<std::int64_t>(value.bits) < 0)) {
                return fail("a dimension must be a natural number");
            }
            extent = value.bits;
        }
        if (!expect(']', "a dimension")) return false;
        if (!multiply(variable.size, extent)) return fail("the variable is too large");
        dims.push_back(extent);
        if (dims.size() > max_dimensions) return fail("the variable has too many dimensions");
    }
    variable.is_array = !dims.empty();
    if (vector > 1) dims.push_back(vector);
    if (!lexer_.peek().is('=')) return true;
    const Token equals = lexer_.take();
    if (!initialiser_allowed) return fail("this variable cannot have an initialiser", equals.line);
    return initialiser(variable, dims);
}

bool Parser::initial_element(Variable& variable, std::uint64_t offset) {
    const std::uint32_t width = size_bytes(variable.type);
    Variable::Relocation relocation;
    relocation.offset = offset;
    relocation.width = std::min<std::uint32_t>(width, 8);
    bool is_address = false;
    Constant value;
    bool parenthesis = false;
    if (lexer_.peek().kind == Token::Kind::word && !lexer_.peek().is("WARP_SZ")) {
        is_address = true;
        if (lexer_.peek().is("generic") && lexer_.peek_second().is('(')) {
            lexer_.take();
            lexer_.take();
            relocation.generic = parenthesis = true;
        }
    } else {
        if (!constant(value)) return false;
        if (lexer_.peek().is('(')) {  // 0xff00(symbol): the masked byte of the address
            const std::uint64_t mask = value.bits;
            const int low = mask == 0 ? 0 : std::countr_zero(mask);
            const int bits = std::popcount(mask);
            if (mask == 0 || low % 8 != 0 || bits % 8 != 0 ||
                (mask >> low) + 1 != (bits == 64 ? 0 : 1ull << bits) ||
                static_cast<std::uint32_t>(bits / 8) != width) {
                return fail("a mask must select as many whole bytes as an element has");
            }
            lexer_.take();
            relocation.shift = static_cast<std::uint32_t>(low);
            relocation.width = static_cast<std::uint32_t>(bits / 8);
            is_address = parenthesis = true;
            if (lexer_.peek().is("generic") && lexer_.peek_second().is('(')) {
                return fail("generic() inside a mask is not supported");
            }
        }
    }
    if (is_address) {
        std::string_view symbol;
        if (!take_word(symbol, "a symbol")) return false;
        relocation.symbol = std::string(symbol);
        if (!displacement(relocation.addend)) return false;
        if (parenthesis && !expect(')', "a symbol")) return false;
        if (!displacement(relocation.addend)) return false;
        store(variable.data, offset, 0, width);
        variable.relocations.push_back(std::move(relocation));
        return true;
    }
    std::uint64_t bits = value.bits;
    if (variable.type == Type::f32) {
        if (!value.is_float || value.is_double) {
            bits = std::bit_cast<std::uint32_t>(static_cast<float>(value.real()));
        }
    } else if (variable.type == Type::f64) {
        if (!value.is_float || !value.is_double) bits = std::bit_cast<std::uint64_t>(value.real());
    }
    store(variable.data, offset, bits, width);
    return true;
}

// Braces follow the dimensions from the outermost inward; a closed brace leaves the rest of its part zero.
// Scalars fill the innermost dimension that is open.
bool Parser::initialiser(Variable& variable, const std::vector<std::uint64_t>& dims) {
    const std::uint64_t width = size_bytes(variable.type);
    const int line = lexer_.peek().line;
    if (dims.empty()) {
        // Some writers put a scalar's value in braces.
        const bool brace = lexer_.peek().is('{');
        if (brace) lexer_.take();
        return initial_element(variable, 0) && (!brace || expect('}', "an initialiser"));
    }
    if (!expect('{', "an array's initialiser")) return false;
    const bool open = dims[0] == 0 && variable.is_array;
    // Elements of one entry of dimension `depth`.
    const auto part = [&](std::size_t depth) {
        std::uint64_t elements = 1;
        for (std::size_t i = depth; i < dims.size(); ++i) elements *= std::max<std::uint64_t>(dims[i], 1);
        return elements;
    };
    const std::uint64_t limit = max_initialised_bytes - initialised_bytes_;
    struct Level {
        std::uint64_t start, end;
    };
    const std::uint64_t whole = open ? max_initialised_bytes : part(0);
    std::vector<Level> levels{{0, whole}};
    std::uint64_t cursor = 0, filled = 0;
    while (!levels.empty()) {
        const Token& next = lexer_.peek();
        if (next.is('{')) {
            if (levels.size() >= dims.size()) return fail("the initialiser has too many braces", next.line);
            lexer_.take();
            const std::uint64_t elements = part(levels.size());
            if (cursor + elements > levels.back().end)
                return fail("the initialiser has too many values", line);
            levels.push_back({cursor, cursor + elements});
            continue;
        }
        if (next.is('}')) {
            lexer_.take();
            if (levels.size() > 1) cursor = levels.back().end;
            levels.pop_back();
            filled = std::max(filled, cursor);
        } else {
            if (cursor >= levels.back().end) return fail("the initialiser has too many values", line);
            if ((cursor + 1) * width > limit) return fail("the module's initialisers are too large", line);
            if (!initial_element(variable, cursor * width)) return false;
            ++cursor;
            filled = std::max(filled, cursor);
        }
        if (levels.empty()) break;
        if (lexer_.peek().is(',')) {
            lexer_.take();
        } else if (!lexer_.peek().is('}')) {
            return fail("`,` or `}` is expected in an initialiser, not `" + std::string(lexer_.peek().text) +
                        "`");
        }
    }
    if (open) {
        const std::uint64_t row = part(1);
        variable.size = align_up(filled, row) * width;
        if (variable.size > max_variable_bytes) return fail("the variable is too large", line);
    }
    initialised_bytes_ += variable.data.size();
    return true;
}

// After the space directive; several names may share a declaration.
bool Parser::variable_list(Space space, Linking linking, bool in_body) {
    Variable head;
    std::uint64_t vector = 1;
    head.space = space;
    head.is_extern = linking.is_extern;
    if (!variable_head(head, vector, space == Space::param)) return false;
    for (;;) {
        Variable variable = head;
        const int line = lexer_.peek().line;
        const std::string_view name = lexer_.peek().text;
        const bool may_initialise =
            !linking.is_extern && (space == Space::global || space == Space::constant);
        if (!variable_tail(variable, vector, may_initialise)) return false;
        if (variable.is_array && variable.size == 0 && !linking.is_extern && space != Space::param) {
            return fail("the array `" + variable.name + "` has no size", line);
        }
        if (space == Space::shared && linking.is_extern && variable.size != 0) {
            variable.size = 0;  // every external shared array is the dynamic one
        }
        Entry entry;
        entry.kind = Entry::Kind::variable;
        const bool in_frame = space == Space::local || space == Space::param;
        if (in_frame && !in_body) return unsupported("a .local or .param variable outside a function", line);
        if (in_frame) {
            variable.offset = align_up(function_->frame_bytes, std::max(variable.align, 1u));
            function_->frame_bytes = variable.offset + variable.size;
            if (function_->frame_bytes > max_frame_bytes) return fail("the frame is too large", line);
            locals_.push_back(std::move(variable));
            entry.variable = &locals_.back();
        } else {
            module_bytes_ += variable.size;
            if (module_bytes_ > 2 * max_variable_bytes)
                return fail("the module's variables are too large", line);
            if (const auto found = names_.find(name); !in_body && found != names_.end()) {
                // An extern declaration may precede the definition, or repeat.
                auto* known = found->second.kind == Entry::Kind::variable
                                  ? const_cast<Variable*>(found->second.variable)
                                  : nullptr;
                if (known == nullptr || (!known->is_extern && !variable.is_extern)) {
                    return fail("`" + variable.name + "` is declared twice", line);
                }
                if (known->is_extern && !variable.is_extern) *known = std::move(variable);
                if (!lexer_.peek().is(',')) break;
                lexer_.take();
                continue;
            }
            module_.variables.push_back(std::make_unique<Variable>(std::move(variable)));
            entry.variable = module_.variables.back().get();
        }
        auto& table = in_body ? scopes_.back().names : names_;
        if (!table.emplace(name, entry).second) {
            return fail("`" + std::string(name) + "` is declared twice", line);
        }
        if (!lexer_.peek().is(',')) break;
        lexer_.take();
    }
    return expect(';', "a declaration");
}

bool Parser::parameter_list(Function& function, std::vector<Variable>& list, bool returns) {
    if (!lexer_.peek().is('(')) return true;
    lexer_.take();
    while (!lexer_.peek().is(')')) {
        const Token space = lexer_.take();
        Variable variable;
        variable.space = Space::param;
        std::uint64_t vector = 1;
        const bool in_register = space.is(".reg");
        if (in_register && lexer_.peek().is(".pred")) {
            lexer_.take();
            variable.type = Type::pred;
            std::string_view name;
            if (!take_word(name, "a parameter's name")) return false;
            variable.name = std::string(name);
            variable.size = variable.align = 1;
        } else if (in_register || space.is(".param")) {
            if (!variable_head(variable, vector, true)) return false;
            if (lexer_.peek().is("_") || lexer_.peek().is(',') || lexer_.peek().is(')')) {
                // A prototype may leave the name out.
                if (lexer_.peek().is("_")) lexer_.take();
                variable.size = size_bytes(variable.type) * vector;
                if (lexer_.peek().is('[')) {
                    lexer_.take();
                    std::uint64_t extent = 0;
                    if (!lexer_.peek().is(']') && !take_integer(extent, "a dimension")) return false;
                    if (!expect(']', "a dimension")) return false;
                    if (!multiply(variable.size, extent)) return fail("the parameter is too large");
                    variable.is_array = true;
                }
            } else if (!variable_tail(variable, vector, false)) {
                return false;
            }
        } else {
            return fail("a parameter starts with .param or .reg, not `" + std::string(space.text) + "`",
                        space.line);
        }
        if (in_register) {
            variable.in_register = Register{variable.type, 0};
        } else {
            variable.offset = align_up(function.parameter_bytes, std::max(variable.align, 1u));
            function.parameter_bytes = variable.offset + variable.size;
            if (function.parameter_bytes > (1u << 20)) return fail("the parameters are too large");
        }
        list.push_back(std::move(variable));
        if (!lexer_.peek().is(',')) break;
        lexer_.take();
    }
    return expect(')', returns ? "the return values" : "the parameters");
}

bool Parser::dimensions(Dim3& dim) {
    std::uint32_t* parts[] = {&dim.x, &dim.y, &dim.z};
    for (int i = 0; i < 3; ++i) {
        std::uint64_t value = 0;
        if (!take_integer(value, "a dimension")) return false;
        if (value > 0xffffffffu) return fail("the dimension is too large");
        *parts[i] = static_cast<std::uint32_t>(value);
        if (!lexer_.peek().is(',')) break;
        lexer_.take();
    }
    return true;
}

// Performance and control directives, up to the body or the semicolon of a declaration.
bool Parser::function_directives(Function& function, bool& body) {
    for (;;) {
        const Token token = lexer_.peek();
        if (token.is('{')) {
            body = true;
            return true;
        }
        if (token.is(';')) {
            lexer_.take();
            body = false;
            return true;
        }
        if (token.kind != Token::Kind::dotted) {
            return fail("`{` or `;` is expected after the head of `" + function.name + "`, not `" +
                        std::string(token.text) + "`");
        }
        lexer_.take();
        const std::string_view word = token.text.substr(1);
        const auto number = [&](std::uint32_t& out) {
            std::uint64_t value = 0;
            if (!take_integer(value, "a number")) return false;
            out = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffffu));
            return true;
        };
        bool good = true;
        std::uint32_t ignored = 0;
        if (word == "maxntid") {
            good = dimensions(function.max_block.emplace());
        } else if (word == "reqntid") {
            good = dimensions(function.required_block.emplace());
        } else if (word == "reqnctapercluster") {
            good = dimensions(function.required_cluster.emplace());
        } else if (word == "minnctapersm" || word == "maxnctapersm") {
            good = number(function.min_blocks_per_sm);
        } else if (word == "maxnreg") {
            good = number(function.max_registers);
        } else if (word == "maxclusterrank") {
            good = number(function.max_cluster_rank);
        } else if (word == "explicitcluster") {
            function.explicit_cluster = true;
        } else if (word == "noreturn") {
            function.no_return = true;
        } else if (word == "abi_preserve" || word == "abi_preserve_control") {
            good = number(ignored);
        } else if (word == "pragma") {
            good = skip_statement();
        } else if (word == "attribute") {
            Variable unused;
            good = attribute(unused);
        } else if (word != "blocksareclusters") {
            return fail("`" + std::string(token.text) + "` is not a known directive of a function",
                        token.line);
        }
        if (!good) return false;
    }
}

bool Parser::function(bool is_kernel, Linking linking) {
    Function function;
    function.is_kernel = is_kernel;
    function.ptx_line = lexer_.peek().line;
    // The return values follow the parameters in the block, so they are placed after them below.
    if (!is_kernel && lexer_.peek().is(".attribute")) {
        lexer_.take();
        Variable unused;
        if (!attribute(unused)) return false;
    }
    if (!is_kernel) {
        if (lexer_.peek().is(".noreturn")) {
            lexer_.take();
            function.no_return = true;
        }
        if (!parameter_list(function, function.returns, true)) return false;
    }
    function.parameter_bytes = 0;
    std::string_view name;
    const int line = lexer_.peek().line;
    if (!take_word(name, "the function's name")) return false;
    function.name = std::string(name);
    if (!parameter_list(function, function.parameters, false)) return false;
    for (Variable& variable : function.returns) {
        if (variable.in_register) continue;
        variable.offset = align_up(function.parameter_bytes, std::max(variable.align, 1u));
        function.parameter_bytes = variable.offset + variable.size;
    }
    bool has_body = false;
    if (!function_directives(function, has_body)) return false;
    function.is_extern = !has_body;
    if (linking.is_extern && has_body) return fail("an .extern function has a body", line);

    std::size_t index = module_.functions.size();
    if (const auto found = names_.find(name); found != names_.end()) {
        if (found->second.kind != Entry::Kind::function) {
            return fail("`" + function.name + "` is declared twice", line);
        }
        index = static_cast<std::size_t>(found->second.index);
        Function& known = module_.functions[index];
        if (known.is_kernel != is_kernel || (has_body && !known.is_extern)) {
            return fail("`" + function.name + "` is declared twice", line);
        }
        if (!has_body) return true;
        known = std::move(function);
    } else {
        Entry entry;
        entry.kind = Entry::Kind::function;
        entry.index = static_cast<std::int64_t>(index);
        names_.emplace(name, entry);
        module_.functions.push_back(std::move(function));
    }
    if (!has_body) return true;
    function_ = &module_.functions[index];
    if (!body()) return false;
    function_ = nullptr;
    source_ = {};
    return true;
}

bool Parser::check_relocations() {
    for (const auto& variable : module_.variables) {
        for (const Variable::Relocation& relocation : variable->relocations) {
            if (names_.find(relocation.symbol) == names_.end()) {
                return fail("`" + relocation.symbol + "`, whose address initialises `" + variable->name +
                            "`, is not declared");
            }
        }
    }
    return true;
}

}  // namespace emulator::ptx

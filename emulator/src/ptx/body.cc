// Function bodies: scopes, registers, labels, source places and instructions.
#include <algorithm>

#include "emulator/src/ptx/parser.h"

namespace emulator::ptx {

namespace {

constexpr std::size_t max_scopes = 200;
constexpr int max_inlined = 64;  // calls that lead to one line

bool ends_flow(const Instruction& instruction) {
    return !instruction.predicate &&
           (instruction.opcode == "ret" || instruction.opcode == "exit" || instruction.opcode == "trap" ||
            instruction.opcode == "bra" || instruction.opcode == "brx");
}

}  // namespace

// The text of a statement on one line, blanks collapsed and comments left out.
std::string Parser::statement_text(std::string_view from) const {
    const char* end = lexer_.peek().text.data();
    const std::size_t length = end > from.data() ? static_cast<std::size_t>(end - from.data()) : 0;
    const std::string_view raw(from.data(), length);
    std::string text;
    text.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size() && text.size() < 4000; ++i) {
        if (raw[i] == '/' && i + 1 < raw.size() && raw[i + 1] == '/') {
            i = std::min(raw.find('\n', i), raw.size());
        } else if (raw[i] == '/' && i + 1 < raw.size() && raw[i + 1] == '*') {
            i = std::min(raw.find("*/", i + 2), raw.size() - 1) + 1;
        } else if (static_cast<unsigned char>(raw[i]) > ' ') {
            text.push_back(raw[i]);
            continue;
        }
        if (!text.empty() && text.back() != ' ') text.push_back(' ');
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

bool Parser::registers() {
    std::uint8_t vector = 1;
    Type type = Type::none;
    while (lexer_.peek().kind == Token::Kind::dotted) {
        const Token token = lexer_.take();
        const std::string_view word = token.text.substr(1);
        if (word == "v2" || word == "v4") {
            vector = static_cast<std::uint8_t>(word[1] - '0');
        } else if (const auto known = parse_type(word); known && size_bytes(*known) > 0) {
            type = *known;
        } else {
            return fail("`" + std::string(token.text) + "` is not a register type", token.line);
        }
    }
    if (type == Type::none) return fail("the register declaration has no type");
    for (;;) {
        std::string_view name;
        const int line = lexer_.peek().line;
        if (!take_word(name, "a register's name")) return false;
        if (lexer_.peek().is('<')) {
            lexer_.take();
            std::uint64_t count = 0;
            if (!take_integer(count, "a number of registers") || !expect('>', "a number of registers")) {
                return false;
            }
            if (vector != 1) return fail("a range of vector registers is not supported", line);
            if (!scopes_.back().ranges.emplace(name, Scope::Range{count, type}).second) {
                return fail("`" + std::string(name) + "` is declared twice", line);
            }
        } else {
            Entry entry;
            entry.type = type;
            entry.vector = vector;
            if (!scopes_.back().names.emplace(name, entry).second) {
                return fail("`" + std::string(name) + "` is declared twice", line);
            }
        }
        if (!lexer_.peek().is(',')) break;
        lexer_.take();
    }
    return expect(';', "a register declaration");
}

// .loc file line column [, function_name label [+ n] , inlined_at file line column]
bool Parser::location() {
    std::uint64_t file = 0, line = 0, column = 0;
    if (!take_integer(file, "a file number") || !take_integer(line, "a line number") ||
        !take_integer(column, "a column number")) {
        return false;
    }
    const auto small = [](std::uint64_t value) {
        return static_cast<std::int32_t>(std::min<std::uint64_t>(value, 0x7fffffff));
    };
    source_ = {};
    source_.file = file_index(file);
    source_.line = small(line);
    source_.column = small(column);
    while (lexer_.peek().is(',')) {
        lexer_.take();
        std::string_view word;
        if (!take_word(word, "function_name or inlined_at")) return false;
        if (word == "function_name") {
            if (!take_word(word, "a label")) return false;
            std::int64_t ignored = 0;
            if (!displacement(ignored)) return false;
        } else if (word == "inlined_at") {
            if (!take_integer(file, "a file number") || !take_integer(line, "a line number") ||
                !take_integer(column, "a column number")) {
                return false;
            }
            inline_at({file_index(file), small(line), small(column), -1});
        } else {
            return fail("`" + std::string(word) + "` is not known in .loc");
        }
    }
    const std::array<std::int32_t, 3> key{source_.file, source_.line, source_.column};
    if (source_.call_site >= 0) {
        inlined_[key] = source_.call_site;
    } else {
        inlined_.erase(key);
    }
    return true;
}

void Parser::inline_at(CallSite site) {
    // The call may stand in an inlined function itself: its own .loc came before, and the latest counts.
    const auto known = inlined_.find({site.file, site.line, site.column});
    if (known != inlined_.end()) site.call_site = known->second;
    CallSite outer = site;
    for (int depth = 0; outer.call_site >= 0; ++depth) {
        if (depth == max_inlined) {
            site.call_site = -1;
            outer = site;
            break;
        }
        outer = module_.call_sites[static_cast<std::size_t>(outer.call_site)];
    }
    const auto [found, fresh] = call_sites_.try_emplace({site.file, site.line, site.column, site.call_site},
                                                        static_cast<std::int32_t>(module_.call_sites.size()));
    if (fresh) module_.call_sites.push_back(site);
    source_.call_site = found->second;
    source_.outer_file = outer.file;
    source_.outer_line = outer.line;
}

bool Parser::body_directive() {
    const Token token = lexer_.take();
    const std::string_view word = token.text.substr(1);
    if (word == "reg") return registers();
    if (word == "loc") return location();
    if (word == "local") return variable_list(Space::local, {}, true);
    if (word == "param") return variable_list(Space::param, {}, true);
    if (word == "shared") return variable_list(Space::shared, {}, true);
    if (word == "global") return variable_list(Space::global, {}, true);
    if (word == "const") return variable_list(Space::constant, {}, true);
    if (word == "extern" && lexer_.peek().is(".shared")) {
        lexer_.take();
        return variable_list(Space::shared, {true}, true);
    }
    if (word == "pragma") return skip_statement();
    if (word == "file") return file_directive();
    return fail("`" + std::string(token.text) + "` is not a known directive", token.line);
}

bool Parser::label_statement() {
    const Token label = lexer_.take();
    lexer_.take();  // :
    Scope& scope = scopes_.back();
    const auto twice = [&] {
        return fail("the label `" + std::string(label.text) + "` is defined twice", label.line);
    };
    const Token& next = lexer_.peek();
    if (next.is(".callprototype") || next.is(".calltargets")) {
        const Name name{std::string(label.text), static_cast<std::int32_t>(function_->prototypes.size())};
        if (!scope.tables.emplace(label.text, name).second) return twice();
        function_->prototypes.push_back(name.text);
        return skip_statement();
    }
    if (next.is(".branchtargets")) {
        lexer_.take();
        const Name name{std::string(label.text), static_cast<std::int32_t>(function_->branch_tables.size())};
        if (!scope.tables.emplace(label.text, name).second) return twice();
        auto& table = function_->branch_tables.emplace_back();
        for (;;) {
            std::string_view target;
            if (!take_word(target, "a label")) return false;
            scope.waiting.push_back({Waiting::Where::table, target, function_->branch_tables.size() - 1,
                                     table.size(), lexer_.peek().line});
            table.push_back(0);
            if (!lexer_.peek().is(',')) break;
            lexer_.take();
        }
        return expect(';', "the branch targets");
    }
    const auto here = static_cast<std::uint32_t>(function_->code.size());
    return scope.labels.emplace(label.text, here).second ? true : twice();
}

bool Parser::operand_list(std::vector<Operand>& list, char close) {
    while (!lexer_.peek().is(close)) {
        if (!operand(list.emplace_back(), 0)) return false;
        if (!lexer_.peek().is(',')) break;
        lexer_.take();
    }
    return true;
}

// call (returns), function, (arguments), prototype;   where everything but the function may be missing
bool Parser::call(Instruction& instruction) {
    if (lexer_.peek().is('(')) {
        lexer_.take();
        if (!operand_list(instruction.call_returns, ')') || !expect(')', "the return values") ||
            !expect(',', "the return values")) {
            return false;
        }
    }
    const Token callee = lexer_.peek();
    if (!operand(instruction.operands.emplace_back(), 0)) return false;
    const Operand& target = instruction.operands.back();
    const auto* symbol = std::get_if<Symbol>(&target.value);
    if (!std::holds_alternative<Register>(target.value) && (symbol == nullptr || symbol->function < 0)) {
        return fail("`" + std::string(callee.text) + "` is not a declared function", callee.line);
    }
    if (!lexer_.peek().is(',')) return true;
    lexer_.take();
    if (lexer_.peek().is('(')) {
        lexer_.take();
        if (!operand_list(instruction.call_arguments, ')') || !expect(')', "the arguments")) return false;
        if (!lexer_.peek().is(',')) return true;
        lexer_.take();
    }
    may_wait_ = true;
    operand_slot_ = instruction.operands.size();
    const bool good = operand(instruction.operands.emplace_back(), 0);
    may_wait_ = false;
    return good;
}

bool Parser::instruction() {
    const std::string_view start = lexer_.peek().text;
    const int line = lexer_.peek().line;
    Instruction instruction;
    instruction.source = source_;
    instruction.source.ptx_line = line;
    if (lexer_.peek().is('@')) {
        lexer_.take();
        if (lexer_.peek().is('!')) {
            lexer_.take();
            instruction.predicate_negated = true;
        }
        Register guard;
        if (!take_register(guard)) return false;
        if (guard.type != Type::pred) return fail("the guard is not a predicate register", line);
        instruction.predicate = guard;
    }
    const Token opcode = lexer_.take();
    if (opcode.kind != Token::Kind::word) {
        return fail("an instruction is expected, not `" + std::string(opcode.text) + "`", opcode.line);
    }
    instruction.opcode = std::string(opcode.text);
    while (lexer_.peek().kind == Token::Kind::dotted) {
        instruction.modifiers.emplace_back(lexer_.take().text.substr(1));
    }
    if (instruction.opcode == "call") {
        if (!call(instruction)) return false;
    } else if (!lexer_.peek().is(';')) {
        for (;;) {
            may_wait_ = true;
            operand_slot_ = instruction.operands.size();
            if (!operand(instruction.operands.emplace_back(), 0)) return false;
            if (!lexer_.peek().is(',')) break;
            lexer_.take();
        }
        may_wait_ = false;
    }
    if (!lexer_.peek().is(';')) {
        return fail("`;` is expected, not `" + std::string(lexer_.peek().text) + "`");
    }
    instruction.text = statement_text(start);
    lexer_.take();
    function_->code.push_back(std::move(instruction));
    return true;
}

// Looks up the words that were not known when they were read; what this scope does not have goes outward.
bool Parser::close_scope() {
    Scope& scope = scopes_.back();
    for (const Waiting& word : scope.waiting) {
        const auto label = scope.labels.find(word.name);
        const auto table = scope.tables.find(word.name);
        if (word.where == Waiting::Where::table && label != scope.labels.end()) {
            function_->branch_tables[word.holder][word.slot] = label->second;
        } else if (word.where == Waiting::Where::operand && label != scope.labels.end()) {
            function_->code[word.holder].operands[word.slot].value = Label{label->second};
        } else if (word.where == Waiting::Where::operand && table != scope.tables.end()) {
            function_->code[word.holder].operands[word.slot].value = table->second;
        } else if (scopes_.size() > 1) {
            scopes_[scopes_.size() - 2].waiting.push_back(word);
        } else {
            if (word.where == Waiting::Where::operand) source_ = function_->code[word.holder].source;
            return fail("`" + std::string(word.name) + "` is not declared", word.line);
        }
    }
    scopes_.pop_back();
    return true;
}

// The frame's variables move to their final place and the code's symbols follow.
void Parser::settle_locals() {
    if (locals_.empty()) return;
    std::unordered_map<const Variable*, const Variable*> moved;
    function_->locals.reserve(locals_.size());
    for (Variable& variable : locals_) {
        function_->locals.push_back(std::move(variable));
        moved.emplace(&variable, &function_->locals.back());
    }
    locals_.clear();
    const auto follow = [&](Symbol& symbol) {
        const auto found = moved.find(symbol.variable);
        if (found != moved.end()) symbol.variable = found->second;
    };
    const auto settle = [&](auto& self, Operand& operand) -> void {
        if (auto* symbol = std::get_if<Symbol>(&operand.value)) {
            follow(*symbol);
        } else if (auto* address = std::get_if<Address>(&operand.value)) {
            if (auto* base = std::get_if<Symbol>(&address->base)) follow(*base);
            for (Operand& element : address->coordinates) self(self, element);
        } else if (auto* vector = std::get_if<Vector>(&operand.value)) {
            for (Operand& element : vector->elements) self(self, element);
        }
    };
    for (Instruction& instruction : function_->code) {
        for (auto* list : {&instruction.operands, &instruction.call_returns, &instruction.call_arguments}) {
            for (Operand& operand : *list) settle(settle, operand);
        }
    }
}

// A body that runs off its end returns.
void Parser::end_with_return() {
    auto& code = function_->code;
    const auto size = code.size();
    bool needed = code.empty() || !ends_flow(code.back());
    for (std::size_t i = 0; i < size && !needed; ++i) {
        for (const Operand& operand : code[i].operands) {
            const auto* label = std::get_if<Label>(&operand.value);
            needed = needed || (label != nullptr && label->target == size);
        }
    }
    for (const auto& table : function_->branch_tables) {
        needed = needed || std::find(table.begin(), table.end(), size) != table.end();
    }
    if (!needed) return;
    Instruction last;
    last.opcode = last.text = "ret";
    last.source = source_;
    last.source.ptx_line = lexer_.peek().line;
    code.push_back(std::move(last));
}

bool Parser::body() {
    lexer_.take();  // {
    scopes_.clear();
    scopes_.emplace_back();
    locals_.clear();
    inlined_.clear();
    source_ = {};
    for (auto* list : {&function_->parameters, &function_->returns}) {
        for (Variable& variable : *list) {
            Entry entry;
            if (variable.in_register) {
                entry.type = variable.type;
                variable.in_register = use(entry);
            } else {
                entry.kind = Entry::Kind::variable;
                entry.variable = &variable;
            }
            // Names are views of the text, which outlives the parser; a parameter's lives in its variable.
            if (!scopes_.back().names.emplace(variable.name, entry).second) {
                return fail("the parameter `" + variable.name + "` is declared twice");
            }
        }
    }
    while (!scopes_.empty()) {
        const Token next = lexer_.peek();
        statement_ = next.text;
        bool good = true;
        if (next.kind == Token::Kind::end) {
            return fail("the body of `" + function_->name + "` does not end", next.line);
        } else if (next.is('{')) {
            lexer_.take();
            if (scopes_.size() >= max_scopes) return fail("scopes are nested too deeply", next.line);
            scopes_.emplace_back();
        } else if (next.is('}')) {
            lexer_.take();
            good = close_scope();
        } else if (next.is(';')) {
            lexer_.take();
        } else if (next.kind == Token::Kind::dotted) {
            good = body_directive();
        } else if (next.kind == Token::Kind::word && lexer_.peek_second().is(':')) {
            good = label_statement();
        } else {
            good = instruction();
        }
        if (!good) return false;
    }
    settle_locals();
    end_with_return();
    return true;
}

}  // namespace emulator::ptx

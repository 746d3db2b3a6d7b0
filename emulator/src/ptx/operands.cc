// Operands of instructions.
#include <algorithm>
#include <charconv>

#include "emulator/src/ptx/parser.h"

namespace emulator::ptx {

namespace {

constexpr std::string_view special_names[] = {"tid",
                                              "ntid",
                                              "laneid",
                                              "warpid",
                                              "nwarpid",
                                              "ctaid",
                                              "nctaid",
                                              "smid",
                                              "nsmid",
                                              "gridid",
                                              "clusterid",
                                              "nclusterid",
                                              "cluster_ctaid",
                                              "cluster_nctaid",
                                              "cluster_ctarank",
                                              "lanemask_eq",
                                              "lanemask_le",
                                              "lanemask_lt",
                                              "lanemask_ge",
                                              "lanemask_gt",
                                              "clock",
                                              "clock_hi",
                                              "clock64",
                                              "globaltimer",
                                              "globaltimer_lo",
                                              "globaltimer_hi",
                                              "total_smem_size",
                                              "aggr_smem_size",
                                              "dynamic_smem_size",
                                              "cluster_nctarank",
                                              "is_explicit_cluster",
                                              "current_graph_exec"};

bool is_special(std::string_view name) {
    for (const std::string_view known : special_names) {
        if (name == known) return true;
    }
    return name.starts_with("envreg") || name.starts_with("pm") || name.starts_with("reserved_smem_offset_");
}

}  // namespace

Entry* Parser::find(std::string_view name) {
    // `%r12` may be a member of a range: the prefix without its digits. A prefix may end in digits itself:
    // `%r1<3>` declares %r10, %r11 and %r12.
    constexpr std::size_t most_digits = 10;
    std::size_t head = name.size();
    while (head > 1 && name[head - 1] >= '0' && name[head - 1] <= '9') --head;
    head = std::max(head, name.size() - std::min(name.size(), most_digits));
    for (std::size_t i = scopes_.size(); i-- > 0;) {
        Scope& scope = scopes_[i];
        if (const auto found = scope.names.find(name); found != scope.names.end()) return &found->second;
        if (scope.ranges.empty()) continue;
        for (std::size_t length = head; length < name.size(); ++length) {
            const std::string_view digits = name.substr(length);
            if (digits.size() > 1 && digits[0] == '0') continue;
            const auto range = scope.ranges.find(name.substr(0, length));
            if (range == scope.ranges.end()) continue;
            std::uint64_t number = 0;
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
            if (number >= range->second.count) continue;
            Entry entry;
            entry.type = range->second.type;
            return &scope.names.emplace(name, entry).first->second;
        }
    }
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
}

Register Parser::use(Entry& entry) {
    if (entry.index < 0) {
        switch (file_of(entry.type)) {
            case File::narrow:
                entry.index = function_->narrow_registers;
                function_->narrow_registers += entry.vector;
                break;
            case File::wide:
                entry.index = function_->wide_registers;
                function_->wide_registers += entry.type == Type::b128 ? 2u * entry.vector : entry.vector;
                break;
            case File::predicate:
                entry.index = function_->predicates;
                function_->predicates += entry.vector;
                break;
        }
    }
    return {entry.type, static_cast<std::uint32_t>(entry.index)};
}

bool Parser::take_register(Register& out) {
    const Token token = lexer_.take();
    Entry* entry = token.kind == Token::Kind::word ? find(token.text) : nullptr;
    if (entry == nullptr || entry->kind != Entry::Kind::reg || entry->vector != 1) {
        return fail("`" + std::string(token.text) + "` is not a declared register", token.line);
    }
    out = use(*entry);
    return true;
}

// Zero or more "+ constant" and "- constant".
bool Parser::displacement(std::int64_t& offset) {
    std::uint64_t sum = static_cast<std::uint64_t>(offset);
    while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
        const bool minus = lexer_.take().is('-');
        Constant value;
        if (!constant(value, 10)) return false;
        if (value.is_float) return fail("an offset must be an integer");
        sum = minus ? sum - value.bits : sum + value.bits;
    }
    offset = static_cast<std::int64_t>(sum);
    return true;
}

bool Parser::special(std::string_view name, Operand& out) {
    const int line = lexer_.peek().line;
    if (!is_special(name.substr(1))) {
        return fail("`" + std::string(name) + "` is neither a declared register nor a special one", line);
    }
    Special result{std::string(name.substr(1)), 0};
    if (lexer_.peek().kind == Token::Kind::dotted) {
        static constexpr std::string_view components[] = {".x", ".y", ".z", ".w"};
        const Token token = lexer_.take();
        std::uint8_t i = 0;
        while (i < 4 && components[i] != token.text) ++i;
        if (i == 4) return fail("`" + std::string(token.text) + "` is not a component", token.line);
        result.component = i;
    }
    out.value = std::move(result);
    return true;
}

bool Parser::named_operand(Operand& out) {
    const Token token = lexer_.take();
    const std::string_view name = token.text;
    if (name == "_") {
        out.value = Sink{};
    } else if (Entry* entry = find(name); entry != nullptr) {
        switch (entry->kind) {
            case Entry::Kind::reg: {
                const Register first = use(*entry);
                std::string_view part;
                if (lexer_.peek().kind == Token::Kind::dotted) part = lexer_.take().text.substr(1);
                if (entry->vector == 1) {
                    out.value = first;
                    out.selector = part;
                    break;
                }
                const std::uint32_t step = entry->type == Type::b128 ? 2 : 1;
                if (part.empty()) {
                    Vector all;
                    for (std::uint32_t i = 0; i < entry->vector; ++i) {
                        all.elements.emplace_back().value = Register{first.type, first.index + i * step};
                    }
                    out.value = std::move(all);
                    break;
                }
                static constexpr std::string_view components = "xyzwrgba";
                const std::size_t at = part.size() == 1 ? components.find(part[0]) % 4 : 4;
                if (part.size() != 1 || components.find(part[0]) == std::string_view::npos ||
                    at >= entry->vector) {
                    return fail(
                        "`." + std::string(part) + "` is not a component of `" + std::string(name) + "`",
                        token.line);
                }
                out.value = Register{first.type, first.index + static_cast<std::uint32_t>(at) * step};
                break;
            }
            case Entry::Kind::variable: {
                if (entry->variable->in_register) {
                    out.value = *entry->variable->in_register;
                    break;
                }
                Symbol symbol;
                symbol.variable = entry->variable;
                if (!displacement(symbol.addend)) return false;
                out.value = symbol;
                break;
            }
            case Entry::Kind::function: {
                Symbol symbol;
                symbol.function = static_cast<std::int32_t>(entry->index);
                out.value = symbol;
                break;
            }
        }
    } else if (name == "WARP_SZ") {
        out.value = Immediate{32, false, false};
    } else if (name[0] == '%') {
        return special(name, out);
    } else if (may_wait_) {
        scopes_.back().waiting.push_back(
            {Waiting::Where::operand, name, function_->code.size(), operand_slot_, token.line});
        out.value = Name{std::string(name), -1};
    } else {
        return fail("`" + std::string(name) + "` is not declared", token.line);
    }
    if (lexer_.peek().is('|') &&
        (std::holds_alternative<Register>(out.value) || std::holds_alternative<Sink>(out.value))) {
        lexer_.take();
        if (lexer_.peek().is("_")) {
            lexer_.take();
        } else {
            Register second;
            if (!take_register(second)) return false;
            out.pair = second;
        }
    }
    return true;
}

bool Parser::address(Operand& out, int depth) {
    lexer_.take();  // [
    Address result;
    if (lexer_.peek().kind == Token::Kind::word && !lexer_.peek().is("WARP_SZ")) {
        const int line = lexer_.peek().line;
        const std::string name(lexer_.peek().text);
        Operand base;
        if (!named_operand(base)) return false;
        if (const auto* reg = std::get_if<Register>(&base.value); reg != nullptr && !base.pair) {
            result.base = *reg;
            if (!displacement(result.offset)) return false;
        } else if (const auto* symbol = std::get_if<Symbol>(&base.value)) {
            result.base = *symbol;
            result.offset = symbol->addend;
            std::get<Symbol>(result.base).addend = 0;
        } else {
            return fail("`" + name + "` cannot be the base of an address", line);
        }
    } else {
        Constant value;
        if (!constant(value)) return false;
        if (value.is_float) return fail("an address must be an integer");
        result.base = value.immediate();
    }
    while (lexer_.peek().is(',')) {
        lexer_.take();
        Operand extra;
        if (!operand(extra, depth + 1)) return false;
        if (auto* vector = std::get_if<Vector>(&extra.value)) {
            for (Operand& element : vector->elements) result.coordinates.push_back(std::move(element));
        } else {
            result.coordinates.push_back(std::move(extra));
        }
    }
    out.value = std::move(result);
    if (!expect(']', "an address")) return false;
    if (lexer_.peek().is(".unified")) lexer_.take();  // the same address on every device: nothing to do here
    return true;
}

bool Parser::operand(Operand& out, int depth) {
    if (depth > 3) return fail("operands are nested too deeply");
    const bool may_wait = may_wait_;
    if (depth > 0) may_wait_ = false;
    const Token& next = lexer_.peek();
    bool good = true;
    if (next.is('{')) {
        lexer_.take();
        Vector vector;
        may_wait_ = false;
        while (!lexer_.peek().is('}')) {
            if (!operand(vector.elements.emplace_back(), depth + 1)) return false;
            if (!lexer_.peek().is(',')) break;
            lexer_.take();
        }
        out.value = std::move(vector);
        good = expect('}', "a vector operand");
    } else if (next.is('[')) {
        may_wait_ = false;
        good = address(out, depth);
    } else if (next.is('!') || (next.is('-') && lexer_.peek_second().kind == Token::Kind::word &&
                                !lexer_.peek_second().is("WARP_SZ"))) {
        lexer_.take();
        may_wait_ = false;
        if (!lexer_.peek().is('!') && lexer_.peek().kind != Token::Kind::word) {
            Constant value;  // !0 as a constant predicate
            good = constant(value);
            out.value = Immediate{value.bits == 0, false, false};
        } else {
            good = operand(out, depth + 1);
            if (good && !std::holds_alternative<Register>(out.value)) {
                return fail("only a register can be negated here");
            }
            out.negated = !out.negated;
        }
    } else if (next.kind == Token::Kind::word && !next.is("WARP_SZ")) {
        good = named_operand(out);
    } else {
        Constant value;
        good = constant(value);
        out.value = value.immediate();
    }
    may_wait_ = may_wait;
    return good;
}

}  // namespace emulator::ptx

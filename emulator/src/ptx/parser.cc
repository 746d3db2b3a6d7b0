// The module: its directives, errors, and what is settled after the last line.
#include "emulator/src/ptx/parser.h"

#include <charconv>

namespace emulator::ptx {

bool Parser::fail(std::string message, int line) {
    if (!error_) {
        error_.emplace();
        error_->kind = LoadError::Kind::syntax;
        error_->ptx_line = line > 0 ? line : lexer_.peek().line;
        error_->message = std::move(message);
    }
    return false;
}

bool Parser::unsupported(std::string message, int line) {
    const bool first = !error_;
    fail(std::move(message), line);
    if (first) error_->kind = LoadError::Kind::unsupported;
    return false;
}

bool Parser::expect(char c, const char* after) {
    if (lexer_.peek().is(c)) {
        lexer_.take();
        return true;
    }
    const Token& next = lexer_.peek();
    const std::string found = next.kind == Token::Kind::end ? "the end" : "`" + std::string(next.text) + "`";
    return fail(std::string("`") + c + "` is expected at " + after + ", not " + found);
}

bool Parser::take_integer(std::uint64_t& value, const char* what) {
    const Token token = lexer_.take();
    Constant constant;
    if (token.kind != Token::Kind::number) {
        return fail(std::string(what) + " is expected, not `" + std::string(token.text) + "`", token.line);
    }
    if (!literal(token, constant)) return false;
    if (constant.is_float) return fail(std::string(what) + " must be an integer", token.line);
    value = constant.bits;
    return true;
}

bool Parser::take_word(std::string_view& word, const char* what) {
    const Token token = lexer_.take();
    if (token.kind != Token::Kind::word) {
        return fail(std::string(what) + " is expected, not `" + std::string(token.text) + "`", token.line);
    }
    word = token.text;
    return true;
}

std::int32_t Parser::file_index(std::uint64_t number) {
    const auto [found, is_new] = files_.emplace(number, static_cast<std::int32_t>(module_.files.size()));
    if (is_new) module_.files.emplace_back();
    return found->second;
}

// .file number "name" [, time, size]; NVRTC writes it after the functions that use it.
bool Parser::file_directive() {
    std::uint64_t number = 0;
    if (!take_integer(number, "a file number")) return false;
    const Token name = lexer_.take();
    if (name.kind != Token::Kind::string) return fail("a file name is expected", name.line);
    module_.files[static_cast<std::size_t>(file_index(number))] = std::string(name.text);
    while (lexer_.peek().is(',')) {
        lexer_.take();
        std::uint64_t ignored = 0;
        if (!take_integer(ignored, "a number")) return false;
    }
    return true;
}

// .section name { ... }: debugging data.
bool Parser::skip_section() {
    lexer_.take();
    if (!expect('{', "a section")) return false;
    for (int depth = 1; depth > 0;) {
        const Token token = lexer_.take();
        if (token.kind == Token::Kind::end) return fail("the section does not end", token.line);
        if (token.is('{')) ++depth;
        if (token.is('}')) --depth;
    }
    return true;
}

bool Parser::skip_statement() {
    for (;;) {
        const Token token = lexer_.take();
        if (token.is(';')) return true;
        if (token.kind == Token::Kind::end || token.kind == Token::Kind::bad || token.is('{') ||
            token.is('}')) {
            return fail("`;` is expected", token.line);
        }
    }
}

bool Parser::alias() {
    std::int32_t ends[2];
    for (int i = 0; i < 2; ++i) {
        std::string_view name;
        if (!take_word(name, "a function's name")) return false;
        const auto found = names_.find(name);
        if (found == names_.end() || found->second.kind != Entry::Kind::function) {
            return fail("`" + std::string(name) + "` is not a declared function");
        }
        ends[i] = static_cast<std::int32_t>(found->second.index);
        if (i == 0 && !expect(',', "an alias")) return false;
    }
    aliases_.emplace_back(ends[0], ends[1]);
    return expect(';', "an alias");
}

void Parser::apply_aliases() {
    std::unordered_map<std::int32_t, std::int32_t> target;
    for (const auto& [name, function] : aliases_) target[name] = function;
    const auto follow = [&](Operand& operand) {
        auto* symbol = std::get_if<Symbol>(&operand.value);
        if (symbol == nullptr) return;
        if (const auto found = target.find(symbol->function); found != target.end()) {
            symbol->function = found->second;
        }
    };
    for (Function& function : module_.functions) {
        for (Instruction& instruction : function.code) {
            for (Operand& operand : instruction.operands) follow(operand);
        }
    }
    for (const auto& variable : module_.variables) {
        for (Variable::Relocation& relocation : variable->relocations) {
            const auto found = names_.find(relocation.symbol);
            if (found == names_.end() || found->second.kind != Entry::Kind::function) continue;
            const auto other = target.find(static_cast<std::int32_t>(found->second.index));
            if (other != target.end()) {
                relocation.symbol = module_.functions[static_cast<std::size_t>(other->second)].name;
            }
        }
    }
}

bool Parser::header() {
    const Token directive = lexer_.take();
    const Token value = lexer_.take();
    if (directive.is(".version")) {
        if (value.kind != Token::Kind::number) return fail("a version is expected", value.line);
        module_.version = std::string(value.text);
    } else if (directive.is(".target")) {
        if (value.kind != Token::Kind::word) return fail("a target is expected", value.line);
        module_.target = std::string(value.text);
        while (lexer_.peek().is(',')) {
            lexer_.take();
            std::string_view option;
            if (!take_word(option, "a target option")) return false;
        }
    } else if (value.text != "64") {
        return unsupported("only 64-bit addresses are supported", value.line);
    }
    return true;
}

bool Parser::module_statement() {
    const Token token = lexer_.peek();
    statement_ = token.text;
    if (token.is(';')) {
        lexer_.take();
        return true;
    }
    if (token.kind != Token::Kind::dotted) {
        return fail("a directive is expected, not `" + std::string(token.text) + "`", token.line);
    }
    if (token.is(".version") || token.is(".target") || token.is(".address_size")) return header();
    lexer_.take();
    if (token.is(".file")) return file_directive();
    if (token.is(".loc")) return location();
    if (token.is(".section")) return skip_section();
    if (token.is(".pragma")) return skip_statement();
    if (token.is(".alias")) return alias();
    Linking linking;
    Token kind = token;
    while (kind.is(".visible") || kind.is(".extern") || kind.is(".weak") || kind.is(".common")) {
        linking.is_extern = linking.is_extern || kind.is(".extern");
        kind = lexer_.take();
    }
    if (kind.is(".entry")) return function(true, linking);
    if (kind.is(".func")) return function(false, linking);
    if (kind.is(".global")) return variable_list(Space::global, linking, false);
    if (kind.is(".const")) return variable_list(Space::constant, linking, false);
    if (kind.is(".shared")) return variable_list(Space::shared, linking, false);
    if (kind.is(".local")) return variable_list(Space::local, linking, false);
    if (kind.is(".param")) return variable_list(Space::param, linking, false);
    if (kind.is(".tex")) {
        return unsupported("textures, samplers and surfaces are not supported", kind.line);
    }
    return fail("`" + std::string(kind.text) + "` is not a known directive", kind.line);
}

// The statement's text and the source place, whose file may be named further down.
void Parser::place_error() {
    if (function_ != nullptr && !statement_.empty()) {
        std::string text = statement_text(statement_);
        const std::string_view rest(
            statement_.data(),
            static_cast<std::size_t>(lexer_.text().data() + lexer_.text().size() - statement_.data()));
        const std::string_view whole = rest.substr(0, rest.find_first_of(";\n"));
        if (text.size() < whole.size()) text = std::string(whole);
        error_->instruction = text.substr(0, 300);
        if (error_->ptx_line == 0) error_->ptx_line = lexer_.peek().line;
    }
    if (source_.file < 0) return;
    error_->line = source_.line;
    error_->file = module_.files[static_cast<std::size_t>(source_.file)];
    if (!error_->file.empty()) return;
    std::uint64_t number = 0;
    for (const auto& [raw, index] : files_) {
        if (index == source_.file) number = raw;
    }
    const std::string_view text = lexer_.text();
    for (std::size_t at = text.find(".file"); at != std::string_view::npos; at = text.find(".file", at + 5)) {
        std::size_t digit = text.find_first_not_of(" \t", at + 5);
        if (digit == std::string_view::npos) return;
        std::uint64_t found = 0;
        const auto end = std::from_chars(text.data() + digit, text.data() + text.size(), found).ptr;
        const std::size_t open = text.find_first_not_of(" \t", static_cast<std::size_t>(end - text.data()));
        if (found != number || open == std::string_view::npos || text[open] != '"') continue;
        const std::size_t close = text.find_first_of("\"\n", open + 1);
        if (close == std::string_view::npos || text[close] != '"') return;
        error_->file = std::string(text.substr(open + 1, close - open - 1));
        return;
    }
}

std::variant<Module, LoadError> Parser::run() {
    bool good = true;
    while (good && lexer_.peek().kind != Token::Kind::end) good = module_statement();
    if (good && module_.version.empty()) good = fail("the text has no .version: it is not PTX", 1);
    good = good && check_relocations();
    if (good) {
        if (!aliases_.empty()) apply_aliases();
        std::string message;
        if (!lay_out_shared(module_, message)) good = fail(message);
    }
    if (!good) {
        place_error();
        return std::move(*error_);
    }
    return std::move(module_);
}

std::variant<Module, LoadError> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace emulator::ptx

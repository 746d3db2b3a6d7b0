#include "harness/authors/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

struct Fence {
    char mark = 0;  // '`' or '~'; 0: the line is no fence
    std::size_t length = 0;
    std::size_t indent = 0;
    std::string_view rest;  // after the marks
};

Fence fence_of(std::string_view line) {
    Fence fence;
    while (fence.indent < line.size() && line[fence.indent] == ' ') ++fence.indent;
    if (fence.indent > 3 || fence.indent == line.size()) return {};
    const char mark = line[fence.indent];
    if (mark != '`' && mark != '~') return {};
    std::size_t end = fence.indent;
    while (end < line.size() && line[end] == mark) ++end;
    fence.length = end - fence.indent;
    if (fence.length < 3) return {};
    fence.mark = mark;
    fence.rest = line.substr(end);
    return fence;
}

bool opens(const Fence& fence) {
    return fence.mark == '~' || (fence.mark == '`' && fence.rest.find('`') == std::string_view::npos);
}

bool closes(const Fence& fence, const Fence& opening) {
    return fence.mark == opening.mark && fence.length >= opening.length && trim(fence.rest).empty();
}

// The next line of `text` from `at` on, without its end (LF, CRLF or CR); `at` moves behind it.
std::string_view next_line(std::string_view text, std::size_t& at) {
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end;
    if (at < text.size()) at += text.substr(at, 2) == "\r\n" ? 2 : 1;
    return line;
}

// Without up to `indent` leading blanks, as much as the opening fence was indented.
std::string_view unindented(std::string_view line, std::size_t indent) {
    std::size_t blanks = 0;
    while (blanks < indent && blanks < line.size() && line[blanks] == ' ') ++blanks;
    return line.substr(blanks);
}

bool is_code_language(const std::string& language) {
    static constexpr std::array<const char*, 6> known{"cuda", "cu", "cpp", "c++", "cuda-c++", "cuda_c++"};
    return std::find(known.begin(), known.end(), language) != known.end();
}

// A block comment whose first word is `kernelwright`.
bool holds_plan(std::string_view code) {
    static constexpr std::string_view word = "kernelwright";
    for (std::size_t at = code.find("/*"); at != std::string_view::npos; at = code.find("/*", at + 2)) {
        const std::size_t first = code.find_first_not_of(" \t\r\n", at + 2);
        if (first == std::string_view::npos) return false;
        if (!code.substr(first).starts_with(word)) continue;
        const std::size_t after = first + word.size();
        if (after >= code.size() || std::isspace(static_cast<unsigned char>(code[after])) != 0 ||
            code[after] == '*') {
            return true;
        }
    }
    return false;
}

bool holds_kernel(std::string_view code) { return code.find("__global__") != std::string_view::npos; }

// The text with the thoughts of models whose server leaves them in the answer blanked out (so that lines keep
// their numbers). Sets `endless` when thoughts are opened and never closed.
std::string without_thoughts(std::string_view text, bool& endless) {
    static constexpr std::string_view open = "<think>";
    static constexpr std::string_view close = "</think>";
    std::string out(text);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool opened = first != std::string_view::npos && text.substr(first).starts_with(open);
    // Some chat templates write the opening tag themselves: then the answer starts inside the thoughts.
    const std::size_t end = text.find(close);
    if (end == std::string_view::npos) {
        endless = opened;
        return out;
    }
    for (std::size_t i = 0; i < end + close.size(); ++i) {
        if (out[i] != '\n' && out[i] != '\r') out[i] = ' ';
    }
    return out;
}

constexpr const char* wanted =
    "exactly one ```cuda block with the whole file, launch plan included, is needed";

}  // namespace

const char* to_string(Answer::Kind kind) {
    switch (kind) {
        case Answer::Kind::candidate:
            return "candidate";
        case Answer::Kind::none:
            return "none";
        case Answer::Kind::several:
            return "several";
        case Answer::Kind::unclosed:
            return "unclosed";
        case Answer::Kind::partial:
            return "partial";
    }
    return "none";
}

std::vector<FencedBlock> fenced_blocks(std::string_view text) {
    std::vector<FencedBlock> blocks;
    Fence opening;
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        const std::string_view line = next_line(text, at);
        ++number;
        const Fence fence = fence_of(line);
        if (opening.mark == 0) {
            if (!opens(fence)) continue;
            opening = fence;
            FencedBlock block;
            block.info = std::string(trim(fence.rest));
            block.language = block.info.substr(0, block.info.find_first_of(" \t{,"));
            std::transform(block.language.begin(), block.language.end(), block.language.begin(),
                           [](unsigned char c) { return std::tolower(c); });
            block.line = number;
            block.offset = start;
            blocks.push_back(std::move(block));
        } else if (closes(fence, opening)) {
            blocks.back().closed = true;
            opening = {};
        } else {
            blocks.back().content += unindented(line, opening.indent);
            blocks.back().content += '\n';
        }
    }
    return blocks;
}

Answer extract_answer(std::string_view text) {
    Answer answer;
    bool endless = false;
    const std::string words = without_thoughts(text, endless);
    if (endless) {
        answer.message = "the answer ended inside its <think> part; " + std::string(wanted);
        return answer;
    }
    const std::vector<FencedBlock> blocks = fenced_blocks(words);
    std::vector<const FencedBlock*> with_plan, with_kernel;
    const FencedBlock* unmarked = nullptr;
    for (const FencedBlock& block : blocks) {
        const bool plan = holds_plan(block.content);
        const bool kernel = holds_kernel(block.content);
        if (!is_code_language(block.language)) {
            if ((plan || kernel) && unmarked == nullptr) unmarked = &block;
            continue;
        }
        if (!block.closed) {
            answer.kind = Answer::Kind::unclosed;
            answer.line = block.line;
            answer.message =
                fmt::format("the ```{} block of line {} is not closed; {}", block.info, block.line, wanted);
            return answer;
        }
        if (plan) with_plan.push_back(&block);
        if (kernel) with_kernel.push_back(&block);
    }
    const auto& found = with_plan.empty() ? with_kernel : with_plan;
    if (found.empty()) {
        answer.line = unmarked != nullptr ? unmarked->line : 0;
        answer.message =
            unmarked != nullptr
                ? fmt::format("the block of line {} holds CUDA code but is not marked ```cuda; {}",
                              unmarked->line, wanted)
                : fmt::format("the answer holds no CUDA code block; {}", wanted);
        return answer;
    }
    if (found.size() > 1) {
        answer.kind = Answer::Kind::several;
        answer.line = found[1]->line;
        answer.message = fmt::format("the answer holds {} candidate blocks (lines {} and {}); {}",
                                     found.size(), found[0]->line, found[1]->line, wanted);
        return answer;
    }
    answer.kind = Answer::Kind::candidate;
    answer.line = found[0]->line;
    answer.source = found[0]->content;
    answer.plan_text = std::string(trim(std::string_view(words).substr(0, found[0]->offset)));
    return answer;
}

Answer extract_answer(const Reply& reply) {
    if (reply.complete()) return extract_answer(reply.text);
    Answer answer;
    answer.kind = Answer::Kind::partial;
    answer.message =
        fmt::format("the answer is not whole ({}): {}", to_string(reply.outcome), reply.error.message);
    return answer;
}

}  // namespace kernelwright

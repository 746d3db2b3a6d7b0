#include "harness/search/answer.h"

#include <cctype>

#include "harness/authors/answer.h"
#include "harness/core/hash.h"
#include "harness/core/text.h"

namespace kernelwright::search {
namespace {

using record::AttemptKind;

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// A line without list marks and emphasis: "- **Idea:** x" -> "Idea: x".
std::string plain(std::string_view line) {
    std::string out;
    for (const char c : trim(line)) {
        if (c != '*' && c != '`' && !(out.empty() && (c == '#' || c == '-' || c == '>' || c == ' ')))
            out += c;
    }
    return std::string(trim(out));
}

// What follows "label:" on the first line that starts so; "" when there is none.
std::string labelled(const std::string& plan, const std::string& label) {
    for (const std::string& line : split(plan, '\n')) {
        const std::string text = plain(line);
        if (lower(text.substr(0, label.size() + 1)) == label + ":") {
            return std::string(trim(std::string_view(text).substr(label.size() + 1)));
        }
    }
    return {};
}

std::string clipped(std::string text, std::size_t limit) {
    if (text.size() <= limit) return text;
    text.resize(limit);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0U) text.pop_back();
    return text + "...";
}

void read_plan(const std::string& plan, ParsedAnswer& answer) {
    answer.plan = plan;
    answer.idea = labelled(plan, "idea");
    if (answer.idea.empty()) {
        for (const std::string& line : split(plan, '\n')) {
            if (answer.idea = plain(line); !answer.idea.empty()) break;
        }
    }
    answer.idea = clipped(answer.idea, 200);
    const std::string skills = labelled(plan, "skills");
    if (lower(skills).starts_with("none")) return;
    std::string word;
    for (const char c : skills + ",") {
        if (c == ',' || c == ' ' || c == ';') {
            while (word.ends_with('.')) word.pop_back();
            if (!word.empty() && answer.skills.size() < 16) answer.skills.push_back(word);
            word.clear();
        } else {
            word += c;
        }
    }
}

}  // namespace

ParsedAnswer parse_answer(const Reply& reply) {
    ParsedAnswer answer;
    const Answer found = extract_answer(reply);
    switch (reply.outcome) {
        case Outcome::refused:
        case Outcome::content_filter:
            answer.kind = AttemptKind::refused;
            answer.note = reply.error.message.empty() ? "the answer was refused" : reply.error.message;
            return answer;
        case Outcome::truncated:
        case Outcome::context_full:
            answer.kind = AttemptKind::truncated;
            answer.note =
                reply.outcome == Outcome::truncated
                    ? "it was cut off at the limit of its length; keep the plan short and the code compact"
                    : "it did not fit the model's context; keep the plan short and the code compact";
            return answer;
        default:
            break;
    }
    switch (found.kind) {
        case Answer::Kind::candidate:
            answer.kind = AttemptKind::evaluated;
            answer.source = found.source;
            break;
        case Answer::Kind::several:
            answer.kind = AttemptKind::several;
            break;
        case Answer::Kind::unclosed:
            answer.kind = AttemptKind::unclosed;
            break;
        case Answer::Kind::none:
        case Answer::Kind::partial:
            answer.kind = AttemptKind::none;
            break;
    }
    answer.note = found.message;
    read_plan(found.kind == Answer::Kind::candidate ? found.plan_text : std::string(), answer);
    return answer;
}

std::string candidate_hash(const std::string& source) {
    std::string normal;
    for (const std::string& line : split(source, '\n')) {
        const std::size_t last = line.find_last_not_of(" \t\r");
        normal.append(line, 0, last == std::string::npos ? 0 : last + 1).push_back('\n');
    }
    while (normal.ends_with("\n\n")) normal.pop_back();
    return sha256_hex(normal);
}

}  // namespace kernelwright::search

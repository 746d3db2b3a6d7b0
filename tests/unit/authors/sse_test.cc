#include "harness/authors/sse.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

using Events = std::vector<SseEvent>;

Events parse(const std::string& text, std::size_t piece) {
    SseParser parser;
    Events events;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        parser.feed(std::string_view(text).substr(at, piece), events);
    }
    parser.finish(events);
    return events;
}

struct Case {
    const char* name;
    std::string text;
    Events expected;
};

// `message` events whose data are given.
Events messages(std::initializer_list<const char*> data) {
    Events events;
    for (const char* one : data) events.push_back({"message", one, ""});
    return events;
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"line feeds", "data: a\n\ndata: b\n\n", messages({"a", "b"})},
        {"carriage returns", "data: a\r\rdata: b\r\r", messages({"a", "b"})},
        {"both", "data: a\r\n\r\ndata: b\r\n\r\n", messages({"a", "b"})},
        {"mixed", "data: a\r\ndata: b\ndata: c\r\r\n", messages({"a\nb\nc"})},
        {"comments", ": ping\n\n:\ndata: a\n: more\n\n", messages({"a"})},
        {"several data lines", "data: one\ndata:two\ndata\ndata:  three\n\n",
         messages({"one\ntwo\n\n three"})},
        {"named", "event: delta\ndata: x\n\ndata: y\n\n", {{"delta", "x", ""}, {"message", "y", ""}}},
        {"an id stays", "id: 7\ndata: x\n\ndata: y\n\n", {{"message", "x", "7"}, {"message", "y", "7"}}},
        {"an event without data is none", "event: nothing\n\ndata: x\n\n", messages({"x"})},
        {"unknown fields", "retry: 10\nfoo: bar\nfoo\ndata: x\n\n", messages({"x"})},
        {"byte order mark",
         "\xEF\xBB\xBF"
         "data: x\n\n",
         messages({"x"})},
        {"a later mark is data", "data: \xEF\xBB\xBFx\n\n", messages({"\xEF\xBB\xBFx"})},
        {"UTF-8", "data: \xE2\x82\xAC \xF0\x9F\x9A\x80\n\n", messages({"\xE2\x82\xAC \xF0\x9F\x9A\x80"})},
        {"colons in data", "data: {\"a\": \"b:c\"}\n\n", messages({"{\"a\": \"b:c\"}"})},
        {"no last blank line", "data: a\n\ndata: [DONE]\n", messages({"a", "[DONE]"})},
        {"no last line end", "data: a\n\ndata: [DONE]", messages({"a", "[DONE]"})},
        {"empty data", "data:\n\n", messages({""})},
        {"nothing", "", {}},
        {"blank lines", "\n\n\r\n\r", {}},
    };
    return all;
}

TEST(SseParser, ReadsEveryCaseHoweverItIsCut) {
    for (const Case& one : cases()) {
        for (std::size_t piece = 1; piece <= one.text.size() + 1; ++piece) {
            EXPECT_EQ(parse(one.text, piece), one.expected) << one.name << ", pieces of " << piece;
        }
    }
}

TEST(SseParser, GivesAnEventAsSoonAsItsBlankLineEnds) {
    SseParser parser;
    Events events;
    parser.feed("data: a\r\n\r", events);
    EXPECT_EQ(events.size(), 1U);  // the LF that may follow changes nothing
    parser.feed("\n", events);
    parser.feed("data: b\n", events);
    EXPECT_EQ(events.size(), 1U);
    parser.feed("\n", events);
    EXPECT_EQ(events, messages({"a", "b"}));
}

TEST(SseParser, StopsAtItsLimit) {
    for (const std::string& line : {std::string("data: 0123456789abcdef"), std::string("data: 0123456\n")}) {
        SseParser parser(64);
        Events events;
        for (int i = 0; i < 100 && !parser.too_large(); ++i) parser.feed(line, events);
        EXPECT_TRUE(parser.too_large());
        parser.finish(events);
        EXPECT_TRUE(events.empty());
    }
}

// Any bytes at all: nothing crashes, and cutting does not change the result.
TEST(SseParser, TakesAnyBytes) {
    std::uint32_t state = 12345;
    static const char alphabet[] = "data:event: \r\n\xEF\xBB\xBF\0x";
    for (int round = 0; round < 300; ++round) {
        std::string text;
        for (int i = 0; i < 60; ++i) {
            state = state * 1664525U + 1013904223U;
            text += alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
        }
        const Events whole = parse(text, text.size());
        EXPECT_EQ(parse(text, 1), whole);
        EXPECT_EQ(parse(text, 7), whole);
    }
}

}  // namespace
}  // namespace kernelwright

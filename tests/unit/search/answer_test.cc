#include "harness/search/answer.h"

#include <gtest/gtest.h>

#include "tests/unit/search/fakes.h"

namespace kernelwright::search {
namespace {

using record::AttemptKind;

TEST(Answer, APlanAndOneCandidate) {
    const ParsedAnswer parsed =
        parse_answer(answer("one warp a row", candidate("pass 1e-5"), "load.vectorise, reduce.warp"));
    EXPECT_EQ(parsed.kind, AttemptKind::evaluated);
    EXPECT_EQ(parsed.source, candidate("pass 1e-5"));
    EXPECT_EQ(parsed.idea, "one warp a row");
    EXPECT_EQ(parsed.skills, (std::vector<std::string>{"load.vectorise", "reduce.warp"}));
    EXPECT_NE(parsed.plan.find("Computes: rows"), std::string::npos);
    EXPECT_EQ(parsed.plan.find("__global__"), std::string::npos);
}

TEST(Answer, PlansAreReadHoweverTheyAreMarkedUp) {
    const auto idea = [](const std::string& plan) {
        return parse_answer(reply_of(plan + "\n```cuda\n" + candidate("pass 1") + "```\n")).idea;
    };
    EXPECT_EQ(idea("**Idea:** two passes"), "two passes");
    EXPECT_EQ(idea("- **idea**: two passes"), "two passes");
    EXPECT_EQ(idea("## Plan\n\nIDEA: two passes"), "two passes");
    EXPECT_EQ(idea("\nJust do it.\nSecond line"), "Just do it.");
    EXPECT_EQ(idea(""), "");
    EXPECT_LE(idea(std::string(5000, 'x')).size(), 204U);
    EXPECT_TRUE(parse_answer(answer("x", candidate("pass 1"), "None.")).skills.empty());
    EXPECT_TRUE(parse_answer(answer("x", candidate("pass 1"), "")).skills.empty());
}

TEST(Answer, WhatIsNotOneWholeCandidateIsItsOwnOutcome) {
    const std::string block = "```cuda\n" + candidate("pass 1") + "```\n";
    EXPECT_EQ(parse_answer(reply_of("no code")).kind, AttemptKind::none);
    EXPECT_EQ(parse_answer(reply_of("")).kind, AttemptKind::none);
    EXPECT_EQ(parse_answer(reply_of(block + block)).kind, AttemptKind::several);
    EXPECT_EQ(parse_answer(reply_of("```cuda\n" + candidate("pass 1"))).kind, AttemptKind::unclosed);
    EXPECT_EQ(parse_answer(reply_of(block, Outcome::truncated)).kind, AttemptKind::truncated);
    EXPECT_EQ(parse_answer(reply_of(block, Outcome::context_full)).kind, AttemptKind::truncated);
    EXPECT_EQ(parse_answer(reply_of(block, Outcome::refused)).kind, AttemptKind::refused);
    EXPECT_EQ(parse_answer(reply_of(block, Outcome::content_filter)).kind, AttemptKind::refused);
    for (const Reply& reply : {reply_of("x"), reply_of(block + block), reply_of(block, Outcome::truncated),
                               reply_of(block, Outcome::refused), reply_of("```cuda\n__global__")}) {
        const ParsedAnswer parsed = parse_answer(reply);
        EXPECT_TRUE(parsed.source.empty()) << "nothing is taken from it";
        EXPECT_FALSE(parsed.note.empty()) << "the author is told why";
    }
}

TEST(Answer, TheSameCandidateInOtherBlanks) {
    EXPECT_EQ(candidate_hash("a\nb\n"), candidate_hash("a  \r\nb\r\n\n\n"));
    EXPECT_EQ(candidate_hash("a\nb"), candidate_hash("a\nb\n"));
    EXPECT_NE(candidate_hash("a\nb\n"), candidate_hash("a\n b\n"));
    EXPECT_NE(candidate_hash("a\n\nb\n"), candidate_hash("a\nb\n"));
}

}  // namespace
}  // namespace kernelwright::search

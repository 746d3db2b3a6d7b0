#include "harness/authors/answer.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

using Kind = Answer::Kind;

const std::string code =
    "/* kernelwright\nkernels:\n  - name: k\n*/\nextern \"C\" __global__ void k(float* x) { x[0] = 1; }\n";

std::string fenced(const std::string& body, const std::string& open = "```cuda",
                   const std::string& close = "```") {
    return open + "\n" + body + close + "\n";
}

TEST(Answer, TakesTheOneBlockAndThePlanBeforeIt) {
    const Answer answer = extract_answer("## Plan\n\nOne block a row.\n\n" + fenced(code) + "Done.\n");
    EXPECT_EQ(answer.kind, Kind::candidate);
    EXPECT_EQ(answer.source, code);
    EXPECT_EQ(answer.plan_text, "## Plan\n\nOne block a row.");
    EXPECT_EQ(answer.line, 5);
    EXPECT_EQ(answer.message, "");
}

TEST(Answer, AcceptsTheLanguagesThatModelsWrite) {
    for (const char* open : {"```cuda", "```CUDA", "``` cuda", "```cu", "```cpp", "```c++", "````cuda",
                             "~~~cuda", "~~~~~ C++ title=x", "```cuda {.numberLines}", "   ```cuda"}) {
        const std::string fence = open;
        const char mark = fence[fence.find_first_of("`~")];
        const std::string close(static_cast<std::size_t>(std::count(fence.begin(), fence.end(), mark)), mark);
        EXPECT_EQ(extract_answer(fenced(code, fence, close)).kind, Kind::candidate) << open;
        EXPECT_EQ(extract_answer(fenced(code, fence, close + mark + "  ")).kind, Kind::candidate) << open;
    }
}

TEST(Answer, IsNoneWithoutABlockThatCounts) {
    EXPECT_EQ(extract_answer("").kind, Kind::none);
    EXPECT_EQ(extract_answer("Sorry, I cannot.").kind, Kind::none);
    EXPECT_EQ(extract_answer("Use `__global__` with ``` in it").kind, Kind::none);
    EXPECT_EQ(extract_answer(fenced("int x;\n")).kind, Kind::none);
    EXPECT_EQ(extract_answer(code).kind, Kind::none);  // not fenced
    EXPECT_EQ(extract_answer("    ```cuda\n    " + code + "    ```\n").kind,
              Kind::none);  // an indented code block
    const Answer unmarked = extract_answer("Here:\n" + fenced(code, "```"));
    EXPECT_EQ(unmarked.kind, Kind::none);
    EXPECT_NE(unmarked.message.find("line 2"), std::string::npos) << unmarked.message;
    EXPECT_NE(unmarked.message.find("not marked"), std::string::npos) << unmarked.message;
    EXPECT_EQ(extract_answer(fenced(code, "```python")).kind, Kind::none);
}

TEST(Answer, IsSeveralWhereTwoCount) {
    const Answer answer = extract_answer(fenced(code) + "\nor\n\n" + fenced(code));
    EXPECT_EQ(answer.kind, Kind::several);
    EXPECT_EQ(answer.line, 11);
    EXPECT_EQ(answer.source, "");
}

TEST(Answer, LetsAPlanDecideAgainstASketch) {
    const std::string sketch = "__global__ void sketch();\n";
    EXPECT_EQ(extract_answer(fenced(sketch) + fenced(code)).source, code);
    EXPECT_EQ(extract_answer(fenced(sketch)).source, sketch);  // the missing plan is a matter for the check
    EXPECT_EQ(extract_answer(fenced(sketch) + fenced(sketch)).kind, Kind::several);
    EXPECT_EQ(extract_answer(fenced("float t;\n", "```cpp") + fenced(code)).source, code);
    // "kernelwright" must be the first word of the comment
    EXPECT_EQ(extract_answer(fenced("/* for kernelwright */ __global__ void a();\n") + fenced(code)).source,
              code);
    EXPECT_EQ(extract_answer(fenced("/* kernelwrights */ __global__ void a();\n") + fenced(code)).source,
              code);
}

TEST(Answer, IsUnclosedWhereTheFenceIs) {
    EXPECT_EQ(extract_answer("```cuda\n" + code).kind, Kind::unclosed);
    EXPECT_EQ(extract_answer("````cuda\n" + code + "```\n").kind, Kind::unclosed);  // closed by too few
    EXPECT_EQ(extract_answer("```cuda\n" + code + "~~~\n").kind, Kind::unclosed);   // by another mark
    EXPECT_EQ(extract_answer("```cuda\n" + code + "``` end\n").kind,
              Kind::unclosed);  // a fence that says more
    EXPECT_EQ(extract_answer("```cuda\n" + code + "    ```\n").kind, Kind::unclosed);  // too far in
    EXPECT_EQ(extract_answer(fenced(code) + "Better:\n```cuda\n" + code).kind, Kind::unclosed);
    EXPECT_EQ(extract_answer("```cuda").kind, Kind::unclosed);
    // What is not code may stay open
    EXPECT_EQ(extract_answer(fenced(code) + "```text\nbye").kind, Kind::candidate);
}

TEST(Answer, KeepsFencesInsideTheCode) {
    const std::string with_fence = "// use it so:\n// ```\n// ```cuda\n" + code + "/* ~~~\n```` */\n";
    EXPECT_EQ(extract_answer(fenced(with_fence)).source, with_fence);
    const std::string shorter = "/*\n```\nx\n```\n*/\n" + code;
    EXPECT_EQ(extract_answer(fenced(shorter, "````cuda", "````")).source, shorter);
    EXPECT_EQ(extract_answer(fenced(shorter, "~~~cuda", "~~~")).source, shorter);
    // A fence of another kind around it makes it an example, not an answer
    EXPECT_EQ(extract_answer("````markdown\n" + fenced(code) + "````\n").kind, Kind::none);
}

TEST(Answer, ReadsEveryLineEnd) {
    for (const char* end : {"\r\n", "\r"}) {
        std::string text = "plan\n" + fenced(code) + "bye\n";
        for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
            text.replace(at, 1, end);
        }
        EXPECT_EQ(extract_answer(text).source, code);
    }
    EXPECT_EQ(extract_answer("```cuda\n" + code + "```").source, code);  // no line end at the end
}

TEST(Answer, TakesTheFencesIndentOffTheCode) {
    const Answer answer = extract_answer("  ```cuda\n  /* kernelwright\n    a: 1\n */\nint x;\n  ```\n");
    EXPECT_EQ(answer.source, "/* kernelwright\n  a: 1\n*/\nint x;\n");
}

TEST(Answer, LeavesThoughtsOut) {
    const std::string thoughts = "<think>\nFirst:\n" + fenced(code) + "no.\n</think>\nPlan: rows.\n";
    const Answer answer = extract_answer(thoughts + fenced(code));
    EXPECT_EQ(answer.kind, Kind::candidate);
    EXPECT_EQ(answer.plan_text, "Plan: rows.");
    EXPECT_EQ(extract_answer("Hm.\n" + fenced(code) + "</think>\n" + fenced(code)).kind, Kind::candidate);
    EXPECT_EQ(extract_answer("<think>\n" + fenced(code)).kind, Kind::none);
    // Line numbers count the thoughts
    EXPECT_EQ(extract_answer("<think>\n</think>\n" + fenced(code)).line, 3);
}

TEST(Answer, TakesNothingFromAReplyThatIsNotWhole) {
    Reply reply;
    reply.text = fenced(code);
    EXPECT_EQ(extract_answer(reply).kind, Kind::candidate);
    for (const Outcome outcome : {Outcome::truncated, Outcome::broken_stream, Outcome::refused,
                                  Outcome::content_filter, Outcome::context_full, Outcome::exhausted}) {
        reply.outcome = outcome;
        EXPECT_EQ(extract_answer(reply).kind, Kind::partial);
        EXPECT_EQ(extract_answer(reply).source, "");
        EXPECT_NE(extract_answer(reply).message.find(to_string(outcome)), std::string::npos);
    }
}

TEST(Answer, TakesAnyBytes) {
    std::uint32_t state = 99;
    static const char* const parts[] = {
        "```", "~~~",        "cuda",    "\n",       "\r\n",     " ",    "````", "/* kernelwright",
        "*/",  "__global__", "<think>", "</think>", "\xff\xfe", "    ", "x"};
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (int i = 0; i < 40; ++i) {
            state = state * 1664525U + 1013904223U;
            text += parts[(state >> 16) % std::size(parts)];
        }
        const Answer answer = extract_answer(text);
        EXPECT_EQ(answer.kind == Kind::candidate, answer.message.empty());
        EXPECT_EQ(answer.kind == Kind::candidate, !answer.source.empty());
    }
}

}  // namespace
}  // namespace kernelwright

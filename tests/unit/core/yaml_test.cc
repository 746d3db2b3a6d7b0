#include "harness/core/yaml.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kernelwright {
namespace {

Json read(const std::string& text) {
    const auto document = YamlDocument::parse(text, "f");
    EXPECT_TRUE(document.ok()) << text << "\n" << (document.ok() ? "" : document.error().str());
    return document.ok() ? to_json(document->root()) : Json("failed");
}
std::string error_of(const std::string& text) {
    const auto document = YamlDocument::parse(text, "f");
    return document.ok() ? "no error" : document.error().str();
}

TEST(Yaml, CoreSchemaScalars) {
    const Json j = read(
        "a: [y, N, on, off, yes, no, NULL, ~, null, true, False, TRUE]\n"
        "b: [1, -2, +3, 0x1F, 0o17, 017, 1e-5, .5, 1., -1.5E+3, .inf, 1_000, 1:30, 1e, e1, '1', \"true\", "
        "0b1]\n"
        "c:\n"
        "d: !!str 5\n");
    EXPECT_EQ(j["a"], Json::parse(R"J(["y","N","on","off","yes","no",null,null,null,true,false,true])J"));
    const Json& b = j["b"];
    EXPECT_EQ(b[0], 1);
    EXPECT_EQ(b[1], -2);
    EXPECT_EQ(b[2], 3);
    EXPECT_EQ(b[3], 31);
    EXPECT_EQ(b[4], 15);
    EXPECT_EQ(b[5], 17);
    EXPECT_EQ(b[6], 1e-5);
    EXPECT_EQ(b[7], 0.5);
    EXPECT_EQ(b[8], 1.0);
    EXPECT_EQ(b[9], -1500.0);
    EXPECT_TRUE(std::isinf(b[10].get<double>()));
    for (int i = 11; i < 18; ++i) EXPECT_TRUE(b[static_cast<std::size_t>(i)].is_string()) << i;
    EXPECT_TRUE(j["c"].is_null());
    EXPECT_EQ(j["d"], "5");
}

TEST(Yaml, CommasInParenthesesNeedNoQuotes) {
    EXPECT_EQ(read("grid: [ceil_div(N, 256), 1, 1]"), Json::parse(R"J({"grid":["ceil_div(N, 256)",1,1]})J"));
    EXPECT_EQ(read("grid: [min(ceil_div(N, 4), max(1, M)), 2]")["grid"][0], "min(ceil_div(N, 4), max(1, M))");
    EXPECT_EQ(read("a: {v: ints(0, 5), s: [M]}"), Json::parse(R"J({"a":{"v":"ints(0, 5)","s":["M"]
    }
    })J"));
    EXPECT_EQ(read("a: [(N > 4 ? 2 : 1), 3]")["a"][0], "(N > 4 ? 2 : 1)");
    EXPECT_EQ(read("- {a: [f(1, 2)]}\n- b: [g(3,\n     4), 5]")[1]["b"][0], "g(3, 4)");
    // quoted ones, comments, plain text and block scalars stay as they are
    EXPECT_EQ(
        read("a: [\"f(1, 2)\", 'g(1, 2)', 3] # (x, y\nb: it's (a, b) [c\nc: |\n  [f(1,\n   2)\nd: [h(1, 2)]"),
        Json::parse(R"J({"a":["f(1, 2)","g(1, 2)",3],"b":"it's (a, b) [c","c":"[f(1,\n 2)\n","d":["h(1, 2)"]
    })J"));
    // an open parenthesis hides nothing
    EXPECT_EQ(read("a: [f(1, 2]"), Json::parse(R"J({"a":["f(1",2]})J"));
}

TEST(Yaml, PlacesAreTheFiles) {
    const auto document = YamlDocument::parse("a: 1\nb: [f(1, 2), {c: 3}]\n", "k.cu", 10);
    ASSERT_TRUE(document.ok());
    const YamlNode& b = *document->root().find("b");
    EXPECT_EQ(b.line, 11);
    EXPECT_EQ(b.column, 4);
    EXPECT_EQ(b.items[1].find("c")->line, 11);
    EXPECT_EQ(b.items[1].find("c")->column, 18);
    EXPECT_EQ(document->error(b, "wrong", "mend it").str(), "k.cu:11:4: wrong (mend it)");
}

TEST(Yaml, Errors) {
    EXPECT_EQ(error_of("a: 1\nb: 2\na: 3"), "f:3:1: the key `a` occurs twice; the first is on line 1");
    EXPECT_EQ(error_of("{a: 1, a: 2}"), "f:1:8: the key `a` occurs twice; the first is on line 1");
    EXPECT_EQ(error_of("[1, 2]: 3"), "f:1:1: a key must be a name, not a list");
    EXPECT_NE(error_of("a: !flag"), "no error");
    EXPECT_NE(error_of("a: *nobody"), "no error");
    EXPECT_NE(error_of("a: 1\n--- \nb: 2").find("a second YAML document begins here"), std::string::npos);
    EXPECT_NE(error_of(std::string("a: \x01", 4)).find("not a text file: byte 0x01"), std::string::npos);
    EXPECT_NE(error_of("a: \xff").find("not UTF-8"), std::string::npos);
}

// The hint shows the torn line as it should be written.
TEST(Yaml, TornLinesAreShownQuoted) {
    const auto expect_hint = [](const std::string& text, const std::string& line, const std::string& hint) {
        const std::string error = error_of(text);
        EXPECT_NE(error.find(line), std::string::npos) << error;
        EXPECT_NE(error.find("write the line as `" + hint + "`"), std::string::npos) << error;
    };
    expect_hint("a: 1\nwhen: !odd && N > 2\nb: 3", "f:2", "when: \"!odd && N > 2\"");
    expect_hint("when: *x + 2", "f:1", "when: \"*x + 2\"");
    expect_hint("when: N > 4: 5", "f:1", "when: \"N > 4: 5\"");
    expect_hint("when: %4", "f:1", "when: \"%4\"");
    expect_hint("args: [x, N > 4 ? 2 : 1]", "f:1", "args: [x, \"N > 4 ? 2 : 1\"]");
    expect_hint("a: [x, N\nb: 2", "f:1", "a: [x, N]");
    expect_hint("kernels:\n  - name: k\n    args: [x, &y, N", "f:3", "args: [x, \"&y\", N]");
}

TEST(Yaml, WrongKindsAndUnknownKeys) {
    const auto document = YamlDocument::parse("args: [x, N > 4: 2]\nshpae: 3\n", "f");
    ASSERT_TRUE(document.ok());
    const YamlNode& torn = document->root().find("args")->items[1];
    EXPECT_TRUE(torn.is_map());
    EXPECT_EQ(document->wrong_kind(torn, "argument 2", "a number").str(),
              "f:1:11: argument 2 must be a number, not a map "
              "(write the line as `args: [x, \"N > 4: 2\"]`)");
    const auto unknown = document->unknown_key(document->root(), "the page", {"args", "shape"});
    ASSERT_TRUE(unknown.has_value());
    EXPECT_EQ(unknown->str(),
              "f:2:1: unknown key `shpae` in the page; did you mean `shape`? (known keys: args shape)");
}

TEST(Yaml, AliasesAreReadAndBounded) {
    EXPECT_EQ(read("a: &s [1, 2]\nb: *s"), Json::parse(R"J({"a":[1,2],"b":[1,2]})J"));
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 9; ++k) laughs += (k > 0 ? ", " : "") + last;
        laughs += "]\n";
    }
    EXPECT_NE(error_of(laughs).find("more than 5000 entries"), std::string::npos) << error_of(laughs);
    EXPECT_NE(error_of("a: &a [*a]"), "no error");
    std::string deep = "a0: &a0 [1]\n";
    for (int i = 1; i < 60; ++i) {
        deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
    }
    EXPECT_NE(error_of(deep).find("more than 32 lists and maps are nested"), std::string::npos);
}

TEST(Yaml, DepthAndSizeAreBounded) {
    EXPECT_NE(error_of("a: " + std::string(100000, '[')), "no error");
    EXPECT_NE(error_of("a: " + std::string(100000, '{')), "no error");
    EXPECT_NE(error_of(std::string(40, '[') + std::string(40, ']')).find("more than 32"), std::string::npos);
    EXPECT_NE(error_of("a: [" + std::string(200000, '(') + "]"), "");
    EXPECT_NE(error_of(std::string(300U << 10, 'x')).find("more than the"), std::string::npos);
    std::string list = "a: [";
    for (int i = 0; i < 6000; ++i) list += "1,";
    EXPECT_NE(error_of(list + "1]").find("more than 5000 entries"), std::string::npos);
}

// Neither random soup nor a mutated page crashes the reader; every error has a place.
TEST(Yaml, Soup) {
    const std::string seed =
        "kernels:\n  - name: k\n    grid: [ceil_div(N, 256), 1]\n    args: [x, \"a\", 'b', {value: 1, "
        "dtype: f16}]\n"
        "when: N > 3 # c\nscratch: &a {p: {dtype: f32, shape: [M]}}\nd: |\n  text\n  more\ne: *a\n";
    const std::string alphabet = "[]{}(),:'\"#&*!|>-?%@` \n\tab1N\\~=";
    std::mt19937 random(11);
    for (int i = 0; i < 20000; ++i) {
        std::string text = seed;
        if (i % 4 == 0) {
            text.clear();
            for (std::size_t k = 1 + random() % 40; k > 0; --k) text += alphabet[random() % alphabet.size()];
        }
        for (std::size_t k = 1 + random() % 4; k > 0 && !text.empty(); --k) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = alphabet[random() % alphabet.size()];
                    break;
                case 1:
                    text.insert(at, 1, alphabet[random() % alphabet.size()]);
                    break;
                default:
                    text.erase(at, 1 + random() % 5);
            }
        }
        const auto document = YamlDocument::parse(text, "f", 5);
        if (!document) {
            EXPECT_GE(document.error().line, 5) << text;
            EXPECT_FALSE(document.error().message.empty());
        }
    }
}

// An entry in a column of its own, or a tab: the line and the columns that would do.
TEST(Yaml, IndentationIsExplained) {
    const struct {
        const char* text;
        const char* says;
    } cases[] = {
        {"a:\n  - name: k\n     grid: [1]\n", "f:3: "},
        {"a:\n  - name: k\n     grid: [1]\n", "indented by 5 blanks; an entry here needs 0 or 2 or 4"},
        {"a:\n    b: 1\n  c: 2\n", "f:3: "},
        {"a:\n    b: 1\n  c: 2\n", "indented by 2 blanks; an entry here needs 0 or 4"},
        {"a:\n\tb: 1\n", "f:2: "},
        {"a:\n\tb: 1\n", "indented with a tab"},
        {"a: 1\n  b: 2\n", "indented by 2 blanks; an entry here needs 0"},
        {"# c\na: [1, 2\n", "f:"},
    };
    for (const auto& c : cases) {
        const std::string error = error_of(c.text);
        EXPECT_NE(error.find(c.says), std::string::npos) << c.text << error;
    }
    EXPECT_EQ(error_of("a: [1, 2\n").find("indented"), std::string::npos);
}

}  // namespace
}  // namespace kernelwright

#include "harness/tasks/task.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

// A sound page; `replace` puts other text in place of one line's beginning.
std::string page(const std::string& from = "", const std::string& to = "") {
    std::string text =
        "---\n"                                                       // 1
        "name: scaled_rows\n"                                         // 2
        "summary: Scale each row\n"                                   // 3
        "op: softmax\n"                                               // 4
        "params: {axis: 1, eps: 1e-5}\n"                              // 5
        "symbols: {M: {}, N: {min: 8, max: 4096, multiple_of: 8}}\n"  // 6
        "inputs:\n"                                                   // 7
        "  x: {dtype: f32, shape: [M, N]}\n"                          // 8
        "  i: {dtype: i32, shape: [M], values: indices(N)}\n"         // 9
        "outputs:\n"                                                  // 10
        "  y: {dtype: f32, shape: [M, \"N\"], inplace_of: x}\n"       // 11
        "check_shapes: [{M: 1, N: 8}, {M: 3, N: 16}]\n"               // 12
        "tune_shapes: [{M: 128, N: 1024}]\n"                          // 13
        "tolerance: {y: {abs: 1e-5, rel: 0}}\n"                       // 14
        "---\n"
        "Scale each row.\n";
    if (from.empty()) return text;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
    const auto task = parse_task(text, "scaled_rows.md");
    return task.ok() ? "no error" : task.error().str();
}

TEST(Task, EveryFieldIsRead) {
    const auto task = parse_task(page(), "tasks/scaled_rows.md");
    ASSERT_TRUE(task.ok()) << task.error().str();
    EXPECT_EQ(task->name, "scaled_rows");
    EXPECT_EQ(task->summary, "Scale each row");
    EXPECT_EQ(task->prose, "Scale each row.");
    EXPECT_EQ(task->op, "softmax");
    EXPECT_EQ(task->params, Json::parse(R"({"axis": 1, "eps": 1e-5})"));
    ASSERT_EQ(task->symbols.size(), 2U);
    EXPECT_EQ(task->symbols[1].min, 8);
    EXPECT_EQ(task->symbols[1].max, 4096);
    EXPECT_EQ(task->symbols[1].multiple_of, 8);
    ASSERT_EQ(task->inputs.size(), 2U);
    EXPECT_EQ(task->inputs[0].line, 8);
    EXPECT_EQ(task->inputs[1].values.kind, "indices");
    EXPECT_EQ(task->find_output("y")->inplace_of, "x");
    EXPECT_EQ(*task->inputs[0].shape_at({{"M", 3}, {"N", 16}}), (Shape{3, 16}));
    EXPECT_EQ(*task->inputs[0].strides_at({{"M", 3}, {"N", 16}}), (Shape{16, 1}));
    EXPECT_EQ(task->check_shapes[1], (SymbolValues{{"M", 3}, {"N", 16}}));
    EXPECT_EQ(task->tune_shapes[0], (SymbolValues{{"M", 128}, {"N", 1024}}));
    EXPECT_EQ(task->tolerance.at("y").abs, 1e-5);
    EXPECT_FALSE(task->exact);
    EXPECT_EQ(shape_text(*task, task->check_shapes[1]), "M=3,N=16");
}

TEST(Task, TuneShapesDefaultToTheLargestCheckShape) {
    const auto task = parse_task(page("tune_shapes: [{M: 128, N: 1024}]\n", ""), "scaled_rows.md");
    ASSERT_TRUE(task.ok());
    EXPECT_EQ(task->tune_shapes, (std::vector<SymbolValues>{{{"M", 3}, {"N", 16}}}));
}

TEST(Task, CustomReferences) {
    const std::string body =
        "Prose one.\n\n```python\nx\n```\n\n```cuda reference\n/* kernelwright */\nvoid k();\n```\nProse "
        "two.\n";
    const auto code = parse_task(page("op: softmax\n", "reference_dtype: f64\n") + body, "scaled_rows.md");
    ASSERT_TRUE(code.ok()) << code.error().str();
    ASSERT_TRUE(code->reference_code.has_value());
    EXPECT_EQ(code->reference_code->source, "/* kernelwright */\nvoid k();\n");
    EXPECT_EQ(code->reference_code->line, 24);
    EXPECT_EQ(code->reference_dtype, DType::f64);
    EXPECT_EQ(code->prose.find("cuda"), std::string::npos);
    EXPECT_NE(code->prose.find("```python"), std::string::npos);
    EXPECT_NE(code->prose.find("Prose two."), std::string::npos);

    const auto command =
        parse_task(page("op: softmax\n", "reference: {command: \"python3 ref.py\"}\n"), "scaled_rows.md");
    ASSERT_TRUE(command.ok()) << command.error().str();
    EXPECT_EQ(command->reference_command, "python3 ref.py");

    EXPECT_NE(error_of(page() + body).find("scaled_rows.md:4:5: the page has more than one reference"),
              std::string::npos);
    EXPECT_NE(error_of(page("op: softmax\n", "") + "```cuda reference\nint x;\n")
                  .find("scaled_rows.md:16: the reference block is not closed"),
              std::string::npos);
    EXPECT_NE(error_of(page() + "```cuda refrence\nint x;\n```\n").find("did you mean `reference`?"),
              std::string::npos);
    EXPECT_NE(error_of(page("op: softmax\n", "") + body + body).find("a second reference block"),
              std::string::npos);
    EXPECT_NE(error_of(page("op: softmax\n", "reference_dtype: f32\n") + body).find("must be f64"),
              std::string::npos);
    EXPECT_NE(
        error_of(page("op: softmax\n", "op: softmax\nreference_dtype: f64\n")).find("which the page has not"),
        std::string::npos);
}

struct Broken {
    const char* from;
    const char* to;
    const char* error;  // must be contained
};

// Each line of a sound page broken in one way; the error must name the line that was broken.
TEST(Task, ErrorsNameTheirPlace) {
    const Broken cases[] = {
        {"name: scaled_rows", "name: Scaled", "scaled_rows.md:2:7: the name `Scaled` is not made of"},
        {"name: scaled_rows", "name: other", "md:2:7: the name `other` is not the file's stem `scaled_rows`"},
        {"name: scaled_rows\n", "", "md:2: the key `name` is missing"},
        {"name: scaled_rows", "name: [a]", "md:2:7: `name` must be text, not a list"},
        {"summary: Scale each row", "summary: ''", "md:3:10: `summary` is empty"},
        {"summary: Scale each row\n", "", "the key `summary` is missing"},
        {"op: softmax\n", "", "the key `op` is missing (or give the page a reference of its own"},
        {"op: softmax", "operator: softmax", "md:4:1: unknown key `operator` in the front matter"},
        {"op: softmax", "parms: softmax", "did you mean `params`?"},
        {"op: softmax", "op: [a]", "md:4:5: `op` must be text"},
        {"op: softmax", "op: softmax\nop: relu", "md:5:1: the key `op` occurs twice"},
        {"params: {axis: 1, eps: 1e-5}", "params: [1]", "md:5:9: `params` must be a map, not a list"},
        {"eps: 1e-5", "eps: .inf", "the param `eps` is .inf; a param is finite"},
        {"eps: 1e-5", "N: 1",
         "md:6:15: `N` names a param and a symbol|md:5:19: `N` names a symbol and a param"},
        {"{M: {}, N", "{min: {}, N", "md:6:11: `min` has a meaning of its own"},
        {"{M: {}, N", "{2M: {}, N", "`2M` is not a name for a symbol"},
        {"{M: {}, N", "{M: {least: 3}, N", "unknown key `least` in the range of `M`"},
        {"min: 8", "min: 0", "`min` of `N` is 0; it must be at least 1"},
        {"min: 8", "min: 4097", "no value of `N` lies between 4097 and 4096 at multiples of 8"},
        {"min: 8", "min: M", "`min` of `N` must be an integer, not the text `M`"},
        {"M: {}, N: {min: 8", "M: {min: N}, N: {min: M",
         "md:6:11: the symbols are defined by each other: M -> N -> M"},
        {"M: {}, N: {min: 8", "M: N * 2, N: {min: 8", "the range of `M` must be a map"},
        {"symbols: {M", "symbols: 3 #{M",
         "md:6:10: `symbols` must be a list of names or a map with ranges, not 3"},
        {"x: {dtype: f32", "x: {dtype: f31",
         "md:8:14: unknown dtype `f31` of `x`; did you mean `f32`? (known: f64 f32"},
        {"x: {dtype: f32, shape", "x: {shape", "md:8:3: `x` has no dtype"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32}", "md:8:3: `x` has no shape"},
        {"x: {dtype: f32, shape: [M, N]}", "x: f32", "md:8:6: `x` must be a map"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, K]}",
         "md:8:30: the shape of `x` uses `K`, which is not in `symbols`"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N +]}",
         "the shape of `x`: the expression ends"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, -4]}",
         "md:8:30: the shape of `x` holds the negative number -4"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, 1.5]}",
         "the shape of `x` is an integer: `1.5`"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: N}", "the shape of `x` must be a list"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [1, 1, 1, 1, 1, 1, 1, 1, M]}",
         "9 entries, more than 8"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N - 8]}",
         "md:12:16: `check_shapes`: the extent `N - 8` of `x` is 0; it must be at least 1"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N * 1099511627776]}",
         "md:12:16: `check_shapes`: the tensors have more than 268435456 elements at M=1,N=8 (`x` is [1, "
         "8796093022208])"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N * 9223372036854775807]}",
         "does not fit 64 bits"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N], strides: [N]}",
         "`x` has 1 strides for 2 extents"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: e2m1, shape: [M, N], strides: [N, 1]}",
         "packed and always dense"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N], range: [3, 1]}",
         "`range` of `x` is empty or not finite"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N], range: 3}",
         "must be two numbers [lo, hi]"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N], special: [big]}",
         "`special` of `x` holds `big`"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: i32, shape: [M, N], special: [nan]}",
         "which has no NaN and no infinity"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: e4m3, shape: [M, N], special: [inf]}",
         "e4m3 has no infinity"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N], inplace_of: i}",
         "unknown key `inplace_of` in the input `x`"},
        {"x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N]}\n  x: {dtype: f32, shape: [M, N]}",
         "md:9:3: the key `x` occurs twice"},
        {"x: {dtype: f32, shape: [M, N]}", "M: {dtype: f32, shape: [M, N]}",
         "md:8:3: `M` names a symbol and an input"},
        {"values: indices(N)", "values: indexes(N)",
         "`values` of `i`: unknown kind `indexes`; did you mean `indices`?"},
        {"values: indices(N)", "values: indices()", "`indices` takes 1 argument, not 0"},
        {"values: indices(N)", "values: indices(K)", "`values` of `i` uses `K`, which is not in `symbols`"},
        {"values: indices(N)", "values: indices(N - 8)",
         "md:9:6: `values` of `i` is empty: 0 .. -1 (at M=1,N=8)"},
        {"values: indices(N)", "values: ints(5, 2)", "`values` of `i` is empty: 5 .. 2"},
        {"values: indices(N)", "values: ints(0, 4294967296)", "which i32 cannot hold"},
        {"values: indices(N)", "values: uniform(0, 1)",
         "uniform needs a floating dtype, and the tensor is i32 (write ints(lo, hi))"},
        {"values: indices(N)", "values: const(", "has no closing parenthesis"},
        {"y: {dtype: f32, shape: [M, \"N\"], inplace_of: x}", "y: {dtype: f32, shape: [M, \"Q\"]}",
         "md:11:31: the shape of `y` uses `Q`"},
        {"inplace_of: x", "inplace_of: z", "md:11:48: `inplace_of: z` names no input"},
        {"inplace_of: x", "inplace_of: i", "they cannot share a buffer"},
        {"y: {dtype: f32, shape: [M, \"N\"], inplace_of: x}", "y: {dtype: f32, shape: [N, M], inplace_of: x}",
         "`y` and `x` differ in shape: they cannot share a buffer (at M=1,N=8)"},
        {"y: {dtype: f32, shape: [M, \"N\"], inplace_of: x}",
         "y: {dtype: f32, shape: [M, N], strides: [1, 1]}",
         "md:11:6: the strides of the output `y` let elements overlap (at M=3,N=16)"},
        {"y: {dtype: f32, shape: [M, \"N\"], inplace_of: x}",
         "y: {dtype: f32, shape: [M, N], values: normal}", "unknown key `values` in the output `y`"},
        {"check_shapes: [{M: 1, N: 8}, {M: 3, N: 16}]\n", "", "the key `check_shapes` is missing"},
        {"{M: 3, N: 16}", "{M: 3}", "md:12:30: `check_shapes`: the shape gives no value to the symbol N"},
        {"{M: 3, N: 16}", "{M: 3, N: 16, K: 1}", "the shape names `K`, which is no symbol"},
        {"{M: 3, N: 16}", "{M: -3, N: 16}", "md:12:34: `M` in `check_shapes` is -3; a size is at least 1"},
        {"{M: 3, N: 16}", "{M: 0, N: 16}", "is 0; a size is at least 1"},
        {"{M: 3, N: 16}", "{M: 3, N: 17}", "N is 17, not a multiple of 8"},
        {"{M: 3, N: 16}", "{M: 3, N: 8192}", "N is 8192, above its maximum 4096"},
        {"{M: 3, N: 16}", "{M: 1, N: 8}", "`check_shapes` lists M=1,N=8 twice"},
        {"{M: 3, N: 16}", "{M: x, N: 16}", "`M` in `check_shapes` must be an integer, not the text `x`"},
        {"{M: 3, N: 16}", "{M: 3000000, N: 16}", "more than 268435456 elements|no error"},
        {"{M: 3, N: 16}", "{M: 1099511627776, N: 16}",
         "md:12:30: `check_shapes`: the tensors have more than 268435456 elements"},
        {"check_shapes: [{M: 1, N: 8}, {M: 3, N: 16}]", "check_shapes: []", "`check_shapes` is empty"},
        {"check_shapes: [{M: 1, N: 8}, {M: 3, N: 16}]", "check_shapes: {M: 1}", "must be a list of maps"},
        {"tune_shapes: [{M: 128", "tune_shapes: [{M: 99999999999",
         "`tune_shapes`: the tensors have more than"},
        {"y: {abs: 1e-5, rel: 0}", "z: {abs: 1e-5}", "md:14:13: `tolerance` names `z`, which is no output"},
        {"y: {abs: 1e-5, rel: 0}", "y: 1e-5", "the tolerance of `y` must be a map"},
        {"y: {abs: 1e-5, rel: 0}", "y: {abs: -1}", "`abs` must be a number that is not negative"},
        {"tolerance: {y: {abs: 1e-5, rel: 0}}", "exact: maybe",
         "md:14:8: `exact` must be true or false, not the text `maybe`"},
        {"tolerance: {y: {abs: 1e-5, rel: 0}}", "tolerance: {y: {abs: 1}}\nexact: true",
         "exclude each other"},
        {"---\nScale each row.\n", "---\n", "the page has no prose"},
        {"---\nname", "name", "md:1: the page has no front matter"},
        {"---\nScale", "Scale", "md:1: the front matter is not closed"},
        {"inputs:\n", "inputs: {}\nother:\n", "unknown key `other`"},
        {"  x: {dtype: f32, shape: [M, N]}\n", "  x: {dtype: f32, shape: [M, N]\n",
         "md:8: the YAML is torn|md:9"},
    };
    for (const Broken& c : cases) {
        const std::string error = error_of(page(c.from, c.to));
        bool found = false;
        for (const std::string& wanted : split(c.error, '|'))
            found = found || error.find(wanted) != std::string::npos;
        EXPECT_TRUE(found) << c.to << "\n  got:    " << error << "\n  wanted: " << c.error;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
}

TEST(Task, WholeFileFaults) {
    EXPECT_NE(error_of("").find("the page is empty"), std::string::npos);
    EXPECT_NE(error_of(" \n\n").find("the page is empty"), std::string::npos);
    EXPECT_NE(error_of(std::string("---\n\0\x7f", 6)).find("not a text file"), std::string::npos);
    EXPECT_NE(error_of("\x89PNG\r\n").find("not a text file: byte 0x89 at offset 0 is not UTF-8"),
              std::string::npos);
    EXPECT_NE(error_of(std::string(2U << 20, 'a')).find("the page is 2097152 bytes, more than the 1048576"),
              std::string::npos);
    EXPECT_NE(error_of("# A title\n").find("no front matter"), std::string::npos);
    EXPECT_NE(error_of("---\n- a\n---\nx\n").find("must be a map of keys, not a list"), std::string::npos);
    EXPECT_NE(error_of("---\n---\nx\n").find("must be a map of keys, not nothing"), std::string::npos);
    EXPECT_FALSE(load_task("/nonexistent/x.md").ok());
    EXPECT_FALSE(load_task("/").ok());
}

TEST(Task, WindowsLineEndsAndByteOrderMark) {
    std::string text = "\xef\xbb\xbf";
    for (const char c : page()) {
        if (c == '\n') text += '\r';
        text += c;
    }
    const auto task = parse_task(text, "scaled_rows.md");
    ASSERT_TRUE(task.ok()) << task.error().str();
    EXPECT_EQ(task->summary, "Scale each row");
}

TEST(Task, ShapesFromTheCommandLine) {
    const auto task = parse_task(page(), "scaled_rows.md");
    ASSERT_TRUE(task.ok());
    EXPECT_EQ(*parse_shape(*task, "M=3,N=16"), (SymbolValues{{"M", 3}, {"N", 16}}));
    for (const char* text : {"", "M", "M=", "M=3", "M=3,N=x", "M=3,N=17", "M=3,N=16,M=4", "M=3,N=16,K=1",
                             "M=-3,N=16", "M=3,,N=16"}) {
        EXPECT_FALSE(parse_shape(*task, text).ok()) << text;
    }
}

TEST(Task, StridedExtent) {
    const auto task = parse_task(
        page("x: {dtype: f32, shape: [M, N]}", "x: {dtype: f32, shape: [M, N], strides: [N + 8, 1]}"),
        "scaled_rows.md");
    // y shares x's buffer with other strides
    ASSERT_FALSE(task.ok());
    const auto strided = parse_task(page("y: {dtype: f32, shape: [M, \"N\"], inplace_of: x}",
                                         "y: {dtype: f32, shape: [M, N], strides: [N + 8, 1]}"),
                                    "scaled_rows.md");
    ASSERT_TRUE(strided.ok()) << strided.error().str();
    EXPECT_EQ(*strided->outputs[0].extent_at({{"M", 3}, {"N", 16}}), 2 * 24 + 16);
    EXPECT_EQ(*strided->inputs[0].extent_at({{"M", 3}, {"N", 16}}), 48);
}

TEST(Task, RepeatedTokensTakeLinearTime) {
    for (const char* token : {"```\n", "~~~\n", "---\n", "\n", "` ", "a"}) {
        std::string text = page();
        while (text.size() < 900'000) text += token;
        const auto task = parse_task(text, "scaled_rows.md");
        EXPECT_TRUE(task.ok() || task.error().message.find("not closed") != std::string::npos) << token;
    }
}

// Mutated pages never crash the parser, and each error is one line with the file's name.
TEST(Task, Soup) {
    const std::string seed = page();
    std::mt19937 random(3);
    int broken = 0;
    for (int i = 0; i < 6000; ++i) {
        std::string text = seed;
        for (std::size_t k = 1 + random() % 3; k > 0; --k) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random() % 256);
                    break;
                case 1:
                    text.insert(at, text.substr(random() % text.size(), random() % 20));
                    break;
                case 2:
                    text.erase(at, random() % 10);
                    break;
                default:
                    text[at] = "[]{}:,-\"'#&*\n0"[random() % 14];
            }
        }
        const auto task = parse_task(text, "scaled_rows.md");
        if (task.ok()) continue;
        ++broken;
        EXPECT_EQ(task.error().file, "scaled_rows.md");
        EXPECT_EQ(task.error().str().find('\n'), std::string::npos) << task.error().str();
    }
    EXPECT_GT(broken, 1000);
}

}  // namespace
}  // namespace kernelwright

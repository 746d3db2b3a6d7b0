// The work of every op, by hand: bytes of all operands once, operations as docs/reference-ops.md means them.
#include <gtest/gtest.h>

#include <set>

#include "verifiers/reference/reference.h"

namespace kernelwright {
namespace {

constexpr DType f16 = DType::f16, f32 = DType::f32, i32 = DType::i32, i8 = DType::i8;

struct Row {
    const char* op;
    Json params;
    std::vector<OperandShape> inputs, outputs;
    double read, written, flops;
    bool matrix = false;
};

const std::vector<Row>& rows() {
    static const std::vector<Row> list = [] {
        std::vector<Row> rows;
        const Json none = Json::object();
        const OperandShape x{f32, {6, 10}}, row{f32, {6}};  // 240 and 24 bytes
        for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"})
            rows.push_back({op, none, {x, x}, {x}, 480, 240, 60});
        rows.push_back({"axpy", {{"alpha", 2}}, {x, x}, {x}, 480, 240, 120});
        for (const char* op : {"relu", "abs", "neg", "square"})
            rows.push_back({op, none, {x}, {x}, 240, 240, 60});
        for (const auto& [op, each] :
             {std::pair{"rsqrt", 1}, {"exp", 2}, {"sigmoid", 4}, {"silu", 5}, {"tanh", 6}})
            rows.push_back({op, none, {x}, {x}, 240, 240, each * 60.0});
        rows.push_back({"gelu", none, {x}, {x}, 240, 240, 8 * 60});
        rows.push_back({"swiglu", none, {x, x}, {x}, 480, 240, 6 * 60});
        for (const char* op : {"sum", "mean", "max", "min", "prod"})
            rows.push_back({op, {{"axis", 1}}, {x}, {row}, 240, 24, 60});
        for (const char* op : {"argmax", "argmin"})
            rows.push_back({op, {{"axis", 1}}, {x}, {{i32, {6}}}, 240, 24, 60});
        rows.push_back({"logsumexp", {{"axis", 1}}, {x}, {row}, 240, 24, 4 * 60});
        rows.push_back({"topk", {{"axis", 1}, {"k", 3}}, {x}, {{f32, {6, 3}}, {i32, {6, 3}}}, 240, 144, 60});
        rows.push_back({"sort", {{"axis", 1}}, {x}, {x}, 240, 240, 60 * 4});  // ceil(log2 10)
        for (const char* op : {"softmax", "log_softmax"})
            rows.push_back({op, {{"axis", 1}}, {x}, {x}, 240, 240, 5 * 60});
        rows.push_back({"cumsum", {{"axis", 1}}, {x}, {x}, 240, 240, 60});
        rows.push_back({"layernorm", {{"axis", 1}}, {x, {f32, {10}}, {f32, {10}}}, {x}, 320, 240, 8 * 60});
        rows.push_back({"rmsnorm", {{"axis", 1}}, {x, {f32, {10}}}, {x}, 280, 240, 4 * 60});
        rows.push_back({"add_rmsnorm", {{"axis", 1}}, {x, x, {f32, {10}}}, {x, x}, 520, 480, 5 * 60});
        rows.push_back(
            {"groupnorm", {{"groups", 2}}, {{f32, {2, 4, 3}}}, {{f32, {2, 4, 3}}}, 96, 96, 8 * 24});
        rows.push_back({"transpose", {{"perm", {1, 0}}}, {x}, {{f32, {10, 6}}}, 240, 240, 0});
        rows.push_back({"concat", {{"axis", 0}}, {x, x}, {{f32, {12, 10}}}, 480, 480, 0});
        // Of the table only the rows that are asked for: 2 x 10 floats of 60.
        rows.push_back({"gather", {{"axis", 0}}, {x, {i32, {2, 10}}}, {{f32, {2, 10}}}, 80 + 80, 80, 0});
        rows.push_back({"embedding", none, {x, {i32, {2}}}, {{f32, {2, 10}}}, 80 + 8, 80, 0});
        // ... but no more than there is.
        rows.push_back({"embedding", none, {x, {i32, {7}}}, {{f32, {7, 10}}}, 240 + 28, 280, 0});
        rows.push_back(
            {"scatter_add", {{"axis", 0}}, {x, {i32, {2, 10}}, {f32, {2, 10}}}, {x}, 240 + 80 + 80, 240, 20});
        rows.push_back({"histogram", none, {{i32, {100}}}, {{i32, {8}}}, 400, 32, 100});
        rows.push_back({"matmul",
                        none,
                        {{f16, {8, 4}}, {f16, {4, 2}}},
                        {{f16, {8, 2}}},
                        64 + 16,
                        32,
                        2 * 8 * 4 * 2,
                        true});
        rows.push_back({"matmul",
                        {{"transpose_a", true}, {"transpose_b", true}},
                        {{f16, {4, 8}}, {f16, {2, 4}}},
                        {{f16, {8, 2}}},
                        64 + 16,
                        32,
                        2 * 8 * 4 * 2,
                        true});
        rows.push_back({"matmul",
                        none,
                        {{f32, {3, 8, 4}}, {f32, {4, 2}}},
                        {{f32, {3, 8, 2}}},
                        384 + 32,
                        192,
                        3 * 2 * 8 * 4 * 2,
                        true});
        rows.push_back({"matmul_scaled",
                        {{"block", 2}},
                        {{i8, {8, 4}}, {i8, {4, 2}}, {f32, {8, 2}}, {f32, {2, 2}}},
                        {{f32, {8, 2}}},
                        32 + 8 + 64 + 16,
                        64,
                        2 * 8 * 4 * 2,
                        true});
        rows.push_back({"linear",
                        none,
                        {{f16, {8, 4}}, {f16, {2, 4}}, {f16, {2}}},
                        {{f16, {8, 2}}},
                        64 + 16 + 4,
                        32,
                        2 * 8 * 4 * 2,
                        true});
        rows.push_back({"conv2d",
                        none,
                        {{f32, {2, 8, 16, 16}}, {f32, {32, 8, 3, 3}}},
                        {{f32, {2, 32, 14, 14}}},
                        4 * (2 * 8 * 256 + 32 * 72),
                        4 * 2 * 32 * 196,
                        2.0 * 2 * 32 * 196 * 72,
                        true});
        rows.push_back({"depthwise_conv2d",
                        none,
                        {{f32, {2, 8, 16, 16}}, {f32, {8, 1, 3, 3}}},
                        {{f32, {2, 8, 14, 14}}},
                        4 * (2 * 8 * 256 + 72),
                        4 * 2 * 8 * 196,
                        2 * 2 * 8 * 196 * 9});
        rows.push_back({"conv1d_causal",
                        {{"groups", 4}},
                        {{f32, {2, 4, 9}}, {f32, {4, 1, 3}}},
                        {{f32, {2, 4, 9}}},
                        4 * (72 + 12),
                        4 * 72,
                        2 * 72 * 3});
        for (const char* op : {"maxpool2d", "avgpool2d"})
            rows.push_back(
                {op, {{"kernel", 2}}, {{f32, {1, 2, 4, 4}}}, {{f32, {1, 2, 2, 2}}}, 128, 32, 8 * 4});
        const OperandShape head{f16, {2, 4, 64, 32}};
        const double bytes = 2.0 * 2 * 4 * 64 * 32, pairs = 64 * 64, half = 64 * 65 / 2.0;
        rows.push_back(
            {"attention", none, {head, head, head}, {head}, 3 * bytes, bytes, 8 * pairs * 4 * 32, true});
        rows.push_back({"attention",
                        {{"causal", true}},
                        {head, head, head},
                        {head},
                        3 * bytes,
                        bytes,
                        8 * half * 4 * 32,
                        true});
        rows.push_back({"attention_decode",
                        none,
                        {{f16, {2, 4, 8}}, {f16, {2, 5, 2, 8}}, {f16, {2, 5, 2, 8}}, {i32, {2}}},
                        {{f16, {2, 4, 8}}},
                        2 * (64 + 160 + 160) + 8,
                        128,
                        4.0 * 64 * 5});
        rows.push_back({"rope", none, {{f32, {5, 2, 8}}}, {{f32, {5, 2, 8}}}, 320, 320, 3 * 80});
        rows.push_back({"cross_entropy", {{"axis", 1}}, {x, {i32, {6}}}, {row}, 264, 24, 4 * 60});
        rows.push_back({"kmeans_assign",
                        none,
                        {{f32, {1000, 16}}, {f32, {8, 16}}},
                        {{i32, {1000}}, {f32, {1000}}},
                        4 * (16000 + 128),
                        8000,
                        2.0 * 1000 * 8 * 16,
                        true});
        rows.push_back({"gated_delta_rule",
                        {{"scale", 1}},
                        {{f32, {3, 2, 4}}, {f32, {3, 2, 4}}, {f32, {3, 2, 5}}, {f32, {3, 2}}, {f32, {3, 2}}},
                        {{f32, {3, 2, 5}}, {f32, {2, 4, 5}}},
                        4 * (24 + 24 + 30 + 6 + 6),
                        4 * (30 + 40),
                        7 * 24 * 5});
        rows.push_back({"quantize",
                        {{"dtype", "i8"}, {"block", 5}},
                        {x},
                        {{i8, {6, 10}}, {f32, {6, 2}}},
                        240,
                        60 + 48,
                        3 * 60});
        rows.push_back(
            {"dequantize", {{"block", 5}}, {{i8, {6, 10}}, {f32, {6, 2}}}, {x}, 60 + 48, 240, 2 * 60});
        return rows;
    }();
    return list;
}

TEST(Work, OfEveryOp) {
    std::set<std::string> seen;
    for (const Row& row : rows()) {
        seen.insert(row.op);
        const Work work = reference_work(row.op, row.params, row.inputs, {}, row.outputs);
        EXPECT_EQ(work.read_bytes, row.read) << row.op;
        EXPECT_EQ(work.written_bytes, row.written) << row.op;
        EXPECT_EQ(work.flops, row.flops) << row.op;
        EXPECT_EQ(work.matrix, row.matrix) << row.op;
        EXPECT_EQ(work.dtype, row.inputs[0].dtype) << row.op;
    }
    for (const std::string& op : reference_ops()) EXPECT_TRUE(seen.contains(op)) << op << " has no row";
}

// Operands that are named leave out optional ones.
TEST(Work, OfNamedOperands) {
    const OperandShape x{f32, {6, 10}};
    const Work work = reference_work("layernorm", {{"axis", 1}}, {x, {f32, {10}}}, {"x", "beta"}, {x});
    EXPECT_EQ(work.flops, 8 * 60);
    EXPECT_EQ(work.read_bytes, 280);
}

TEST(Work, WithoutAnOpOrASoundCallOnlyBytesAreKnown) {
    const Json none = Json::object();
    Work work = reference_work("", none, {{DType::i4, {101}}}, {}, {{f32, {101}}});
    EXPECT_EQ(work.read_bytes, 51);
    EXPECT_EQ(work.written_bytes, 404);
    EXPECT_EQ(work.flops, 0);
    for (const char* op : {"matmul", "attention", "conv2d", "embedding", "linear", "no_such_op"}) {
        work = reference_work(op, none, {{f32, {}}, {f32, {}}, {f32, {}}}, {}, {{f32, {}}});
        EXPECT_EQ(work.flops, 0) << op;
        EXPECT_EQ(work.read_bytes, 12) << op;
    }
    EXPECT_EQ(reference_work("softmax", none, {}, {}, {}), Work{});
}

}  // namespace
}  // namespace kernelwright

#include "verifiers/gate/execution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "verifiers/gate/custom_reference.h"
#include "verifiers/gate/reference_precision.h"

namespace kernelwright {
namespace {

TensorSpec spec(const std::string& name, DType dtype, std::initializer_list<const char*> shape,
                std::initializer_list<const char*> strides = {}) {
    TensorSpec out;
    out.name = name;
    out.dtype = dtype;
    for (const char* e : shape) out.shape.push_back(*Expression::parse(e));
    for (const char* e : strides) out.strides.push_back(*Expression::parse(e));
    return out;
}

TEST(Execution, StridedTensorsAreSpreadAndGathered) {
    const SymbolValues symbols{{"M", 2}, {"N", 3}};
    const TensorSpec x = spec("x", DType::f32, {"M", "N"}, {"N + 1", "1"});
    const Tensor t = Tensor::from(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(buffer_size(x, symbols), 7U * 4);
    const std::vector<std::byte> bytes = lay_out(x, symbols, t, std::byte{0});
    EXPECT_EQ(load(DType::f32, bytes.data(), 3), 0);
    EXPECT_EQ(load(DType::f32, bytes.data(), 4), 4);
    const GotOutput back = take_output(x, symbols, {bytes, {}});
    EXPECT_EQ(back.tensor, t);
}

TEST(Execution, UnwrittenElementsAreFound) {
    const SymbolValues symbols{{"N", 3}};
    const TensorSpec y = spec("y", DType::f16, {"N"});
    FetchedBuffer fetched{std::vector<std::byte>(6), {true, true, true, false, true, true}};
    const GotOutput got = take_output(y, symbols, fetched);
    EXPECT_EQ(got.written, (std::vector<bool>{true, false, true}));
    fetched.written.clear();
    EXPECT_TRUE(take_output(y, symbols, fetched).written.empty());
}

TEST(Execution, InPlaceOutputsShareTheInputsBuffer) {
    Task task;
    task.inputs = {spec("x", DType::f32, {"N"})};
    task.outputs = {spec("y", DType::f32, {"N"})};
    task.outputs[0].inplace_of = "x";
    BoundPlan plan;
    plan.symbols = {{"N", 4}};
    BoundKernel kernel;
    kernel.arguments = {{"y", "", {}}};
    plan.kernels = {kernel};
    const Job job = make_job(task, plan, {Tensor::zeros(DType::f32, {4})});
    ASSERT_EQ(job.buffers.size(), 1U);
    EXPECT_EQ(job.buffers[0].kind, emulator::BufferKind::inout);
    EXPECT_EQ(job.kernels[0].arguments[0].buffer, "x");
}

// Arguments that were mixed up show in what a parameter is bound to; where the names agree there is nothing
// to say.
TEST(Execution, AFaultNamesTheParameterOfItsBuffer) {
    BoundPlan plan;
    BoundKernel kernel;
    kernel.name = "k";
    kernel.arguments = {
        {"y", "", {}, "const float* __restrict__ x"}, {"x", "", {}, "float *x"}, {"z", "", {}, ""}};
    plan.kernels = {kernel};
    const auto message = [&](const std::string& fault_message) {
        JobOutcome outcome;
        outcome.kernels.resize(1);
        emulator::Fault fault;
        fault.rule = "out-of-bounds";
        fault.place.line = 3;
        fault.message = fault_message;
        outcome.kernels[0].faults = {fault};
        return diagnostics_of(outcome, plan, "k.cu").at(0).message;
    };
    EXPECT_EQ(message("reads `y`"), "reads `y`; parameter 1 `const float* __restrict__ x` is bound to `y`");
    for (const char* text : {"reads `x`", "reads `z`", "reads the shared `yy`", "x"})
        EXPECT_EQ(message(text), text);
}

// The line table has the last part of the candidate's name; a diagnostic has the name that the caller gave.
TEST(Execution, FaultsBecomeDiagnosticsOfTheirStage) {
    JobOutcome outcome;
    KernelRun run;
    emulator::Fault fault;
    fault.rule = "out-of-bounds";
    fault.place = {"k.cu", 11, 5, 40, "ld.global.f32"};
    fault.message = "reads 4 bytes";
    run.faults = {fault};
    outcome.kernels = {run};
    BoundPlan plan;
    plan.kernels.resize(1);
    const auto diagnostics = diagnostics_of(outcome, plan, "some/folder/k.cu");
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].file, "some/folder/k.cu");
    EXPECT_EQ(diagnostics[0].stage, Stage::sanitize);
    EXPECT_EQ(stage_of_rule("time-limit"), Stage::limits);
    EXPECT_EQ(stage_of_rule("endless-loop"), Stage::limits);
    EXPECT_EQ(stage_of_rule("deadlock"), Stage::sanitize);
    EXPECT_EQ(stage_of_rule("illegal-block"), Stage::launch);
}

// A line of a function that was inlined comes with the calls that lead there, those in the candidate.
TEST(Execution, InlinedCallsAreRelatedPlaces) {
    emulator::Fault fault;
    fault.rule = "shared-race";
    fault.place = {
        "k.cu", 11, 5, 40, "st.shared.f32", {{"k.cu", 20, 3}, {"/a/b.cuh", 7, 1}, {"k.cu", 31, 9}}};
    fault.other = emulator::Fault::Party{
        {"k.cu", 12, 5, 44, "ld.shared.f32", {{"k.cu", 33, 3}}}, "the read", std::nullopt, std::nullopt};
    JobOutcome outcome;
    outcome.kernels.resize(1);
    outcome.kernels[0].faults = {fault};
    BoundPlan plan;
    plan.kernels.resize(1);
    const auto diagnostics = diagnostics_of(outcome, plan, "some/folder/k.cu");
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].line, 11);
    const std::vector<Related> expected{{"", 12, "the read"},
                                        {"", 20, "the inlined call that leads to line 11"},
                                        {"", 31, "the inlined call that leads to line 20"},
                                        {"", 33, "the inlined call that leads to line 12"}};
    EXPECT_EQ(diagnostics[0].related, expected);
}

TEST(CustomReference, TheBoundIsTheSpreadPlusTheRounding) {
    Task task;
    task.outputs = {spec("y", DType::f32, {"2"})};
    const Tensor wide = Tensor::from(DType::f64, {2}, {1.0, 2.0});
    const Tensor narrow = Tensor::from(DType::f64, {2}, {1.0, 2.0 + 1e-6});
    const auto expected = Spreads(task, {wide}, {narrow}).expected("test");
    const double rms = 1e-6 / std::sqrt(2.0);
    EXPECT_NEAR(expected[0].tolerance[0], spread_factor * rms, 1e-6);
    EXPECT_GE(expected[0].tolerance[1], spread_factor * 1e-6);
    EXPECT_LT(expected[0].tolerance[1], spread_factor * 1.1e-6 + 1e-6);
}

// What more there is to add to the spread: a rounding of the terms for each operation, so that a result whose
// two evaluations agree by luck, or whose sum may be taken in another order, has room.
TEST(CustomReference, ABoundHasRoomForAnyOrderOfASum) {
    Task task;
    task.outputs = {spec("y", DType::f32, {"1"})};
    const Tensor value = Tensor::from(DType::f64, {1}, {0.5});
    const Tensor there = Tensor::from(DType::f64, {1}, {0.5 + 1000.0 * 0x1p-14});
    Spreads spreads(task, {value}, {value});
    const std::vector<Tensor> same{there};
    spreads.add({there}, &same, 0x1p-14, 0x1p-23);
    spreads.add_roundings({4096, 4096}, 0x1p-24);  // 4096 terms, together 1000
    const double tolerance = spreads.expected("test")[0].tolerance[0];
    EXPECT_GT(tolerance, 4096 * 0x1p-24 * 1000);
    EXPECT_LT(tolerance, 4200 * 0x1p-24 * 1000);
}

// Whole numbers have nothing to round in any order: a term that is dropped must show.
TEST(CustomReference, ExactSumsKeepATightBound) {
    Task task;
    task.outputs = {spec("y", DType::f32, {"1"})};
    const Tensor value = Tensor::from(DType::f64, {1}, {12.0});
    const Tensor there = Tensor::from(DType::f64, {1}, {12.0 + 3000.0 * 0x1p-14});
    Spreads spreads(task, {value}, {value});
    const std::vector<Tensor> narrow{Tensor::from(DType::f64, {1}, {12.1})};
    spreads.add({there}, &narrow, 0x1p-14, 0x1p-23);
    const Operations operations{4096, 4096};
    spreads.add_roundings(operations, 0x1p-24);
    spreads.exact_where_sums_are(operations, 0x1p-24);
    EXPECT_LT(spreads.expected("test")[0].tolerance[0], 0.001);
}

TEST(CustomReference, APageInAnotherPrecision) {
    const struct {
        const char *source, *wide, *narrow;
    } rows[] = {
        {"float s = 0.5f * x + 1.0f;", "double s = 0.5 * x + 1.0;", "float s = 0.5f * x + 1.0f;"},
        {"double s = 1e-5 * exp(x);", "double s = 1e-5 * exp(x);", "float s = 1e-5f * exp(x);"},
        {"y = __expf(x) + fmaf(a, b, 1.f);", "y = exp(x) + fma(a, b, 1.);",
         "y = __expf(x) + fmaf(a, b, 1.f);"},
        {"double4 v = make_double4(0, 0x1F, 1e300, 0x1p-3);",
         "double4 v = make_double4(0, 0x1F, 1e300, 0x1p-3);",
         "float4 v = make_float4(0, 0x1F, 1e300, 0x1p-3f);"},
        {"#include <float.h>\n// float 1.0f\nint floaty; const char* s = \"float\";",
         "#include <float.h>\n// float 1.0f\nint floaty; const char* s = \"float\";",
         "#include <float.h>\n// float 1.0f\nint floaty; const char* s = \"float\";"},
        {"int half = 64;", "int half = 64;", "int half = 64;"},
        {"#include <cuda_fp16.h>\n__half y = __float2half(__half2float(x));",
         "#include <cuda_fp16.h>\ndouble y = double(double(x));",
         "#include <cuda_fp16.h>\nfloat y = float(float(x));"},
        {"#define T float\nT v = 1'000.5f;", "#define T double\nT v = 1'000.5;",
         "#define T float\nT v = 1'000.5f;"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(in_precision(row.source, DType::f64), row.wide);
        EXPECT_EQ(in_precision(row.source, DType::f32), row.narrow);
    }
}

}  // namespace
}  // namespace kernelwright

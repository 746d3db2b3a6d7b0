// A bound must lie between "the task's precision, any order" and "one precision lower". Here the lower side:
// the exact answer for inputs that were rounded to the next narrower type must be refused, on at least one
// check shape and draw of every page where floating inputs enter arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/unit/numerics/pages.h"
#include "verifiers/numerics/compare.h"
#include "verifiers/numerics/draws.h"

namespace kernelwright {
namespace {

// The type whose use instead of `dtype` is a lower precision.
DType narrower(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return DType::f32;
        case DType::f32:
        case DType::tf32:
            return DType::f16;
        case DType::f16:
            return DType::e4m3;
        case DType::bf16:
            return DType::e5m2;
        default:
            return dtype;
    }
}

Tensor stored(const Expected& e) {
    Tensor t = Tensor::zeros(e.dtype, e.shape);
    for (std::int64_t i = 0; i < t.count(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (e.integer.empty()) {
            t.set(i, e.value[k]);
        } else {
            t.set_integer(i, e.integer[k]);
        }
    }
    return t;
}

TEST(Precision, OneTypeLowerIsRefused) {
    int tried = 0;
    for (const Task& task : pages()) {
        bool narrows = false;
        for (const TensorSpec& spec : task.inputs) narrows = narrows || narrower(spec.dtype) != spec.dtype;
        if (!narrows) continue;
        ++tried;
        bool refused = false;
        for (const SymbolValues& symbols : task.check_shapes) {
            if (input_elements(task, symbols) > 300000) continue;
            for (const std::string& name : cases_for(task)) {
                const auto inputs = draw_inputs(task, symbols, name, 1);
                ASSERT_TRUE(inputs.ok());
                std::vector<Tensor> rounded = *inputs;
                for (Tensor& input : rounded) {
                    if (!is_float(input.dtype)) continue;
                    for (std::int64_t i = 0; i < input.count(); ++i) {
                        input.set(i, round_to(narrower(input.dtype), input.at(i)));
                    }
                }
                const auto right = expected_outputs(task, symbols, *inputs);
                const auto lower = expected_outputs(task, symbols, rounded);
                ASSERT_TRUE(right.ok() && lower.ok());
                for (std::size_t k = 0; k < right->size(); ++k) {
                    CompareOptions how;
                    how.exact = task.exact;
                    refused = refused || !compare((*right)[k], stored((*lower)[k]), how).ok();
                }
                if (refused) break;
            }
            if (refused) break;
        }
        EXPECT_TRUE(refused) << task.name << ": no draw tells a narrower type from the right one";
    }
    EXPECT_GE(tried, 20);
}

// Does the page refuse its own answer times 1 + 2^-k on some check shape and draw? Every floating output.
bool refuses_scaled(const Task& task, std::size_t output, int k) {
    for (const SymbolValues& symbols : task.check_shapes) {
        if (input_elements(task, symbols) > 40000) continue;
        for (const std::string& name : cases_for(task)) {
            const auto inputs = draw_inputs(task, symbols, name, 1);
            EXPECT_TRUE(inputs.ok());
            const auto right = expected_outputs(task, symbols, *inputs);
            EXPECT_TRUE(right.ok());
            Expected scaled = (*right)[output];
            for (double& value : scaled.value) value *= 1 + std::ldexp(1.0, -k);
            CompareOptions how;
            how.exact = task.exact;
            if (!compare((*right)[output], stored(scaled), how).ok()) return true;
        }
    }
    return false;
}

// Slack in a bound shows as a scaled answer that passes. f16 attention may round its weights to half.
TEST(Precision, ScaledAnswersAreRefused) {
    for (const Task& task : pages()) {
        for (std::size_t i = 0; i < task.outputs.size(); ++i) {
            const DType dtype = task.outputs[i].dtype;
            if (!is_float(dtype)) continue;
            const int bits = significand_bits(dtype);
            const int k = task.op == "attention_decode" ? bits - 2 : bits == 24 ? 17 : bits;
            EXPECT_TRUE(refuses_scaled(task, i, k))
                << task.name << "." << task.outputs[i].name << " 2^-" << k;
        }
    }
}

// The same on plain normal draws alone, for the pages whose arithmetic is in f32: no trick draw is needed.
TEST(Precision, HalfInputsShowOnNormalDraws) {
    for (const Task& task : pages()) {
        if (task.outputs[0].dtype != DType::f32 || task.inputs[0].dtype != DType::f32) continue;
        bool refused = false;
        for (const SymbolValues& symbols : task.check_shapes) {
            if (refused || input_elements(task, symbols) > 100000) continue;
            const auto inputs = draw_inputs(task, symbols, "normal", 3);
            ASSERT_TRUE(inputs.ok());
            std::vector<Tensor> rounded = *inputs;
            for (Tensor& input : rounded) {
                for (std::int64_t i = 0; i < input.count() && is_float(input.dtype); ++i) {
                    input.set(i, round_to(DType::f16, input.at(i)));
                }
            }
            const auto right = expected_outputs(task, symbols, *inputs);
            const auto lower = expected_outputs(task, symbols, rounded);
            ASSERT_TRUE(right.ok() && lower.ok());
            refused = !compare((*right)[0], stored((*lower)[0])).ok();
        }
        EXPECT_TRUE(refused) << task.name;
    }
}

// Answers that take no work are wrong on the plain draw of some check shape, on every page.
TEST(Precision, TrivialAnswersAreRefused) {
    for (const Task& task : pages()) {
        std::map<std::string, bool> refused;
        for (const SymbolValues& symbols : task.check_shapes) {
            if (input_elements(task, symbols) > 100000) continue;
            const auto inputs = draw_inputs(task, symbols, "normal", 1);
            ASSERT_TRUE(inputs.ok());
            const auto right = expected_outputs(task, symbols, *inputs);
            ASSERT_TRUE(right.ok());
            const Expected& e = (*right)[0];
            const auto attempt = [&](const std::string& name, const Tensor& t) {
                if (t == stored(e)) return;  // at this shape it is the answer (a sum of one element)
                bool& seen = refused[name];
                seen = seen || !compare(e, t).ok();
            };
            Tensor t = Tensor::zeros(e.dtype, e.shape);
            attempt("zeros", t);
            for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, 1);
            attempt("ones", t);
            if (t.count() < 2) continue;  // a single element may well be an input, and always is its own mean
            double mean = 0;
            for (const double x : e.value) mean += x / static_cast<double>(e.value.size());
            for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, mean);
            attempt("mean", t);
            for (std::int64_t i = 0; i < t.count(); ++i) t.set(i, e.value[static_cast<std::size_t>(i)]);
            t.set(t.count() - 1, 0);
            attempt("last element missing", t);
            for (std::size_t k = 0; k < inputs->size(); ++k) {
                if ((*inputs)[k].count() != t.count()) continue;
                attempt("input " + task.inputs[k].name,
                        Tensor::from(e.dtype, e.shape, (*inputs)[k].values()));
            }
        }
        for (const auto& [name, ok] : refused) EXPECT_TRUE(ok) << task.name << ": " << name;
        EXPECT_GE(refused.size(), 2U) << task.name;
    }
}

}  // namespace
}  // namespace kernelwright

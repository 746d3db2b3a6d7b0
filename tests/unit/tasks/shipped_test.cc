// The shipped pages: sound, and covering what a library of kernels should.
#include <gtest/gtest.h>

#include <set>

#include "harness/core/files.h"
#include "harness/tasks/task.h"

namespace kernelwright {
namespace {

std::vector<TaskEntry> shipped() {
    auto library = task_library(std::filesystem::path(KW_SOURCE_DIR) / "tasks");
    EXPECT_TRUE(library.ok());
    return library.ok() ? *library : std::vector<TaskEntry>{};
}

TEST(ShippedTasks, AllParse) {
    const auto tasks = shipped();
    EXPECT_GE(tasks.size(), 28U);
    for (const TaskEntry& entry : tasks) EXPECT_TRUE(entry.task.ok()) << entry.task.error().str();
}

TEST(ShippedTasks, CoverTheOpsAndDtypes) {
    std::set<std::string> ops;
    std::set<DType> dtypes;
    for (const TaskEntry& entry : shipped()) {
        ASSERT_TRUE(entry.task.ok());
        ops.insert(entry.task->op);
        for (const TensorSpec& t : entry.task->inputs) dtypes.insert(t.dtype);
    }
    for (const char* op : {"add",
                           "axpy",
                           "relu",
                           "gelu",
                           "swiglu",
                           "sum",
                           "max",
                           "argmax",
                           "logsumexp",
                           "softmax",
                           "layernorm",
                           "rmsnorm",
                           "add_rmsnorm",
                           "cumsum",
                           "transpose",
                           "embedding",
                           "histogram",
                           "topk",
                           "rope",
                           "cross_entropy",
                           "matmul",
                           "matmul_scaled",
                           "linear",
                           "conv2d",
                           "depthwise_conv2d",
                           "attention",
                           "attention_decode",
                           "kmeans_assign",
                           "gated_delta_rule"}) {
        EXPECT_EQ(ops.count(op), 1U) << op;
    }
    for (const DType d : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i8, DType::e4m3}) {
        EXPECT_EQ(dtypes.count(d), 1U) << to_string(d);
    }
}

// Check shapes run in full on a CPU: they stay small; they hold the smallest shape, a ragged one and a prime.
TEST(ShippedTasks, CheckShapesAreVariedAndAffordable) {
    const auto prime = [](std::int64_t n) {
        for (std::int64_t d = 2; d * d <= n; ++d) {
            if (n % d == 0) return false;
        }
        return n > 2;
    };
    for (const TaskEntry& entry : shipped()) {
        const Task& task = *entry.task;
        EXPECT_GE(task.check_shapes.size(), 5U) << entry.name;
        bool smallest = false, has_prime = false, has_odd = false;
        std::int64_t largest = 0;
        for (const SymbolValues& shape : task.check_shapes) {
            bool least = true;
            for (const SymbolRange& symbol : task.symbols) {
                const std::int64_t value = shape.at(symbol.name);
                least = least && value == std::max(symbol.min, symbol.multiple_of);
                has_prime = has_prime || prime(value);
                has_odd = has_odd || (value > 8 && value % 2 == 1);
            }
            smallest = smallest || least;
            std::int64_t elements = 0;
            for (const auto* tensors : {&task.inputs, &task.outputs}) {
                for (const TensorSpec& t : *tensors) elements += element_count(*t.shape_at(shape));
            }
            largest = std::max(largest, elements);
        }
        EXPECT_TRUE(smallest) << entry.name;
        EXPECT_TRUE(has_prime) << entry.name;
        EXPECT_TRUE(has_odd) << entry.name;
        EXPECT_GE(largest, 5'000) << entry.name;
        EXPECT_LE(largest, 800'000) << entry.name;
    }
}

// Tune shapes are larger than any check shape, and small enough for their values to be verified too.
TEST(ShippedTasks, TuneShapesAreLargerAndVerifiable) {
    const auto elements = [](const Task& task, const SymbolValues& shape) {
        std::int64_t total = 0;
        for (const auto* tensors : {&task.inputs, &task.outputs}) {
            for (const TensorSpec& t : *tensors) total += element_count(*t.shape_at(shape));
        }
        return total;
    };
    for (const TaskEntry& entry : shipped()) {
        const Task& task = *entry.task;
        std::int64_t largest = 0;
        for (const SymbolValues& shape : task.check_shapes)
            largest = std::max(largest, elements(task, shape));
        for (const SymbolValues& shape : task.tune_shapes) {
            EXPECT_GT(elements(task, shape), largest) << entry.name;
            EXPECT_LE(elements(task, shape), 12'000'000) << entry.name;
        }
    }
}

// The prose stands by itself: it names every tensor, and is neither a wall of text nor a single line.
TEST(ShippedTasks, ProseNamesEveryTensor) {
    for (const TaskEntry& entry : shipped()) {
        const Task& task = *entry.task;
        for (const auto* tensors : {&task.inputs, &task.outputs}) {
            for (const TensorSpec& t : *tensors)
                EXPECT_NE(task.prose.find(t.name), std::string::npos) << entry.name << " " << t.name;
        }
        EXPECT_GE(task.prose.size(), 300U) << entry.name;
        EXPECT_LE(task.prose.size(), 3000U) << entry.name;
    }
}

TEST(ShippedTasks, EveryOneHasItsKernels) {
    for (const TaskEntry& entry : shipped()) {
        for (const char* kernel : {"naive.cu", "zeros.cu", "passthrough.cu"}) {
            const auto path =
                std::filesystem::path(KW_SOURCE_DIR) / "tests/cases/tasks" / entry.name / kernel;
            EXPECT_TRUE(std::filesystem::exists(path)) << path;
        }
    }
}

}  // namespace
}  // namespace kernelwright

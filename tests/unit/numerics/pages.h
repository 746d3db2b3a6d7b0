// The task pages that the tests of this folder go through: the shipped ones and those of the verdict cases.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/tasks/task.h"

namespace kernelwright {

inline std::vector<Task> pages() {
    std::vector<Task> out;
    std::set<std::string> seen;
    for (const char* folder : {"/tasks", "/tests/cases/verdict/tasks", "/tests/cases/reference/pages"}) {
        const std::filesystem::path path = std::string(KW_SOURCE_DIR) + folder;
        if (!std::filesystem::exists(path)) continue;
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            if (entry.path().extension() == ".md") files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files) {
            auto task = load_task(file);
            EXPECT_TRUE(task.ok()) << file << (task.ok() ? "" : task.error().str());
            if (task.ok() && !task->op.empty() && seen.insert(task->name).second)
                out.push_back(std::move(*task));
        }
    }
    return out;
}

inline std::int64_t input_elements(const Task& task, const SymbolValues& symbols) {
    std::int64_t out = 0;
    for (const TensorSpec& spec : task.inputs) {
        const auto shape = spec.shape_at(symbols);
        if (shape.ok()) out += element_count(*shape);
    }
    return out;
}

}  // namespace kernelwright

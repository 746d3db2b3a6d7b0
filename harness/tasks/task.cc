#include "harness/tasks/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/core/files.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

template <class Items>
auto* find_named(Items& items, const std::string& name) {
    const auto it =
        std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
    return it == items.end() ? nullptr : &*it;
}

Result<Shape> evaluate_all(const TensorSpec& tensor, const std::vector<Expression>& entries,
                           const SymbolValues& symbols, std::int64_t lowest, const char* what) {
    const Environment environment{symbols, {}, {}};
    Shape out;
    for (const Expression& entry : entries) {
        const auto value = entry.evaluate(environment);
        if (!value) {
            return Error{
                fmt::format("{} `{}` of `{}`: {}", what, entry.text(), tensor.name, value.error().message)};
        }
        if (*value < lowest) {
            return Error{fmt::format("{} `{}` of `{}` is {}; it must be at least {}", what, entry.text(),
                                     tensor.name, *value, lowest)};
        }
        out.push_back(*value);
    }
    return out;
}

// Product with a bound; nullopt above it.
std::optional<std::int64_t> bounded_count(const Shape& shape, std::int64_t limit) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        if (__builtin_mul_overflow(count, extent, &count) || count > limit) return std::nullopt;
    }
    return count;
}

}  // namespace

Result<Shape> TensorSpec::shape_at(const SymbolValues& symbols) const {
    return evaluate_all(*this, shape, symbols, 1, "the extent");
}

Result<Shape> TensorSpec::strides_at(const SymbolValues& symbols) const {
    if (!strides.empty()) return evaluate_all(*this, strides, symbols, 0, "the stride");
    const auto extents = shape_at(symbols);
    if (!extents) return extents.error();
    if (!bounded_count(*extents, INT64_MAX)) {
        return Error{fmt::format("`{}` has more elements than 64 bits can count", name)};
    }
    return dense_strides(*extents);
}

Result<std::int64_t> TensorSpec::extent_at(const SymbolValues& symbols) const {
    const auto extents = shape_at(symbols);
    if (!extents) return extents.error();
    const auto steps = strides_at(symbols);
    if (!steps) return steps.error();
    std::int64_t last = 0;
    for (std::size_t i = 0; i < extents->size(); ++i) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow((*extents)[i] - 1, (*steps)[i], &reach) ||
            __builtin_add_overflow(last, reach, &last)) {
            return Error{fmt::format("`{}` reaches further than 64 bits can count", name)};
        }
    }
    return last + 1;
}

const SymbolRange* Task::find_symbol(const std::string& name) const { return find_named(symbols, name); }
const TensorSpec* Task::find_input(const std::string& name) const { return find_named(inputs, name); }
const TensorSpec* Task::find_output(const std::string& name) const { return find_named(outputs, name); }

std::string shape_text(const Task& task, const SymbolValues& shape) {
    std::string out;
    for (const SymbolRange& symbol : task.symbols) {
        const auto it = shape.find(symbol.name);
        if (it == shape.end()) continue;
        out += fmt::format("{}{}={}", out.empty() ? "" : ",", symbol.name, it->second);
    }
    return out;
}

Status check_shape(const Task& task, const SymbolValues& shape, std::int64_t element_limit) {
    std::vector<std::string> names;
    for (const SymbolRange& symbol : task.symbols) names.push_back(symbol.name);
    for (const auto& [name, value] : shape) {
        if (!task.find_symbol(name)) {
            return Error{
                fmt::format("the shape names `{}`, which is no symbol{}", name, did_you_mean(name, names))};
        }
    }
    for (const SymbolRange& symbol : task.symbols) {
        const auto it = shape.find(symbol.name);
        if (it == shape.end())
            return Error{fmt::format("the shape gives no value to the symbol {}", symbol.name)};
        const std::int64_t value = it->second;
        if (value < 1) return Error{fmt::format("{} is {}; a size is at least 1", symbol.name, value)};
        if (value < symbol.min) {
            return Error{fmt::format("{} is {}, below its minimum {}", symbol.name, value, symbol.min)};
        }
        if (symbol.max && value > *symbol.max) {
            return Error{fmt::format("{} is {}, above its maximum {}", symbol.name, value, *symbol.max)};
        }
        if (value % symbol.multiple_of != 0) {
            return Error{
                fmt::format("{} is {}, not a multiple of {}", symbol.name, value, symbol.multiple_of)};
        }
    }
    std::int64_t total = 0;
    for (const auto* tensors : {&task.inputs, &task.outputs}) {
        for (const TensorSpec& tensor : *tensors) {
            const auto extents = tensor.shape_at(shape);
            if (!extents) return extents.error();
            const auto count = bounded_count(*extents, element_limit);
            const auto reach = count ? tensor.extent_at(shape) : Result<std::int64_t>(INT64_MAX);
            if (!reach) return reach.error();
            if (!count || *reach > element_limit || (total += std::max(*reach, *count)) > element_limit) {
                return Error{fmt::format("the tensors have more than {} elements at {} (`{}` is {})",
                                         element_limit, shape_text(task, shape), tensor.name,
                                         to_string(*extents))};
            }
        }
    }
    return Done{};
}

Result<SymbolValues> parse_shape(const Task& task, const std::string& text) {
    SymbolValues shape;
    for (const std::string& part : split(text, ',')) {
        if (trim(part).empty() && text.empty()) continue;
        const std::size_t equals = part.find('=');
        const std::string name(trim(part.substr(0, equals)));
        std::int64_t value = 0;
        const std::string digits(
            equals == std::string::npos ? "" : trim(std::string_view(part).substr(equals + 1)));
        const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.empty() || code != std::errc{} || end != digits.data() + digits.size()) {
            return Error{fmt::format("`{}` is not SYMBOL=SIZE", part), {}, 0, 0, "write a shape as M=3,N=17"};
        }
        if (!shape.emplace(name, value).second) return Error{fmt::format("the shape names `{}` twice", name)};
    }
    if (const auto status = check_shape(task, shape, TaskLimits::check_elements); !status)
        return status.error();
    return shape;
}

Result<Task> load_task(const std::filesystem::path& path) {
    auto text = read_file(path, TaskLimits::page_bytes);
    if (!text) return text.error();
    return parse_task(*text, path.string());
}

Result<std::vector<TaskEntry>> task_library(const std::filesystem::path& folder) {
    std::error_code code;
    std::vector<TaskEntry> out;
    std::filesystem::directory_iterator it(folder, code), end;
    if (code) return Error{"cannot list the folder: " + code.message(), folder.string()};
    while (it != end) {
        const std::filesystem::path path = it->path();
        if (path.extension() == ".md") out.push_back({path.stem().string(), path, load_task(path)});
        it.increment(code);
        if (code) return Error{"cannot list the folder: " + code.message(), folder.string()};
    }
    std::sort(out.begin(), out.end(), [](const TaskEntry& a, const TaskEntry& b) { return a.name < b.name; });
    return out;
}

}  // namespace kernelwright

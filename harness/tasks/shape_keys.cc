#include "harness/tasks/task_parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernelwright {

MaybeError TaskParser::shapes() {
    if (!root_.find("check_shapes")) {
        return missing("check_shapes",
                       "the sizes at which a kernel is verified, such as [{N: 1}, {N: 1000}]");
    }
    if (auto error = shape_list("check_shapes", TaskLimits::check_elements, task_.check_shapes)) return error;
    if (root_.find("tune_shapes"))
        return shape_list("tune_shapes", TaskLimits::tune_elements, task_.tune_shapes);
    // Without tune shapes the largest check shape is made fast.
    const auto elements = [&](const SymbolValues& shape) {
        std::int64_t total = 0;
        for (const auto* tensors : {&task_.inputs, &task_.outputs}) {
            for (const TensorSpec& t : *tensors) {
                if (const auto s = t.shape_at(shape)) total += element_count(*s);
            }
        }
        return total;
    };
    task_.tune_shapes = {*std::max_element(
        task_.check_shapes.begin(), task_.check_shapes.end(),
        [&](const SymbolValues& a, const SymbolValues& b) { return elements(a) < elements(b); })};
    return std::nullopt;
}

MaybeError TaskParser::shape_list(const std::string& key, std::int64_t limit,
                                  std::vector<SymbolValues>& out) {
    const YamlNode& list = *root_.find(key);
    if (!list.is_sequence()) return doc_.wrong_kind(list, "`" + key + "`", "a list of maps such as [{N: 1}]");
    if (list.items.empty()) return doc_.error(list, fmt::format("`{}` is empty", key));
    if (list.items.size() > TaskLimits::shapes) {
        return doc_.error(list,
                          fmt::format("{} shapes, more than {}", list.items.size(), TaskLimits::shapes));
    }
    for (const YamlNode& item : list.items) {
        if (!item.is_map())
            return doc_.wrong_kind(item, fmt::format("an entry of `{}`", key), "a map such as {N: 1}");
        SymbolValues shape;
        for (const auto& [name, value] : item.entries) {
            const auto size = value.integer();
            if (!size)
                return doc_.wrong_kind(value, fmt::format("`{}` in `{}`", name.text, key), "an integer");
            if (*size < 1)
                return doc_.error(
                    value, fmt::format("`{}` in `{}` is {}; a size is at least 1", name.text, key, *size));
            shape[name.text] = *size;
        }
        if (const auto status = check_shape(task_, shape, limit); !status) {
            return doc_.error(item, fmt::format("`{}`: {}", key, status.error().message));
        }
        if (std::find(out.begin(), out.end(), shape) != out.end()) {
            return doc_.error(item, fmt::format("`{}` lists {} twice", key, shape_text(task_, shape)));
        }
        out.push_back(std::move(shape));
    }
    return std::nullopt;
}

// What can only be seen with numbers: strides that overlap, draws with an empty range.
MaybeError TaskParser::at_shapes() {
    std::vector<SymbolValues> all = task_.check_shapes;
    all.insert(all.end(), task_.tune_shapes.begin(), task_.tune_shapes.end());
    for (const SymbolValues& shape : all) {
        for (const auto& [key, tensors] :
             {std::pair{"inputs", &task_.inputs}, std::pair{"outputs", &task_.outputs}}) {
            for (const TensorSpec& tensor : *tensors) {
                const YamlNode& at = *root_.find(key)->find(tensor.name);
                std::string message =
                    tensor.strides.empty() ? "" : stride_fault(tensor, shape, key[0] == 'o');
                if (message.empty()) message = value_fault(tensor, shape);
                if (message.empty() && !tensor.inplace_of.empty() &&
                    *tensor.shape_at(shape) != *task_.find_input(tensor.inplace_of)->shape_at(shape)) {
                    message = fmt::format("`{}` and `{}` differ in shape: they cannot share a buffer",
                                          tensor.name, tensor.inplace_of);
                }
                if (!message.empty())
                    return doc_.error(at, fmt::format("{} (at {})", message, shape_text(task_, shape)));
            }
        }
    }
    return std::nullopt;
}

std::string TaskParser::stride_fault(const TensorSpec& tensor, const SymbolValues& shape, bool output) {
    const auto extents = tensor.shape_at(shape), steps = tensor.strides_at(shape);
    if (!extents || !steps) return (extents ? steps : extents).error().message;
    if (!output) return {};
    // Sorted by stride, each must step over all that the smaller ones reach.
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (std::size_t i = 0; i < extents->size(); ++i) {
        if ((*extents)[i] > 1) order.emplace_back((*steps)[i], (*extents)[i]);
    }
    std::sort(order.begin(), order.end());
    std::int64_t reach = 0;
    for (const auto& [step, extent] : order) {
        if (step <= reach)
            return fmt::format("the strides of the output `{}` let elements overlap", tensor.name);
        reach += step * (extent - 1);
    }
    return {};
}

std::string TaskParser::value_fault(const TensorSpec& tensor, const SymbolValues& shape) {
    std::vector<std::int64_t> numbers;
    for (const Expression& argument : tensor.values.integer_arguments) {
        const auto value = argument.evaluate({shape, {}, {}});
        if (!value) return fmt::format("`values` of `{}`: {}", tensor.name, value.error().message);
        numbers.push_back(*value);
    }
    if (numbers.empty()) return {};
    const std::int64_t low = tensor.values.kind == "indices" ? 0 : numbers[0];
    const std::int64_t high = tensor.values.kind == "indices" ? numbers[0] - 1 : numbers[1];
    if (low > high) return fmt::format("`values` of `{}` is empty: {} .. {}", tensor.name, low, high);
    if (static_cast<double>(low) < lowest_finite(tensor.dtype) ||
        static_cast<double>(high) > largest_finite(tensor.dtype)) {
        return fmt::format("`values` of `{}` go from {} to {}, which {} cannot hold", tensor.name, low, high,
                           to_string(tensor.dtype));
    }
    return {};
}

}  // namespace kernelwright

#include "harness/core/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <utility>

namespace kernelwright {

std::int64_t element_count(const Shape& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return count;
}

Shape dense_strides(const Shape& shape) {
    Shape strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Tensor Tensor::zeros(DType dtype, Shape shape) {
    Tensor t{dtype, std::move(shape), {}};
    t.data.resize(storage_bytes(dtype, t.count()));
    return t;
}

Tensor Tensor::from(DType dtype, Shape shape, const std::vector<double>& values) {
    Tensor t = zeros(dtype, std::move(shape));
    if (static_cast<std::int64_t>(values.size()) != t.count()) {
        throw std::logic_error("Tensor::from: the number of values is not the number of elements");
    }
    for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
    return t;
}

std::vector<double> Tensor::values() const {
    std::vector<double> out(static_cast<std::size_t>(count()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(static_cast<std::int64_t>(i));
    return out;
}

}  // namespace kernelwright

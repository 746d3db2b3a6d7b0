// A dense, row-major host tensor: dtype, shape and bytes. Plain data; copying copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/dtype.h"

namespace kernelwright {

using Shape = std::vector<std::int64_t>;

// Product of the extents; 1 for a scalar (empty shape).
std::int64_t element_count(const Shape& shape);
// Row-major strides in elements.
Shape dense_strides(const Shape& shape);
std::string to_string(const Shape& shape);  // "[3, 17]"

struct Tensor {
    DType dtype = DType::f32;
    Shape shape;
    std::vector<std::byte> data;  // storage_bytes(dtype, count())

    static Tensor zeros(DType dtype, Shape shape);
    // Each value rounded to the type; `values` has as many entries as the shape has elements.
    static Tensor from(DType dtype, Shape shape, const std::vector<double>& values);

    std::int64_t count() const { return element_count(shape); }
    double at(std::int64_t index) const { return load(dtype, data.data(), index); }
    std::int64_t integer_at(std::int64_t index) const { return load_integer(dtype, data.data(), index); }
    void set(std::int64_t index, double value) { store(dtype, data.data(), index, value); }
    void set_integer(std::int64_t index, std::int64_t value) {
        store_integer(dtype, data.data(), index, value);
    }
    std::vector<double> values() const;

    bool operator==(const Tensor&) const = default;
};

}  // namespace kernelwright

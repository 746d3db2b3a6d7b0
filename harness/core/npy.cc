#include "harness/core/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace kernelwright {
namespace {

struct Encoding {
    const char* descr;
    DType dtype;
};

Encoding encoding_of(DType dtype, bool widen) {
    switch (dtype) {
        case DType::f64:
            return {"<f8", DType::f64};
        case DType::f32:
        case DType::tf32:
        case DType::bf16:
        case DType::e4m3:
        case DType::e5m2:
        case DType::e2m1:
            return widen ? Encoding{"<f8", DType::f64} : Encoding{"<f4", DType::f32};
        case DType::f16:
            return widen ? Encoding{"<f8", DType::f64} : Encoding{"<f2", DType::f16};
        case DType::i64:
            return {"<i8", DType::i64};
        case DType::i32:
            return {"<i4", DType::i32};
        case DType::i16:
            return {"<i2", DType::i16};
        case DType::i8:
        case DType::i4:
            return {"|i1", DType::i8};
        case DType::u8:
            return {"|u1", DType::u8};
        case DType::boolean:
            return {"|b1", DType::boolean};
    }
    return {"<f8", DType::f64};
}

struct Plain {
    char kind;  // f i u b
    int bytes;
};

double read_value(const Plain& plain, const char* p) {
    switch (plain.kind * 16 + plain.bytes) {
        case 'f' * 16 + 8: {
            double v = 0;
            std::memcpy(&v, p, 8);
            return v;
        }
        case 'f' * 16 + 4: {
            float v = 0;
            std::memcpy(&v, p, 4);
            return v;
        }
        case 'f' * 16 + 2:
            return load(DType::f16, reinterpret_cast<const std::byte*>(p), 0);
        default:
            return 0;
    }
}

std::int64_t read_integer(const Plain& plain, const char* p) {
    std::uint64_t raw = 0;
    std::memcpy(&raw, p, static_cast<std::size_t>(plain.bytes));
    if (plain.kind == 'i' && plain.bytes < 8) {
        const std::uint64_t sign = std::uint64_t{1} << (plain.bytes * 8 - 1);
        raw = (raw ^ sign) - sign;
    }
    return static_cast<std::int64_t>(raw);
}

// The text after `'key':` in the header's Python dictionary.
std::string_view field(std::string_view header, std::string_view key) {
    const std::size_t at = header.find(fmt::format("'{}'", key));
    if (at == std::string_view::npos) return {};
    const std::size_t colon = header.find(':', at);
    if (colon == std::string_view::npos) return {};
    const std::size_t start = header.find_first_not_of(' ', colon + 1);
    return start == std::string_view::npos ? std::string_view{} : header.substr(start);
}

}  // namespace

std::string to_npy(const Tensor& tensor, bool widen) {
    const Encoding encoding = encoding_of(tensor.dtype, widen);
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", encoding.descr,
                    fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
    const std::size_t unpadded = 10 + header.size() + 1;
    header.append((64 - unpadded % 64) % 64, ' ');
    header += '\n';
    std::string out = "\x93NUMPY";
    out += '\x01';
    out += '\0';
    out += static_cast<char>(header.size() & 255);
    out += static_cast<char>(header.size() >> 8);
    out += header;
    Tensor converted = Tensor::zeros(encoding.dtype, tensor.shape);
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        if (is_float(tensor.dtype)) {
            converted.set(i, tensor.at(i));
        } else {
            converted.set_integer(i, tensor.integer_at(i));
        }
    }
    out.append(reinterpret_cast<const char*>(converted.data.data()), converted.data.size());
    return out;
}

Result<Tensor> from_npy(std::string_view bytes, const std::string& name) {
    if (bytes.size() < 10 || bytes.substr(0, 6) != std::string_view("\x93NUMPY", 6)) {
        return Error{"not a .npy file (numpy.save writes one)", name};
    }
    const auto major = static_cast<unsigned char>(bytes[6]);
    const auto byte = [&](std::size_t i) {
        return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
    };
    std::size_t length = byte(8) | byte(9) << 8;
    std::size_t start = 10;
    if (major >= 2) {
        if (bytes.size() < 12) return Error{"the .npy header is cut off", name};
        length |= byte(10) << 16 | byte(11) << 24;
        start = 12;
    }
    if (length > bytes.size() - start) return Error{"the .npy header is cut off", name};
    const std::string_view header = bytes.substr(start, length);
    const std::string_view descr = field(header, "descr");
    if (descr.size() < 5 || descr[0] != '\'')
        return Error{"the array has a structured dtype; save plain numbers", name};
    const Plain plain{descr[2], descr[3] - '0'};
    const bool known = (plain.kind == 'f' && (plain.bytes == 2 || plain.bytes == 4 || plain.bytes == 8)) ||
                       ((plain.kind == 'i' || plain.kind == 'u') &&
                        (plain.bytes == 1 || plain.bytes == 2 || plain.bytes == 4 || plain.bytes == 8)) ||
                       (plain.kind == 'b' && plain.bytes == 1);
    if (descr[1] == '>' || !known || descr[4] != '\'') {
        return Error{
            fmt::format("the array's dtype {} is not a plain little-endian number", descr.substr(0, 6)),
            name};
    }
    if (field(header, "fortran_order").substr(0, 4) == "True") {
        return Error{"the array is in Fortran order; save numpy.ascontiguousarray(a)", name};
    }
    std::string_view dims = field(header, "shape");
    if (dims.empty() || dims[0] != '(') return Error{"the .npy header has no shape", name};
    dims = dims.substr(
        1, dims.find(')') == std::string_view::npos ? std::string_view::npos : dims.find(')') - 1);
    Shape shape;
    std::int64_t count = 1;
    std::int64_t number = -1;
    for (const char c : std::string(dims) + ",") {
        if (c >= '0' && c <= '9') {
            number = (number < 0 ? 0 : number) * 10 + (c - '0');
            if (number > (std::int64_t{1} << 40)) return Error{"the array is too large", name};
        } else if (c == ',' && number >= 0) {
            shape.push_back(number);
            if (number != 0 && count > (std::int64_t{1} << 40) / number)
                return Error{"the array is too large", name};
            count *= number;
            number = -1;
        }
    }
    const std::string_view payload = bytes.substr(start + length);
    if (payload.size() < static_cast<std::size_t>(count) * static_cast<std::size_t>(plain.bytes)) {
        return Error{fmt::format("the array has {} bytes of data, {} elements need {}", payload.size(), count,
                                 count * plain.bytes),
                     name};
    }
    Tensor tensor = Tensor::zeros(plain.kind == 'f' ? DType::f64 : DType::i64, shape);
    for (std::int64_t i = 0; i < count; ++i) {
        const char* p = payload.data() + i * plain.bytes;
        if (plain.kind == 'f') {
            tensor.set(i, read_value(plain, p));
        } else {
            tensor.set_integer(i, read_integer(plain, p));
        }
    }
    return tensor;
}

}  // namespace kernelwright

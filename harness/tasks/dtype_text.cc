#include "harness/tasks/dtype_text.h"

#include <fmt/format.h>

#include <map>

#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace kernelwright {
namespace {

// What other projects call the same types.
const std::map<std::string, DType>& foreign_names() {
    static const std::map<std::string, DType> names = {
        {"double", DType::f64},    {"float64", DType::f64},     {"fp64", DType::f64},
        {"float", DType::f32},     {"float32", DType::f32},     {"fp32", DType::f32},
        {"half", DType::f16},      {"float16", DType::f16},     {"fp16", DType::f16},
        {"bfloat16", DType::bf16}, {"bfloat", DType::bf16},     {"float8_e4m3fn", DType::e4m3},
        {"fp8", DType::e4m3},      {"fp8_e4m3", DType::e4m3},   {"float8_e5m2", DType::e5m2},
        {"fp8_e5m2", DType::e5m2}, {"fp4", DType::e2m1},        {"int64", DType::i64},
        {"long", DType::i64},      {"int32", DType::i32},       {"int", DType::i32},
        {"int16", DType::i16},     {"short", DType::i16},       {"int8", DType::i8},
        {"char", DType::i8},       {"uint8", DType::u8},        {"byte", DType::u8},
        {"int4", DType::i4},       {"boolean", DType::boolean},
    };
    return names;
}

}  // namespace

Result<DType> read_dtype(const std::string& name, const std::string& what) {
    if (const auto dtype = parse_dtype(name)) return *dtype;
    std::vector<std::string> known;
    std::string list;
    for (const DType dtype : all_dtypes()) {
        known.emplace_back(to_string(dtype));
        list += (list.empty() ? "" : " ") + known.back();
    }
    const auto foreign = foreign_names().find(name);
    const std::string meant = foreign != foreign_names().end()
                                  ? fmt::format("; did you mean `{}`?", to_string(foreign->second))
                                  : did_you_mean(name, known);
    return Error{fmt::format("unknown dtype `{}` of {}{}", one_line(name, 60), what, meant),
                 {},
                 0,
                 0,
                 "known: " + list};
}

}  // namespace kernelwright

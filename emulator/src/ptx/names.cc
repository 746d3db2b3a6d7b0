// Tables of PTX's names, and the small queries of the parsed form.
#include <algorithm>
#include <array>
#include <utility>

#include "emulator/src/ptx/parsed.h"

namespace emulator::ptx {

namespace {

struct TypeRow {
    Type type;
    const char* name;
    std::uint32_t size;
};

constexpr TypeRow type_rows[] = {
    {Type::pred, "pred", 1},     {Type::b8, "b8", 1},           {Type::b16, "b16", 2},
    {Type::b32, "b32", 4},       {Type::b64, "b64", 8},         {Type::b128, "b128", 16},
    {Type::u8, "u8", 1},         {Type::u16, "u16", 2},         {Type::u32, "u32", 4},
    {Type::u64, "u64", 8},       {Type::s8, "s8", 1},           {Type::s16, "s16", 2},
    {Type::s32, "s32", 4},       {Type::s64, "s64", 8},         {Type::f16, "f16", 2},
    {Type::f16x2, "f16x2", 4},   {Type::bf16, "bf16", 2},       {Type::bf16x2, "bf16x2", 4},
    {Type::tf32, "tf32", 4},     {Type::f32, "f32", 4},         {Type::f64, "f64", 8},
    {Type::e4m3, "e4m3", 1},     {Type::e5m2, "e5m2", 1},       {Type::e4m3x2, "e4m3x2", 2},
    {Type::e5m2x2, "e5m2x2", 2}, {Type::e2m1x2, "e2m1x2", 1},   {Type::e2m3x2, "e2m3x2", 2},
    {Type::e3m2x2, "e3m2x2", 2}, {Type::ue8m0x2, "ue8m0x2", 2}, {Type::f32x2, "f32x2", 8},
    {Type::s16x2, "s16x2", 4},   {Type::u16x2, "u16x2", 4},     {Type::u4, "u4", 0},
    {Type::s4, "s4", 0},         {Type::b1, "b1", 0},           {Type::e2m1, "e2m1", 1},
    {Type::e2m3, "e2m3", 1},     {Type::e3m2, "e3m2", 1},       {Type::ue8m0, "ue8m0", 1},
    {Type::ue4m3, "ue4m3", 1},
};

}  // namespace

std::optional<Type> parse_type(std::string_view name) {
    for (const TypeRow& row : type_rows) {
        if (name == row.name) {
            return row.type;
        }
    }
    return std::nullopt;
}

const char* to_string(Type type) {
    for (const TypeRow& row : type_rows) {
        if (row.type == type) {
            return row.name;
        }
    }
    return "none";
}

std::uint32_t size_bytes(Type type) {
    for (const TypeRow& row : type_rows) {
        if (row.type == type) {
            return row.size;
        }
    }
    return 0;
}

File file_of(Type type) {
    switch (type) {
        case Type::pred:
            return File::predicate;
        case Type::b64:
        case Type::u64:
        case Type::s64:
        case Type::f64:
        case Type::f32x2:
        case Type::b128:
            return File::wide;
        default:
            return File::narrow;
    }
}

bool Instruction::has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::int32_t Module::find_function(std::string_view name) const {
    for (std::size_t i = 0; i < functions.size(); ++i) {
        if (functions[i].name == name) {
            return static_cast<std::int32_t>(i);
        }
    }
    return -1;
}

}  // namespace emulator::ptx

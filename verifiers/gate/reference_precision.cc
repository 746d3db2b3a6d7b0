#include "verifiers/gate/reference_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace kernelwright {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool goes_on(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

enum class Kind { name, number, other };
struct Token {
    Kind kind = Kind::other;
    std::string_view text;
};

// Names, numbers and what stands between them; a comment, a string and an #include line are one `other` each.
std::vector<Token> tokens_of(std::string_view s) {
    std::vector<Token> out;
    std::size_t i = 0;
    bool line_start = true;  // nothing but blanks since the last line break
    const auto take = [&](Kind kind, std::size_t end) {
        out.push_back({kind, s.substr(i, end - i)});
        i = end;
    };
    const auto after = [&](std::string_view what, std::size_t from) {
        const std::size_t at = s.find(what, from);
        return at == std::string_view::npos ? s.size() : at + what.size();
    };
    const auto quoted = [&](char quote) {
        std::size_t end = i + 1;
        while (end < s.size() && s[end] != quote && s[end] != '\n') end += s[end] == '\\' ? 2 : 1;
        return std::min(end + 1, s.size());
    };
    while (i < s.size()) {
        const char c = s[i];
        if (c == '\n') line_start = true;
        if (c == '/' && s.substr(i, 2) == "//") {
            take(Kind::other, std::min(s.find('\n', i), s.size()));
        } else if (c == '/' && s.substr(i, 2) == "/*") {
            take(Kind::other, after("*/", i + 2));
        } else if (c == '#' && line_start) {
            std::size_t word = i + 1;
            while (word < s.size() && (s[word] == ' ' || s[word] == '\t')) ++word;
            const bool include = s.substr(word, 7) == "include";
            take(Kind::other, include ? std::min(s.find('\n', i), s.size()) : word);
            line_start = false;
        } else if (c == 'R' && s.substr(i, 2) == "R\"" && s.find('(', i) != std::string_view::npos) {
            const std::size_t open = s.find('(', i);
            const std::string close = ")" + std::string(s.substr(i + 2, open - i - 2)) + "\"";
            take(Kind::other, after(close, open));
        } else if (c == '"' || c == '\'') {
            take(Kind::other, quoted(c));
        } else if (starts_name(c)) {
            std::size_t end = i;
            while (end < s.size() && goes_on(s[end])) ++end;
            take(Kind::name, end);
            line_start = false;
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                   (c == '.' && i + 1 < s.size() &&
                    std::isdigit(static_cast<unsigned char>(s[i + 1])) != 0)) {
            std::size_t end = i;
            while (end < s.size() && (goes_on(s[end]) || s[end] == '.' || s[end] == '\'' ||
                                      ((s[end] == '+' || s[end] == '-') &&
                                       std::string_view("eEpP").find(s[end - 1]) != std::string_view::npos &&
                                       (s.substr(i, 2) != "0x" || s[end - 1] == 'p' || s[end - 1] == 'P'))))
                ++end;
            take(Kind::number, end);
            line_start = false;
        } else {
            if (c != ' ' && c != '\t' && c != '\n' && c != '\r') line_start = false;
            take(Kind::other, i + 1);
        }
    }
    return out;
}

std::string number_in(std::string_view text, DType to) {
    const bool hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const bool floating = hex ? text.find_first_of("pP") != std::string_view::npos
                              : text.find_first_of(".eE") != std::string_view::npos;
    if (!floating) return std::string(text);
    std::string out(text);
    while (!out.empty() && std::string_view("fFlL").find(out.back()) != std::string_view::npos)
        out.pop_back();
    if (to == DType::f64) return out;
    // What f32 does not hold stays a double.
    const double value = std::fabs(std::strtod(out.c_str(), nullptr));
    return value > 3.4028234e38 || (value > 0 && value < 1.1754944e-38) ? out : out + "f";
}

using Names = std::map<std::string, std::string, std::less<>>;

// What a double's form of a float's name is called.
Names wide_names() {
    Names names{{"float", "double"},         {"__expf", "exp"},          {"__exp10f", "exp10"},
                {"__logf", "log"},           {"__log2f", "log2"},        {"__log10f", "log10"},
                {"__sinf", "sin"},           {"__cosf", "cos"},          {"__tanf", "tan"},
                {"__tanhf", "tanh"},         {"__powf", "pow"},          {"__sincosf", "sincos"},
                {"__fdividef", "__ddiv_rn"}, {"fdividef", "__ddiv_rn"},  {"__frsqrt_rn", "rsqrt"},
                {"__fmaf_rn", "__fma_rn"},   {"__fadd_rn", "__dadd_rn"}, {"__fsub_rn", "__dsub_rn"},
                {"__fmul_rn", "__dmul_rn"},  {"__fdiv_rn", "__ddiv_rn"}, {"__frcp_rn", "__drcp_rn"},
                {"__fsqrt_rn", "__dsqrt_rn"}};
    for (const char* count : {"1", "2", "3", "4"}) {
        names[fmt::format("float{}", count)] = fmt::format("double{}", count);
        names[fmt::format("make_float{}", count)] = fmt::format("make_double{}", count);
    }
    for (const char* to : {"int", "uint", "ll", "ull"}) {
        for (const char* way : {"rn", "rz", "rd", "ru"})
            names[fmt::format("__float2{}_{}", to, way)] = fmt::format("__double2{}_{}", to, way);
    }
    for (const char* f :
         {"exp",      "exp2",  "exp10",  "expm1", "log",       "log2",      "log10",      "log1p",
          "sqrt",     "rsqrt", "cbrt",   "rcbrt", "sin",       "cos",       "tan",        "asin",
          "acos",     "atan",  "atan2",  "sinh",  "cosh",      "tanh",      "asinh",      "acosh",
          "atanh",    "pow",   "fabs",   "fma",   "fmax",      "fmin",      "fmod",       "floor",
          "ceil",     "round", "rint",   "trunc", "nearbyint", "remainder", "fdim",       "erf",
          "erfc",     "hypot", "ldexp",  "frexp", "lgamma",    "tgamma",    "copysign",   "sincos",
          "sincospi", "sinpi", "cospi",  "modf",  "logb",      "ilogb",     "scalbn",     "lround",
          "llround",  "lrint", "llrint", "erfcx", "normcdf",   "erfinv",    "normcdfinv", "erfcinv",
          "rhypot",   "j0",    "j1",     "nan"})
        names[fmt::format("{}f", f)] = f;
    return names;
}

// The other way. Functions are overloaded, so that `exp` of a float is one of floats already.
Names narrow_names() {
    Names names;
    for (const auto& [narrow, wide] : wide_names()) {
        const bool overloaded = !wide.starts_with("__") && wide.find("double") == std::string::npos;
        if (!overloaded && narrow != "fdividef" && narrow != "__fdividef") names[wide] = narrow;
    }
    return names;
}

struct ShortType {
    const char* header;
    std::vector<DType> dtypes;
    std::vector<const char*> types;
    std::vector<const char*> conversions;  // to and from float
};
const std::array<ShortType, 3>& short_types() {
    static const std::array<ShortType, 3> all{
        {{"cuda_fp16.h",
          {DType::f16},
          {"__half", "half"},
          {"__half2float", "__float2half", "__float2half_rn", "__double2half"}},
         {"cuda_bf16.h",
          {DType::bf16},
          {"__nv_bfloat16", "nv_bfloat16"},
          {"__bfloat162float", "__float2bfloat16", "__float2bfloat16_rn", "__double2bfloat16"}},
         {"cuda_fp8.h", {DType::e4m3, DType::e5m2}, {"__nv_fp8_e4m3", "__nv_fp8_e5m2"}, {}}}};
    return all;
}

void add_short_names(Names& names, std::string_view source, DType to) {
    const std::string type = to == DType::f64 ? "double" : "float";
    bool any = false;
    for (const ShortType& s : short_types()) {
        if (source.find(s.header) == std::string_view::npos) continue;
        any = true;
        for (const char* name : s.types) names[name] = type;
        for (const char* name : s.conversions) names[name] = type;
    }
    if (!any) return;
    const std::string op = to == DType::f64 ? "__d" : "__f";
    for (const char* name : {"add", "sub", "mul"}) names[fmt::format("__h{}", name)] = op + name + "_rn";
    names["__hdiv"] = op + "div_rn";
    names["__hfma"] = "fma";
    names["__hmax"] = "fmax";
    names["__hmin"] = "fmin";
    names["__habs"] = "fabs";
    names["__hneg"] = "-";
    for (const char* f : {"exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos",
                          "floor", "ceil", "rint", "trunc", "tanh"})
        names[fmt::format("h{}", f)] = f;
}

bool holds_name(std::string_view text, const std::set<std::string, std::less<>>& names) {
    const std::vector<Token> tokens = tokens_of(text);
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const Token& t) { return t.kind == Kind::name && names.contains(t.text); });
}

// Names of types whose element is stored as `dtype`.
std::set<std::string, std::less<>> type_names(DType dtype) {
    if (dtype == DType::f64) return {"double", "double1", "double2", "double3", "double4"};
    if (dtype == DType::f32 || dtype == DType::tf32) return {"float", "float1", "float2", "float3", "float4"};
    for (const ShortType& s : short_types()) {
        if (std::find(s.dtypes.begin(), s.dtypes.end(), dtype) != s.dtypes.end())
            return {s.types.begin(), s.types.end()};
    }
    return {};
}

}  // namespace

std::string in_precision(std::string_view source, DType to) {
    Names names = to == DType::f64 ? wide_names() : narrow_names();
    add_short_names(names, source, to);
    std::string out;
    out.reserve(source.size() + 64);
    for (const Token& token : tokens_of(source)) {
        if (token.kind == Kind::number) {
            out += number_in(token.text, to);
        } else if (const auto it = names.find(token.text); token.kind == Kind::name && it != names.end()) {
            out += it->second;
        } else {
            out += token.text;
        }
    }
    return out;
}

std::optional<std::string> stays_in_its_precision(const Task& task, const Candidate& block) {
    static const std::set<std::string, std::less<>> bits{
        "__float_as_int",      "__float_as_uint",  "__double_as_longlong",
        "__half_as_short",     "__half_as_ushort", "__bfloat16_as_ushort",
        "__bfloat16_as_short", "__double2hiint",   "__double2loint"};
    if (holds_name(block.source, bits)) return "it works on the bits of floating-point numbers";
    for (const LaunchPlan& plan : block.plans) {
        if (!plan.tensormaps.empty()) return "it uses tensor maps";
        for (const KernelPlan& kernel : plan.kernels) {
            if (kernel.is_name_expression())
                return fmt::format("its kernel `{}` is a C++ name expression", kernel.name);
            if (!kernel.constants.empty())
                return fmt::format("its kernel `{}` copies tensors to constants", kernel.name);
            if (kernel.parameters.size() != kernel.arguments.size())
                return fmt::format("the parameters of its kernel `{}` were not found", kernel.name);
            for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
                const std::string& parameter = kernel.parameters[i];
                for (const auto* list : {&task.inputs, &task.outputs}) {
                    for (const TensorSpec& spec : *list) {
                        if (kernel.arguments[i].text != spec.name || !is_float(spec.dtype)) continue;
                        const DType stored = task.reference_dtype == DType::f64 ? DType::f64 : spec.dtype;
                        if (!holds_name(parameter, type_names(stored)))
                            return fmt::format("its parameter `{}` for the {} tensor `{}` is of another type",
                                               parameter, to_string(stored), spec.name);
                    }
                }
                for (const ScratchPlan& scratch : plan.scratch) {
                    if (kernel.arguments[i].text == scratch.name && is_float(scratch.dtype) &&
                        !holds_name(parameter, type_names(scratch.dtype)))
                        return fmt::format("its parameter `{}` for the {} scratch `{}` is of another type",
                                           parameter, to_string(scratch.dtype), scratch.name);
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace kernelwright

// The compiler says what it met; these say what to write instead. Only for mistakes that come up again and
// again.
#include <regex>

#include "harness/compile/findings.h"

namespace kernelwright {
namespace {

struct Hint {
    const char* pattern;
    const char* text;
};

constexpr Hint hints[] = {
    {R"re(cannot open source file "(/|\.\.))re",
     "files of the host are out of reach; put the code into the candidate itself"},
    {R"re(cannot open source file "(iostream|vector|string|array|map|memory|functional|tuple|chrono|thread|numeric)")re",
     "host library headers do not exist on the device; libcu++ has many of them as <cuda/std/...>"},
    {R"re(cannot open source file "(torch|ATen|c10|cutlass|cute|thrust)/)re",
     "only the CUDA toolkit's own device headers can be included"},
    {R"re(cannot open source file)re",
     "the toolkit's device headers and small stubs of the usual C headers can be included, nothing else"},
    {R"re("__shfl(_up|_down|_xor)?")re",
     "the forms without _sync are gone: __shfl_xor_sync(0xffffffff, value, lane_mask) and its siblings"},
    {R"re("__(any|all|ballot)")re",
     "the forms without _sync are gone: __ballot_sync(0xffffffff, predicate) and its siblings"},
    {R"re(identifier "(__half2?|half2?|__float2half\w*|__half2float\w*)" is undefined)re",
     "#include <cuda_fp16.h>"},
    {R"re(identifier "(__nv_bfloat162?|nv_bfloat162?|__float2bfloat16\w*)" is undefined)re",
     "#include <cuda_bf16.h>"},
    {R"re(identifier "__nv_fp8_\w*" is undefined)re", "#include <cuda_fp8.h>"},
    {R"re(name must be a namespace name|identifier "(wmma|nvcuda|cg)" is undefined|name followed by "::" must be a)re",
     "is the header missing? <mma.h> for nvcuda::wmma, <cooperative_groups.h> for cooperative_groups"},
    {R"re(identifier "(cudaMalloc|cudaMemcpy|cudaFree|cudaDeviceSynchronize|cudaStream_t|cudaError_t)")re",
     "a candidate holds device code only; the launch plan says what is launched"},
    {R"re(namespace "std" has no member "(min|max|clamp|swap)")re",
     "use min, max, fminf, fmaxf, or #include <algorithm>"},
    {R"re(namespace "std" has no member "numeric_limits")re",
     "#include <limits>, or use FLT_MAX and INFINITY"},
    {R"re(namespace "std" has no member "(is_|enable_if|conditional|remove_|decay))re",
     "#include <type_traits>"},
    {R"re(namespace "std" has no member "(exp|log|sqrt|sin|cos|tanh|pow|fabs|fmax|fmin|floor|ceil))re",
     "use expf, logf and their siblings, or #include <cmath>"},
    {R"re(calling a __host__ function)re", "mark the function __device__"},
    {R"re(cannot overload functions distinguished by return type alone|linkage specification is incompatible)re",
     "a name that is already a device function of CUDA cannot be defined again; choose another"},
};

}  // namespace

std::string hint_for(const std::string& message) {
    static const std::vector<std::regex> patterns = [] {
        std::vector<std::regex> out;
        for (const Hint& hint : hints) out.emplace_back(hint.pattern, std::regex::optimize);
        return out;
    }();
    const std::string start = message.substr(0, 400);  // a bound on what the expressions have to walk
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (std::regex_search(start, patterns[i])) return hints[i].text;
    }
    return "";
}

}  // namespace kernelwright

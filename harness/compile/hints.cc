// The compiler says what it met; these say what to write instead. Only for mistakes that come up again and
// again.
#include <string_view>

#include "harness/compile/findings.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

struct Hint {
    const char* text;   // what the message holds
    const char* words;  // and which of these (separated by blanks) follows at once; "": anything
    const char* hint;
};

constexpr Hint hints[] = {
    {"cannot open source file \"", "/ ..",
     "files of the host are out of reach; put the code into the candidate itself"},
    {"cannot open source file \"",
     "iostream\" vector\" string\" array\" map\" memory\" functional\" tuple\" chrono\" thread\" numeric\"",
     "host library headers do not exist on the device; libcu++ has many of them as <cuda/std/...>"},
    {"cannot open source file \"", "torch/ ATen/ c10/ cutlass/ cute/ thrust/",
     "only the CUDA toolkit's own device headers can be included"},
    {"cannot open source file \"", "",
     "the toolkit's device headers and small stubs of the usual C headers can be included, nothing else"},
    {"identifier \"", "__shfl\" __shfl_up\" __shfl_down\" __shfl_xor\"",
     "the forms without _sync are gone: __shfl_xor_sync(0xffffffff, value, lane_mask) and its siblings"},
    {"\"__shfl", "\" _up\" _down\" _xor\"",
     "the forms without _sync are gone: __shfl_xor_sync(0xffffffff, value, lane_mask) and its siblings"},
    {"\"__", "any\" all\" ballot\"",
     "the forms without _sync are gone: __ballot_sync(0xffffffff, predicate) and its siblings"},
    {"identifier \"", "__half\" __half2\" half\" half2\" __float2half __half2float __floats2half2",
     "#include <cuda_fp16.h>"},
    {"identifier \"", "__nv_bfloat16 nv_bfloat16 __float2bfloat16 __bfloat162float",
     "#include <cuda_bf16.h>"},
    {"identifier \"", "__nv_fp8", "#include <cuda_fp8.h>"},
    {"identifier \"", "wmma\" nvcuda\" cg\" cooperative_groups\"",
     "is the header missing? <mma.h> for nvcuda::wmma, <cooperative_groups.h> for cooperative_groups"},
    {"name must be a namespace name", "",
     "is the header missing? <mma.h> for nvcuda::wmma, <cooperative_groups.h> for cooperative_groups"},
    {"name followed by \"::\" must be a", "",
     "is the header missing? <mma.h> for nvcuda::wmma, <cooperative_groups.h> for cooperative_groups"},
    {"identifier \"", "cudaMalloc cudaMemcpy cudaFree cudaDeviceSynchronize cudaStream cudaError cudaMemset",
     "a candidate holds device code only; the launch plan says what is launched"},
    {"namespace \"std\" has no member \"", "min\" max\" clamp\" swap\"",
     "use min, max, fminf, fmaxf, or #include <algorithm>"},
    {"namespace \"std\" has no member \"", "numeric_limits",
     "#include <limits>, or use FLT_MAX and INFINITY"},
    {"namespace \"std\" has no member \"", "is_ enable_if conditional remove_ decay",
     "#include <type_traits>"},
    {"namespace \"std\" has no member \"", "exp log sqrt sin cos tanh pow fabs fmax fmin floor ceil",
     "use expf, logf and their siblings, or #include <cmath>"},
    {"is used before its value is set", "",
     "give it an initial value; what the compiler makes of an undefined one need not show in the result"},
    {"calling a __host__ function", "", "mark the function __device__"},
    {"cannot overload functions distinguished by return type alone", "",
     "a name that is already a device function of CUDA cannot be defined again; choose another"},
    {"linkage specification is incompatible", "",
     "a name that is already a device function of CUDA cannot be defined again; choose another"},
};

bool applies(const Hint& hint, std::string_view message) {
    const std::size_t at = message.find(hint.text);
    if (at == std::string_view::npos) return false;
    const std::string_view rest = message.substr(at + std::string_view(hint.text).size());
    if (*hint.words == '\0') return true;
    for (const std::string& word : split(hint.words, ' ')) {
        if (rest.substr(0, word.size()) == word) return true;
    }
    return false;
}

}  // namespace

std::string hint_for(const std::string& message) {
    for (const Hint& hint : hints) {
        if (applies(hint, message)) return hint.hint;
    }
    return "";
}

}  // namespace kernelwright

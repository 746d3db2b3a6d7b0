// expect: pass
#include <type_traits>
static_assert(std::is_same<std::remove_cv_t<const volatile int>, int>::value && !std::is_same_v<int, long>, "");
static_assert(std::is_floating_point_v<float> && std::is_integral<unsigned>::value && !std::is_integral_v<float>, "");
static_assert(std::is_same_v<std::conditional_t<true, int, float>, int> && std::is_pointer_v<float*>, "");
static_assert(std::is_same_v<std::decay_t<const int(&)[3]>, const int*> && std::is_signed_v<int> && std::is_unsigned_v<uint8_t>, "");
static_assert(std::is_same_v<std::common_type_t<int, double>, double> && std::is_convertible_v<int, float>, "");
static_assert(std::is_same_v<std::make_unsigned_t<int>, unsigned> && std::is_trivially_copyable_v<float4>, "");
template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0> __device__ T half_of(T x) { return x / 2; }
template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0> __device__ T half_of(T x) { return x >> 1; }
extern "C" __global__ void k(float* x, int* y) { x[0] = half_of(x[0]); y[0] = half_of(y[0]); }

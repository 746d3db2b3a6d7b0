// expect: pass
#include <algorithm>
#include <limits>
#include <utility>
#include <cstddef>
extern "C" __global__ void k(float* x, int n) {
    float m = std::numeric_limits<float>::lowest();
    for (int i = 0; i < n; ++i) m = std::max(m, x[i]);
    std::swap(x[0], x[1]);
    x[2] = std::clamp(m, 0.f, 1.f) + std::min(n, 3) + std::numeric_limits<int>::max() + std::numeric_limits<float>::infinity();
    std::size_t s = sizeof(std::index_sequence<0, 1>);
    x[3] = std::move(m) + s;
}

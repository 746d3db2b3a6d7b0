// buffer: x input f32 512
// buffer: y output f32 128
// launch: k grid=1 block=128 args=x,y
// expect: clean
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float acc = 0, want = 0;
    for (int k = 0; k < 4; ++k) {
        if (k == 0) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[0], x, cuda::aligned_size_t<4>(512), pipe);
            pipe.producer_commit();
        }
        if (k < 3) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[(k + 1) & 1], x + 128 * (k + 1), cuda::aligned_size_t<4>(512), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        acc += s[k & 1][127 - threadIdx.x];
        pipe.consumer_release();
        want += x[128 * k + 127 - threadIdx.x];
    }
    if (acc != want) __trap();
    y[threadIdx.x] = acc;
}

// buffer: y inout i32 4
// launch: k grid=4 block=64 args=y
// expect: clean
// Every lane takes a lock in turn: lanes of one warp wait for each other.
__device__ int lock = 0;
extern "C" __global__ void k(int* y) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            volatile int* v = y;
            v[0] = v[0] + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}

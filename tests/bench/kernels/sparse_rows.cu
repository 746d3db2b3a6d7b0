// Irregular: every thread walks a list whose length and places depend on the data (a sparse matrix's rows, one
// thread each): divergent loops, scattered loads.
extern "C" __global__ void sparse_rows(const float* values, const float* x, float* out, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const int length = 4 + (row * 7919) % 29;
    unsigned at = row * 2654435761u;
    float sum = 0.f;
    for (int k = 0; k < length; ++k) {
        at = at * 1664525u + 1013904223u;
        const unsigned column = (at >> 8) % (unsigned)n;
        sum += values[column] * x[(column * 5 + k) % n];
    }
    out[row] = sum;
}

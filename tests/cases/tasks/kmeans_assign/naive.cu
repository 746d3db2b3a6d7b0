/* kernelwright
kernels:
  - name: kmeans_assign
    grid: ["ceil_div(N, 128)"]
    block: 128
    args: [x, centroids, index, distance, N, K, D]
*/
extern "C" __global__ void kmeans_assign(const float* x, const float* centroids, int* index, float* distance, int N, int K, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int best = 0;
    float least = 0.0f;
    for (int j = 0; j < K; ++j) {
        float sum = 0.0f;
        for (int e = 0; e < D; ++e) {
            float difference = x[(long long)i * D + e] - centroids[j * D + e];
            sum += difference * difference;
        }
        if (j == 0 || sum < least) {
            least = sum;
            best = j;
        }
    }
    index[i] = best;
    distance[i] = least;
}

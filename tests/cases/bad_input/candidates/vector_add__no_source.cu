// expect-exit: 1
// expect-stage: plan
// expect-rule: kernel-not-found
// expect: the compiled file has no kernel `vadd`
/* kernelwright
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: [a, b, y, N]
*/

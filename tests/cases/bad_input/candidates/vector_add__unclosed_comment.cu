// expect-exit: 1
// expect-stage: plan
// expect-rule: unclosed-comment
// expect: the launch plan's comment is not closed
// parser
/* kernelwright
kernels: []

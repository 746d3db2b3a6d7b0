local reductions = {
  softmax = true, log_softmax = true, layernorm = true, rmsnorm = true, add_rmsnorm = true, groupnorm = true,
  sum = true, mean = true, max = true, min = true, prod = true, logsumexp = true, argmax = true, argmin = true,
  cross_entropy = true, attention_decode = true, quantize = true,
}
return skill{
  id = "reduce.warp-shuffle", version = 1, phase = "refine",
  intent = "Reduce within warps by shuffles instead of a shared-memory tree",
  origin = { kind = "hand" },
  pre = {
    { "reduces", function(c) return reductions[c.task.op] == true end },
    { "many_barriers", function(c) return (c.view.barriers_per_warp or 0) >= 6 end },
    { "few_shuffles", function(c) return (c.view.shuffles_per_warp or 0) < 5 end },
  },
  advice = function(c)
    return ("Each warp waits at %.0f barriers: a tree in shared memory. Reduce 32 values with five __shfl_xor_sync "
      .. "(offsets 16, 8, 4, 2, 1), let lane 0 of each warp store one value to shared memory, one barrier, and let the "
      .. "first warp reduce those (%d of them) the same way, or every warp for itself so that no second barrier is "
      .. "needed."):format(c.view.barriers_per_warp, math.ceil((c.launch.threads or 0) / 32))
  end,
  expect = {
    { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "down", 0.3 },
    { "smsp__inst_executed.sum", "down" },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "invalid-shuffle", "shared-race", "divergent-barrier" },
}

-- How the passes of an op become one.
local online = "a running maximum with a rescaled running sum (online softmax: m' = max(m, x); "
  .. "s = s * exp(m - m') + exp(x - m'))"
local moments = "the sum and the sum of squares together, about the first element (Welford's update where it must be "
  .. "exact)"
local fused = {
  softmax = online, log_softmax = online, logsumexp = online, cross_entropy = online, attention = online,
  attention_decode = online, layernorm = moments, groupnorm = moments,
}
return skill{
  id = "fuse.passes", version = 1, phase = "refine",
  intent = "Read the input once",
  origin = { kind = "hand" },
  causes = { "rereads" },
  pre = {
    { "not_a_product", function(c) return c.task.matrix == false end },
    { "read_again", function(c) return (c.view.rereads or 0) >= 1.5 end },
    { "by_passes", function(c) return c.view.rereads <= 6 end },
    { "worth_it", function(c) return (c.findings["rereads"] or 1) >= 1.05 end },
  },
  advice = function(c)
    return ("The input is read %.1f times. Where a thread's part of a row fits, load it once into registers (an array of "
      .. "constant size in a fully unrolled loop) and make the later passes over that; else fuse the passes: %s. "
      .. "DRAM traffic is %.1f MB (modelled), the task needs %.1f MB."):format(
      c.view.rereads, fused[c.task.op] or "all results of a pass from one read of each element",
      (c.model.dram_bytes or 0) / 1e6,
      ((c.task.read_bytes or 0) + (c.task.written_bytes or 0)) / 1e6)
  end,
  expect = {
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "down", 0.2 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "spill", "numerics" },
}

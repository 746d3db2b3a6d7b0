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
      .. "constant size in a fully unrolled loop) and make the later passes over that; else fuse the passes: a running "
      .. "maximum with a rescaled running sum (online softmax: m' = max(m, x); s = s * exp(m - m') + exp(x - m')), or "
      .. "sum and sum of squares about the first element (Welford where it must be exact). DRAM traffic is %.1f MB "
      .. "(modelled), the task needs %.1f MB."):format(
      c.view.rereads, (c.model.dram_bytes or 0) / 1e6,
      ((c.task.read_bytes or 0) + (c.task.written_bytes or 0)) / 1e6)
  end,
  expect = {
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "down", 0.2 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "spill", "numerics" },
}

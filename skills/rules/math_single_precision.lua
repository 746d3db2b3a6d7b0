return skill{
  id = "math.single-precision", version = 1, phase = "refine",
  intent = "No double arithmetic by accident",
  origin = { kind = "hand" },
  causes = { "double-by-accident" },
  pre = {
    { "executes_doubles", function(c) return (c.counters["smsp__inst_executed_pipe_fp64.sum"] or 0) > 0 end },
    { "task_without_doubles", function(c) return c.task.dtypes.f64 ~= true and c.task.dtype ~= nil end },
  },
  advice = function(c)
    return ("%d double-precision warp instructions run in a task without f64. Give literals their suffix (0.5f, 1e-5f), "
      .. "call expf, sqrtf, fmaxf instead of exp, sqrt, fmax, and accumulate in float with a compensated or pairwise sum "
      .. "where more than 24 bits are wanted."):format(c.counters["smsp__inst_executed_pipe_fp64.sum"])
  end,
  expect = {
    { "smsp__inst_executed_pipe_fp64.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "numerics" },
}

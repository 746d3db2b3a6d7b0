return skill{
  id = "math.fast-exp", version = 1, phase = "refine",
  intent = "Fewer special-function instructions",
  origin = { kind = "hand" },
  causes = { "special-functions" },
  pre = {
    { "special_functions", function(c) return (c.counters["smsp__inst_executed_pipe_xu.sum"] or 0) > 0 end },
    { "xu_near_bound", function(c) return (c.model.share.xu or 0) >= 0.5 end },
    { "f32_or_less", function(c) return c.task.dtype ~= "f64" end },
  },
  advice = function(c)
    return ("The special-function unit takes %.0f %% of the bound: %d warp instructions at 16 lanes a clock. Compute each "
      .. "exponential once (keep it in a register for the second use), fold the scale into exp2f(x * 1.44269504f), divide "
      .. "by multiplying with one reciprocal a row (1.0f / s), and move part of the exponentials to the fma lanes by a "
      .. "polynomial where the error bound allows it."):format(
      100 * c.model.share.xu, c.counters["smsp__inst_executed_pipe_xu.sum"])
  end,
  expect = {
    { "smsp__inst_executed_pipe_xu.sum", "down", 0.1 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "numerics" },
}

return skill{
  id = "occupancy.registers", version = 1, phase = "refine",
  intent = "Use fewer registers, so that more warps hide latency",
  origin = { kind = "hand" },
  causes = { "low-occupancy" },
  pre = {
    { "limited_by_registers", function(c) return c.view.limiter == "registers" end },
    { "few_warps", function(c) return c.view.occupancy < 0.5 end },
    { "waits", function(c) return (c.model.share.latency or 0) >= 0.6 end },
    { "no_tensor_cores", function(c)
        return (c.counters["smsp__inst_executed_pipe_tensor.sum"] or 0) == 0
      end },
  },
  advice = function(c)
    return ("%d registers a thread leave room for %d of %d warps on an SM, and the kernel is bound by latency. Let a "
      .. "thread own fewer outputs, unroll less, or recompute cheap values; `__launch_bounds__(%d, %d)` makes the "
      .. "compiler try. Watch for spills: local loads must stay at 0."):format(
      c.resources.registers, c.view.warps_per_sm, c.device.max_warps, c.launch.threads,
      math.min(c.device.max_blocks, 2 * c.view.blocks_per_sm))
  end,
  expect = {
    { "launch__registers_per_thread", "down", 0.1 },
    { "sm__maximum_warps_per_active_cycle_pct", "up", 0.1 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "spill" },
}

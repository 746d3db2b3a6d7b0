return skill{
  id = "occupancy.shared", version = 1, phase = "refine",
  intent = "Use less shared memory a block, so that more warps hide latency",
  origin = { kind = "hand" },
  causes = { "low-occupancy" },
  pre = {
    { "limited_by_shared", function(c) return c.view.limiter == "shared" end },
    { "few_warps", function(c) return c.view.occupancy < 0.5 end },
    { "waits", function(c) return (c.model.share.latency or 0) >= 0.6 end },
    { "not_buffering", function(c) return (c.view.async_share or 0) < 0.5 end },
  },
  advice = function(c)
    return ("%d bytes of shared memory a block let %d block%s (%d of %d warps) live on an SM of %d bytes. Use a smaller "
      .. "tile or a narrower type in it, let buffers whose lives do not overlap share their bytes, keep in registers "
      .. "what only one thread reads, or give the block more threads for the same tile."):format(
      c.resources.shared, c.view.blocks_per_sm, c.view.blocks_per_sm == 1 and "" or "s", c.view.warps_per_sm,
      c.device.max_warps, c.device.smem_per_sm)
  end,
  expect = {
    { "sm__maximum_warps_per_active_cycle_pct", "up", 0.1 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "shared-race" },
}

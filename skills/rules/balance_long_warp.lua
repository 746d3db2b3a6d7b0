return skill{
  id = "balance.long-warp", version = 1, phase = "refine",
  intent = "Share the work of the one warp that everything waits for",
  origin = { kind = "hand" },
  causes = { "uneven-warps" },
  pre = {
    { "one_warp_longer", function(c) return (c.view.longest_warp_ratio or 0) >= 3 end },
    { "waits", function(c) return (c.model.share.latency or 0) >= 0.5 end },
  },
  advice = function(c)
    return ("One warp executes %.0f times the instructions of the average warp: `if (threadIdx.x == 0)` or a first warp "
      .. "that does everybody's tail. Spread that loop over the warp (one element a lane, then a shuffle reduction) or "
      .. "over the block."):format(c.view.longest_warp_ratio)
  end,
  expect = {
    { "kernelwright__longest_warp_instructions.max", "down", 0.3 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "shared-race" },
}

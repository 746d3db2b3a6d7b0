return skill{
  id = "fuse.launches", version = 1, phase = "refine",
  intent = "Fewer kernels in the sequence",
  origin = { kind = "hand" },
  causes = { "many-launches" },
  pre = {
    { "several_kernels", function(c) return (c.launch.kernels or 0) >= 2 end },
    { "launches_dominate", function(c)
        return (c.findings["many-launches"] or 1) >= 1.15
      end },
  },
  advice = function(c)
    return ("%d kernels are launched in %.1f us (modelled), about %.0f us of it launching. Fuse what works on the same "
      .. "elements into one kernel; a reduction followed by its use fits one block a row, or the last block to finish "
      .. "(an atomic counter that it resets, with __threadfence) can combine the partial results."):format(
      c.launch.kernels, c.model.time_us, c.launch.kernels * (c.model.launch_us or 0))
  end,
  expect = {
    { "gpu__time_duration.sum", "down", 0.1 },
    { "smsp__warps_launched.sum", "down" },
  },
  avoids = { "global-race", "inter-block-wait" },
}

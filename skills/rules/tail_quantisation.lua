return skill{
  id = "tail.quantisation", version = 1, phase = "refine",
  intent = "Fill the last wave",
  origin = { kind = "hand" },
  causes = { "tail-wave" },
  pre = {
    { "more_than_a_wave", function(c) return (c.view.waves or 0) > 1 end },
    { "few_waves", function(c) return c.view.waves < 6 end },
    { "last_wave_thin", function(c) return c.view.waves % 1 > 0 and c.view.waves % 1 < 0.6 end },
    { "worth_it", function(c) return (c.findings["tail-wave"] or 1) >= 1.05 end },
  },
  advice = function(c)
    local slots = c.view.blocks_per_sm * c.device.sm_count
    return ("%d blocks make %.2f waves of %d: the last wave fills %.0f %% of the device. Launch as many blocks as fit at "
      .. "once and let each loop over tiles (`grid: [\"sm_count * resident_blocks(KERNEL)\", 1, 1]`), or change the tile "
      .. "so that the number of blocks is just below a multiple of %d."):format(
      c.launch.blocks, c.view.waves, slots, 100 * (c.view.waves % 1), slots)
  end,
  expect = {
    { "launch__waves_per_multiprocessor", "down" },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "occupancy_drop" },
}

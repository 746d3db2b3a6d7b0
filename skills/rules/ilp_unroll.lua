return skill{
  id = "ilp.unroll", version = 1, phase = "refine",
  intent = "More independent loads in flight in each warp",
  origin = { kind = "hand" },
  pre = {
    { "waits", function(c) return c.model.bound == "latency" end },
    { "loads_in_loop", function(c) return (c.view.loads_per_warp or 0) >= 8 end },
    { "little_in_flight", function(c) return (c.view.bytes_in_flight or 0) < 2 * (c.view.bytes_needed or 0) end },
    { "registers_left", function(c) return (c.resources.registers or 255) <= 96 end },
  },
  advice = function(c)
    return ("Bound by latency: the resident warps keep %.1f KiB in flight on an SM, DRAM needs %.1f (modelled). Issue "
      .. "four to eight independent loads before the first use (`#pragma unroll 4` over a loop with separate "
      .. "accumulators, joined at the end), or 16-byte loads; a chain in which each load waits for the last cannot be "
      .. "hidden."):format(c.view.bytes_in_flight / 1024, c.view.bytes_needed / 1024)
  end,
  expect = {
    { "launch__registers_per_thread", "up" },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "spill", "occupancy_drop" },
}

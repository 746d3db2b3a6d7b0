return skill{
  id = "grid.fill-sms", version = 1, phase = "refine",
  intent = "Give every SM a block",
  origin = { kind = "hand" },
  causes = { "few-blocks" },
  pre = {
    { "sms_idle", function(c) return (c.view.sms_used or 1) < 0.9 end },
    { "work_to_split", function(c)
        return (c.view.loads_per_warp or 0) >= 16 or (c.view.instructions_per_warp or 0) >= 1000
      end },
    { "not_launch_bound", function(c) return c.model.bound ~= "launch" end },
  },
  advice = function(c)
    return ("%d block%s for %d SMs: most of the device idles. Split the work of a block: smaller blocks of rows, or a "
      .. "second grid dimension over the reduced axis with partial results in scratch and a second kernel that combines "
      .. "them (`scratch: {partial: ...}`). Aim at %d blocks or more of 128 to 256 threads."):format(
      c.launch.blocks, c.launch.blocks == 1 and "" or "s", c.device.sm_count, 4 * c.device.sm_count)
  end,
  expect = {
    { "sm__ctas_launched.sum", "up", 0.5 },
    { "gpu__time_duration.sum", "down", 0.1 },
  },
  avoids = { "uninitialised-read", "global-race" },
}

return skill{
  id = "async.cp-async", version = 1, phase = "refine",
  intent = "Load the next tile while computing on this one",
  origin = { kind = "hand" },
  pre = {
    { "device_has_cp_async", function(c) return (c.device.cc or 0) >= 80 end },
    { "stages_through_shared", function(c) return (c.view.staged_share or 0) >= 0.5 end },
    { "not_yet", function(c) return (c.view.async_share or 0) < 0.5 end },
    { "several_tiles", function(c) return (c.view.barriers_per_warp or 0) >= 8 end },
    { "waits", function(c) return (c.model.share.latency or 0) >= 0.4 end },
    { "room_for_two", function(c) return 2 * (c.resources.shared or 0) <= (c.device.smem_optin or 0) end },
  },
  advice = function(c)
    return ("Each tile is loaded, waited for and then used (%.0f barriers a warp). Keep two tiles in shared memory (%d "
      .. "bytes instead of %d): start the copy of tile k + 1 with __pipeline_memcpy_async (<cuda_pipeline.h>) or "
      .. "cp.async.cg.shared.global of 16 bytes, compute on tile k, then wait (cp.async.wait_group) and synchronise "
      .. "once a tile."):format(c.view.barriers_per_warp, 2 * c.resources.shared, c.resources.shared)
  end,
  expect = {
    { "launch__shared_mem_per_block", "up" },
    { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "down" },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "shared-race", "uninitialised-read", "occupancy_drop" },
}

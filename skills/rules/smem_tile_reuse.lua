return skill{
  id = "smem.tile-reuse", version = 1, phase = "refine",
  intent = "Load what several threads need once, into a shared-memory tile",
  origin = { kind = "hand" },
  causes = { "rereads" },
  pre = {
    { "reuse_across_threads", function(c) return c.task.matrix == true end },
    { "reloaded", function(c) return (c.view.rereads or 0) >= 8 end },
    { "not_staged", function(c) return (c.view.staged_share or 0) < 0.25 end },
    { "room_in_shared", function(c)
        return (c.device.smem_optin or 0) - (c.resources.shared or 0) >= 16384
      end },
  },
  advice = function(c)
    return ("Every input sector is loaded %.0f times from L1 or beyond. Tile the product: a block computes a 64 x 64 "
      .. "piece of the output, loads a 64 x 16 and a 16 x 64 piece of the inputs into shared memory (%d bytes of %d are "
      .. "used now), synchronises, and each thread keeps a 4 x 4 or 8 x 8 piece of the output in registers, so that one "
      .. "shared load feeds several multiply-adds. Guard ragged edges by storing zeros into the tile."):format(
      c.view.rereads, c.resources.shared or 0, c.device.smem_optin)
  end,
  expect = {
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "down", 0.5 },
    { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down", 0.2 },
  },
  avoids = { "shared-race", "uninitialised-read", "divergent-barrier", "out-of-bounds" },
}

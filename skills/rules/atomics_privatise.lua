return skill{
  id = "atomics.privatise", version = 1, phase = "refine",
  intent = "Combine in the block before touching global memory",
  origin = { kind = "hand" },
  causes = { "atomic-contention" },
  pre = {
    { "global_atomics", function(c) return (c.view.atomics_per_block or 0) > 0 end },
    { "many_a_block", function(c) return c.view.atomics_per_block >= 8 end },
    { "contended", function(c)
        return (c.model.share.atomic or 0) >= 0.3 or (c.findings["atomic-contention"] or 1) >= 1.1
      end },
  },
  advice = function(c)
    return ("A block issues %.0f global atomic requests and they wait for each other. For a sum, reduce in the warp "
      .. "(__shfl_down_sync) and the block first and add one value a block; for a histogram or scatter, keep a private "
      .. "copy in shared memory (cleared, then a barrier), add there, and add the copy to global memory at the end with "
      .. "a grid-stride loop over few blocks (%d to %d)."):format(
      c.view.atomics_per_block, c.device.sm_count, 4 * c.device.sm_count)
  end,
  expect = {
    { "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "shared-race", "uninitialised-read" },
}

return skill{
  id = "coalesce.global-loads", version = 1, phase = "refine",
  intent = "Let neighbouring threads load neighbouring addresses",
  origin = { kind = "hand" },
  causes = { "uncoalesced-loads" },
  pre = {
    { "loads_global_memory", function(c)
        return (c.counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] or 0) > 0
      end },
    { "sectors_wasted", function(c) return (c.view.load_excess or 0) >= 1.5 end },
    { "worth_it", function(c) return (c.findings["uncoalesced-loads"] or 1) >= 1.05 end },
  },
  advice = function(c)
    local per = c.counters["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"] or 0
    return ("A warp's global load touches %.1f sectors of 32 bytes, %.1f times what its data needs%s. Map "
      .. "threadIdx.x to the innermost (contiguous) axis, so that lane i reads element base + i; where the algorithm "
      .. "needs the other axis, load a tile by rows into shared memory and read the column there."):format(
      per, c.view.load_excess, c.where["uncoalesced-loads"] and " (" .. c.where["uncoalesced-loads"] .. ")" or "")
  end,
  expect = {
    { "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "down", 0.2 },
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "down", 0.2 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "out-of-bounds", "shared-race" },
}

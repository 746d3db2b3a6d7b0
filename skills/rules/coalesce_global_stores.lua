return skill{
  id = "coalesce.global-stores", version = 1, phase = "refine",
  intent = "Let neighbouring threads store to neighbouring addresses",
  origin = { kind = "hand" },
  causes = { "uncoalesced-stores" },
  pre = {
    { "stores_global_memory", function(c)
        return (c.counters["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] or 0) > 0
      end },
    { "sectors_wasted", function(c) return (c.view.store_excess or 0) >= 1.5 end },
    { "worth_it", function(c) return (c.findings["uncoalesced-stores"] or 1) >= 1.05 end },
  },
  advice = function(c)
    local per = c.counters["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"] or 0
    return ("A warp's global store touches %.1f sectors of 32 bytes, %.1f times what its data needs%s. Let lane i "
      .. "write element base + i; for a transposed result, write into a shared-memory tile first (rows padded by one "
      .. "element) and store the tile by rows of the output."):format(
      per, c.view.store_excess, c.where["uncoalesced-stores"] and " (" .. c.where["uncoalesced-stores"] .. ")" or "")
  end,
  expect = {
    { "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "down", 0.2 },
    { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "down", 0.2 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "out-of-bounds", "shared-race" },
}

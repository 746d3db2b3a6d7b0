return skill{
  id = "spill.reduce", version = 1, phase = "refine",
  intent = "Keep values in registers instead of local memory",
  origin = { kind = "hand" },
  causes = { "local-memory" },
  pre = {
    { "uses_local_memory", function(c)
        return (c.counters["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"] or 0)
          + (c.counters["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"] or 0) > 0 or (c.resources.spill_bytes or 0) > 0
      end },
    { "worth_it", function(c)
        return (c.findings["local-memory"] or 1) >= 1.03 or (c.resources.spill_bytes or 0) >= 64
      end },
  },
  advice = function(c)
    local spilled = c.resources.spill_bytes or 0
    local why = spilled > 0 and ("ptxas spilled %d bytes (%d registers a thread)"):format(spilled, c.resources.registers)
      or ("a local array of a thread is indexed at run time (%d bytes of stack)"):format(c.resources.stack_bytes or 0)
    return why .. ": these loads and stores go through L1. Index local arrays only with constants (`#pragma unroll` "
      .. "with fixed trip counts), let a thread own a smaller piece, shorten live ranges, or raise the limit of "
      .. "`__launch_bounds__` / `--maxrregcount` if one is set."
  end,
  expect = {
    { "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "occupancy_drop" },
}

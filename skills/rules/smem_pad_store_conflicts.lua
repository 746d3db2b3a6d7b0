return skill{
  id = "smem.pad-store-conflicts", version = 1, phase = "refine",
  intent = "Spread a warp's shared-memory stores over the 32 banks",
  origin = { kind = "hand" },
  causes = { "bank-conflicts" },
  pre = {
    { "store_conflicts", function(c)
        return (c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] or 0)
          >= 0.3 * (c.counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] or 0)
          and (c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] or 0) > 0
      end },
    { "more_than_loads", function(c)
        return c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"]
          > (c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] or 0)
      end },
    { "worth_it", function(c) return (c.findings["bank-conflicts"] or 1) >= 1.03 end },
  },
  advice = function(c)
    return ("Shared-memory stores conflict: %d of %d wavefronts are replays. The lanes of a store are a multiple of 32 "
      .. "words apart: pad the row by one element, or swap the roles of the indices so that threadIdx.x runs along the "
      .. "innermost extent when storing."):format(
      c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
      c.counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"])
  end,
  expect = {
    { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "too-much-shared-memory", "misaligned-access" },
}

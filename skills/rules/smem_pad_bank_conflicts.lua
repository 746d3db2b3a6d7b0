return skill{
  id = "smem.pad-bank-conflicts", version = 1, phase = "refine",
  intent = "Spread a warp's shared-memory accesses over the 32 banks",
  origin = { kind = "hand" },
  causes = { "bank-conflicts" },
  pre = {
    { "uses_shared", function(c)
        return (c.counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] or 0)
          + (c.counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] or 0) > 0
      end },
    { "conflicts", function(c) return (c.view.conflict_share or 0) >= 0.2 end },
    { "loads_most", function(c)
        return (c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] or 0)
          >= (c.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] or 0)
      end },
    { "worth_it", function(c)
        return (c.findings["bank-conflicts"] or 1) >= 1.03 or (c.model.share.shared or 0) >= 0.2
      end },
  },
  advice = function(c)
    return ("%.0f %% of the shared-memory wavefronts are replays for bank conflicts%s. Pad the innermost extent by one "
      .. "element (`__shared__ float tile[32][33]`), or by 16 bytes where rows are read with 16-byte loads, or XOR the "
      .. "column with the row; lanes of a warp must fall into different banks (address / 4 %% 32) or read the same "
      .. "word."):format(100 * c.view.conflict_share,
      c.where["bank-conflicts"] and " (" .. c.where["bank-conflicts"] .. ")" or "")
  end,
  expect = {
    { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "too-much-shared-memory", "misaligned-access" },
}

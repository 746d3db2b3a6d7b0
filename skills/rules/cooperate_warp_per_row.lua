local row_ops = {
  softmax = true, log_softmax = true, layernorm = true, rmsnorm = true, add_rmsnorm = true, groupnorm = true,
  sum = true, mean = true, max = true, min = true, prod = true, logsumexp = true, argmax = true, argmin = true,
  topk = true, cross_entropy = true, cumsum = true,
}
-- Length of the innermost axis of the first input.
local function row_length(c)
  local shape = c.task.inputs and c.task.inputs[1] and c.task.inputs[1].shape
  return shape and #shape > 0 and shape[#shape] or 0
end

return skill{
  id = "cooperate.warp-per-row", version = 1, phase = "refine",
  intent = "Give each short row to a warp instead of a thread",
  origin = { kind = "hand" },
  causes = { "uncoalesced-loads", "few-blocks" },
  pre = {
    { "row_operation", function(c) return row_ops[c.task.op] == true end },
    { "rows_short", function(c) return row_length(c) >= 32 and row_length(c) < 1024 end },
    { "lanes_strided", function(c) return (c.view.load_excess or 0) >= 4 end },
    { "threads_do_not_share", function(c)
        return (c.view.shuffles_per_warp or 0) < 1 and (c.view.barriers_per_warp or 0) < 1
      end },
  },
  advice = function(c)
    return ("Each thread walks a row of %d elements of its own, so lanes are that far apart. Let a warp work on one "
      .. "row: lane l takes elements l, l + 32, ...; reduce with __shfl_xor_sync over the whole warp, no shared memory "
      .. "and no barrier is needed. Use block: [32, 4, 1] with the row in threadIdx.y."):format(row_length(c))
  end,
  expect = {
    { "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "down", 0.5 },
    { "smsp__warps_launched.sum", "up", 0.5 },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "invalid-shuffle", "out-of-bounds" },
}

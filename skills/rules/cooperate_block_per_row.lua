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
  id = "cooperate.block-per-row", version = 1, phase = "refine",
  intent = "Give each long row to a block instead of a thread",
  origin = { kind = "hand" },
  causes = { "uncoalesced-loads", "few-blocks" },
  pre = {
    { "row_operation", function(c) return row_ops[c.task.op] == true end },
    { "rows_long", function(c) return row_length(c) >= 1024 end },
    { "lanes_strided", function(c) return (c.view.load_excess or 0) >= 4 end },
    { "threads_do_not_share", function(c)
        return (c.view.shuffles_per_warp or 0) < 1 and (c.view.barriers_per_warp or 0) < 1
      end },
  },
  advice = function(c)
    return ("Each thread walks a row of its own: lanes are %d elements apart and %d threads are all there are. Let a "
      .. "block of 256 threads work on one row: thread t takes elements t, t + 256, ...; reduce within the warp with "
      .. "__shfl_xor_sync, then across the warps through shared memory. The grid becomes one block a row."):format(
      row_length(c), c.launch.total_threads or 0)
  end,
  expect = {
    { "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "down", 0.5 },
    { "smsp__warps_launched.sum", "up", 0.5 },
    { "gpu__time_duration.sum", "down", 0.3 },
  },
  avoids = { "shared-race", "divergent-barrier" },
}

local bytes = { f64 = 8, i64 = 8, f32 = 4, tf32 = 4, i32 = 4, f16 = 2, bf16 = 2, i16 = 2 }
return skill{
  id = "plan.contiguous-lanes", version = 1, phase = "draft",
  intent = "Choose the mapping of threads before anything else",
  origin = { kind = "hand" },
  pre = {
    { "two_axes", function(c)
        local first = c.task.inputs and c.task.inputs[1]
        return first ~= nil and #first.shape >= 2
      end },
    { "inner_axis_wide", function(c)
        local shape = c.task.inputs[1].shape
        return shape[#shape] >= 32
      end },
  },
  advice = function(c)
    local shape = c.task.inputs[1].shape
    return ("Let threadIdx.x run along the last axis (%d elements, contiguous) and give each of the %d rows to a warp or a "
      .. "block; a thread for each row would read %d bytes apart from its neighbour."):format(
      shape[#shape], math.floor(c.task.inputs[1].elements / shape[#shape]), (bytes[c.task.inputs[1].dtype] or 1) * shape[#shape])
  end,
  expect = {
    { "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "down" },
  },
  avoids = { "out-of-bounds" },
}

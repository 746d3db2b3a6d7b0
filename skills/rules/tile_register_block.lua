return skill{
  id = "tile.register-block", version = 1, phase = "refine",
  intent = "Keep a patch of the output in registers, so that a shared load feeds several multiply-adds",
  origin = { kind = "hand" },
  causes = { "shared-loads" },
  pre = {
    { "products", function(c) return c.task.matrix == true end },
    { "no_tensor_cores", function(c)
        return (c.counters["smsp__inst_executed_pipe_tensor.sum"] or 0) == 0
      end },
    { "staged", function(c) return (c.view.staged_share or 0) >= 0.5 end },
    { "a_load_each", function(c) return (c.view.shared_loads_per_fma or 0) >= 0.4 end },
    { "shared_near_bound", function(c)
        return math.max(c.model.share.shared or 0, c.model.share.lsu or 0) >= 0.6
      end },
    { "registers_left", function(c) return (c.resources.registers or 255) <= 128 end },
  },
  advice = function(c)
    return ("%.1f shared loads for each multiply-add%s: shared memory hands a warp one value a lane and clock, so the "
      .. "arithmetic waits. Let each thread compute a patch of 4 x 4 (0.5 loads for each) or 8 x 8 (0.25) outputs held "
      .. "in registers: load the 4 or 8 values of each factor's row or column once per k, then form all products of "
      .. "them in fully unrolled loops. The block's tile grows with it (64 x 64 or 128 x 128 outputs for 256 threads); "
      .. "store the left tile transposed so that both are read as float4."):format(
      c.view.shared_loads_per_fma, c.where["shared-loads"] and " (" .. c.where["shared-loads"] .. ")" or "")
  end,
  expect = {
    { "smsp__inst_executed_op_shared_ld.sum", "down", 0.5 },
    { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "down", 0.3 },
    { "launch__registers_per_thread", "up" },
    { "gpu__time_duration.sum", "down", 0.2 },
  },
  avoids = { "spill", "out-of-bounds", "misaligned-access" },
}

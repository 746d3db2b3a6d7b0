-- Elements that one 16-byte access holds, and how it is written.
local wide = {
  f32 = { 4, "float4" }, i32 = { 4, "int4" }, f16 = { 8, "uint4 seen as four __half2" },
  bf16 = { 8, "uint4 seen as four __nv_bfloat162" }, i8 = { 16, "uint4 seen as sixteen bytes" },
  u8 = { 16, "uint4 seen as sixteen bytes" }, e4m3 = { 16, "uint4 seen as sixteen bytes" },
}
return skill{
  id = "vectorise.loads", version = 1, phase = "refine",
  intent = "Move 16 bytes with each load and store",
  origin = { kind = "hand" },
  causes = { "narrow-loads" },
  pre = {
    { "dtype_packs", function(c) return wide[c.task.dtype] ~= nil end },
    { "loads_coalesced", function(c)
        return (c.view.load_bytes_per_request or 0) > 0 and (c.view.load_excess or 9) < 1.25
      end },
    { "loads_narrow", function(c) return c.view.load_bytes_per_request <= 256 end },
    { "warps_full", function(c) return (c.view.active_lanes or 0) >= 24 end },
    { "several_loads", function(c) return (c.view.loads_per_warp or 0) >= 4 end },
  },
  advice = function(c)
    local n, how = wide[c.task.dtype][1], wide[c.task.dtype][2]
    return ("A warp's load brings %.0f bytes where 512 are possible. Load and store %s: %d elements a thread. Every row "
      .. "must start at a multiple of 16 bytes: put it in a plan guarded by `when: \"N %% %d == 0\"` (with the size "
      .. "of the contiguous axis) and keep the scalar kernel as a second plan for the other shapes."):format(
      c.view.load_bytes_per_request, how, n, n)
  end,
  expect = {
    { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "down", 0.3 },
    { "smsp__inst_executed.sum", "down" },
    { "gpu__time_duration.sum", "down" },
  },
  avoids = { "misaligned-access", "out-of-bounds" },
}

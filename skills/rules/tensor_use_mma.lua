-- The instructions that take a type's operands.
local half = "nvcuda::wmma (#include <mma.h>, 16 x 16 x 16 fragments, float accumulator) or mma.sync.aligned.m16n8k16"
local int8 = "nvcuda::wmma (#include <mma.h>, 16 x 16 x 16 fragments of signed char, int accumulator) or "
  .. "mma.sync.aligned.m16n8k32"
local fp8 = "mma.sync.aligned.m16n8k32 with .e4m3 / .e5m2 operands and a float accumulator"
local how = { f16 = half, bf16 = half, i8 = int8, u8 = int8, e4m3 = fp8, e5m2 = fp8 }
return skill{
  id = "tensor.use-mma", version = 1, phase = "refine",
  intent = "Form the products on the tensor cores",
  origin = { kind = "hand" },
  causes = { "no-tensor-cores" },
  pre = {
    { "matrix_product", function(c) return c.task.matrix == true end },
    { "dtype_on_tensor_cores", function(c)
        return c.task.dtype ~= nil and c.task.dtype ~= "f32" and c.task.dtype ~= "f64"
          and c.device.tensor[c.task.dtype] ~= nil
      end },
    { "none_used", function(c) return c.counters["smsp__inst_executed_pipe_tensor.sum"] == 0 end },
    { "enough_products", function(c) return (c.task.flops or 0) >= 1e6 end },
  },
  advice = function(c)
    return ("The %s products run on the scalar lanes; this device's tensor cores do them %.0f times as fast. Use "
      .. "%s with ldmatrix from shared-memory tiles whose rows are padded by 16 bytes. A warp owns a 32 x 32 or 64 x 64 "
      .. "piece. Store zeros into the tile where the shape is ragged and guard the stores of the result."):format(
      c.task.dtype, c.device.tensor[c.task.dtype] / (2 * (c.device.fp32_lanes or 64)), how[c.task.dtype] or "mma.sync")
  end,
  expect = {
    { "smsp__inst_executed_pipe_tensor.sum", "up" },
    { "smsp__inst_executed.sum", "down", 0.5 },
    { "gpu__time_duration.sum", "down", 0.2 },
  },
  avoids = { "misaligned-access", "shared-race", "numerics" },
}

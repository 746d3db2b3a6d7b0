#include "verifiers/reference/op.h"
namespace kernelwright::reference {
std::vector<Op> recurrent_ops() { return {}; }
}  // namespace kernelwright::reference

#include "verifiers/reference/op.h"
namespace kernelwright::reference {
std::vector<Op> pool_ops() { return {}; }
}  // namespace kernelwright::reference

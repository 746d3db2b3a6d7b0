#include "harness/cli/workers.h"

#include "harness/compile/compile_worker.h"
#include "harness/device/worker.h"

namespace kernelwright::cli {

WorkerTable workers() {
    WorkerTable table;
    add_compile_worker(table);
    table[emulator_worker_kind] = make_emulator_worker;
    return table;
}

}  // namespace kernelwright::cli

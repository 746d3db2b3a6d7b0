#include <gtest/gtest.h>

#include "harness/compile/compile_worker.h"

int main(int argc, char** argv) {
    kernelwright::WorkerTable workers;
    kernelwright::add_compile_worker(workers);
    if (const auto status = kernelwright::run_worker_if_asked(argc, argv, workers)) return *status;
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

// This test program is its own worker: kinds that do what a hostile or broken worker would.
#include <gtest/gtest.h>

#include "tests/unit/sandbox/test_workers.h"

int main(int argc, char** argv) {
    if (const auto status = kernelwright::run_worker_if_asked(argc, argv, kernelwright::test_workers()))
        return *status;
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

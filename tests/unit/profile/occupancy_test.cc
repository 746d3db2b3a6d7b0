#include "harness/profile/occupancy.h"

#include <gtest/gtest.h>

#ifdef KW_CUDA_OCCUPANCY_H
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include KW_CUDA_OCCUPANCY_H
#pragma GCC diagnostic pop
#endif

namespace kernelwright {
namespace {

DeviceFacts device(const std::string& name) {
    auto table = DeviceTable::load(KW_SOURCE_DIR "/devices");
    EXPECT_TRUE(table.ok());
    auto facts = table->find(name);
    EXPECT_TRUE(facts.ok());
    return *facts;
}

KernelResources resources(int registers, std::uint32_t shared = 0, int barriers = 1) {
    KernelResources r;
    r.registers = registers;
    r.static_shared = shared;
    r.barriers = barriers;
    return r;
}

TEST(Occupancy, WorkedByHandOnA100) {
    const DeviceFacts a100 = device("a100");
    // 256 threads of 32 registers: 8 warps x 1024 registers = 8192 a block, 8 blocks of 64K; 64/8 = 8 by
    // warps.
    Occupancy o = theoretical_occupancy(a100, resources(32), 256, 0, 864);
    EXPECT_EQ(o.blocks_per_sm, 8);
    EXPECT_EQ(o.fraction, 1.0);
    EXPECT_EQ(o.limiter, "warps");
    EXPECT_DOUBLE_EQ(o.waves, 1.0);
    // 128 registers: 4096 a warp, 4 warps a partition, 16 warps, 2 blocks.
    o = theoretical_occupancy(a100, resources(128), 256, 0);
    EXPECT_EQ(o.blocks_per_sm, 2);
    EXPECT_EQ(o.limiter, "registers");
    EXPECT_EQ(o.fraction, 0.25);
    // 48 KiB and the reserved KiB: 164 / 49 = 3.
    o = theoretical_occupancy(a100, resources(32, 49152), 128, 0);
    EXPECT_EQ(o.blocks_per_sm, 3);
    EXPECT_EQ(o.limiter, "shared");
    // 32 threads: 32 blocks are all an SM takes, half of its warps.
    o = theoretical_occupancy(a100, resources(16), 32, 0);
    EXPECT_EQ(o.blocks_per_sm, 32);
    EXPECT_EQ(o.limiter, "blocks");
    EXPECT_EQ(o.fraction, 0.5);
    // 16 named barriers each, of 64: counted from compute capability 9.0 on.
    o = theoretical_occupancy(device("h100"), resources(16, 0, 16), 64, 0);
    EXPECT_EQ(o.limiter, "barriers");
    EXPECT_EQ(o.blocks_per_sm, 4);
    EXPECT_EQ(theoretical_occupancy(a100, resources(16, 0, 16), 64, 0).blocks_per_sm, 32);
}

TEST(Occupancy, WhatDoesNotFitIsNought) {
    const DeviceFacts a100 = device("a100");
    EXPECT_EQ(theoretical_occupancy(a100, resources(32), 1025, 0).blocks_per_sm, 0);
    EXPECT_EQ(theoretical_occupancy(a100, resources(32), 0, 0).blocks_per_sm, 0);
    EXPECT_EQ(theoretical_occupancy(a100, resources(32, 1024), 128, 166912 - 1023).blocks_per_sm, 0);
    EXPECT_EQ(theoretical_occupancy(a100, resources(32, 1024), 128, 166912 - 1024).blocks_per_sm, 1);
    EXPECT_EQ(theoretical_occupancy(a100, resources(255), 1024, 0).blocks_per_sm, 0);
    EXPECT_EQ(theoretical_occupancy(a100, resources(255), 1024, 0).limiter, "registers");
}

#ifdef KW_CUDA_OCCUPANCY_H
TEST(Occupancy, AgreesWithNvidiasCalculator) {
    int compared = 0;
    for (const char* name : {"a100", "rtx3090", "rtx4090", "h100", "b200", "rtx5090"}) {
        const DeviceFacts facts = device(name);
        cudaOccDeviceProp properties;
        properties.computeMajor = facts.compute_capability / 10;
        properties.computeMinor = facts.compute_capability % 10;
        properties.maxThreadsPerBlock = static_cast<int>(facts.max_threads_per_block);
        properties.maxThreadsPerMultiprocessor = static_cast<int>(facts.max_warps_per_sm * 32);
        properties.regsPerBlock = static_cast<int>(facts.registers_per_block);
        properties.regsPerMultiprocessor = static_cast<int>(facts.registers_per_sm);
        properties.warpSize = 32;
        properties.sharedMemPerBlock = facts.shared_static_per_block;
        properties.sharedMemPerMultiprocessor = facts.shared_per_sm;
        properties.numSms = static_cast<int>(facts.sm_count);
        properties.sharedMemPerBlockOptin = facts.shared_optin_per_block;
        properties.reservedSharedMemPerBlock = facts.shared_reserved_per_block;
        for (int registers : {1, 16, 24, 32, 33, 40, 64, 65, 96, 128, 168, 200, 255})
            for (std::uint32_t threads :
                 {1u, 32u, 33u, 64u, 96u, 128u, 192u, 256u, 320u, 384u, 512u, 768u, 1024u})
                for (std::uint32_t shared :
                     {0u, 1u, 1024u, 4096u, 10000u, 32768u, 49152u, 65536u, 100000u, 166912u})
                    for (int barriers : {0, 1, 2, 16}) {
                        cudaOccFuncAttributes attributes;
                        attributes.maxThreadsPerBlock = 1024;
                        attributes.numRegs = registers;
                        attributes.sharedSizeBytes = 0;
                        attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
                        attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
                        attributes.maxDynamicSharedSizeBytes = facts.shared_optin_per_block;
                        attributes.numBlockBarriers = barriers;
                        cudaOccDeviceState state;
                        cudaOccResult result;
                        if (shared > facts.shared_optin_per_block) continue;
                        ASSERT_EQ(
                            cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                                    static_cast<int>(threads), shared),
                            CUDA_OCC_SUCCESS);
                        const Occupancy ours =
                            theoretical_occupancy(facts, resources(registers, 0, barriers), threads, shared);
                        ASSERT_EQ(ours.blocks_per_sm, result.activeBlocksPerMultiprocessor)
                            << name << " registers " << registers << " threads " << threads << " shared "
                            << shared << " barriers " << barriers;
                        ++compared;
                    }
    }
    EXPECT_GT(compared, 30000);
}
#endif

}  // namespace
}  // namespace kernelwright

// Several host threads over the blocks of a launch: who may share them, and that nothing shows.
#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

// One thread per block writes; `body` has its block in %r1, x in %rd1 and y in %rd2, and 4 times the block in
// %rd3.
std::string kernel(const std::string& body) {
    return R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
    mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
)" + body + "\n    ret;\n}\n";
}

struct Ran {
    Outcome outcome;
    std::vector<std::uint32_t> y;
    std::vector<bool> written;
};
Ran run_on(const std::string& body, unsigned threads, BufferKind kind = BufferKind::output) {
    Machine m;
    EXPECT_TRUE(m.load_ptx(kernel(body))) << m.error;
    std::vector<std::uint32_t> values(64);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * i);
    const auto x = m.input("x", values);
    const auto y =
        kind == BufferKind::inout ? m.input("y", values, kind) : m.output<std::uint32_t>("y", 64, kind);
    m.options.host_threads = threads;
    m.options.least_shared_work = 0;
    Ran ran;
    ran.outcome = m.run("k", {64}, {1}, 0, x, y);
    ran.y = m.read<std::uint32_t>(y, 64);
    ran.written = m.memory.initialised(y);
    return ran;
}

// The outcome of one thread, by `threads` of them in the end.
void expect_same(const std::string& body, unsigned threads, BufferKind kind = BufferKind::output) {
    SCOPED_TRACE(body);
    const Ran one = run_on(body, 1, kind), several = run_on(body, 4, kind);
    EXPECT_EQ(several.outcome.host_threads, threads);
    EXPECT_EQ(describe(several.outcome), describe(one.outcome));
    EXPECT_TRUE(several.outcome.counters == one.outcome.counters);
    EXPECT_EQ(several.y, one.y);
    EXPECT_EQ(several.written, one.written);
}

TEST(HostThreads, BlocksThatTouchTheirOwnBytesAreShared) {
    expect_same("ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd5], %r2;", 4);
    // Half of them write; what the others leave unwritten stays so.
    expect_same("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd5], %r1;", 4);
    // Bytes of one word are different bytes.
    expect_same(
        "add.u64 %rd6, %rd2, %rd1; sub.u64 %rd6, %rd6, %rd1; cvt.u64.u32 %rd7, %r1; add.u64 %rd6, %rd6, %rd7;"
        "st.global.u8 [%rd6], %r1;",
        4);
    expect_same("ld.global.u32 %r2, [%rd5]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;", 4,
                BufferKind::inout);
}

TEST(HostThreads, WhatBlocksShareIsLeftToOne) {
    expect_same("st.global.u32 [%rd2], %r1;", 1);                  // a race
    expect_same("mov.u32 %r2, 7; st.global.u32 [%rd2], %r2;", 1);  // the same value: none
    expect_same("ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd5], %r2;", 1, BufferKind::inout);
    expect_same("atom.global.add.u32 %r2, [%rd2], 1;", 1, BufferKind::inout);
    expect_same("red.global.add.u32 [%rd2], 1;", 1, BufferKind::inout);
    expect_same("st.volatile.global.u32 [%rd5], %r1;", 1);
    expect_same("mov.u32 %r2, %clock; st.global.u32 [%rd5], %r2;", 1);
}

TEST(HostThreads, FaultsAreThoseOfOneThread) {
    expect_same("st.global.u32 [%rd5+128], %r1;", 1);  // the last 32 blocks are out of bounds
    expect_same("setp.eq.u32 %p1, %r1, 40; @%p1 trap; st.global.u32 [%rd5], %r1;", 1);
    expect_same("ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd5], %r2;", 1);  // unwritten
}

}  // namespace
}  // namespace emulator::test

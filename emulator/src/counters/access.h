// What one warp-wide access costs: sectors of global memory, wavefronts of shared memory. Functions have
// internal linkage, because the executor's files are compiled for two instruction sets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "emulator/src/exec/state.h"

namespace emulator::counters {

using exec::Instr;
using exec::kLanes;
using exec::Mask;
using exec::Warp;

struct Shape {
    std::uint64_t low = 0, high = 0;  // lowest and highest address of active lanes
    std::uint64_t any = 0;            // the bits set in some address
    bool consecutive = false;         // lane after lane, without gaps, ascending
    bool equal = false;
};

static inline void mark_sectors(Buffer& buffer, std::uint64_t first, std::uint64_t last, bool store) {
    auto& bits = store ? buffer.sectors_written : buffer.sectors_read;
    if (bits.empty()) return;
    const std::uint64_t origin = buffer.address >> 5;
    set_bits(bits.data(), first - origin, last - first + 1);
}

// buffer: null when lanes lie in several (then no footprint is kept here).
static inline void count_global(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                                std::uint32_t bytes, const Shape& shape, Buffer* buffer, bool store) {
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.requests += 1;
    const std::uint32_t active = static_cast<std::uint32_t>(std::popcount(exec));
    c.bytes += std::uint64_t{active} * bytes;
    if (shape.consecutive || shape.equal) {
        const std::uint64_t first = shape.low >> 5, last = (shape.high + bytes - 1) >> 5;
        c.sectors += last - first + 1;
        c.ideal += (shape.high - shape.low + bytes + 31) >> 5;
        if (buffer) mark_sectors(*buffer, first, last, store);
        return;
    }
    std::uint64_t sorted[kLanes];
    int n = 0;
    bool ascending = true;
    for (Mask m = exec; m; m &= m - 1) {
        const std::uint64_t a = address[std::countr_zero(m)];
        ascending &= n == 0 || sorted[n - 1] <= a;
        sorted[n++] = a;
    }
    if (!ascending) std::sort(sorted, sorted + n);
    std::uint64_t sectors = 0, distinct = 0, next_sector = 0, covered = 0;
    for (int i = 0; i < n; ++i) {
        const std::uint64_t end = sorted[i] + bytes;
        const std::uint64_t fresh = std::max(sorted[i], covered);
        if (end > fresh) distinct += end - fresh;
        covered = std::max(covered, end);
        const std::uint64_t first = std::max(sorted[i] >> 5, next_sector), last = (end - 1) >> 5;
        if (last + 1 > first) {
            sectors += last - first + 1;
            if (buffer) mark_sectors(*buffer, first, last, store);
            next_sector = last + 1;
        }
    }
    c.sectors += sectors;
    c.ideal += (distinct + 31) >> 5;
}

// Words that share a bank are served one after the other, unless they are the same word. Accesses of 8 and
// 16 bytes go in half and quarter warps.
static inline void count_shared(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                                std::uint32_t bytes, const Shape& shape, bool store) {
    (void)store;
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.shared_requests += 1;
    c.shared_bytes += std::uint64_t{static_cast<std::uint32_t>(std::popcount(exec))} * bytes;
    if (bytes <= 4 && (shape.equal || shape.consecutive)) {
        c.wavefronts += 1;
        return;
    }
    const int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    for (int base = 0; base < kLanes; base += lanes) {
        const Mask part = exec & (lanes == 32 ? ~Mask{0} : ((Mask{1} << lanes) - 1) << base);
        if (!part) continue;
        std::uint32_t words[32][32];
        std::uint8_t count[32] = {};
        std::uint32_t worst = 1;
        for (Mask m = part; m; m &= m - 1) {
            const std::uint64_t a = address[std::countr_zero(m)];
            for (std::uint64_t at = a >> 2; at <= (a + bytes - 1) >> 2; ++at) {
                const std::uint32_t word = static_cast<std::uint32_t>(at), bank = word & 31;
                std::uint32_t k = 0;
                while (k < count[bank] && words[bank][k] != word) ++k;
                if (k == count[bank]) {
                    words[bank][k] = word;
                    count[bank] = static_cast<std::uint8_t>(k + 1);
                    worst = std::max(worst, k + 1);
                }
            }
        }
        c.wavefronts += worst;
        c.conflicts += worst - 1;
    }
}

// Local memory is interleaved: word k of 32 lanes lies in 128 consecutive bytes.
static inline void count_local(Warp& w, const Instr& in, Mask exec, const std::uint64_t* address,
                               std::uint32_t bytes, bool store) {
    (void)store;
    exec::AccessCounters& c = w.launch->accesses[in.id];
    c.local_requests += 1;
    std::uint64_t seen[kLanes * 4];
    int n = 0;
    for (Mask m = exec; m; m &= m - 1) {
        const int lane = std::countr_zero(m);
        for (std::uint64_t word = address[lane] >> 2; word <= (address[lane] + bytes - 1) >> 2; ++word) {
            const std::uint64_t sector = word * 4 + static_cast<std::uint64_t>(lane / 8);
            int k = n - 1;
            while (k >= 0 && seen[k] != sector) --k;
            if (k < 0) seen[n++] = sector;
        }
    }
    c.local_sectors += static_cast<std::uint64_t>(n);
}

}  // namespace emulator::counters

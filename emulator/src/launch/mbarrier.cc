#include "emulator/src/launch/mbarrier.h"

#include <fmt/format.h>

#include <cstring>

#include "emulator/src/exec/report.h"
#include "emulator/src/launch/async_copy.h"
#include "emulator/src/races/races.h"
#include "emulator/src/tensor/tensor_memory.h"

namespace emulator::exec {

static Mbarrier::Event event_of(const Warp& w, const Instr& in, int lane) {
    return {in.id, w.first_thread + static_cast<std::uint32_t>(lane), w.block->linear};
}
static bool set_other(OtherParty& other, const Mbarrier::Event& event, const char* note) {
    if (event.id == ~0u) return false;
    other.id = event.id;
    other.block = event.block;
    other.thread = event.thread;
    other.note = note;
    return true;
}

static void note_access(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, races::Kind kind,
                        const std::byte* data = nullptr) {
    if (!w.launch->check_races) return;
    std::uint64_t addresses[kLanes] = {};
    addresses[lane] = at;
    races::shared_access(w, in, Mask{1} << lane, home, addresses, 8, kind, data, 0);
}

std::uint64_t state_of(const Mbarrier& m) {
    return m.pending | std::uint64_t{m.expected} << 20 |
           (static_cast<std::uint64_t>(static_cast<std::uint32_t>(m.bytes)) & 0x1fffff) << 40 |
           (m.phase & 7) << 61;
}
static void keep(Block& home, std::uint32_t at, Mbarrier& m) {
    m.bits = state_of(m);
    std::memcpy(home.shared + at, &m.bits, 8);
    home.writes += 1;
}
static void settle(Block& home, std::uint32_t at, Mbarrier& m) {
    if (m.pending == 0 && m.bytes == 0) {
        m.pending = m.expected;
        m.phase += 1;
        if (home.launch->check_races) races::mbarrier_complete(home, at);
    }
    keep(home, at, m);
}

void make_mbarrier(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, std::uint64_t count) {
    if (count == 0 || count > kMaxArrivals) {
        report(w, "mbarrier-misuse", in, lane,
               fmt::format("makes an mbarrier for {} arrivals: 1 to {} are possible", count, kMaxArrivals),
               true);
        return;
    }
    Mbarrier m;
    m.pending = m.expected = static_cast<std::uint32_t>(count);
    // Several threads may make the same one, as they may store one value.
    const std::uint64_t bits = state_of(m);
    note_access(w, in, lane, home, at, races::Kind::write, reinterpret_cast<const std::byte*>(&bits));
    if (w.launch->stopped) return;
    m.made = event_of(w, in, lane);
    keep(home, at, m);
    set_bits(home.shared_written, at, 8);
    home.mbarrier_objects[at] = m;
}

Mbarrier* find_mbarrier(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at) {
    note_access(w, in, lane, home, at, races::Kind::atomic);
    if (w.launch->stopped) return nullptr;
    const auto it = home.mbarrier_objects.find(at);
    if (it == home.mbarrier_objects.end()) {
        report(w, "mbarrier-misuse", in, lane,
               fmt::format("uses {} as an mbarrier, which mbarrier.init never made",
                           describe(*w.launch, nullptr, true, at, 8)),
               true);
        return nullptr;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, home.shared + at, 8);
    if (bits != it->second.bits) {
        OtherParty other;
        const bool known = set_other(other, it->second.made, "where it was made");
        report(w, "mbarrier-misuse", in, lane,
               fmt::format("uses the mbarrier in {}, which ordinary stores have overwritten",
                           describe(*w.launch, nullptr, true, at, 8)),
               true, known ? &other : nullptr);
        return nullptr;
    }
    return &it->second;
}

bool expect_bytes(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, Mbarrier& m,
                  std::int64_t bytes) {
    const std::int64_t sum = m.bytes + bytes;
    if (sum > kMaxTransaction || sum < -kMaxTransaction) {
        report(w, "mbarrier-misuse", in, lane,
               fmt::format("leaves the mbarrier with {} bytes pending: at most {} can be, either way", sum,
                           kMaxTransaction),
               true);
        return false;
    }
    m.bytes = static_cast<std::int32_t>(sum);
    m.expecting = event_of(w, in, lane);
    if (&home != w.block) w.block->writes += 1;
    settle(home, at, m);
    return true;
}

bool arrive(Warp& w, const Instr& in, int lane, Block& home, std::uint32_t at, Mbarrier& m,
            std::uint64_t count, ArrivalKind kind) {
    if (count == 0 || count > kMaxArrivals) {
        report(w, "mbarrier-misuse", in, lane,
               fmt::format("arrives {} times at once: 1 to {} are possible", count, kMaxArrivals), true);
        return false;
    }
    if (count > m.pending) {
        OtherParty other;
        const bool known = m.pending == 0 && m.bytes != 0
                               ? set_other(other, m.expecting, "the bytes that are expected")
                               : set_other(other, m.arrived, "the arrival before it");
        report(w, "mbarrier-misuse", in, lane,
               m.pending == 0
                   ? fmt::format("arrives at an mbarrier whose phase has had all of its {} arrivals and "
                                 "waits for {} more bytes: nothing keeps this arrival in the next phase",
                                 m.expected, m.bytes)
                   : fmt::format("arrives {} times at an mbarrier whose phase takes {} more arrivals of {}",
                                 count, m.pending, m.expected),
               true, known ? &other : nullptr);
        return false;
    }
    if (kind.no_complete && count == m.pending && m.bytes == 0) {
        report(w, "mbarrier-misuse", in, lane,
               "an arrival with .noComplete completes the phase of its mbarrier", true);
        return false;
    }
    m.pending -= static_cast<std::uint32_t>(count);
    if (kind.drop) m.expected -= static_cast<std::uint32_t>(count);
    m.arrived = event_of(w, in, lane);
    if (&home != w.block) w.block->writes += 1;
    settle(home, at, m);
    return true;
}

bool phase_has_completed(Warp& w, Block& home, std::uint32_t at, Mbarrier& m, bool parity) {
    (void)w;
    if ((m.phase & 1) == static_cast<std::uint64_t>(parity) && !home.commits.empty())
        land_commits(home, at, m);
    if ((m.phase & 1) == static_cast<std::uint64_t>(parity) && m.pending == 0) {
        const std::uint64_t phase = m.phase;
        for (std::size_t i = 0; i < home.arriving.size() && m.phase == phase;) {
            if (home.arriving[i].barrier != at) {
                ++i;
                continue;
            }
            land(home, i);
        }
    }
    return (m.phase & 1) != static_cast<std::uint64_t>(parity);
}

void arrive_commit(Block& home, std::uint32_t at, Mbarrier& m, const TensorCommit& commit) {
    if (m.pending == 0) {
        OtherParty other;
        const bool known = set_other(other, m.arrived, "the arrival before it");
        report_id(
            *home.launch, "mbarrier-misuse", commit.instr->id, commit.block, commit.thread,
            fmt::format("arrives at an mbarrier whose phase has had all of its {} arrivals", m.expected),
            true, known ? &other : nullptr);
        return;
    }
    m.pending -= 1;
    m.arrived = {commit.instr->id, commit.thread, commit.block};
    settle(home, at, m);
}

void complete_bytes(const AsyncLoad& load, Block& home) {
    const auto it = home.mbarrier_objects.find(load.barrier);
    if (it == home.mbarrier_objects.end()) return;
    Mbarrier& m = it->second;
    if (home.launch->check_races) races::mbarrier_landed(home, load.barrier, load.stamp);
    const std::int64_t sum = std::int64_t{m.bytes} - static_cast<std::int64_t>(load.data.size());
    if (sum < -kMaxTransaction) {
        report_id(*home.launch, "mbarrier-misuse", load.instr->id, load.block, load.thread,
                  fmt::format("{} bytes more are complete than the mbarrier was told to expect: at most {} "
                              "can be",
                              -sum, kMaxTransaction),
                  true);
        return;
    }
    m.bytes = static_cast<std::int32_t>(sum);
    settle(home, load.barrier, m);
}

std::string what_is_missing(const Block& home, std::uint32_t at, OtherParty& other, bool& has_other) {
    const auto it = home.mbarrier_objects.find(at);
    if (it == home.mbarrier_objects.end()) return "its mbarrier is gone";
    const Mbarrier& m = it->second;
    std::string text;
    if (m.pending > 0) text = fmt::format("{} of {} arrivals", m.pending, m.expected);
    if (m.bytes > 0) text += fmt::format("{}{} bytes", text.empty() ? "" : " and ", m.bytes);
    if (!text.empty()) text += " never come";
    if (m.bytes < 0)
        text += fmt::format("{}{} bytes were copied that no expect_tx announced", text.empty() ? "" : "; ",
                            -m.bytes);
    std::size_t waiting = 0;
    for (const AsyncLoad& load : home.arriving)
        if (load.barrier == at) waiting += load.data.size();
    if (waiting && m.pending > 0) text += fmt::format(" ({} bytes of copies are on their way)", waiting);
    has_other = m.bytes != 0 ? set_other(other, m.expecting, "the latest expect_tx")
                             : set_other(other, m.arrived, "the latest arrival");
    if (!has_other) has_other = set_other(other, m.made, "where the mbarrier is made");
    return text;
}

}  // namespace emulator::exec

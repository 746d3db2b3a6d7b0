// The state of a launch in the specification, and the parts of the machine that work on it.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/src/memory/buffers.h"
#include "emulator/src/ptx/parsed.h"
#include "emulator/src/specification/operation.h"
#include "emulator/src/specification/specification.h"

namespace emulator::specification {

constexpr int kWarpSize = 32;
using LaneMask = std::uint32_t;
constexpr std::uint64_t kFunctionAddress = 0x00f0000000000000ull;  // plus the function's number

template <class F>
void each_lane(LaneMask lanes, F&& f) {
    for (int lane = 0; lane < kWarpSize; ++lane)
        if ((lanes >> lane) & 1) f(lane);
}
inline int lowest(LaneMask lanes) {
    int lane = 0;
    while (!((lanes >> lane) & 1)) ++lane;
    return lane;
}
inline int population(LaneMask lanes) {
    int n = 0;
    each_lane(lanes, [&](int) { ++n; });
    return n;
}

// Where undefined bits came from: 0 nothing, kNeverSet a register that was never given a value, else an
// entry of Machine::origins.
constexpr int kNeverSet = -1;
struct Value {
    std::uint64_t bits = 0;
    std::uint64_t undefined = 0;  // which of them mean nothing
    int origin = 0;
};
struct Byte {
    std::uint8_t value = 0xd5;
    bool written = false;
    int origin = 0;  // of an undefined value that was stored here
};
struct Origin {
    const ptx::Instruction* instruction = nullptr;
    const char* rule = "";
    std::string what;
    std::uint64_t block = 0;
    std::uint32_t thread = 0;
};

// One call of a function by some lanes of a warp.
struct Activation {
    const ptx::Function* function = nullptr;
    Activation* caller = nullptr;
    const ptx::Instruction* call = nullptr;
    std::size_t return_pc = 0;
    unsigned depth = 0;
    std::uint64_t local_base = 0;  // of its part of each thread's local memory
    std::array<std::vector<Value>, kWarpSize> narrow, wide, predicates;
    std::array<Value, kWarpSize> carry;
};

// Lanes of a warp that stand at one instruction of one activation.
struct Group {
    enum class State { ready, at_barrier, at_collective } state = State::ready;
    LaneMask lanes = 0;
    std::size_t pc = 0;
    Activation* at = nullptr;
    bool arrived = false;
    std::uint64_t last_run = 0;
    std::uint64_t polls = 0;  // atomic, volatile and acquiring reads since others ran
};

// A vector clock: of each thread of the launch, how many of its epochs are ordered before.
using Clock = std::vector<std::uint32_t>;
struct ThreadOrder {
    Clock clock;                          // ordered before what this thread does next
    Clock published, published_in_block;  // what a fence of this thread (or before it) covered
    Clock pending, pending_in_block;      // released by others and read, waiting for a fence
    Clock reads;  // what others had read before they exchanged values with this thread
};

void join(Clock& into, const Clock& from);  // the later of both, thread by thread

// The thread and instruction that a report names.
struct Who {
    const ptx::Instruction* instruction = nullptr;
    std::uint64_t block = 0;
    std::uint32_t thread = 0;
};

// A copy of one thread that has not arrived in shared memory.
struct Copy {
    std::uint64_t to = 0;
    std::vector<std::uint8_t> data;
    bool defined = true;
    const ptx::Instruction* instruction = nullptr;
};

struct Mbarrier {
    std::uint64_t pending = 0, expected = 0, phase = 0;
    std::int64_t bytes = 0;  // that were announced and are not complete
    std::uint64_t kept = 0;  // what its memory holds
    ThreadOrder arriving, completed;
    Who made, arrived, expecting;
};

struct Warp {
    std::uint32_t index = 0;
    LaneMask present = 0, live = 0;
    std::list<Group> groups;  // in the order in which they came to be
    std::vector<std::unique_ptr<Activation>> activations;
    std::array<std::vector<Byte>, kWarpSize> local;
    std::array<std::vector<Copy>, kWarpSize> open_copies;               // not committed
    std::array<std::vector<std::vector<Copy>>, kWarpSize> copy_groups;  // committed, the oldest first
    std::uint64_t instructions = 0, global_loads = 0;
    bool ends_turn = false, gives_way = false;
    // polling
    const ptx::Instruction* last_poll = nullptr;
    std::uint64_t poll_count = 0;
    int last_poll_lane = 0;
    bool polls_shared = false;
    std::optional<std::uint64_t> awaited;  // the mbarrier that it polls
    std::array<std::uint64_t, 4> polled{};
    std::size_t polled_next = 0;
    std::uint64_t polled_changes = ~std::uint64_t{0};
    bool polls_in_vain = false;
};

struct Arrival {
    Warp* warp = nullptr;
    LaneMask lanes = 0;
    const ptx::Instruction* instruction = nullptr;
    bool waits = true;
};
struct BlockBarrier {
    std::uint32_t expected = 0;  // 0: every thread that has not exited
    std::uint32_t threads = 0;
    std::vector<Arrival> arrivals;
    std::uint32_t true_predicates = 0, predicates = 0;
};

// One access of one thread to (part of) four bytes.
struct AccessRecord {
    std::uint64_t block = 0;
    std::uint32_t thread = 0;  // in the block
    std::uint32_t number = 0;  // in the launch, for clocks
    std::uint32_t epoch = 0;
    std::uint64_t serial = 0;  // of the warp-wide access
    const ptx::Instruction* instruction = nullptr;
    bool reads = false, writes = false, atomic = false, strong = false, block_scope = false,
         non_coherent = false;
    unsigned bytes = 0;  // which of the four
    std::array<std::uint8_t, 4> stored{};
    bool unknown = false;  // what it stores: a copy that has not arrived
};

struct Block {
    std::uint64_t linear = 0;
    Dim3 index;
    std::vector<std::unique_ptr<Warp>> warps;
    std::array<BlockBarrier, 16> barriers;
    std::uint32_t live_threads = 0;
    std::vector<Byte> shared;
    std::map<std::uint64_t, Mbarrier> mbarriers;  // by address
    std::uint64_t changes = 0;                    // stores, atomics that changed something, barriers, exits
    std::map<std::uint64_t, std::vector<AccessRecord>> shared_accesses;  // by address / 4
    std::map<std::uint64_t, Clock> shared_releases;                      // by address
};

struct Release {
    Clock anywhere;
    std::map<std::uint64_t, Clock> in_block;
};

// One lane's part of a memory instruction.
struct LaneAccess {
    int lane = 0;
    std::uint64_t address = 0;  // within its space
};
struct MemoryForm {  // of ld, st, atom, red
    ptx::Space space = ptx::Space::generic;
    bool load = false, store = false, returns = false;
    bool strong = false, acquire = false, release = false, block_scope = false, non_coherent = false;
    bool sign_extends = false;
    unsigned element_bytes = 0, elements = 1;
    ptx::Type type = ptx::Type::none;
    std::string operation;  // of atom and red
    bool is_argument = false, is_parameter_of_function = false;
    bool is_128 = false;  // two elements of 64 bits that are one
    unsigned bytes() const { return element_bytes * elements; }
};

// Element e of the data of a memory instruction: of a vector, or a half of a 128-bit register.
ptx::Operand element_of(const ptx::Operand& operand, unsigned e);

bool is_matrix_instruction(const ptx::Instruction& in);  // all live lanes of the warp together

class Machine {
  public:
    Machine(const Module& module, Memory& memory, const emulator::Launch& launch, const Options& options,
            RaceDetails* details);
    Outcome run();

  private:
    // machine.cc: blocks, warps, groups
    void run_block(std::uint64_t linear);
    void start_block(std::uint64_t linear);
    void run_turn(Warp& w);
    Group* choose(Warp& w, std::size_t& limit);
    void run_group(Warp& w, Group& g, std::size_t limit, std::uint64_t end);
    Group& split(Warp& w, Group& g, LaneMask lanes, Activation* at, std::size_t pc);
    LaneMask executing(Warp& w, const Group& g, const ptx::Instruction& in);
    void report_waiting(Warp* spinning);
    bool over_limit();

    // control.cc: calls, returns, exits, block barriers
    Activation* enter(Warp& w, const ptx::Function& f, Activation* caller, const ptx::Instruction* call,
                      std::size_t return_pc, LaneMask lanes);
    void call(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    void leave(Warp& w, Group& g, LaneMask exec);
    void exit(Warp& w, Group& g, LaneMask exec);
    void indexed_branch(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    void arrive(Warp& w);
    void try_complete(BlockBarrier& barrier);
    void complete(BlockBarrier& barrier);
    void check_barriers();

    // collective.cc: instructions of several lanes together
    LaneMask members(Warp& w, const Group& g, const ptx::Instruction& in, int lane);
    bool complete_for(Warp& w, const Group& g, const ptx::Instruction& in, LaneMask exec);
    void collective(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    void together(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes);
    void finish_warp_barriers(Warp& w);

    // matrix.cc
    bool matrix(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes);
    void store_matrices(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes, int matrices,
                        bool transposed);
    bool matrix_product(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes);

    // values.cc: operands, moves, computation
    Value read(Warp& w, const Group& g, int lane, const ptx::Operand& operand, ptx::Type type);
    Value& slot(Activation& a, int lane, const ptx::Register& reg);
    void write(Warp& w, const Group& g, int lane, const ptx::Operand& operand, Value value,
               std::size_t part = 0);
    bool readable(const Group& g, const ptx::Operand& operand, ptx::Type type) const;
    bool writable(const ptx::Operand& operand, ptx::Type type) const;
    std::optional<std::uint64_t> frame_offset(const ptx::Function& f, const ptx::Variable& v) const;
    bool is_kernel_parameter(const ptx::Function& f, const ptx::Variable& v) const;
    std::uint64_t address_of(const ptx::Function& f, const ptx::Symbol& symbol) const;
    std::optional<std::uint64_t> special(Warp& w, const ptx::Special& s, int lane) const;
    bool plain(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);  // false: not known
    bool move(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    bool convert_address(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    const std::optional<Operation>& operation(const ptx::Instruction& in);

    // undefined.cc
    int new_origin(Warp& w, const ptx::Instruction& in, int lane, const char* rule, std::string what);
    int origin_for(Warp& w, const ptx::Instruction& in, const Value& v, int lane);
    void use_undefined(Warp& w, const ptx::Instruction& in, int lane, int origin);
    std::uint64_t undefined_result(const ptx::Instruction& in, const std::vector<Value>& sources,
                                   std::size_t destinations, std::size_t k) const;

    // memory.cc
    std::optional<MemoryForm> memory_form(const Group& g, const ptx::Instruction& in) const;
    bool memory_access(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    void access_space(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                      const std::vector<LaneAccess>& lanes, ptx::Space space);
    bool check_addresses(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                         const std::vector<LaneAccess>& lanes, ptx::Space space);
    Byte load_byte(Warp& w, int lane, ptx::Space space, std::uint64_t address) const;
    void store_byte(Warp& w, int lane, ptx::Space space, std::uint64_t address, const Byte& byte);
    void load(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form, const LaneAccess& at,
              ptx::Space space);
    void store(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
               const std::vector<LaneAccess>& lanes, ptx::Space space);
    void update(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form, const LaneAccess& at,
                ptx::Space space);
    void polls(Warp& w, Group& g, const ptx::Instruction& in, const std::vector<LaneAccess>& lanes,
               ptx::Space space);

    // asynchronous.cc
    std::uint64_t effective_address(Group& g, int lane, const ptx::Address& address, bool shared);
    bool can_address(const Group& g, const ptx::Address& address) const;
    void use_address(Warp& w, Group& g, const ptx::Instruction& in, const ptx::Address& address,
                     LaneMask exec);
    bool asynchronous_copy(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    bool copies_arrive(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    void land(Warp& w, Group& g, int lane, const std::vector<Copy>& copies);
    void land_all(Warp& w, Group& g, int lane);
    bool mbarrier(Warp& w, Group& g, const ptx::Instruction& in, LaneMask exec);
    std::optional<std::uint64_t> mbarrier_place(Warp& w, Group& g, const ptx::Instruction& in, int lane,
                                                const ptx::Address& address);
    Mbarrier* mbarrier_at(Warp& w, Group& g, const ptx::Instruction& in, int lane,
                          const ptx::Address& address);
    void keep(std::uint64_t at, Mbarrier& m);
    void settle(std::uint64_t at, Mbarrier& m);
    bool announce(Warp& w, const ptx::Instruction& in, int lane, std::uint64_t at, Mbarrier& m,
                  std::int64_t bytes);
    bool arrive_at(Warp& w, const ptx::Instruction& in, int lane, std::uint64_t at, Mbarrier& m,
                   std::uint64_t count, bool drops, bool no_complete);
    void release_to(Mbarrier& m, std::uint32_t number, bool relaxed);

    // races.cc
    // `data`: what a store puts there; null: its operand says so; empty: that is not known yet.
    void record(Warp& w, Group& g, const ptx::Instruction& in, const MemoryForm& form,
                const std::vector<LaneAccess>& lanes, ptx::Space space,
                const std::vector<std::uint8_t>* data = nullptr);
    void touch(std::vector<AccessRecord>& records, AccessRecord now, bool shared);
    void race(const AccessRecord& earlier, const AccessRecord& later, bool shared, bool adjacent);
    void report_peeked();
    void start_order(std::uint32_t threads);
    void exchange(Warp& w, LaneMask lanes);
    std::uint32_t number_of(const Warp& w, int lane) const;
    ThreadOrder& order_of(const Warp& w, int lane);
    void new_epoch(std::uint32_t number);
    void note_acquiring_warp(std::uint32_t number);
    void acquire_pending(std::uint32_t number, bool block_scope);
    void fence(Warp& w, LaneMask lanes, bool acquires, bool releases, bool block_scope);
    void note_release(Warp& w, int lane, std::uint64_t address, bool shared, bool block_scope);
    void note_acquire(Warp& w, int lane, std::uint64_t address, bool shared, bool block_scope);
    void synchronise(const std::vector<std::uint32_t>& arriving, const std::vector<std::uint32_t>& waiting);

    // counting.cc
    void count_instruction(const ptx::Instruction& in, LaneMask lanes, LaneMask exec, bool unknown);
    void count_access(Warp& w, const ptx::Instruction& in, const MemoryForm& form,
                      const std::vector<LaneAccess>& lanes, ptx::Space space);
    LineCounters& line(const ptx::Instruction& in);
    void finish_counters();

    // report.cc
    std::pair<std::uint64_t, std::uint64_t> identity(const ptx::Instruction& in) const;
    bool known(const char* rule, const ptx::Instruction& a, const ptx::Instruction* b);
    void report(const char* rule, const Who& who, std::string message, bool fatal,
                const Who* other = nullptr);
    Who who(const Warp& w, const ptx::Instruction& in, int lane) const;
    Dim3 thread_index(std::uint32_t thread) const;
    Dim3 block_index(std::uint64_t block) const;

    const Module& handle_;
    const ptx::Module& module_;
    Memory::Impl& memory_;
    const emulator::Launch& launch_;
    const Options& options_;
    RaceDetails* details_;
    Outcome outcome_;
    bool stopped_ = false;
    bool changed_ = false;  // an atomic of the warp's instruction changed memory
    const ptx::Function* kernel_ = nullptr;
    std::vector<Buffer*> variables_;
    Buffer* parameters_ = nullptr;
    std::uint32_t threads_ = 0, warps_ = 0, shared_bytes_ = 0;
    std::uint64_t local_limit_ = 0;
    std::unique_ptr<Block> block_;
    std::uint64_t executed_ = 0;  // warp instructions and what counts as such, for the limit
    std::unordered_map<const ptx::Instruction*, std::optional<Operation>> operations_;
    std::unordered_map<const ptx::Instruction*, const ptx::Function*> function_of_;
    std::vector<Origin> origins_;
    std::map<const ptx::Instruction*, int> origin_of_;
    std::map<std::uint64_t, int> global_origins_;  // of undefined bytes in scratch buffers, by address
    std::map<std::pair<std::string, std::pair<std::pair<std::uint64_t, std::uint64_t>,
                                              std::pair<std::uint64_t, std::uint64_t>>>,
             std::size_t>
        faults_;
    // races
    std::vector<ThreadOrder> order_;
    std::set<std::pair<std::uint64_t, std::uint32_t>> acquiring_warps_;  // block, warp
    std::vector<std::uint32_t> number_of_block_;  // first thread's number, by linear block
    std::uint64_t serial_ = 0;
    std::map<std::uint64_t, std::vector<AccessRecord>> global_accesses_;
    std::map<std::uint64_t, Release> releases_;
    struct Peek {
        bool validated = false, raced = false;
        AccessRecord earlier, later;
        bool shared = false;
    };
    std::map<std::pair<std::uint64_t, std::uint64_t>, Peek> peeks_;  // by the place of the plain read
    // counters
    std::set<std::uint64_t> sectors_read_, sectors_written_;
    struct Contended {
        std::uint64_t operations = 0;
        std::set<std::uint64_t> blocks;
    };
    std::map<std::uint64_t, Contended> contended_;
};

}  // namespace emulator::specification

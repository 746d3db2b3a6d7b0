// What an executing launch consists of: Launch > Block > Warp > Fragment and Frame. Plain data; the
// interpreter (exec/), the scheduler (launch/) and the checks (races/, counters/) work on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/src/exec/program.h"
#include "emulator/src/memory/buffers.h"

namespace emulator::exec {

struct Block;
struct Launch;
struct Products;      // of wgmma.mma_async (tensor/wgmma.h)
struct WarpgroupLog;  // as well
struct TensorMemory;  // of tcgen05 (tensor/tensor_memory.h)

// By warp of one cluster (Warp::slot): up to which stamp that warp's accesses are ordered, or published.
// Shared, never changed: one snapshot serves every place that it is passed on to. Null: nothing.
using Stamps = std::shared_ptr<const std::vector<std::uint32_t>>;

// One activation of a function by a set of lanes: its registers and its share of local memory.
struct Frame {
    const FunctionCode* function = nullptr;
    std::array<std::byte*, kBases> base{};
    // Which lanes of a register hold something undefined; and where that came from (Launch::origins).
    std::array<Mask*, kBases> taint{};
    std::array<std::uint32_t*, kBases> origin{};
    Frame* parent = nullptr;
    const Instr* call = nullptr;
    std::uint32_t return_pc = 0;
    std::uint32_t depth = 0;
    std::uint32_t local_base = 0;  // offset of the frame in each thread's local memory
    Mask lanes = 0;                // still inside
    // Warp::stack when the frame began: what alloca took is given back by the return. Null: no code
    // allocates.
    std::unique_ptr<const std::array<std::uint32_t, kLanes>> stack_at_entry;
    std::unique_ptr<std::byte[]> registers;
    std::vector<Mask> taint_store;
    std::vector<std::uint32_t> origin_store;
    // Lanes of which only some bits are undefined, by index in taint_store; tainted lanes of registers that
    // are not here are undefined as a whole.
    std::unordered_map<std::size_t, std::array<std::uint64_t, kLanes>> undefined_bits;
};

// Lanes of a warp that are at the same instruction of the same frame.
struct Fragment {
    enum class State : std::uint8_t { ready, at_barrier, at_collective, at_cluster };
    Mask mask = 0;
    std::uint32_t pc = 0;
    Frame* frame = nullptr;
    State state = State::ready;
    bool arrived = false;             // at_barrier: counted there
    std::uint64_t last_run = 0;       // the warp's instruction count when it last ran
    std::uint64_t sync_accesses = 0;  // atomics, volatile and acquire accesses since another fragment ran
};

struct AsyncCopy {  // one lane of one cp.async, not yet landed
    std::uint32_t lane = 0, destination = 0, bytes = 0;
    const Instr* instr = nullptr;
    bool undefined = false;  // the source was never written
    std::array<std::byte, 16> data{};
};
struct AsyncGroup {
    Mask lanes = 0;
    std::vector<AsyncCopy> copies;
};

// How a reduction combines elements in memory: the codes of exec/atomic.cc.
struct Reduction {
    bool active = false;
    std::uint8_t operation = 0, kind = 0, size = 0;  // size: bytes of an element
    bool ftz = false;
};

// The part of an asynchronous copy that lands in the shared memory of one block and completes there on an
// mbarrier. Its bytes are on their way: the destination is undefined until a wait makes them land.
struct AsyncLoad {
    const Instr* instr = nullptr;
    std::uint64_t block = 0;  // of the thread that issued it: Block::linear
    std::uint32_t thread = 0;
    std::uint32_t barrier = 0, destination = 0;  // offsets in the block's shared memory
    std::uint32_t stamp = 0;                     // of its accesses (races/)
    std::vector<std::byte> data;
    std::vector<std::uint64_t> defined;  // one bit per byte; empty: all are
    Reduction reduction;
};
// A copy out of shared memory, of a bulk group.
struct AsyncStore {
    struct Piece {
        std::uint32_t shared = 0, bytes = 0;
        std::uint64_t global = 0;
    };
    const Instr* instr = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t read_stamp = 0, write_stamp = 0;
    std::vector<Piece> pieces;
    Reduction reduction;
    bool was_read = false, landed = false;
    std::vector<std::byte> data;  // piece after piece, once read
};
struct BulkGroup {  // of one lane
    std::uint32_t lane = 0;
    std::vector<AsyncStore> stores;
};

// A tcgen05.commit that has not arrived at its mbarrier yet.
struct TensorCommit {
    const Instr* instr = nullptr;
    std::uint64_t block = 0;  // of the thread that issued it: Block::linear
    std::uint32_t thread = 0;
    std::uint32_t barrier = 0;  // offset in the shared memory where it arrives
    // Whose operations it waits for: those of this warp, up to this number. Null: they are done.
    Block* from = nullptr;
    std::uint32_t warp = 0;
    std::uint64_t upto = 0;
};

struct Warp {
    std::array<std::byte*, kBases> base{};  // of the current frame
    Frame* frame = nullptr;
    Block* block = nullptr;
    Launch* launch = nullptr;
    Fragment* fragment = nullptr;  // the one being executed
    std::uint32_t index = 0;       // in the block
    std::uint32_t slot = 0;        // in the cluster: the entry in clocks
    std::uint32_t first_thread = 0;
    Mask present = 0, live = 0;  // lanes that exist; that have not exited
    bool tainted = false;        // some register may hold an undefined value
    bool watched = false;        // what instructions do with registers is followed (tensor/wgmma.h)
    std::vector<Fragment> fragments;
    std::vector<std::unique_ptr<Frame>> frames;
    std::array<std::array<std::uint32_t, kLanes>, 3> tid{};
    // alloca: from here to Launch::local_limit lies what the lane has allocated, the latest lowest; frames
    // grow towards it.
    std::array<std::uint32_t, kLanes> stack{};
    std::uint64_t instructions = 0, global_loads = 0;
    std::uint64_t yield_at = 0;
    std::byte* local = nullptr;  // lane i at i * Launch::local_stride
    Pages local_storage;
    std::uint64_t* local_written = nullptr;  // one bit per byte, same layout
    // barrier.cluster: lanes that have arrived in the current phase; that may pass their wait
    Mask cluster_arrived = 0, cluster_passed = 0;
    const Instr* cluster_arrival = nullptr;  // the latest
    // happens-before
    std::vector<std::uint32_t> clock;   // by warp of the cluster: what of it is ordered before this warp
    std::uint32_t floor = 0;            // all of the cluster up to here is ordered before this warp
    std::vector<std::uint32_t> fenced;  // as clock: what a fence.proxy.async makes known to the async proxy
    std::uint32_t sync_count = 0;       // warp-level synchronisations so far
    std::uint32_t sync_floor = 0;  // accesses made when sync_count was below this are ordered for all lanes
    // The same for pairs, once part of the warp has synchronised: [lane][other lane].
    std::unique_ptr<std::array<std::array<std::uint32_t, kLanes>, kLanes>> lane_order;
    // The same for accesses that were reads, once lanes have exchanged values after them (shuffles, votes).
    std::uint32_t read_floor = 0;
    std::unique_ptr<std::array<std::array<std::uint32_t, kLanes>, kLanes>> read_order;
    // Of the own cluster: what a fence of this warp (or one before it) covers; for other clusters only those
    // of a scope that includes them count.
    Stamps published, published_in_cluster;
    std::unordered_map<std::uint64_t, Stamps> pending;  // by cluster: released, read here, not yet acquired
    std::uint64_t version = 0;                          // grows with either
    std::uint64_t acquired_location = 0, acquired_changes = 0;
    bool acquired_block_scope = false;
    // cp.async: the open group and the committed ones, oldest first
    AsyncGroup open_group;
    std::vector<AsyncGroup> groups;
    // bulk copies out of shared memory: those not committed yet, and the committed groups, oldest first
    std::vector<AsyncStore> open_stores;
    std::vector<BulkGroup> bulk_groups;
    std::array<std::uint32_t, 6> agents{};  // entries in clocks, by races::Agent; 0: none yet
    std::uint32_t register_changes = 0;     // setmaxnreg so far, and the latest
    const Instr* register_change = nullptr;
    std::shared_ptr<Products> products;  // null: no wgmma yet
    // waiting without progress
    const Instr* last_sync = nullptr;  // the last sync-relevant read, and what it read
    std::uint64_t last_sync_address = 0;
    std::vector<std::uint64_t> sync_watch;  // while probing: every lane's address
    std::uint32_t last_sync_lane = 0;
    Block* awaited_home = nullptr;  // the mbarrier that last_sync tested, when it is one
    std::uint32_t awaited = 0;
    std::array<std::uint64_t, 4> polled{};  // addresses of the latest sync-relevant reads
    std::uint32_t polled_next = 0;
    std::uint64_t polls = 0;  // in this time slice: sync-relevant reads of an address read just before
    std::uint64_t polled_writes = ~std::uint64_t{0};  // Block::writes at the latest sync-relevant read
    bool polls_in_vain = false;  // that read found nothing new: at the next backward branch others get a turn
    bool gives_way = false;      // such a branch was reached
    std::uint64_t waits = 0;     // in this time slice: turns given up so
    std::uint64_t stuck_hash = 0, stuck_steps = 0, stuck_limit = 0;
    std::uint64_t local_changes = 0;  // stores to local memory
    bool stuck = false;

    bool done() const { return live == 0; }
};

struct BarrierWait {  // one warp at a barrier
    std::uint32_t warp = 0;
    Mask lanes = 0;
    const Instr* instr = nullptr;
    std::uint32_t threads = 0;  // that it counts for
};
struct Barrier {
    std::uint32_t expected = 0;                  // explicit count, 0: all live threads
    std::uint32_t arrived = 0;                   // threads
    std::vector<BarrierWait> waiting, arrivals;  // arrivals: bar.arrive, which do not wait
    std::uint32_t reduce_count = 0;
    bool reduce_and = true, reduce_or = false;
};

struct BarrierClock {  // of an mbarrier: by warp, what its arrivals ordered
    std::vector<std::uint32_t> arriving, completed;
    std::vector<std::uint32_t> arriving_near, completed_near;  // of an mbarrier: by its block and by copies
    std::vector<std::uint32_t> arriving_fenced, completed_fenced;  // as Warp::fenced
    Stamps published, published_in_cluster;                        // by those that arrived
};

// An mbarrier object. `bits` is what its eight bytes must hold: anything else has overwritten them.
struct Mbarrier {
    std::uint32_t pending = 0, expected = 0;  // arrivals that the phase still waits for, that a phase takes
    std::int32_t bytes = 0;                   // expected and not yet complete
    std::uint64_t phase = 0;                  // completed ones
    std::uint64_t bits = 0;
    struct Event {
        std::uint32_t id = ~0u, thread = 0;
        std::uint64_t block = 0;
    };
    Event made, arrived, expecting;  // the latest of each
};

// Blocks that run together and reach each other's shared memory; a launch without clusters has clusters of
// one block.
struct Cluster {
    std::uint64_t number = 0;    // in the grid
    std::vector<Block*> blocks;  // by rank; null: has ended
    std::uint32_t start_stamp = 0;
    // barrier.cluster
    std::uint64_t phases = 0;  // completed
    BarrierClock barrier;
    // Entries in clocks beyond those of the warps: what the async proxy does for each mbarrier (rank and
    // offset), and for each warp's bulk groups.
    std::uint32_t agents = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> mbarrier_agents;
};

// A tensor map that the block has changed through the generic proxy; the unit that copies by it may have the
// old one until fence.proxy.tensormap has released (as tensormap.cp_fenceproxy does) and acquired it.
struct ChangedMap {
    std::uint32_t id = 0, thread = 0;  // Instr::id and who
    bool released = false;
};

struct Block {
    Launch* launch = nullptr;
    std::uint64_t linear = 0;   // in the grid
    std::uint64_t ordinal = 0;  // cluster by cluster, in a cluster by rank
    Dim3 index;
    std::shared_ptr<Cluster> cluster;
    std::uint32_t rank = 0;         // in the cluster
    std::uint64_t shared_base = 0;  // of its shared memory in the cluster's window
    std::vector<std::unique_ptr<Warp>> warps;
    std::array<Barrier, 16> barriers;
    std::uint32_t live_threads = 0;
    std::byte* shared = nullptr;
    std::uint32_t shared_bytes = 0;
    std::uint64_t* shared_written = nullptr;  // one bit per byte
    void* shared_shadow = nullptr;            // races::Cell[]
    Pages storage;
    std::uint64_t random = 0;  // state of the generator that orders its warps
    // happens-before
    std::uint32_t now = 0;                           // stamp of accesses being made
    std::uint64_t version = 0;                       // grows with `seen`
    std::unordered_map<std::uint64_t, Stamps> seen;  // other cluster -> what of it is ordered before this one
    std::unordered_map<std::uint32_t, Stamps> shared_sync;  // shared address -> what was released there
    std::unordered_map<std::uint32_t, BarrierClock> mbarriers;
    std::map<std::uint32_t, Mbarrier> mbarrier_objects;  // by offset
    std::vector<AsyncLoad> arriving;                     // copies on their way here, oldest first
    std::map<std::uint64_t, ChangedMap> changed_maps;    // by address in global memory
    // Bytes of shared and local memory that hold an undefined value (where their bits say "not written"):
    // what it came from, by the address of the bit.
    std::unordered_map<std::uint64_t, std::uint32_t> stored_undefined;
    std::vector<std::shared_ptr<WarpgroupLog>> warpgroups;
    std::shared_ptr<TensorMemory> tensor_memory;  // null: not used
    std::vector<TensorCommit> commits;            // that arrive at this block's mbarriers, oldest first
    // progress
    std::uint64_t writes = 0;  // stores and atomics that changed something, barriers, exits
    std::uint64_t idle = 0;    // instructions since writes last moved
    bool started_for_waiting = false;
    bool waiting = false;           // found to wait for another block
    bool waited_for_start = false;  // ... and a block was started because of it
    std::uint64_t generation = 0;   // of the launch's memory, when it last began to run (Scheduler::run)
};

struct InstrCounters {
    std::uint64_t warp = 0, threads = 0, on = 0;
};
struct AccessCounters {
    std::uint64_t requests = 0, sectors = 0, bytes = 0, ideal = 0;  // global, local
    std::uint64_t wavefronts = 0, conflicts = 0;                    // shared
    std::uint64_t shared_requests = 0, local_requests = 0, local_sectors = 0, shared_bytes = 0;
    std::uint64_t divergent = 0, flops = 0, constants = 0;
    std::uint64_t operand_bytes = 0;                 // of shared memory, by wgmma and tcgen05.mma
    std::uint64_t operations = 0;                    // of global atomics
    std::uint64_t bulk_bytes = 0, bulk_sectors = 0;  // of global memory, by bulk copies

    void add(const AccessCounters& other);
};

struct AtomicAddress {
    std::uint64_t operations = 0, blocks = 0, last_block = ~std::uint64_t{0};
};

struct SyncLocation {  // what sync-relevant writes released, by cluster: to others, to the cluster itself
    std::unordered_map<std::uint64_t, Stamps> others, within;
    std::uint64_t last_block = ~std::uint64_t{0}, last_version = 0, changes = 0;
    std::uint32_t last_warp = 0;
    bool last_block_scope = false;
};

struct Watch {  // an address that a waiting block reads again and again
    std::uint64_t address = 0;
    Block* block = nullptr;
    const Instr* instr = nullptr;
    std::uint32_t thread = 0;
};

// Plain reads of one source line that raced with atomics only (races/races.cc).
struct Peek {
    bool validated = false, raced = false;
    const char* rule = "";
    std::string message;
    std::uint64_t block = 0, other_block = 0;
    std::uint32_t id = 0, thread = 0, other_id = 0, other_thread = 0;
    const char* note = "";
};

struct Origin {  // an undefined read, for the report that may come later
    std::uint32_t id = 0;
    const char* rule = "";
    std::string what;
    std::uint64_t block = 0;
    std::uint32_t thread = 0;
};

// Cycles on top of those that instructions issue in: a plausible, seeded amount for what takes longer.
struct Clock {
    std::uint64_t cycles = 0, state = 0;
    void pass(std::uint64_t least, std::uint32_t spread) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        cycles += least + ((state >> 32) * spread >> 32);
    }
};

// What a launch has done so far. Those of several host threads are added up.
struct Totals {
    std::vector<InstrCounters> executed;  // by Instr::id
    std::vector<AccessCounters> accesses;
    std::uint64_t instructions = 0;
    std::uint64_t surcharge = 0;  // for the limit: what costs more than one instruction does
    std::uint64_t blocks_launched = 0, warps_launched = 0;
    std::uint64_t max_warp_instructions = 0, max_global_loads = 0;
    std::uint64_t barrier_arrivals = 0;
    std::uint64_t async_requests = 0, async_bytes = 0;
    std::uint64_t bulk_requests = 0, bulk_load_bytes = 0, bulk_store_bytes = 0;
    std::unordered_map<std::uint64_t, AtomicAddress> atomic_addresses;  // global ones

    void add(const Totals& other);
};

struct Launch : Totals {
    const ptx::Module* module = nullptr;
    const Program* program = nullptr;
    const FunctionCode* kernel = nullptr;
    const ptx::Function* kernel_text = nullptr;
    std::int32_t kernel_number = -1;
    Memory::Impl* memory = nullptr;
    const emulator::Launch* request = nullptr;
    const Options* options = nullptr;
    Outcome* outcome = nullptr;
    bool stopped = false;  // a fatal fault
    bool check_races = false, check_initialised = false, count = false;

    std::vector<Buffer*> variables;  // by index in ptx::Module::variables
    // By rank in the cluster (shared addresses differ), then by function; 32 lanes each.
    std::vector<std::vector<std::vector<std::uint32_t>>> narrow_constants;
    std::vector<std::vector<std::vector<std::uint64_t>>> wide_constants;
    std::vector<std::byte> arguments;
    Buffer* parameters = nullptr;
    Buffer* workspace = nullptr;
    Dim3 grid, block;
    Dim3 cluster;                          // in blocks
    std::uint32_t blocks_per_cluster = 1;  // its count
    bool explicit_cluster = false;
    std::uint32_t threads_per_block = 0, warps_per_block = 0;
    std::uint32_t shared_bytes = 0;     // what the kernel declares and asks for
    std::uint32_t reserved_shared = 0;  // where the system's part is (kReservedShared bytes); 0: not used
    std::uint32_t local_stride = 0, local_limit = 0;
    bool allocates = false;  // some function has an alloca

    std::uint64_t switches = 0;  // times that another block came to run and changed memory

    bool in_reserved_shared(std::uint64_t offset, std::uint32_t bytes) const {
        return reserved_shared != 0 && offset >= reserved_shared &&
               !is_beyond(offset - reserved_shared, bytes, kReservedShared);
    }

    Clock clock;
    std::uint32_t race_serial = 0;
    std::map<std::uint32_t, Peek> peeks;  // by Program::places of the read
    std::uint64_t shadow_pages = 0;       // that may still be made
    // Whom a stamp belongs to: the block (its ordinal) and above kAgentShift, for accesses of the async
    // proxy, their entry in clocks. 0 is nobody's.
    std::vector<std::uint64_t> stamp_owner{~std::uint64_t{0}};
    std::unordered_map<std::uint64_t, SyncLocation> sync_locations;
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> fault_index;  // (rule, places) -> faults[]
    std::vector<Watch> watched;
    std::vector<Origin> origins;  // taint origin n is origins[n - 1]
    std::map<std::uint32_t, std::uint32_t> origin_by_id;
    std::unordered_map<std::uint64_t, std::uint32_t> stored_undefined;  // as Block's, for scratch buffers
    std::uint64_t heap_bytes = 0;
};

// A block of rank r of its cluster has its shared memory at r << kRankShift of the shared window.
constexpr int kRankShift = 24;

constexpr int kAgentShift = 40;  // Launch::stamp_owner

// Where a code address points: function pointers are kFunctionTag + number.
constexpr std::uint64_t kFunctionTag = 0x00f0000000000000ull;

}  // namespace emulator::exec

#include "emulator/src/launch/parallel.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <system_error>
#include <thread>

#include "emulator/src/launch/prepare.h"
#include "emulator/src/races/shadow.h"

namespace emulator::exec {

namespace {

// Writable memory beyond which no copy is kept to go back to.
constexpr std::uint64_t kMostCopied = std::uint64_t{1} << 30;

bool is_private(const ptx::Instruction& in, const Instr& decoded) {
    const bool own_memory = in.has("shared") || in.has("shared::cta") || in.has("shared::cluster");
    const std::string& op = in.opcode;
    if (op == "atom" || op == "red") return own_memory;
    if (op == "multimem" || op == "tensormap" || op == "discard") return false;
    if (op == "cp" && in.has("reduce")) return false;
    if (decoded.control == Control::timed) return false;
    return own_memory || !decoded.has(flag::is_volatile);
}

// The functions that the kernel may call, itself included.
std::set<std::int32_t> called_by(const Launch& launch, bool& prints_or_allocates) {
    const Program& program = *launch.program;
    std::set<std::int32_t> found{launch.kernel_number};
    std::vector<std::int32_t> todo{launch.kernel_number};
    while (!todo.empty()) {
        const FunctionCode& code = program.functions[static_cast<std::size_t>(todo.back())];
        todo.pop_back();
        for (const CallSite& call : code.calls) {
            if (!call.builtin.empty()) {
                prints_or_allocates |= call.builtin != "__assertfail";
            } else if (call.function >= 0) {
                if (found.insert(call.function).second) todo.push_back(call.function);
            } else {  // indirect: any
                for (std::size_t f = 0; f < program.functions.size(); ++f)
                    if (found.insert(static_cast<std::int32_t>(f)).second)
                        todo.push_back(static_cast<std::int32_t>(f));
            }
        }
    }
    return found;
}

// What one more host thread needs: a launch of its own whose buffers are the others' bytes.
struct Worker {
    Memory::Impl memory;
    Outcome outcome;
    Launch launch;

    explicit Worker(const Launch& main) : launch(main) {
        std::map<const Buffer*, Buffer*> mine;
        for (const auto& buffer : main.memory->buffers) {
            memory.buffers.push_back(buffer->shared());
            mine[buffer.get()] = memory.buffers.back().get();
        }
        mine[nullptr] = nullptr;
        for (Buffer* buffer : main.memory->by_slot) memory.by_slot.push_back(mine.at(buffer));
        for (Buffer*& buffer : launch.variables) buffer = mine.at(buffer);
        launch.parameters = mine.at(launch.parameters);
        launch.memory = &memory;
        launch.outcome = &outcome;
        launch.fault_index.clear();  // into the other outcome's faults
        launch.peeks.clear();
        static_cast<Totals&>(launch) = Totals{};
        launch.executed.resize(main.executed.size());
        launch.accesses.resize(main.accesses.size());
        prepare_buffers(launch);
        start_claims(launch);
    }
    Worker(const Worker&) = delete;
    bool clean() const { return outcome.faults.empty() && !launch.stopped && launch.peeks.empty(); }
};

std::uint64_t* words(const Pages& pages) { return reinterpret_cast<std::uint64_t*>(pages.data()); }

// Did somebody touch what somebody else wrote? `parties` are the same buffer as each thread has it.
bool overlap(const std::vector<const Buffer*>& parties) {
    const std::size_t count = (parties[0]->size + 63) / 64;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t read = 0, written = 0;
        for (const Buffer* party : parties) {
            const std::uint64_t r = words(party->claims->read)[i], w = words(party->claims->written)[i];
            if ((w & (read | written)) | (r & written)) return true;
            read |= r;
            written |= w;
        }
    }
    return false;
}

// Content of the buffers that a kernel may write.
class Copy {
  public:
    explicit Copy(const Launch& launch) {
        for (const auto& buffer : launch.memory->buffers)
            if (buffer->writable && buffer->claims)
                saved_.emplace_back(buffer.get(),
                                    std::vector<std::byte>(buffer->data(), buffer->data() + buffer->size));
    }
    void restore() const {
        for (const auto& [buffer, bytes] : saved_) std::copy(bytes.begin(), bytes.end(), buffer->data());
    }

  private:
    std::vector<std::pair<Buffer*, std::vector<std::byte>>> saved_;
};

// The rest of the queue on several threads. False: nothing has changed, and one thread has to do it.
bool run_rest(Launch& launch, BlockQueue& queue, unsigned threads, Scheduler::Clock::time_point deadline) {
    const std::uint64_t begin = queue.next();
    const Copy before(launch);
    std::vector<std::unique_ptr<Worker>> workers;
    for (unsigned i = 0; i < threads; ++i) {
        workers.push_back(std::make_unique<Worker>(launch));
        workers.back()->launch.shadow_pages = launch.shadow_pages / threads;
    }
    const auto work = [&](Worker& worker) {
        try {
            Scheduler(worker.launch, queue, deadline).run();
        } catch (const std::bad_alloc&) {
            worker.launch.stopped = true;
        }
        if (!worker.clean()) queue.abandon();
    };
    {
        std::vector<std::jthread> others;
        try {
            for (unsigned i = 1; i < threads; ++i) others.emplace_back([&, i] { work(*workers[i]); });
        } catch (const std::system_error&) {
            // The system gives no more threads: those that there are do it all.
        }
        work(*workers[0]);
    }
    Totals total = launch;
    bool good = !queue.abandoned();
    for (const auto& worker : workers) {
        total.add(worker->launch);
        // Without shadow pages races went unseen.
        good = good && worker->clean() && (!launch.check_races || worker->launch.shadow_pages != 0);
    }
    good = good && total.instructions + total.surcharge <= launch.options->max_warp_instructions;
    for (std::size_t b = 0; good && b < launch.memory->buffers.size(); ++b) {
        std::vector<const Buffer*> parties{launch.memory->buffers[b].get()};
        for (const auto& worker : workers) parties.push_back(worker->memory.buffers[b].get());
        good = !parties[0]->claims || !overlap(parties);
    }
    if (!good) {
        before.restore();
        queue.return_to(begin);
        return false;
    }
    static_cast<Totals&>(launch) = std::move(total);
    for (std::size_t b = 0; b < launch.memory->buffers.size(); ++b)
        for (const auto& worker : workers) launch.memory->buffers[b]->join(*worker->memory.buffers[b]);
    launch.outcome->host_threads = threads;
    return true;
}

}  // namespace

bool can_share_blocks(const Launch& launch) {
    if (launch.request->cooperative) return false;
    bool prints_or_allocates = false;
    std::set<std::int32_t> functions = called_by(launch, prints_or_allocates);
    if (prints_or_allocates) return false;
    std::uint64_t writable = 0;
    for (const auto& buffer : launch.memory->buffers) writable += buffer->writable ? buffer->size : 0;
    if (writable > kMostCopied) return false;
    const Program& program = *launch.program;
    for (std::size_t id = 0; id < program.text.size(); ++id)
        if (program.text[id] && functions.contains(program.function_of[id]) &&
            !is_private(*program.text[id], *program.instructions[id]))
            return false;
    return true;
}

void run_blocks(Launch& launch) {
    const auto deadline = Scheduler::Clock::now() + launch.options->max_time;
    const BlockOrder order(launch);
    BlockQueue queue(order);
    Scheduler scheduler(launch, queue, deadline);
    const unsigned threads = std::min(launch.options->host_threads, 64u);
    if (threads < 2 || order.total() < 3 || !can_share_blocks(launch)) {
        scheduler.run();
        return;
    }
    start_claims(launch);
    scheduler.run([&] {
        const std::uint64_t done = queue.next();
        return queue.left() > 1 &&
               launch.instructions / done * queue.left() >= launch.options->least_shared_work;
    });
    if (launch.stopped || queue.left() == 0) return;
    const auto parties = static_cast<unsigned>(std::min<std::uint64_t>(threads, queue.left()));
    if (!run_rest(launch, queue, parties, deadline)) scheduler.run();
}

}  // namespace emulator::exec

// The state of the generator while it writes one program, and its parts, each in a file of its own
// (generate_*.cc). Registers of the text: %r0-9 32 bits, %d0-5 64, %h0-5 16, %p0-4 predicates; %t* %c* %a %b
// %q belong to the instruction group that is being written.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/differential/generator.h"

namespace emulator::differential {

// Values that find trouble as operands: ends of ranges, NaN, infinities, subnormals, halves in pairs.
const std::vector<std::uint32_t>& special_words();
const std::vector<std::uint64_t>& special_doubles();

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed * 0x2545f4914f6cdd1dull + 1), seed_(seed) {}
    Program run();

  private:
    // ---- text ----
    void put(std::string line) { program_.lines.push_back(std::move(line)); }
    template <class... T>
    void line(fmt::format_string<T...> format, T&&... values) {
        put("    " + fmt::format(format, std::forward<T>(values)...));
    }
    std::string label() { return fmt::format("L{}", labels_++); }
    std::string expand(const std::string& pattern);  // "{a|b|}": one of the alternatives

    // ---- operands ----
    std::string r() { return fmt::format("%r{}", random_.below(10)); }
    std::string d() { return fmt::format("%d{}", random_.below(6)); }
    std::string h() { return fmt::format("%h{}", random_.below(6)); }
    std::string p() { return fmt::format("%p{}", random_.below(5)); }
    std::string word();
    // Of a kind: r f 32 bits (integer, float), x the same without literals; d g z 64; h y 16; p; i 0-255.
    std::string operand(char kind);
    std::string destination(char kind);
    std::string guard();
    struct Form {
        const char* name;
        char destination;
        const char* sources;
    };
    struct Access {
        std::string type;
        unsigned bytes;
        char kind;
    };
    static std::string suffix(unsigned n) { return n == 1 ? "" : fmt::format(".v{}", n); }

    // ---- generate_compute.cc ----
    void compute();
    void compare();
    void video();
    void carry_chain();
    static bool joins(const std::string& name);  // does a comparison take a predicate, too?
    void rearrange();

    // ---- generate_memory.cc ----
    const Access& element();
    // "{a, b}" of different registers, or one.
    std::string registers(char kind, unsigned n, bool write);
    unsigned vector_of(unsigned bytes);
    // %a: base + a random, aligned, lane-dependent offset below `span` (a power of two).
    void address_in(const std::string& base, std::uint64_t span, unsigned bytes);
    void load_input();
    // 256 bytes per thread.
    void own_output();
    // 32 bytes per thread.
    void shared_own();
    void local_memory();
    void constant_memory();
    // One instruction, lanes in different buffers or spaces.
    void several_memories();
    void strong_traffic();
    void wide_register();
    void hints();

    // ---- generate_atomics.cc ----
    void atomic();
    void atomic_of_vector();
    // The loop that double-precision atomicAdd once was.
    void add_by_compare_and_swap();
    // Each block publishes, the last one reads what all published.
    void last_block();

    // ---- generate_collectives.cc ----
    // Every thread reads another's word, between barriers.
    void exchange();
    void reduction_barrier();
    void collective();
    void together(const std::string& mask);
    void partial();
    void producer();

    // ---- generate_matrices.cc ----
    void matrix();

    // ---- generate_asynchronous.cc ----
    // cp.async into the thread's own shared memory, and its waits.
    void copies();
    // One or more phases of an mbarrier.
    void phases();
    // One thread publishes a word, the others poll its flag.
    void message();

    // ---- generate_control.cc ----
    // %q.
    void condition();
    void branch(int depth);
    void loop(int depth);
    void ladder(int depth);
    void call_function();

    // ---- generate_mistakes.cc ----
    // One thing that is wrong.
    void mistake();

    // ---- generator.cc ----
    void statement(int depth);
    void body(int depth, std::uint64_t statements);
    void registers_declared();
    void function(int number);
    void kernel();
    std::string r_or_zero(int k);

    Random random_;
    std::uint64_t seed_;
    Program program_;
    int labels_ = 0, functions_ = 0, function_ = 0, source_line_ = 0;
    bool uniform_ = true, in_function_ = false, wrong_ = false, lines_loc_ = false, used_ticket_ = false;
    bool has_exits_ = false;  // lanes end early; then there are no matrices, which need whole warps
};

}  // namespace emulator::differential

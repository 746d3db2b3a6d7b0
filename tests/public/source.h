// One public CUDA source under test: where it is, how its kernels are called, and what they must give.
//
// A case is a `Source` with a function that fills buffers, launches kernels and compares what comes back with
// values worked out on the host by other code. Session runs it with one seed of schedule and addresses.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "emulator/emulator.h"
#include "harness/compile/compiler.h"

namespace kernelwright::public_sources {

using emulator::BufferKind;
using emulator::Dim3;

// A device pointer.
template <class T>
struct Buffer {
    std::uint64_t address = 0;
    std::size_t count = 0;
};

struct LaunchShape {
    Dim3 grid, block;
    std::uint32_t shared = 0;  // bytes
    bool cooperative = false;
};

// What went wrong: a launch's faults, or values that are not the expected ones.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Session {
  public:
    Session(const Build& build, const emulator::Module& module, std::uint64_t seed);

    template <class T>
    Buffer<T> buffer(const std::string& name, BufferKind kind, const std::vector<T>& content) {
        const auto b = empty<T>(name, kind, content.size());
        memory_.write(b.address, std::as_bytes(std::span(content)));
        return b;
    }
    template <class T>
    Buffer<T> in(const std::string& name, const std::vector<T>& content) {
        return buffer(name, BufferKind::input, content);
    }
    template <class T>
    Buffer<T> inout(const std::string& name, const std::vector<T>& content) {
        return buffer(name, BufferKind::inout, content);
    }
    template <class T>
    Buffer<T> empty(const std::string& name, BufferKind kind, std::size_t count) {
        return {memory_.allocate(name, std::max<std::size_t>(count, 1) * sizeof(T), kind), count};
    }
    template <class T>
    Buffer<T> out(const std::string& name, std::size_t count) {
        return empty<T>(name, BufferKind::output, count);
    }
    template <class T>
    Buffer<T> scratch(const std::string& name, std::size_t count) {
        return empty<T>(name, BufferKind::scratch, count);
    }
    template <class T>
    std::vector<T> read(Buffer<T> b) const {
        const auto bytes = memory_.read(b.address, b.count * sizeof(T));
        std::vector<T> out(b.count);
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }
    template <class T>
    void write(Buffer<T> b, const std::vector<T>& content) {
        memory_.write(b.address, std::as_bytes(std::span(content)));
    }
    // A __constant__ or __device__ variable; `name` is one of the source's name expressions, "&variable".
    template <class T>
    void symbol(const std::string& name, const std::vector<T>& content) {
        symbol_bytes(name, std::as_bytes(std::span(content)));
    }

    // `kernel` is one of the source's name expressions. Throws Failure with the first fault.
    template <class... A>
    void launch(const std::string& kernel, const LaunchShape& shape, const A&... arguments) {
        std::vector<std::vector<std::byte>> values;
        (values.push_back(pack(arguments)), ...);
        start(kernel, shape, values);
    }

    std::uint64_t seed() const { return seed_; }
    std::uint64_t instructions() const { return instructions_; }
    const std::string& printed() const { return printed_; }
    double seconds() const { return seconds_; }
    double worst() const { return worst_; }

    // |got - want| <= absolute + relative * |want|, every element; throws Failure with the first that is not.
    template <class T, class U>
    void near(const std::string& what, const std::vector<T>& got, const std::vector<U>& want, double relative,
              double absolute) {
        if (got.size() != want.size())
            throw Failure(fmt::format("{}: {} values, {} expected", what, got.size(), want.size()));
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
            const double error = std::abs(g - w);
            worst_ = std::max(worst_, error / (absolute + relative * std::abs(w) + 1e-300));
            if (!(error <= absolute + relative * std::abs(w)))
                throw Failure(fmt::format("wrong result: {}[{}] is {}, expected {}", what, i, g, w));
        }
        ++checks_;
    }
    template <class T>
    void equal(const std::string& what, const std::vector<T>& got, const std::vector<T>& want) {
        if (got.size() != want.size())
            throw Failure(fmt::format("{}: {} values, {} expected", what, got.size(), want.size()));
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0)
                throw Failure(
                    fmt::format("wrong result: {}[{}] is {}, expected {}", what, i, got[i], want[i]));
        }
        ++checks_;
    }
    void require(const std::string& what, bool holds) {
        if (!holds) throw Failure("wrong result: " + what);
        ++checks_;
    }
    int checks() const { return checks_; }

  private:
    template <class T>
    static std::vector<std::byte> pack(const Buffer<T>& b) {
        return pack(b.address);
    }
    template <class T>
    static std::vector<std::byte> pack(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::vector<std::byte> out(sizeof(T));
        std::memcpy(out.data(), &value, sizeof(T));
        return out;
    }
    std::string symbol_of(const std::string& name) const;
    void symbol_bytes(const std::string& name, std::span<const std::byte> bytes);
    void start(const std::string& kernel, const LaunchShape& shape,
               const std::vector<std::vector<std::byte>>& arguments);

    const Build& build_;
    const emulator::Module& module_;
    emulator::Memory memory_;
    std::uint64_t seed_, instructions_ = 0;
    double seconds_ = 0, worst_ = 0;
    int checks_ = 0;
    std::string printed_;
};

struct Source {
    std::string name;  // of the case
    std::string repository, commit, path;
    std::string features, sizes;
    std::vector<std::string> kernels;  // name expressions: kernels, and "&variable" for symbols
    std::function<void(Session&)> run;
    // A fault of the published code itself: "rule: why, by the programming guide". Empty: the code is right.
    std::string expected_fault = "";
    std::string target = "sm_80";
    std::string prologue = "";  // what the host's build or a dropped host header defines
    std::vector<std::string> include_folders = {}, drop = {}, options = {};
    // Sizes fixed in the source, made smaller: a text and what stands in its place (listed in `sizes`).
    std::vector<std::pair<std::string, std::string>> replace = {};
};

// Every case, in the order of the table; each group stands in cases/.
std::vector<Source> all_sources();
std::vector<Source> cuda_samples();
std::vector<Source> matrix_products();
std::vector<Source> network_layers();
std::vector<Source> algorithms();

inline std::vector<float> normal(std::size_t count, std::uint64_t seed, float scale = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> draw(0, scale);
    std::vector<float> out(count);
    for (float& x : out) x = draw(random);
    return out;
}
template <class T>
std::vector<T> integers(std::size_t count, std::uint64_t seed, std::uint64_t bound) {
    std::mt19937_64 random(seed);
    std::vector<T> out(count);
    for (T& x : out) x = static_cast<T>(random() % bound);
    return out;
}
inline std::uint32_t blocks_for(std::uint64_t n, std::uint64_t block) {
    return static_cast<std::uint32_t>((n + block - 1) / block);
}

}  // namespace kernelwright::public_sources

// Counter-based random numbers: element i of a stream is a function of the stream's key and i alone, in
// integer and correctly rounded arithmetic, so a draw has the same bits on every machine and in every order.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelwright {

constexpr std::uint64_t mix_bits(std::uint64_t x) {  // the finaliser of SplitMix64
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::string_view name) : key_(mix_bits(seed)) {
        for (const char c : name) key_ = mix_bits(key_ ^ static_cast<unsigned char>(c));
    }
    std::uint64_t bits(std::int64_t i, std::uint64_t part = 0) const {
        return mix_bits(key_ + static_cast<std::uint64_t>(i) * 0xd1342543de82ef95ULL +
                        part * 0x2545f4914f6cdd1dULL);
    }
    // In [0, 1), 53 bits.
    double uniform(std::int64_t i, std::uint64_t part = 0) const {
        return static_cast<double>(bits(i, part) >> 11) * 0x1p-53;
    }
    // In lo .. hi, both included.
    std::int64_t integer(std::int64_t i, std::int64_t lo, std::int64_t hi, std::uint64_t part = 0) const {
        const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
        const std::uint64_t pick = span == 0 ? bits(i, part) : bits(i, part) % span;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + pick);
    }
    // Nearly standard normal, within +-6: the sum of twelve uniform numbers (Irwin-Hall). No library function
    // takes part, whose last bits differ from machine to machine.
    double normal(std::int64_t i) const {
        std::uint64_t sum = 0;
        constexpr std::uint64_t mask = (1U << 21) - 1;
        for (std::uint64_t part = 0; part < 4; ++part) {
            const std::uint64_t x = bits(i, 16 + part);
            sum += (x & mask) + ((x >> 21) & mask) + ((x >> 42) & mask);
        }
        // The factor, which is no dyadic number, gives every draw a full significand.
        return (static_cast<double>(sum) - 12582906.0) * 0x1p-21 * 0.99992371;
    }

  private:
    std::uint64_t key_;
};

}  // namespace kernelwright

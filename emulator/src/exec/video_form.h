// What a video instruction does, as the decoder says it and the handlers read it: packed into Instr::imm.
#pragma once

#include <bit>
#include <cstdint>

namespace emulator::exec {

enum class VideoOperation : std::uint8_t {
    add,
    sub,
    average,
    difference,
    minimum,
    maximum,
    left,
    right,
    set,
    mad
};
enum class VideoSecond : std::uint8_t { none, add, minimum, maximum };

struct VideoForm {
    std::uint64_t operation : 4 = 0;   // VideoOperation
    std::uint64_t comparison : 3 = 0;  // of set: eq ne lt le gt ge
    std::uint64_t a_signed : 1 = 0;
    std::uint64_t b_signed : 1 = 0;
    std::uint64_t d_signed : 1 = 0;
    std::uint64_t saturate : 1 = 0;
    std::uint64_t wrap : 1 = 0;    // of shifts: the amount modulo 32 instead of at most 32
    std::uint64_t second : 2 = 0;  // VideoSecond, with c
    // Scalar: the part of a register. 0 all of it, 1 to 4 its bytes, 5 and 6 its halves.
    std::uint64_t part_a : 3 = 0;
    std::uint64_t part_b : 3 = 0;
    std::uint64_t part_d : 3 = 0;  // of d: the rest is c's
    // SIMD: for each element three bits with its number among those of a (the lower ones) and b.
    std::uint64_t select_a : 12 = 0;
    std::uint64_t select_b : 12 = 0;
    std::uint64_t mask : 4 = 0;  // the elements that are written, or summed
    // vmad
    std::uint64_t negate_product : 1 = 0;
    std::uint64_t negate_c : 1 = 0;
    std::uint64_t plus_one : 1 = 0;
    std::uint64_t scale : 5 = 0;  // bits to the right
    std::uint64_t unused : 5 = 0;
};
static_assert(sizeof(VideoForm) == 8);

inline std::int64_t pack(const VideoForm& form) { return std::bit_cast<std::int64_t>(form); }
inline VideoForm video_form(std::int64_t imm) { return std::bit_cast<VideoForm>(imm); }

}  // namespace emulator::exec

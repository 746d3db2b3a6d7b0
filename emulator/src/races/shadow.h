// What a 4-byte granule of shared or global memory remembers of the accesses to it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace emulator::races {

struct WriteRecord {
    std::uint32_t block = 0, stamp = 0, id = 0, sync = 0, serial = 0;
    std::uint8_t warp = 0, lane = 0;
    std::uint8_t bytes = 0;  // which of the four; 0: no record
    std::uint8_t strength = 0;
};
struct ReadRecord {
    std::uint32_t block = 0, stamp = 0, id = 0, sync = 0, lanes = 0;
    std::uint8_t warp = 0;
    std::uint8_t bytes = 0;
    std::uint8_t strength = 0;
};
struct Cell {
    std::array<WriteRecord, 2> writes;
    std::array<ReadRecord, 2> reads;
};

// Cells of a buffer, made page by page when touched. Above the limit new pages are not made: their accesses
// are not checked.
struct GlobalShadow {
    static constexpr std::uint64_t kPageCells = 256;
    std::vector<std::unique_ptr<std::array<Cell, kPageCells>>> pages;
    std::uint64_t* budget = nullptr;  // pages that the launch may still make

    Cell* cell(std::uint64_t index) {
        auto& page = pages[index / kPageCells];
        if (!page) {
            if (*budget == 0) return nullptr;
            *budget -= 1;
            page = std::make_unique<std::array<Cell, kPageCells>>();
        }
        return &(*page)[index % kPageCells];
    }
};

}  // namespace emulator::races

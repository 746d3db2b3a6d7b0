// What a 4-byte granule of shared or global memory remembers of the accesses to it: one cache line.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace emulator::races {

// A stamp belongs to one block (Launch::stamp_owner), so records need not name the block.
struct WriteRecord {
    std::uint32_t stamp = 0;
    std::uint32_t serial = 0;  // of the warp-wide access, to tell its own lanes from earlier accesses
    std::uint32_t id : 22 = 0;
    std::uint32_t warp : 5 = 0;
    std::uint32_t lane : 5 = 0;
    std::uint32_t sync : 24 = 0;
    std::uint32_t bytes : 4 = 0;  // which of the four; 0: no record
    std::uint32_t strength : 2 = 0;
    std::uint32_t block_scope : 1 = 0;
    std::uint32_t unknown_data : 1 = 0;  // an asynchronous copy that has not landed
};
struct ReadRecord {
    std::uint32_t stamp = 0;
    std::uint32_t lanes = 0;
    std::uint32_t id : 22 = 0;
    std::uint32_t warp : 5 = 0;
    // Which bytes any thread has read as non-coherent in this launch; kept in the first record of a cell.
    std::uint32_t non_coherent : 4 = 0;
    std::uint32_t : 1;
    std::uint32_t sync : 24 = 0;
    std::uint32_t bytes : 4 = 0;
    std::uint32_t strength : 2 = 0;
    std::uint32_t block_scope : 1 = 0;
    std::uint32_t : 1;
};
struct alignas(64) Cell {
    std::array<WriteRecord, 2> writes;
    std::array<ReadRecord, 2> reads;
};
static_assert(sizeof(Cell) == 64);

// Cells of a buffer, made page by page when touched. Above the limit new pages are not made: their accesses
// are not checked.
struct GlobalShadow {
    static constexpr std::uint64_t kPageCells = 256;
    std::vector<std::unique_ptr<std::array<Cell, kPageCells>>> pages;
    struct Reader {
        std::uint32_t id = 0, thread = 0;
        std::uint64_t block = 0;
    };
    Reader non_coherent;              // the latest such read of the buffer
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

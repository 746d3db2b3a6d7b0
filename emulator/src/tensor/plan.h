// The matrix shapes and types that mma and wmma offer, and where each element of a fragment lies.
//
// Lane l has g = l / 4 and t = l % 4. A register holds E elements (32 bits / element size; f64 one). For
// mma.sync (PTX ISA, "Matrix fragments for mma") every shape and type follows one rule:
//   A, register r, element e:  row g + 8 (r mod 2) if M is 16, else g;   column t E + e + 4 E (r / 2)
//                              (M = 8: one register)
//   B, register r, element e:  row t E + e + 4 E r;                      column g
//   C and D, element i:        row g + 8 (i / 2);                        column 2 t + i mod 2
// The layout of wmma fragments is unspecified; here they are made of mma tiles: A of M / 16 tiles one below
// the other, B of N / 8 and C of both, left to right, and the 8 x 32 shape is the transpose of the 32 x 8
// one. Half-precision A and B fragments have more registers than elements: the tiles repeat.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/src/ptx/parsed.h"

namespace emulator::tensor {

using ptx::Type;

struct Layout {
    std::uint32_t rows = 0, cols = 0;
    std::uint32_t registers = 0, per_register = 0;  // elements of a register
    std::uint32_t bits = 32;                        // of an element
    std::uint32_t distinct = 0;                     // registers before the tiles repeat
    // Position row * cols + col of the element e of register r of a lane, at (r * per_register + e) * 32 +
    // lane.
    std::vector<std::uint16_t> index;
};

struct Plan {
    bool is_wmma = false;
    int m = 0, n = 0, k = 0;
    Type a = Type::none, b = Type::none, c = Type::none, d = Type::none;
    // b1 matrices are kept as 32-bit words along k: their A has k / 32 columns and their B k / 32 rows.
    Layout layout_a, layout_b, layout_c, layout_d;
    const Layout& layout(int which) const {  // 0 a, 1 b, 2 c, 3 d
        return which == 0 ? layout_a : which == 1 ? layout_b : which == 2 ? layout_c : layout_d;
    }
};

const std::vector<Plan>& plans();
// Index into plans(); -1: there is none. Type::none for an operand that does not matter.
int find_plan(bool is_wmma, std::string_view shape, Type a, Type b, Type c, Type d);

}  // namespace emulator::tensor

// The matrix shapes and types that mma and wmma offer, and where each element of a fragment lies.
//
// Lane l has g = l / 4 and t = l % 4. A register holds E elements (32 bits / element size; f64 one). For
// mma.sync (PTX ISA, "Matrix fragments for mma") every shape and type follows one rule:
//   A, register r, element e:  row g + 8 (r mod 2) if M is 16, else g;   column t E + e + 4 E (r / 2)
//                              (M = 8: one register)
//   B, register r, element e:  row t E + e + 4 E r;                      column g
//   C and D, element i:        row g + 8 (i / 2);                        column 2 t + i mod 2
// m8n8k4 with f16 is four products at once, one for each group of eight lanes (quad pair) 4 q .. 4 q + 3 and
// 16 + 4 q .. 16 + 4 q + 3; its rules are in plan.cc. The A of sparse products (mma.sp) has K / 2 columns,
// laid out as a dense A of that width. The layout of wmma fragments is unspecified; here they are made of mma
// tiles: A of M / 16 tiles one below the other, B of N / 8 and C of both, left to right, and the 8 x 32 shape
// is the transpose of the 32 x 8 one. Half-precision A and B fragments have more registers than elements: the
// tiles repeat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/src/ptx/parsed.h"

namespace emulator::tensor {

using ptx::Type;

// Elements of the matrices of ldmatrix and stmatrix: b4 and b6 stand packed, 16 at a time, at the beginning
// of 16 bytes of shared memory, and one to a byte in registers.
enum class MatrixForm : std::uint8_t { b16, b8, b6, b4 };

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
    std::string shape;  // as the instruction spells it
    bool is_wmma = false, sparse = false;
    int m = 0, n = 0, k = 0;  // of one product
    int products = 1;         // independent ones, one behind the other in every layout: 4 for quad pairs
    bool a_by_columns = false, b_by_rows = false;  // quad pairs only: others have one layout
    Type a = Type::none, b = Type::none, c = Type::none, d = Type::none;
    // b1 matrices are kept as 32-bit words along k: their A has k / 32 columns and their B k / 32 rows.
    Layout layout_a, layout_b, layout_c, layout_d;
    const Layout& layout(int which) const {  // 0 a, 1 b, 2 c, 3 d
        return which == 0 ? layout_a : which == 1 ? layout_b : which == 2 ? layout_c : layout_d;
    }
};

const std::vector<Plan>& plans();
struct Form {
    bool is_wmma = false, sparse = false;
    std::string_view shape;
    Type a = Type::none, b = Type::none, c = Type::none, d = Type::none;  // none: does not matter
    bool a_by_columns = false, b_by_rows = false;
};
int find_plan(const Form& form);  // index into plans(); -1: there is none

// Sparse products. Of each group of four elements along k (s4 and u4: four pairs; tf32: two elements) half
// are kept; four bits of metadata say which: two 2-bit positions (tf32: one 4-bit one). A row takes K / 4 x 4
// bits (K / 8 x 4 for four-bit types, K / 2 x 4 for tf32): in words of 32 bits, 1/2, 1 or 2. The selector
// names the lanes of each four that hold them (PTX ISA, "Sparse matrix storage"; CuTe's ELayout_64x64, 64x32,
// 64x16).
int sparsity_selectors(Type a, int k);
// The lane that holds group `number` of a row's metadata, and the bit that the group's four begin at.
struct MetadataPlace {
    std::uint32_t lane = 0, bit = 0;
};
MetadataPlace metadata_place(Type a, int k, int selector, int row, int number);
int metadata_groups(Type a, int k);  // of a row

// The kept elements of a sparse A, m x k/2, to their places in m x k. What the metadata must not say (PTX
// ISA: undefined behaviour) is returned where it would matter.
struct SparsityFault {
    std::uint32_t lane = 0;
    std::string what;
};
std::optional<SparsityFault> expand_sparse(Type type, int m, int k, int selector, bool ordered,
                                           const std::uint32_t* metadata, const std::uint32_t* kept,
                                           std::uint32_t* a);

}  // namespace emulator::tensor

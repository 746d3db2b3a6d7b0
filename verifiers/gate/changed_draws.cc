// The idea: two draws of the page, and for each element a choice between them. What is drawn by rows (sorted
// ones, probabilities, keys of unit length) is chosen by rows, so that each row stays what the page promises.
#include "verifiers/gate/changed_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verifiers/numerics/domains.h"
#include "verifiers/numerics/draws.h"
#include "verifiers/numerics/random.h"

namespace kernelwright {
namespace {

constexpr const char* prefix = "changed_";
constexpr const char* input_prefix = "changed_input_";
constexpr std::size_t most_inputs = 8;  // that are changed alone

// A tensor as pieces that can be had from either draw.
struct Pieces {
    std::int64_t count, length;  // how many, and elements of each
};

Pieces pieces_of(const TensorSpec& spec, const Domain& domain, const Tensor& tensor) {
    const std::string& kind = spec.values.kind;
    const bool by_rows = kind == "sorted" || kind == "probabilities" || domain.unit_rows;
    const std::int64_t length =
        by_rows && !tensor.shape.empty() ? std::max<std::int64_t>(tensor.shape.back(), 1) : 1;
    return {tensor.count() / length, length};
}

void copy_piece(const Tensor& from, Tensor& to, const Pieces& pieces, std::int64_t piece) {
    for (std::int64_t i = piece * pieces.length; i < (piece + 1) * pieces.length; ++i)
        store_bits(to.dtype, to.data.data(), i, load_bits(from.dtype, from.data.data(), i));
}

// Where the two draws are far apart, among a few places: the change is to be seen in the result.
std::int64_t telling_piece(const Tensor& a, const Tensor& b, const Pieces& pieces,
                           const RandomStream& random) {
    std::int64_t best = 0;
    double distance = -1;
    for (std::int64_t attempt = 0; attempt < 16; ++attempt) {
        const std::int64_t piece = random.integer(attempt, 0, pieces.count - 1);
        const double d = std::fabs(a.at(piece * pieces.length) - b.at(piece * pieces.length));
        if (d > distance) {
            distance = d;
            best = piece;
        }
    }
    return best;
}

std::size_t number_of_input(const std::string& case_name) {
    if (!case_name.starts_with(input_prefix)) return 0;
    return static_cast<std::size_t>(case_name.back() - '0');
}

}  // namespace

bool is_changed_case(const std::string& case_name) { return case_name.starts_with(prefix); }

std::vector<std::string> changed_cases_for(const Task& task) {
    std::vector<std::string> out;
    const auto drawn = [](const TensorSpec& spec) { return spec.values.kind != "const"; };
    if (std::none_of(task.inputs.begin(), task.inputs.end(), drawn)) return out;
    out = {"changed_between", "changed_one", "changed_half", "changed_all"};
    for (std::size_t i = 0; i < std::min(task.inputs.size(), most_inputs) && task.inputs.size() > 1; ++i) {
        if (drawn(task.inputs[i])) out.push_back(fmt::format("{}{}", input_prefix, i + 1));
    }
    return out;
}

Result<std::vector<Tensor>> draw_case(const Task& task, const SymbolValues& symbols,
                                      const std::string& case_name, std::uint64_t seed) {
    if (!is_changed_case(case_name)) return draw_inputs(task, symbols, case_name, seed);
    auto inputs = draw_inputs(task, symbols, unchanged_case, seed);
    if (!inputs) return inputs;
    const auto others = draw_inputs(task, symbols, unchanged_case, mix_bits(seed));
    if (!others) return others;
    std::vector<Shape> shapes;
    for (const Tensor& tensor : *inputs) shapes.push_back(tensor.shape);
    const std::vector<Domain> limits = domains(task, shapes);
    const RandomStream which(seed, case_name);
    const std::size_t alone = number_of_input(case_name);
    // `changed_one` changes one element of one input; an input of constants has none to change.
    std::vector<std::size_t> drawn;
    for (std::size_t k = 0; k < inputs->size(); ++k) {
        if (task.inputs[k].values.kind != "const" && (*inputs)[k].count() > 0) drawn.push_back(k);
    }
    if (drawn.empty()) return inputs;
    const std::size_t one =
        drawn[static_cast<std::size_t>(which.integer(0, 0, static_cast<std::int64_t>(drawn.size()) - 1, 1))];
    for (const std::size_t k : drawn) {
        Tensor& tensor = (*inputs)[k];
        const Tensor& other = (*others)[k];
        const RandomStream random(seed, case_name + "/" + task.inputs[k].name);
        const Pieces pieces = pieces_of(task.inputs[k], limits[k], tensor);
        if (case_name == "changed_one") {
            if (k == one) copy_piece(other, tensor, pieces, telling_piece(tensor, other, pieces, random));
        } else if (case_name == "changed_between") {
            const std::int64_t last = pieces.count - 1;
            for (std::int64_t i = 1; i < last; ++i) {
                if (i != last / 2 && i != pieces.count / 2) copy_piece(other, tensor, pieces, i);
            }
        } else if (case_name == "changed_half") {
            for (std::int64_t i = 0; i < pieces.count; ++i) {
                if (random.integer(i, 0, 1) == 0) copy_piece(other, tensor, pieces, i);
            }
        } else if (case_name == "changed_all" || alone == k + 1) {
            tensor = other;
        }
    }
    return inputs;
}

}  // namespace kernelwright

#include "tests/public/source.h"

namespace kernelwright::public_sources {

std::vector<Source> all_sources() {
    std::vector<Source> all;
    for (auto* group : {cuda_samples, matrix_products, network_layers, algorithms})
        for (Source& source : group()) all.push_back(std::move(source));
    return all;
}

}  // namespace kernelwright::public_sources

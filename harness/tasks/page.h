// A page's three parts: front matter, prose, and the reference block, which is taken out of the prose.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/tasks/task.h"

namespace kernelwright {

struct PageParts {
    std::string_view front;  // YAML
    int front_line = 2;
    std::string prose;
    std::optional<ReferenceCode> reference;
};

Result<PageParts> split_page(std::string_view text, const std::string& file);

}  // namespace kernelwright

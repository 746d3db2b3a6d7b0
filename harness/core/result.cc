#include "harness/core/result.h"

namespace kernelwright {

std::string Error::str() const {
    std::string out;
    if (!file.empty()) {
        out += file;
        if (line > 0) out += ":" + std::to_string(line);
        if (line > 0 && column > 0) out += ":" + std::to_string(column);
        out += ": ";
    }
    out += message;
    if (!hint.empty()) out += " (" + hint + ")";
    return out;
}

}  // namespace kernelwright

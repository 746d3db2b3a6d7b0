// From lines of PTX back to lines of the source, by the .loc and .file directives that -lineinfo leaves.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright {

struct SourcePlace {
    std::string file;  // as .file says it
    int line = 0, column = 0;
};

class PtxLines {
  public:
    // `source_name`: the place inside this file is preferred to one in a header that was inlined there.
    PtxLines(std::string_view ptx, std::string source_name);

    // Where the PTX line (1-based) comes from; line 0 when that is not known.
    SourcePlace place_of(int ptx_line) const;
    std::string text_of(int ptx_line) const;  // without its indentation; "" beyond the end
    // The function (symbol) that the PTX line is in; "" outside all.
    std::string function_at(int ptx_line) const;
    // Where a function begins.
    SourcePlace place_of_function(const std::string& symbol) const;
    // The first line of PTX that mentions the symbol as a whole word after `call`; 0: none.
    int first_call_of(const std::string& symbol) const;
    const std::vector<std::string>& entries() const { return entries_; }  // kernels' symbols

  private:
    struct Function {
        std::string symbol;
        int first = 0, last = 0;  // PTX lines
    };
    std::string source_name_;
    std::vector<std::string> lines_;
    std::map<int, std::string> files_;
    std::vector<Function> functions_;
    std::vector<std::string> entries_;
};

// The PTX with `.file` paths that end in the source's name cut down to that name: NVRTC puts its working
// directory before it.
std::string strip_working_directory(std::string ptx, const std::string& source_name);

}  // namespace kernelwright

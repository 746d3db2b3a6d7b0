// YAML as the project's files use it: a tree of plain nodes that know where they stand, read with yaml-cpp.
//
// What differs from a plain yaml-cpp load: scalars follow the YAML 1.2 core schema (`y`, `N`, `on` are
// strings, `1e-5` is a number, anything quoted is a string); a key that occurs twice is an error; aliases,
// the depth and the number of nodes are bounded; commas inside parentheses need no quotes in a flow list
// (`[ceil_div(N, 256), 1, 1]`); every error names its place in the file that holds the block, and torn YAML
// is answered with the line as it should be quoted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

struct YamlNode {
    enum class Kind { null, scalar, sequence, map } kind = Kind::null;
    std::string text;     // of a scalar
    bool quoted = false;  // a quoted scalar is always a string
    std::vector<YamlNode> items;
    std::vector<std::pair<YamlNode, YamlNode>> entries;  // keys are scalars, each once
    int line = 0, column = 0;                            // 1-based, in the file

    bool is_null() const { return kind == Kind::null; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_sequence() const { return kind == Kind::sequence; }
    bool is_map() const { return kind == Kind::map; }

    // The core schema's reading of a scalar; nullopt where it is something else.
    std::optional<bool> boolean() const;
    std::optional<std::int64_t> integer() const;
    std::optional<double> real() const;  // integers too

    const YamlNode* find(std::string_view key) const;  // of a map; nullptr when absent
    // "a map", "a list", "the number 3", "the text `abc`" ...: for messages.
    std::string describe() const;
};

Json to_json(const YamlNode& node);

struct YamlLimits {
    std::size_t bytes = 256U << 10;
    std::size_t nodes = 5000;
    int depth = 32;
};

// A parsed block with what its errors need: the file's name and the block's lines.
class YamlDocument {
  public:
    // `block` is YAML text whose first line is line `first_line` of `file`.
    static Result<YamlDocument> parse(std::string_view block, std::string file, int first_line = 1,
                                      const YamlLimits& limits = {});

    const YamlNode& root() const { return root_; }
    const std::string& file() const { return file_; }

    Error error(const YamlNode& at, std::string message, std::string hint = {}) const;
    // "`shape` must be a list, not the number 3", with the line's quoted form as a hint where it has one.
    Error wrong_kind(const YamlNode& at, const std::string& what, const std::string& wanted) const;
    // An error at the first key of `map` that is not known, naming the nearest known one.
    std::optional<Error> unknown_key(const YamlNode& map, const std::string& what,
                                     const std::vector<std::string>& known) const;
    // The line of `at` with its unsafe values quoted; "" when there is nothing to quote.
    std::string quoted_line(int line) const;

  private:
    std::string file_;
    int first_line_ = 1;
    std::vector<std::string> lines_;
    YamlNode root_;
};

// Text from a file as part of a one-line message: line ends and tabs become blanks, long text is cut.
std::string one_line(std::string text, std::size_t limit = 500);

// The first byte that a text file cannot hold (a control character or broken UTF-8) as an error with its
// line; nullopt for text.
std::optional<Error> not_text(std::string_view content, const std::string& file);

}  // namespace kernelwright

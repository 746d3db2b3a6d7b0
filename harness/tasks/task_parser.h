// The parser of a page's front matter; its functions are spread over task_parser.cc (names, params,
// reference, accuracy), tensor_keys.cc (inputs and outputs) and shape_keys.cc (shapes and what only they
// reveal).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/yaml.h"
#include "harness/tasks/task.h"

namespace kernelwright {

using MaybeError = std::optional<Error>;

class TaskParser {
  public:
    TaskParser(const YamlDocument& document, Task& task)
        : doc_(document), root_(document.root()), task_(task) {}
    MaybeError run();

  private:
    MaybeError missing(const std::string& key, const std::string& hint);
    MaybeError string_key(const std::string& key, std::string& out);
    MaybeError name();
    MaybeError summary();
    MaybeError claim(const YamlNode& at, const std::string& name, const std::string& what);
    MaybeError symbols();
    MaybeError cyclic_symbols(const YamlNode& map);
    MaybeError symbol_range(const YamlNode& node, SymbolRange& range);
    MaybeError params();
    MaybeError inputs();
    MaybeError outputs();
    MaybeError tensors(const std::string& key, std::vector<TensorSpec>& out);
    MaybeError tensor(const YamlNode& name, const YamlNode& node, bool input, TensorSpec& out);
    MaybeError sizes(const YamlNode& node, const std::string& what, std::vector<Expression>& out);
    Result<Expression> expression(const YamlNode& node, const std::string& what);
    MaybeError draws(const YamlNode& node, TensorSpec& out);
    MaybeError reference();
    MaybeError shapes();
    MaybeError shape_list(const std::string& key, std::int64_t limit, std::vector<SymbolValues>& out);
    MaybeError at_shapes();
    static std::string stride_fault(const TensorSpec& tensor, const SymbolValues& shape, bool output);
    static std::string value_fault(const TensorSpec& tensor, const SymbolValues& shape);
    MaybeError accuracy();

    const YamlDocument& doc_;
    const YamlNode& root_;
    Task& task_;
    std::map<std::string, std::string> names_;  // name -> what it names
};

}  // namespace kernelwright

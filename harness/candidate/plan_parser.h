// The parser of one launch plan; its functions are spread over plan_parser.cc (names, expressions, the plan's
// plain keys), buffer_keys.cc (scratch and tensor maps) and kernel_keys.cc (kernels and their arguments).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/candidate/candidate.h"
#include "harness/core/yaml.h"

namespace kernelwright {

enum class NameKind { tensor, symbol, integer_param, real_param, other_param, scratch, tensormap };

const char* describe(NameKind kind);
inline bool is_buffer(NameKind kind) { return kind == NameKind::tensor || kind == NameKind::scratch; }

// Names that the page gives to every plan.
std::map<std::string, NameKind> page_names(const Task& task, const DefaultParams& defaults);

class PlanParser {
  public:
    PlanParser(const Task& task, const DefaultParams& defaults, const YamlDocument& document,
               std::vector<Diagnostic>& out)
        : doc_(document), names_(page_names(task, defaults)), out_(out) {}

    LaunchPlan run(int line);

  private:
    void report(const std::string& rule, const YamlNode& at, std::string message, std::string hint = {});
    void add(const std::string& rule, Error error);
    void wrong_type(const YamlNode& at, const std::string& what, const std::string& wanted);
    void known_keys(const YamlNode& map, const std::string& what, const std::vector<std::string>& known);
    bool claim(const YamlNode& at, const std::string& name, NameKind kind);
    std::vector<std::string> all_names() const;
    std::string names_hint() const;
    enum class Use { integer, argument, scratch_shape };
    std::optional<Expression> expression(const YamlNode& node, const std::string& what,
                                         Use use = Use::integer);
    bool usable(const YamlNode& node, const Expression& expression, const std::string& name,
                const std::string& what, Use use, int column);
    std::optional<Expression> guard(const YamlNode& node);
    std::vector<Expression> triple(const YamlNode& node, const std::string& what);
    bool boolean(const YamlNode& node, const std::string& what);
    void collect_kernel_names(const YamlNode* kernels);
    void scratch(const YamlNode& node, LaunchPlan& plan);
    bool reads_scratch(const Expression& extent, const YamlNode& at, const std::string& self);
    std::optional<DType> read_dtype(const YamlNode& node, const std::string& what);
    void tensormaps(const YamlNode& node, LaunchPlan& plan);
    bool size_list(const YamlNode& node, const std::string& what, std::vector<Expression>& out);
    bool buffer_name(const YamlNode& node, const std::string& what, std::string& out);
    void target(const YamlNode& node, LaunchPlan& plan);
    void options(const YamlNode& node, LaunchPlan& plan);
    void defines(const YamlNode& node, LaunchPlan& plan);
    void kernel(const YamlNode& node, LaunchPlan& plan);
    void constants(const YamlNode& node, KernelPlan& kernel);
    void argument(const YamlNode& node, std::size_t number, KernelPlan& kernel);
    bool scalar_argument(const YamlNode& node, const std::string& what, PlanArgument& out);

    const YamlDocument& doc_;
    std::map<std::string, NameKind> names_;
    std::vector<Diagnostic>& out_;
    std::vector<std::string> kernels_;
    std::set<std::string> scratch_names_, defines_;
    std::string kernel_;  // the one being read
};

}  // namespace kernelwright

#include "harness/candidate/plan_parser.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/tasks/dtype_text.h"

namespace kernelwright {

void PlanParser::scratch(const YamlNode& node, LaunchPlan& plan) {
    if (node.is_null()) return;
    if (!node.is_map())
        return wrong_type(node, "`scratch`", "a map of buffers such as {part: {dtype: f32, shape: [M]}}");
    if (node.entries.size() > CandidateLimits::scratch) {
        return report(
            "too-large", node,
            fmt::format("{} scratch buffers, more than {}", node.entries.size(), CandidateLimits::scratch));
    }
    for (const auto& [name, value] : node.entries) scratch_names_.insert(name.text);
    for (const auto& [name, value] : node.entries) {
        const std::string what = fmt::format("the scratch buffer `{}`", name.text);
        ScratchPlan buffer;
        buffer.name = name.text;
        buffer.line = name.line;
        bool sound = claim(name, name.text, NameKind::scratch);
        if (!value.is_map()) {
            wrong_type(value, what, "a map such as {dtype: f32, shape: [M]}");
            continue;
        }
        known_keys(value, what, {"dtype", "shape"});
        const YamlNode* dtype = value.find("dtype");
        const YamlNode* shape = value.find("shape");
        if (!dtype) report("missing-key", name, fmt::format("{} has no dtype", what), "write `dtype: f32`");
        if (!shape)
            report("missing-key", name, fmt::format("{} has no shape", what), "write `shape: [M, N]`");
        if (!dtype || !shape) continue;
        if (const auto type = read_dtype(*dtype, what)) {
            buffer.dtype = *type;
        } else {
            sound = false;
        }
        if (shape->is_sequence() && shape->items.size() <= TaskLimits::rank) {
            for (const YamlNode& item : shape->items) {
                auto extent = expression(item, fmt::format("the shape of {}", what), Use::scratch_shape);
                if (extent && !reads_scratch(*extent, item, name.text)) {
                    buffer.shape.push_back(*extent);
                } else {
                    sound = false;
                }
            }
        } else if (shape->is_scalar()) {
            auto extent = expression(*shape, fmt::format("the shape of {}", what), Use::scratch_shape);
            if (extent && !reads_scratch(*extent, *shape, name.text)) {
                buffer.shape.push_back(*extent);
            } else {
                sound = false;
            }
        } else {
            wrong_type(*shape, fmt::format("the shape of {}", what),
                       fmt::format("a list of at most {} sizes", TaskLimits::rank));
            sound = false;
        }
        if (sound) plan.scratch.push_back(std::move(buffer));
    }
}

bool PlanParser::reads_scratch(const Expression& extent, const YamlNode& at, const std::string& self) {
    for (const std::string& name : extent.names()) {
        if (scratch_names_.count(name) == 0) continue;
        report("cyclic-scratch", at,
               name == self
                   ? fmt::format("the shape of the scratch buffer `{}` depends on itself", self)
                   : fmt::format("the shape of the scratch buffer `{}` depends on the scratch buffer `{}`",
                                 self, name),
               "a scratch shape reads symbols, params and numbers only");
        return true;
    }
    return false;
}

std::optional<DType> PlanParser::read_dtype(const YamlNode& node, const std::string& what) {
    if (!node.is_scalar()) {
        wrong_type(node, fmt::format("the dtype of {}", what), "a name such as f32");
        return std::nullopt;
    }
    const auto dtype = kernelwright::read_dtype(node.text, what);
    if (dtype) return *dtype;
    report("unknown-dtype", node, dtype.error().message, dtype.error().hint);
    return std::nullopt;
}

void PlanParser::tensormaps(const YamlNode& node, LaunchPlan& plan) {
    if (node.is_null()) return;
    if (!node.is_map()) return wrong_type(node, "`tensormaps`", "a map of tensor maps");
    if (node.entries.size() > CandidateLimits::tensormaps) {
        return report(
            "too-large", node,
            fmt::format("{} tensor maps, more than {}", node.entries.size(), CandidateLimits::tensormaps));
    }
    for (const auto& [name, value] : node.entries) {
        const std::string what = fmt::format("the tensor map `{}`", name.text);
        TensorMapPlan map;
        map.name = name.text;
        map.line = name.line;
        bool sound = claim(name, name.text, NameKind::tensormap);
        if (!value.is_map()) {
            wrong_type(value, what, "a map such as {tensor: x, box: [64, 128]}");
            continue;
        }
        known_keys(value, what, {"tensor", "box", "dims", "strides", "swizzle", "oob"});
        const YamlNode* tensor = value.find("tensor");
        const YamlNode* box = value.find("box");
        if (!tensor) report("missing-key", name, fmt::format("{} has no tensor", what), "write `tensor: x`");
        if (!box)
            report("missing-key", name, fmt::format("{} has no box", what),
                   "write `box: [64, 128]`, innermost first");
        if (!tensor || !box) continue;
        sound = buffer_name(*tensor, fmt::format("`tensor` of {}", what), map.tensor) && sound;
        sound = size_list(*box, fmt::format("the box of {}", what), map.box) && sound;
        if (const YamlNode* dims = value.find("dims"))
            sound = size_list(*dims, fmt::format("the dims of {}", what), map.dims) && sound;
        if (const YamlNode* strides = value.find("strides")) {
            sound = size_list(*strides, fmt::format("the strides of {}", what), map.strides) && sound;
        }
        if (sound && !map.dims.empty() && map.dims.size() != map.box.size()) {
            report("wrong-type", name,
                   fmt::format("{} has {} dims for {} box entries", what, map.dims.size(), map.box.size()));
            sound = false;
        }
        if (sound && value.find("strides") && map.strides.size() + 1 != map.box.size()) {
            report(
                "wrong-type", name,
                fmt::format("{} has {} strides for {} box entries", what, map.strides.size(), map.box.size()),
                "strides leave out the innermost dimension");
            sound = false;
        }
        if (const YamlNode* swizzle = value.find("swizzle")) {
            const std::string text = swizzle->is_scalar() ? swizzle->text : "";
            if (text == "32" || text == "64" || text == "128") {
                map.swizzle = std::stoi(text);
            } else if (text != "none") {
                wrong_type(*swizzle, fmt::format("`swizzle` of {}", what), "none, 32, 64 or 128");
                sound = false;
            }
        }
        if (const YamlNode* oob = value.find("oob")) {
            map.oob_nan = oob->is_scalar() && oob->text == "nan";
            if (!oob->is_scalar() || (oob->text != "nan" && oob->text != "zero")) {
                wrong_type(*oob, fmt::format("`oob` of {}", what), "zero or nan");
                sound = false;
            }
        }
        if (sound) plan.tensormaps.push_back(std::move(map));
    }
}

bool PlanParser::size_list(const YamlNode& node, const std::string& what, std::vector<Expression>& out) {
    if (!node.is_sequence() || node.items.size() > 5) {
        wrong_type(node, what, "a list of at most five sizes, the innermost first");
        return false;
    }
    for (const YamlNode& item : node.items) {
        auto size = expression(item, what);
        if (!size) return false;
        out.push_back(*size);
    }
    return true;
}

bool PlanParser::buffer_name(const YamlNode& node, const std::string& what, std::string& out) {
    if (!node.is_scalar()) {
        wrong_type(node, what, "a buffer's name");
        return false;
    }
    const auto it = names_.find(node.text);
    if (it == names_.end() || !is_buffer(it->second)) {
        std::vector<std::string> buffers;
        for (const auto& [name, kind] : names_) {
            if (is_buffer(kind)) buffers.push_back(name);
        }
        if (it == names_.end()) {
            report("unknown-name", node,
                   fmt::format("{}: unknown name `{}`{}", what, one_line(node.text, 60),
                               did_you_mean(node.text, buffers)),
                   names_hint());
        } else {
            report("wrong-type", node,
                   fmt::format("{} must be a buffer, and `{}` is {}", what, node.text, describe(it->second)));
        }
        return false;
    }
    out = node.text;
    return true;
}

}  // namespace kernelwright

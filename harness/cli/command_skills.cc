#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "harness/cli/commands.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "skills/check.h"
#include "skills/skill.h"

namespace kernelwright::cli {
namespace {

// "; did you mean `tensor.use-mma`?", also where only a part of an ID was typed.
std::string nearest_skill(const std::string& id, const std::vector<std::string>& known) {
    if (std::string near = did_you_mean(id, known); !near.empty()) return near;
    for (const std::string& name : known)
        if (!id.empty() && name.find(id) != std::string::npos)
            return fmt::format("; did you mean `{}`?", name);
    return {};
}

Exit show(const Global& global, const SkillLibrary& library, const std::vector<std::string>& ids) {
    std::vector<std::string> known;
    for (const Skill& skill : library.skills) known.push_back(skill.id);
    if (ids.empty())
        return fail(global, Exit::usage,
                    Error{"skills show: which one?",
                          {},
                          0,
                          0,
                          runnable(global, "kernelwright skills list") + " names them"});
    Json list = Json::array();
    for (const std::string& id : ids) {
        const Skill* skill = library.find(id);
        if (skill == nullptr)
            return fail(global, Exit::usage,
                        Error{fmt::format("no skill `{}`{}", id, nearest_skill(id, known)),
                              {},
                              0,
                              0,
                              runnable(global, "kernelwright skills list") + " names them"});
        list.push_back(to_json(*skill));
        if (global.json) continue;
        fmt::print("{} (version {}, phase {})\n{}\n  file: {}\n", skill->id, skill->version, skill->phase,
                   skill->intent, skill->file);
        if (!skill->causes.empty())
            fmt::print("  mends what a profile finds as: {}\n", fmt::join(skill->causes, ", "));
        if (!skill->avoids.empty()) fmt::print("  goes wrong as: {}\n", fmt::join(skill->avoids, ", "));
        fmt::print("  holds when:\n");
        for (const Precondition& pre : skill->pre) fmt::print("    {}  (line {})\n", pre.name, pre.line);
        fmt::print("  expects:\n");
        for (const auto& e : skill->expect) fmt::print("    {} {}\n", e.metric, e.up ? "up" : "down");
        if (skill->advice_is_text) {
            fmt::print("  advises:\n    {}\n", skill->advice_text);
        } else if (const auto text = read_file(skill->file)) {
            // Conditions and advice are functions of a profile: the rule's own text says what they say.
            fmt::print("  the rule:\n");
            for (const std::string& line : split(std::string(trim(*text)), '\n'))
                fmt::print("    {}\n", printable(line));
        }
    }
    if (global.json) print_json({{"schema", "kernelwright.skills/1"}, {"skills", std::move(list)}});
    return Exit::good;
}

}  // namespace

Exit run_skills(const Global& global, const SkillsCall& call) {
    if (call.action == "learn") return fail(global, Exit::missing, Error{"skills learn is not built yet"});
    if (call.action != "list" && call.action != "show" && call.action != "check") {
        return fail(global, Exit::usage,
                    Error{fmt::format("skills {}: it is list, show, check or learn", call.action)});
    }
    const auto data = data_folder();
    if (!data) return fail(global, Exit::missing, data.error());
    const SkillLibrary library = load_skills(*data / "skills" / "rules");
    if (call.action == "show") return show(global, library, call.ids);
    if (call.action == "check") {
        const SkillCheck checked =
            check_skills(*data / "skills" / "rules", *data / "tests" / "cases" / "skills", known_metrics());
        Json errors = Json::array();
        for (const Error& e : checked.errors) {
            errors.push_back(e.str());
            fmt::print(stderr, "kernelwright: {}\n", e.str());
        }
        if (global.json) {
            print_json({{"schema", "kernelwright.skills-check/1"},
                        {"rules", checked.rules},
                        {"cases", checked.cases},
                        {"errors", std::move(errors)}});
        } else {
            fmt::print("{} rules, {} cases, {} errors\n", checked.rules, checked.cases,
                       checked.errors.size());
        }
        return checked.good() ? Exit::good : Exit::usage;
    }
    Json list = Json::array();
    for (const Skill& skill : library.skills) {
        list.push_back({{"id", skill.id},
                        {"version", skill.version},
                        {"phase", skill.phase},
                        {"intent", skill.intent},
                        {"file", skill.file}});
        if (!global.json) fmt::print("{:<28} {:<7} {}\n", skill.id, skill.phase, skill.intent);
    }
    for (const Error& e : library.errors) fmt::print(stderr, "kernelwright: left out: {}\n", e.str());
    if (global.json) print_json({{"schema", "kernelwright.skills/1"}, {"skills", std::move(list)}});
    return library.errors.empty() ? Exit::good : Exit::usage;
}

}  // namespace kernelwright::cli

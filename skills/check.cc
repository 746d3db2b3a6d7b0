#include "skills/check.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/profile/profile.h"

namespace kernelwright {
namespace {

// YAML 1.2 core scalars as JSON.
Json scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return text;  // quoted
    if (text == "true") return true;
    if (text == "false") return false;
    if (text == "null" || text == "~") return nullptr;
    std::int64_t whole = 0;
    double real = 0;
    if (YAML::convert<std::int64_t>::decode(node, whole)) return whole;
    if (YAML::convert<double>::decode(node, real)) return real;
    return text;
}

Json to_json(const YAML::Node& node) {
    if (node.IsMap()) {
        Json map = Json::object();
        for (const auto& entry : node) map[entry.first.Scalar()] = to_json(entry.second);
        return map;
    }
    if (node.IsSequence()) {
        Json list = Json::array();
        for (const auto& entry : node) list.push_back(to_json(entry));
        return list;
    }
    return node.IsScalar() ? scalar(node) : Json();
}

// A situation without anything in it, so that a rule's questions find the tables that they look into.
Json empty_context() {
    Json context{{"phase", "refine"}};
    for (const char* table : {"task", "device", "history", "counters", "view", "model", "launch", "resources",
                              "findings", "where"})
        context[table] = Json::object();
    context["task"]["dtypes"] = context["task"]["symbols"] = context["device"]["tensor"] =
        context["model"]["share"] = Json::object();
    return context;
}

class CaseFile {
  public:
    CaseFile(const SkillLibrary& library, std::string file, SkillCheck& check)
        : library_(library), file_(std::move(file)), check_(check) {}

    // The rule's id; "" when the file is of no use.
    std::string run(const YAML::Node& root) {
        static const std::vector<std::string> known{"skill", "base", "says", "refused"};
        if (!root.IsMap()) return fail(root, "a case file is a map"), "";
        for (const auto& entry : root)
            if (std::find(known.begin(), known.end(), entry.first.Scalar()) == known.end())
                return fail(entry.first, "unknown key `" + entry.first.Scalar() + "`" +
                                             did_you_mean(entry.first.Scalar(), known)),
                       "";
        if (!root["skill"] || !root["base"] || !root["refused"] || !root["base"].IsMap() ||
            !root["refused"].IsMap())
            return fail(root, "a case file has `skill`, `base` (a map) and `refused` (a map)"), "";
        const std::string id = root["skill"].Scalar();
        const Skill* skill = library_.find(id);
        if (skill == nullptr) return fail(root["skill"], "there is no rule `" + id + "`"), "";
        Json base = empty_context();
        base.merge_patch(to_json(root["base"]));
        holds(*skill, base, root);
        refuses(*skill, base, root["refused"]);
        return id;
    }

  private:
    void fail(const YAML::Node& node, std::string message) {
        check_.errors.push_back(Error{std::move(message), file_, node.Mark().line + 1});
    }

    void holds(const Skill& skill, const Json& base, const YAML::Node& root) {
        ++check_.cases;
        const SkillVerdict verdict = evaluate(skill, base);
        if (verdict.state == SkillVerdict::State::broken) {
            check_.errors.push_back(verdict.error);
            return;
        }
        if (!verdict.holds()) {
            fail(root["base"], skill.id + " is refused by `" + verdict.failed_pre + "` where it should hold");
            return;
        }
        if (root["says"])
            for (const auto& part : root["says"])
                if (verdict.advice.find(part.Scalar()) == std::string::npos)
                    fail(part, skill.id + " does not say \"" + part.Scalar() + "\" but: " + verdict.advice);
    }

    void refuses(const Skill& skill, const Json& base, const YAML::Node& refused) {
        std::set<std::string> named;
        for (const auto& entry : refused) {
            ++check_.cases;
            const std::string name = entry.first.Scalar();
            named.insert(name);
            Json context = base;
            context.merge_patch(to_json(entry.second));
            const SkillVerdict verdict = evaluate(skill, context);
            if (verdict.state == SkillVerdict::State::broken)
                check_.errors.push_back(verdict.error);
            else if (verdict.holds())
                fail(entry.first, skill.id + " holds where `" + name + "` should refuse it");
            else if (verdict.failed_pre != name)
                fail(entry.first,
                     skill.id + " is refused by `" + verdict.failed_pre + "`, not by `" + name + "`");
        }
        for (const Precondition& pre : skill.pre)
            if (!named.contains(pre.name))
                fail(refused, "no case in which the condition `" + pre.name + "` of " + skill.id + " fails");
    }

    const SkillLibrary& library_;
    std::string file_;
    SkillCheck& check_;
};

}  // namespace

std::vector<std::string> known_metrics() {
    std::vector<std::string> names = counter_names();
    names.emplace_back("gpu__time_duration.sum");
    std::sort(names.begin(), names.end());
    return names;
}

SkillCheck check_skills(const std::filesystem::path& rules, const std::filesystem::path& cases,
                        const std::vector<std::string>& metrics) {
    SkillCheck check;
    const SkillLibrary library = load_skills(rules);
    check.errors = library.errors;
    check.rules = static_cast<int>(library.skills.size());
    for (const Skill& skill : library.skills) {
        // A rule must survive a situation in which nothing is known.
        for (const char* phase : {"draft", "refine"}) {
            Json nothing = empty_context();
            nothing["phase"] = phase;
            const SkillVerdict verdict = evaluate(skill, nothing);
            if (verdict.state == SkillVerdict::State::broken) check.errors.push_back(verdict.error);
            if (verdict.holds())
                check.errors.push_back(Error{"`" + skill.id + "` holds where nothing is known", skill.file});
        }
        if (metrics.empty()) continue;
        for (const Expectation& expectation : skill.expect)
            if (std::find(metrics.begin(), metrics.end(), expectation.metric) == metrics.end())
                check.errors.push_back(Error{"`" + skill.id + "` expects the unknown metric `" +
                                                 expectation.metric + "`" +
                                                 did_you_mean(expectation.metric, metrics),
                                             skill.file});
    }
    std::error_code failure;
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator it(cases, failure), end; !failure && it != end;
         it.increment(failure))
        if (it->path().extension() == ".yaml") files.push_back(it->path());
    if (failure)
        check.errors.push_back(Error{"the case folder cannot be read: " + failure.message(), cases.string()});
    std::sort(files.begin(), files.end());
    std::set<std::string> covered;
    for (const auto& path : files) {
        auto text = read_file(path, 1U << 20);
        if (!text) {
            check.errors.push_back(text.error());
            continue;
        }
        try {
            covered.insert(CaseFile(library, path.string(), check).run(YAML::Load(*text)));
        } catch (const YAML::Exception& e) {
            check.errors.push_back(Error{"not a case file: " + e.msg, path.string(), e.mark.line + 1});
        }
    }
    for (const Skill& skill : library.skills)
        if (!covered.contains(skill.id))
            check.errors.push_back(Error{"`" + skill.id + "` has no case file", skill.file});
    return check;
}

}  // namespace kernelwright

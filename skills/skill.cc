#include "skills/skill.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/core/files.h"
#include "harness/core/hash.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

const std::vector<std::string> known_keys{"id",  "version", "phase",  "intent", "origin",
                                          "pre", "advice",  "expect", "avoids", "causes"};
const std::vector<std::string> known_phases{"draft", "refine", "any"};

bool is_function(const Json& value) {
    return value.is_object() && value.size() == 1 && value.contains("function");
}

bool good_id(const std::string& id) {
    return !id.empty() && id.size() <= 64 &&
           id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") == std::string::npos;
}

// Reads the fields of the rule's table; the first thing that is wrong is the error.
class Reader {
  public:
    Reader(const Json& table, std::string file) : table_(table), file_(std::move(file)) {}

    Status fill(Skill& skill) {
        if (!table_.is_object()) return error("a rule ends with `return skill{ id = ..., ... }`");
        for (const auto& [key, value] : table_.items())
            if (std::find(known_keys.begin(), known_keys.end(), key) == known_keys.end())
                return error("unknown key `" + key + "`" + did_you_mean(key, known_keys));
        for (auto step :
             {&Reader::names, &Reader::conditions, &Reader::advice, &Reader::expectations, &Reader::lists})
            if (auto status = (this->*step)(skill); !status) return status;
        return Done{};
    }

  private:
    Error error(std::string message, int line = 0) const { return Error{std::move(message), file_, line}; }

    const Json& at(const char* key) const {
        static const Json nothing;
        const auto it = table_.find(key);
        return it == table_.end() ? nothing : *it;
    }

    Status text(const char* key, std::string& out) const {
        if (!at(key).is_string() || at(key).get<std::string>().empty())
            return error(std::string("`") + key + "` must be a text");
        out = at(key).get<std::string>();
        return Done{};
    }

    Status names(Skill& skill) {
        if (auto status = text("id", skill.id); !status) return status;
        if (!good_id(skill.id))
            return error("`id` is made of lower-case letters, digits, `.`, `-` and `_`, at most 64");
        if (!at("version").is_number_integer() || at("version").get<std::int64_t>() < 1 ||
            at("version").get<std::int64_t>() > 1'000'000)
            return error("`version` must be a whole number from 1 on");
        skill.version = at("version").get<int>();
        if (auto status = text("phase", skill.phase); !status) return status;
        if (std::find(known_phases.begin(), known_phases.end(), skill.phase) == known_phases.end())
            return error("`phase` must be draft, refine or any");
        if (auto status = text("intent", skill.intent); !status) return status;
        if (!at("origin").is_object() || !at("origin").contains("kind"))
            return error("`origin` must be a table with a `kind` (\"hand\", \"lineage\" ...)");
        skill.origin = at("origin");
        return Done{};
    }

    Status conditions(Skill& skill) {
        const Json& pre = at("pre");
        if (!pre.is_array() || pre.empty())
            return error(
                "`pre` must be a list of conditions: pre = { {\"name\", function(c) ... end}, ... }");
        std::set<std::string> seen;
        for (const Json& entry : pre) {
            if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !is_function(entry[1]))
                return error("each entry of `pre` is {\"name\", function(c) ... end}");
            const auto name = entry[0].get<std::string>();
            const int line = entry[1].at("function").get<int>();
            if (name.empty() || !seen.insert(name).second)
                return error("the condition `" + name + "` is named twice or not at all", line);
            skill.pre.push_back({name, line});
        }
        return Done{};
    }

    Status advice(Skill& skill) {
        const Json& advice = at("advice");
        skill.advice_is_text = advice.is_string() && !advice.get<std::string>().empty();
        if (skill.advice_is_text)
            skill.advice_text = advice.get<std::string>();
        else if (!is_function(advice))
            return error("`advice` must be a text or a function of the context that returns one");
        return Done{};
    }

    Status expectations(Skill& skill) {
        const Json& expect = at("expect");
        if (!expect.is_array() || expect.empty())
            return error("`expect` must be a list: expect = { {\"METRIC\", \"down\"}, ... }");
        for (const Json& entry : expect) {
            if (!entry.is_array() || entry.size() < 2 || entry.size() > 3 || !entry[0].is_string() ||
                (entry[1] != "up" && entry[1] != "down"))
                return error(
                    "each entry of `expect` is {\"METRIC\", \"up\" or \"down\" [, smallest change]}");
            Expectation expectation{entry[0].get<std::string>(), entry[1] == "up", 0};
            if (entry.size() == 3) {
                if (!entry[2].is_number() || !(entry[2].get<double>() > 0) ||
                    !std::isfinite(entry[2].get<double>()))
                    return error("the smallest change of `" + expectation.metric +
                                 "` must be a positive number (0.2: by a fifth)");
                expectation.min_relative = entry[2].get<double>();
            }
            skill.expect.push_back(std::move(expectation));
        }
        return Done{};
    }

    Status lists(Skill& skill) {
        for (auto [key, list] : {std::pair{"avoids", &skill.avoids}, {"causes", &skill.causes}}) {
            const Json& entries = at(key);
            if (entries.is_null()) continue;
            if (!entries.is_array()) return error(std::string("`") + key + "` must be a list of texts");
            for (const Json& entry : entries) {
                if (!entry.is_string()) return error(std::string("`") + key + "` must be a list of texts");
                list->push_back(entry.get<std::string>());
            }
        }
        return Done{};
    }

    const Json& table_;
    std::string file_;
};

}  // namespace

Result<Skill> parse_skill(const std::string& source, const std::string& file) {
    Skill skill;
    skill.file = file;
    skill.hash = sha256_hex(source);
    auto sandbox = std::make_shared<Sandbox>();
    if (auto status = sandbox->load(source, file); !status) return status.error();
    auto table = sandbox->value();
    if (!table) return table.error();
    if (auto status = Reader(*table, file).fill(skill); !status) return status.error();
    skill.sandbox = std::move(sandbox);
    return skill;
}

const Skill* SkillLibrary::find(const std::string& id) const {
    for (const Skill& skill : skills)
        if (skill.id == id) return &skill;
    return nullptr;
}

SkillLibrary load_skills(const std::filesystem::path& directory) {
    SkillLibrary library;
    std::error_code failure;
    std::vector<std::filesystem::path> paths;
    for (std::filesystem::directory_iterator it(directory, failure), end; !failure && it != end;
         it.increment(failure))
        if (it->path().extension() == ".lua") paths.push_back(it->path());
    if (failure) {
        library.errors.push_back(
            Error{"the skill folder cannot be read: " + failure.message(), directory.string()});
        return library;
    }
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
        auto text = read_file(path, 1U << 20);
        if (!text) {
            library.errors.push_back(text.error());
            continue;
        }
        auto skill = parse_skill(*text, path.string());
        if (!skill) {
            library.errors.push_back(skill.error());
            continue;
        }
        if (const Skill* other = library.find(skill->id)) {
            library.errors.push_back(
                Error{"the id `" + skill->id + "` is already taken by " + other->file, path.string()});
            continue;
        }
        library.skills.push_back(std::move(*skill));
    }
    std::sort(library.skills.begin(), library.skills.end(),
              [](const Skill& a, const Skill& b) { return a.id < b.id; });
    return library;
}

SkillVerdict evaluate(const Skill& skill, const Json& context) {
    SkillVerdict verdict;
    verdict.skill = &skill;
    const auto broken = [&](Error error, int line) {
        verdict.state = SkillVerdict::State::broken;
        verdict.error = std::move(error);
        if (verdict.error.file.empty()) verdict.error.file = skill.file;
        if (verdict.error.line == 0) verdict.error.line = line;
        return verdict;
    };
    const std::string phase = context.value("phase", "refine");
    if (skill.phase != "any" && skill.phase != phase) {
        verdict.failed_pre = "phase";
        return verdict;
    }
    for (std::size_t i = 0; i < skill.pre.size(); ++i) {
        auto answer = skill.sandbox->call(Json::array({"pre", i + 1, 2}), context);
        if (!answer) {
            Error error = answer.error();
            error.message = "condition `" + skill.pre[i].name + "`: " + error.message;
            return broken(std::move(error), skill.pre[i].line);
        }
        if (!answer->is_boolean() && !answer->is_null())
            return broken(Error{"condition `" + skill.pre[i].name + "` must return true or false"},
                          skill.pre[i].line);
        if (*answer != true) {
            verdict.failed_pre = skill.pre[i].name;
            return verdict;
        }
    }
    verdict.advice = skill.advice_text;
    if (!skill.advice_is_text) {
        auto answer = skill.sandbox->call(Json::array({"advice"}), context);
        if (!answer) {
            Error error = answer.error();
            error.message = "`advice`: " + error.message;
            return broken(std::move(error), 0);
        }
        if (!answer->is_string() || answer->get<std::string>().empty())
            return broken(Error{"`advice` must return a text"}, 0);
        verdict.advice = answer->get<std::string>();
    }
    constexpr std::size_t longest_advice = 2000;  // it goes into a prompt
    if (verdict.advice.size() > longest_advice)
        return broken(Error{"`advice` is longer than " + std::to_string(longest_advice) + " bytes"}, 0);
    verdict.state = SkillVerdict::State::holds;
    return verdict;
}

std::vector<SkillVerdict> evaluate(const SkillLibrary& library, const Json& context) {
    std::vector<SkillVerdict> verdicts;
    verdicts.reserve(library.skills.size());
    for (const Skill& skill : library.skills) verdicts.push_back(evaluate(skill, context));
    return verdicts;
}

Json to_json(const Skill& skill) {
    Json pre = Json::array(), expect = Json::array();
    for (const Precondition& condition : skill.pre) pre.push_back(condition.name);
    for (const Expectation& e : skill.expect) {
        Json entry{{"metric", e.metric}, {"direction", e.up ? "up" : "down"}};
        if (e.min_relative > 0) entry["min_relative"] = e.min_relative;
        expect.push_back(entry);
    }
    return {{"id", skill.id},         {"version", skill.version}, {"phase", skill.phase},
            {"intent", skill.intent}, {"origin", skill.origin},   {"pre", pre},
            {"expect", expect},       {"avoids", skill.avoids},   {"causes", skill.causes},
            {"file", skill.file},     {"hash", skill.hash}};
}

}  // namespace kernelwright

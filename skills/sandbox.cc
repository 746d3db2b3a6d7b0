// Lua raises errors with longjmp, which skips destructors. So every function below that runs under lua_pcall
// holds only trivial objects: its inputs come through a pointer to a struct that the caller owns, its outputs
// go there.
//
// What is left out of the standard library, and why: io, os, debug, package, coroutine (an instruction hook
// does not follow into a coroutine), load and its kin, pcall (it would catch the budget's error), metatables,
// collectgarbage; string.dump; string's patterns (matching can take exponential time inside one call, where
// no hook sees it); table.move (it loops over any range of numbers); math.random (rules are pure).
#include "skills/sandbox.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <lua.hpp>

namespace kernelwright {
namespace {

constexpr int hook_interval = 100;
constexpr int deepest = 16;
constexpr std::size_t most_values = 10'000;  // in a value that is read: a table may hold itself many times
constexpr const char* kept = "kernelwright.value";

struct State {
    SandboxLimits limits;
    std::size_t used = 0;
    std::uint64_t left = 0;  // instructions
    double deadline = 0;     // of the thread's processor time, seconds
};

// One instruction may be a comparison or a copy of a long string, so instructions alone do not bound the
// time.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void* allocate(void* user, void* block, std::size_t old_size, std::size_t new_size) {
    auto* state = static_cast<State*>(user);
    const std::size_t old = block == nullptr ? 0 : old_size;  // of a new object, old_size is its kind
    if (new_size == 0) {
        std::free(block);
        state->used -= old;
        return nullptr;
    }
    if (new_size > old && state->used + (new_size - old) > state->limits.memory) return nullptr;
    void* moved = std::realloc(block, new_size);
    if (moved != nullptr) state->used += new_size - old;
    return moved;
}

State* state_of(lua_State* lua) {
    void* user = nullptr;
    lua_getallocf(lua, &user);
    return static_cast<State*>(user);
}

void count_instructions(lua_State* lua, lua_Debug*) {
    State* state = state_of(lua);
    if (state->left > hook_interval && processor_seconds() < state->deadline) {
        state->left -= hook_interval;
        return;
    }
    state->left = 0;
    luaL_where(lua, 0);
    lua_pushliteral(lua, "the instruction budget is used up (an endless loop?)");
    lua_concat(lua, 2);
    lua_error(lua);
}

int give_back(lua_State* lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    return 1;
}

// string.find without patterns: find(text, part [, from]).
int find_plain(lua_State* lua) {
    std::size_t length = 0, part_length = 0;
    const char* text = luaL_checklstring(lua, 1, &length);
    const char* part = luaL_checklstring(lua, 2, &part_length);
    const lua_Integer from = luaL_optinteger(lua, 3, 1);
    if (from < 1) return luaL_error(lua, "find: the first place is 1");
    for (std::size_t at = static_cast<std::size_t>(from) - 1; at + part_length <= length; ++at)
        if (std::memcmp(text + at, part, part_length) == 0) {
            lua_pushinteger(lua, static_cast<lua_Integer>(at + 1));
            lua_pushinteger(lua, static_cast<lua_Integer>(at + part_length));
            return 2;
        }
    lua_pushnil(lua);
    return 1;
}

// tostring without addresses, which differ from run to run.
int to_text(lua_State* lua) {
    const int type = lua_type(lua, 1);
    if (type == LUA_TTABLE || type == LUA_TFUNCTION) {
        lua_pushstring(lua, lua_typename(lua, type));
        return 1;
    }
    luaL_tolstring(lua, 1, nullptr);
    return 1;
}

void keep_only(lua_State* lua, const char* const* names) {
    // The library's table is on top. A new table gets the named functions and replaces it.
    lua_newtable(lua);
    for (; *names != nullptr; ++names) {
        lua_getfield(lua, -2, *names);
        lua_setfield(lua, -2, *names);
    }
    lua_remove(lua, -2);
}

int open_world(lua_State* lua) {
    static const char* const base[] = {"ipairs", "pairs", "type", "tonumber", nullptr};
    static const char* const strings[] = {"format", "len",  "sub",     "upper", "lower",
                                          "rep",    "byte", "reverse", "char",  nullptr};
    static const char* const tables[] = {"concat", "insert", "remove", "sort", "unpack", "pack", nullptr};
    static const char* const maths[] = {"abs",  "ceil",      "floor",      "fmod",       "huge", "max",
                                        "min",  "modf",      "sqrt",       "exp",        "log",  "pi",
                                        "type", "tointeger", "maxinteger", "mininteger", "ult",  nullptr};
    lua_newtable(lua);  // the world
    luaL_requiref(lua, "_G", luaopen_base, 0);
    keep_only(lua, base);
    for (const char* const* name = base; *name != nullptr; ++name) {
        lua_getfield(lua, -1, *name);
        lua_setfield(lua, -3, *name);
    }
    lua_pop(lua, 1);

    luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 0);
    keep_only(lua, strings);
    lua_pushcfunction(lua, find_plain);
    lua_setfield(lua, -2, "find");
    // ("x"):rep(3) looks into the strings' metatable: it must show the kept functions only.
    lua_pushliteral(lua, "");
    lua_newtable(lua);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
    lua_setfield(lua, -2, "string");

    luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 0);
    keep_only(lua, tables);
    lua_setfield(lua, -2, "table");
    luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 0);
    keep_only(lua, maths);
    lua_setfield(lua, -2, "math");

    lua_pushcfunction(lua, to_text);
    lua_setfield(lua, -2, "tostring");
    lua_pushcfunction(lua, give_back);
    lua_setfield(lua, -2, "skill");
    lua_setfield(lua, LUA_REGISTRYINDEX, "kernelwright.world");
    // Nothing else keeps the full libraries alive.
    lua_pushnil(lua);
    lua_setfield(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_newtable(lua);
    lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    return 0;
}

struct LoadJob {
    const char* source;
    std::size_t size;
    const char* chunk;
};

int refuse_global(lua_State* lua) {
    return luaL_error(lua, "a global variable cannot be set; write `local %s`",
                      luaL_tolstring(lua, 2, nullptr));
}

int load_chunk(lua_State* lua) {
    const auto* job = static_cast<const LoadJob*>(lua_touserdata(lua, 1));
    if (luaL_loadbufferx(lua, job->source, job->size, job->chunk, "t") != LUA_OK) return lua_error(lua);
    // The world is seen through an empty table, so that a rule cannot change it: rules keep no state in
    // globals.
    lua_newtable(lua);
    lua_newtable(lua);
    lua_getfield(lua, LUA_REGISTRYINDEX, "kernelwright.world");
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_global);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
    lua_setupvalue(lua, -2, 1);
    lua_call(lua, 0, 1);
    lua_setfield(lua, LUA_REGISTRYINDEX, kept);
    return 0;
}

void push(lua_State* lua, const Json& json, int depth) {
    luaL_checkstack(lua, 8, "too deep");
    if (depth > deepest) luaL_error(lua, "the argument is nested too deeply");
    switch (json.type()) {
        case Json::value_t::boolean:
            lua_pushboolean(lua, *json.get_ptr<const bool*>() ? 1 : 0);
            break;
        case Json::value_t::number_integer:
            lua_pushinteger(lua, *json.get_ptr<const Json::number_integer_t*>());
            break;
        case Json::value_t::number_unsigned:
            lua_pushinteger(lua, static_cast<lua_Integer>(*json.get_ptr<const Json::number_unsigned_t*>()));
            break;
        case Json::value_t::number_float:
            lua_pushnumber(lua, *json.get_ptr<const Json::number_float_t*>());
            break;
        case Json::value_t::string: {
            const auto* text = json.get_ptr<const Json::string_t*>();
            lua_pushlstring(lua, text->data(), text->size());
            break;
        }
        case Json::value_t::array: {
            lua_createtable(lua, static_cast<int>(json.size()), 0);
            lua_Integer place = 0;
            for (auto it = json.cbegin(); it != json.cend(); ++it) {
                push(lua, *it, depth + 1);
                lua_rawseti(lua, -2, ++place);
            }
            break;
        }
        case Json::value_t::object:
            lua_createtable(lua, 0, static_cast<int>(json.size()));
            for (auto it = json.cbegin(); it != json.cend(); ++it) {
                lua_pushlstring(lua, it.key().data(), it.key().size());
                push(lua, *it, depth + 1);
                lua_rawset(lua, -3);
            }
            break;
        default:
            lua_pushnil(lua);
    }
}

struct CallJob {
    const Json* path;
    const Json* argument;
};

int call_function(lua_State* lua) {
    const auto* job = static_cast<const CallJob*>(lua_touserdata(lua, 1));
    lua_getfield(lua, LUA_REGISTRYINDEX, kept);
    for (auto it = job->path->cbegin(); it != job->path->cend(); ++it) {
        if (!lua_istable(lua, -1)) luaL_error(lua, "there is no such function");
        push(lua, *it, 0);
        lua_rawget(lua, -2);
    }
    if (!lua_isfunction(lua, -1)) luaL_error(lua, "there is no such function");
    push(lua, *job->argument, 0);
    lua_call(lua, 1, 1);
    return 1;
}

// Reads the value on top of the stack, outside of any protected call: only functions that raise no error are
// used, so destructors run. `why` says what could not be read.
bool read(lua_State* lua, int index, int depth, std::size_t& left, Json& out, std::string& why) {
    if (depth > deepest || lua_checkstack(lua, 8) == 0) {
        why = "is nested too deeply";
        return false;
    }
    if (left-- == 0) {
        left = 0;
        why = "is too large";
        return false;
    }
    index = lua_absindex(lua, index);
    switch (lua_type(lua, index)) {
        case LUA_TNIL:
            out = nullptr;
            return true;
        case LUA_TBOOLEAN:
            out = lua_toboolean(lua, index) != 0;
            return true;
        case LUA_TNUMBER:
            if (lua_isinteger(lua, index) != 0)
                out = static_cast<std::int64_t>(lua_tointeger(lua, index));
            else
                out = lua_tonumber(lua, index);
            return true;
        case LUA_TSTRING: {
            std::size_t length = 0;
            const char* text = lua_tolstring(lua, index, &length);
            out = std::string(text, length);
            return true;
        }
        case LUA_TFUNCTION: {
            lua_Debug info;
            lua_pushvalue(lua, index);
            lua_getinfo(lua, ">S", &info);
            out = Json{{"function", info.linedefined}};
            return true;
        }
        case LUA_TTABLE:
            break;
        default:
            why = std::string("holds a ") + lua_typename(lua, lua_type(lua, index));
            return false;
    }
    const std::size_t length = lua_rawlen(lua, index);
    Json list = Json::array(), map = Json::object();
    std::size_t entries = 0;
    lua_pushnil(lua);
    while (lua_next(lua, index) != 0) {  // raises only for a key that is not in the table
        ++entries;
        Json entry;
        if (!read(lua, -1, depth + 1, left, entry, why)) {
            lua_pop(lua, 2);
            return false;
        }
        if (lua_type(lua, -2) == LUA_TSTRING) {
            std::size_t size = 0;
            const char* key = lua_tolstring(lua, -2, &size);
            map[std::string(key, size)] = std::move(entry);
        } else if (lua_isinteger(lua, -2) == 0 || lua_tointeger(lua, -2) < 1 ||
                   lua_tointeger(lua, -2) > static_cast<lua_Integer>(length)) {
            why = "a key must be a text or a place in a list";
            lua_pop(lua, 2);
            return false;
        }
        lua_pop(lua, 1);
    }
    if (!map.empty() && length > 0) {
        why = "is both a list and a map";
        return false;
    }
    if (length > 0 && entries != length) {
        why = "a list must have no holes";
        return false;
    }
    for (std::size_t place = 1; place <= length; ++place) {
        lua_rawgeti(lua, index, static_cast<lua_Integer>(place));
        Json entry;
        const bool good = read(lua, -1, depth + 1, left, entry, why);
        lua_pop(lua, 1);
        if (!good) return false;
        list.push_back(std::move(entry));
    }
    // An empty table is an empty list; whoever wants a map takes it as one.
    out = map.empty() ? std::move(list) : std::move(map);
    return true;
}

}  // namespace

struct Sandbox::Impl {
    State state;
    lua_State* lua = nullptr;
    std::string file;

    ~Impl() {
        if (lua != nullptr) lua_close(lua);
    }

    // Runs `function` with a pointer to `job`, protected; the results stay on the stack.
    Status protect(lua_CFunction function, const void* job, int results) {
        state.left = state.limits.instructions;
        state.deadline = processor_seconds() + state.limits.seconds;
        // Pushing a C function without upvalues and a light pointer allocates nothing.
        lua_settop(lua, 0);
        lua_pushcfunction(lua, function);
        lua_pushlightuserdata(lua, const_cast<void*>(job));
        const int status = lua_pcall(lua, 1, results, 0);
        if (status == LUA_OK) return Done{};
        Error error = explain(status);
        lua_settop(lua, 0);
        lua_gc(lua, LUA_GCCOLLECT);
        return error;
    }

    // "softmax.lua:12: attempt to ..." as a place and a message.
    Error explain(int status) const {
        Error error;
        error.file = file;
        if (status == LUA_ERRMEM) {
            error.message = "the memory limit is used up";
            return error;
        }
        std::size_t length = 0;
        const char* text = lua_type(lua, -1) == LUA_TSTRING ? lua_tolstring(lua, -1, &length) : nullptr;
        error.message = text == nullptr ? "an error without a text" : std::string(text, length);
        const std::string prefix = "rule:";
        if (error.message.starts_with(prefix)) {
            char* end = nullptr;
            const long line = std::strtol(error.message.c_str() + prefix.size(), &end, 10);
            if (line > 0 && end != nullptr && *end == ':') {
                error.line = static_cast<int>(line);
                error.message =
                    error.message.substr(static_cast<std::size_t>(end - error.message.c_str()) + 1);
                if (error.message.starts_with(" ")) error.message.erase(0, 1);
            }
        }
        return error;
    }
};

Sandbox::Sandbox(SandboxLimits limits) : impl_(std::make_unique<Impl>()) {
    impl_->state.limits = limits;
    impl_->lua = lua_newstate(allocate, &impl_->state);
    if (impl_->lua == nullptr) return;  // load() says so
    lua_sethook(impl_->lua, count_instructions, LUA_MASKCOUNT, hook_interval);
    if (!impl_->protect(open_world, nullptr, 0)) {
        lua_close(impl_->lua);
        impl_->lua = nullptr;
    }
}

Sandbox::Sandbox(Sandbox&&) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&&) noexcept = default;
Sandbox::~Sandbox() = default;

Status Sandbox::load(const std::string& source, const std::string& file) {
    impl_->file = file;
    if (impl_->lua == nullptr) return Error{"the memory limit is too small for an empty rule", file};
    if (source.size() > impl_->state.limits.source)
        return Error{"a rule's text is at most " + std::to_string(impl_->state.limits.source) + " bytes",
                     file};
    const LoadJob job{source.data(), source.size(), "=rule"};
    return impl_->protect(load_chunk, &job, 0);
}

Result<Json> Sandbox::value() const {
    if (impl_->lua == nullptr) return Error{"nothing is loaded", impl_->file};
    lua_State* lua = impl_->lua;
    const auto fetch = [](lua_State* l) -> int {
        lua_getfield(l, LUA_REGISTRYINDEX, kept);
        return 1;
    };
    if (auto status = impl_->protect(fetch, nullptr, 1); !status) return status.error();
    Json json;
    std::string why;
    std::size_t left = most_values;
    const bool good = read(lua, -1, 0, left, json, why);
    lua_settop(lua, 0);
    if (!good) return Error{"the rule's value " + why, impl_->file};
    return json;
}

Result<Json> Sandbox::call(const Json& path, const Json& argument) const {
    if (impl_->lua == nullptr) return Error{"nothing is loaded", impl_->file};
    const CallJob job{&path, &argument};
    if (auto status = impl_->protect(call_function, &job, 1); !status) return status.error();
    Json json;
    std::string why;
    std::size_t left = most_values;
    const bool good = read(impl_->lua, -1, 0, left, json, why);
    lua_settop(impl_->lua, 0);
    if (!good) return Error{"the function's result " + why, impl_->file};
    return json;
}

}  // namespace kernelwright

// The device's address space. Addresses are cut into slots of 2^33 bytes; a buffer starts somewhere in the
// first quarter of a slot and at least 2^32 bytes separate it from its neighbours, so a table lookup by
// slot finds the only buffer an address can be meant for, and an offset that runs away hits no other one.
//
//   0 .. 2^33            nothing (null and small offsets from null)
//   kSharedWindow        generic addresses of shared memory
//   kLocalWindow         generic addresses of local memory
//   kFirstSlot ..        buffers and module variables
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/src/memory/pages.h"
#include "emulator/src/memory/sector_log.h"

namespace emulator {

namespace races {
struct GlobalShadow;
struct GlobalShadowDeleter {
    void operator()(GlobalShadow* shadow) const;
};
}  // namespace races

constexpr int kSlotShift = 33;
constexpr std::uint64_t kSharedWindow = std::uint64_t{64} << kSlotShift;
constexpr std::uint64_t kLocalWindow = std::uint64_t{65} << kSlotShift;
constexpr std::uint64_t kFirstSlot = 128;
constexpr std::uint64_t kSlotLimit = std::uint64_t{1} << (47 - kSlotShift);

// Does [address, address + bytes) reach beyond `size` bytes? Addresses may be anything: nothing wraps around.
inline bool is_beyond(std::uint64_t address, std::uint64_t bytes, std::uint64_t size) {
    return bytes > size || address > size - bytes;
}

// The bits [begin, begin + count) of a bit array.
inline void set_bits(std::uint64_t* bits, std::uint64_t begin, std::uint64_t count) {
    while (count) {
        const std::uint64_t in_word = begin & 63;
        const std::uint64_t n = count < 64 - in_word ? count : 64 - in_word;
        const std::uint64_t mask = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << in_word;
        bits[begin >> 6] |= mask;
        begin += n;
        count -= n;
    }
}
inline void clear_bits(std::uint64_t* bits, std::uint64_t begin, std::uint64_t count) {
    while (count) {
        const std::uint64_t in_word = begin & 63;
        const std::uint64_t n = count < 64 - in_word ? count : 64 - in_word;
        const std::uint64_t mask = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << in_word;
        bits[begin >> 6] &= ~mask;
        begin += n;
        count -= n;
    }
}
inline bool all_bits(const std::uint64_t* bits, std::uint64_t begin, std::uint64_t count) {
    while (count) {
        const std::uint64_t in_word = begin & 63;
        const std::uint64_t n = count < 64 - in_word ? count : 64 - in_word;
        const std::uint64_t mask = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << in_word;
        if ((bits[begin >> 6] & mask) != mask) return false;
        begin += n;
        count -= n;
    }
    return true;
}

// Which bytes of a buffer somebody has read and written, one bit each.
struct Claims {
    explicit Claims(std::uint64_t bytes) : read(bytes / 8 + 64), written(bytes / 8 + 64) {}
    Pages read, written;
};

struct Buffer {
    enum class Role : std::uint8_t { user, global_variable, constant_variable, parameters, heap, workspace };
    std::string name;
    std::uint64_t address = 0, size = 0;
    BufferKind kind = BufferKind::input;
    Role role = Role::user;
    bool alive = true;
    bool track_initialised = false;  // some bytes may not have been written yet
    bool writable = true;            // false: a store is a fault
    Pages content;                   // size rounded up, so that whole-word access past the end stays inside
    Pages written;                   // one bit per byte, when track_initialised
    // per launch
    SectorLog sectors_read, sectors_written;
    std::unique_ptr<races::GlobalShadow, races::GlobalShadowDeleter> shadow;
    std::unique_ptr<Claims> claims;  // of a launch that several host threads execute (launch/parallel.h)

    std::byte* data() const { return content.data(); }
    std::uint64_t* bits() const { return reinterpret_cast<std::uint64_t*>(written.data()); }
    bool contains(std::uint64_t at, std::uint64_t bytes) const {
        return at >= address && bytes <= size && at - address <= size - bytes;
    }
    // The same buffer for another host thread: its content is this one's, its records are its own.
    std::unique_ptr<Buffer> shared() const;
    // Takes over the records of shared(): which bytes have been written, which sectors were touched.
    void join(const Buffer& other);
    // To be told of every access to the content while there are claims.
    void claim(std::uint64_t at, std::uint64_t bytes, bool is_store) {
        if (claims)
            set_bits(reinterpret_cast<std::uint64_t*>((is_store ? claims->written : claims->read).data()),
                     at - address, bytes);
    }
    void mark_written(std::uint64_t offset, std::uint64_t bytes);
    void mark_unwritten(std::uint64_t offset, std::uint64_t bytes);
    bool is_written(std::uint64_t offset, std::uint64_t bytes) const;
};

struct Memory::Impl {
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<Buffer*> by_slot;  // kSlotLimit entries at most, grown as needed
    std::uint64_t next_slot = kFirstSlot;
    std::uint64_t seed = 0;
    std::uint64_t drawn = 0;
    // module (by the hash of its text) -> buffer of each variable, by index in ptx::Module::variables
    std::map<std::uint64_t, std::vector<Buffer*>> variables;
    std::uint64_t heap_next = 0;

    Buffer& add(std::string name, std::uint64_t size, BufferKind kind, Buffer::Role role, bool initialised,
                std::byte poison);
    void remove(Buffer& buffer);
    Buffer* at(std::uint64_t address) const {
        const std::uint64_t slot = address >> kSlotShift;
        return slot < by_slot.size() ? by_slot[slot] : nullptr;
    }
};

}  // namespace emulator

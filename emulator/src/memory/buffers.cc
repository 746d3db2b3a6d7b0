#include "emulator/src/memory/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "emulator/src/memory/module_memory.h"

namespace emulator {

Pages::Pages(std::size_t bytes) : size_(std::max<std::size_t>(bytes, 1)) {
    void* at =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(at);
}
Pages Pages::borrowed_from(const Pages& owner) {
    Pages pages;
    pages.data_ = owner.data_;
    pages.size_ = owner.size_;
    pages.owned_ = false;
    return pages;
}
Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owned_(other.owned_) {}
Pages& Pages::operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owned_, other.owned_);
    return *this;
}
Pages::~Pages() {
    if (data_ && owned_) munmap(data_, size_);
}

void Buffer::mark_written(std::uint64_t offset, std::uint64_t bytes) { set_bits(bits(), offset, bytes); }
void Buffer::mark_unwritten(std::uint64_t offset, std::uint64_t bytes) { clear_bits(bits(), offset, bytes); }
bool Buffer::is_written(std::uint64_t offset, std::uint64_t bytes) const {
    return all_bits(bits(), offset, bytes);
}

std::unique_ptr<Buffer> Buffer::shared() const {
    auto other = std::make_unique<Buffer>();
    other->name = name;
    other->address = address;
    other->size = size;
    other->kind = kind;
    other->role = role;
    other->alive = alive;
    other->track_initialised = track_initialised;
    other->writable = writable;
    other->content = Pages::borrowed_from(content);
    if (written.data()) {
        other->written = Pages(written.size());
        std::memcpy(other->written.data(), written.data(), written.size());
    }
    return other;
}
void Buffer::join(const Buffer& other) {
    if (sectors_read.is_on()) sectors_read.join(other.sectors_read);
    if (sectors_written.is_on()) sectors_written.join(other.sectors_written);
    if (!written.data() || !other.claims) return;
    const auto* claimed = reinterpret_cast<const std::uint64_t*>(other.claims->written.data());
    for (std::size_t i = 0; i < (size + 63) / 64; ++i)
        bits()[i] = (bits()[i] & ~claimed[i]) | (other.bits()[i] & claimed[i]);
}

static std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

Buffer& Memory::Impl::add(std::string name, std::uint64_t size, BufferKind kind, Buffer::Role role,
                          bool initialised, std::byte poison) {
    auto buffer = std::make_unique<Buffer>();
    // somewhere in the first quarter of the slot: a multiple of 256
    const std::uint64_t room = std::uint64_t{1} << (kSlotShift - 2);
    const std::uint64_t jitter = mix(seed * 1000003 + drawn++) % (room / 256) * 256;
    const std::uint64_t slot = next_slot;
    buffer->name = std::move(name);
    buffer->address = (slot << kSlotShift) + jitter;
    buffer->size = size;
    buffer->kind = kind;
    buffer->role = role;
    buffer->content = Pages((size + 4095) / 4096 * 4096 + 4096);
    buffer->track_initialised = !initialised;
    buffer->writable = kind != BufferKind::input;
    if (!initialised) {
        buffer->written = Pages(size / 8 + 64);
        std::memset(buffer->content.data(), static_cast<int>(poison), size);
    }
    const std::uint64_t last = (buffer->address + size + (std::uint64_t{1} << 32)) >> kSlotShift;
    next_slot = std::max(slot + 1, last);
    if (next_slot << kSlotShift < buffer->address + size + (std::uint64_t{1} << 32)) next_slot += 1;
    if (by_slot.size() < next_slot) by_slot.resize(next_slot, nullptr);
    for (std::uint64_t s = slot; s < next_slot; ++s) by_slot[s] = buffer.get();
    buffers.push_back(std::move(buffer));
    return *buffers.back();
}

void Memory::Impl::remove(Buffer& buffer) {
    for (Buffer*& entry : by_slot)
        if (entry == &buffer) entry = nullptr;
    std::erase_if(buffers, [&](const auto& b) { return b.get() == &buffer; });
    // As an allocator does: what is asked for next with the same seed comes to lie where this was.
    while (next_slot > kFirstSlot && by_slot[next_slot - 1] == nullptr) --next_slot;
}

Memory::Memory() : impl_(std::make_unique<Impl>()) {}
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory&&) noexcept = default;
Memory::~Memory() = default;

std::uint64_t Memory::allocate(std::string name, std::uint64_t size, BufferKind kind, std::byte poison) {
    const bool initialised = kind == BufferKind::input || kind == BufferKind::inout;
    Buffer& buffer = impl_->add(std::move(name), size, kind, Buffer::Role::user, initialised, poison);
    // What an input holds before it is written is poison too; very large ones are left to the system's zeros,
    // so that they need no memory before they are touched.
    constexpr std::uint64_t kLarge = std::uint64_t{256} << 20;
    if (initialised && size <= kLarge) std::memset(buffer.data(), static_cast<int>(poison), size);
    return buffer.address;
}
void Memory::set_address_seed(std::uint64_t seed) {
    impl_->seed = seed;
    impl_->drawn = 0;
}
void Memory::write(std::uint64_t address, std::span<const std::byte> bytes) {
    Buffer* buffer = impl_->at(address);
    if (!buffer || !buffer->contains(address, bytes.size())) return;
    if (!bytes.empty()) std::memcpy(buffer->data() + (address - buffer->address), bytes.data(), bytes.size());
    if (buffer->track_initialised) buffer->mark_written(address - buffer->address, bytes.size());
}
std::vector<std::byte> Memory::read(std::uint64_t address, std::uint64_t size) const {
    const Buffer* buffer = impl_->at(address);
    if (!buffer || !buffer->contains(address, size)) return {};
    const std::byte* from = buffer->data() + (address - buffer->address);
    return {from, from + size};
}
std::vector<bool> Memory::initialised(std::uint64_t address) const {
    const Buffer* buffer = impl_->at(address);
    if (!buffer) return {};
    std::vector<bool> flags(buffer->size, true);
    if (buffer->track_initialised)
        for (std::uint64_t i = 0; i < buffer->size; ++i) flags[i] = (buffer->bits()[i >> 6] >> (i & 63)) & 1;
    return flags;
}
void Memory::free(std::uint64_t address) {
    Buffer* buffer = impl_->at(address);
    if (buffer && buffer->address == address) impl_->remove(*buffer);
}

}  // namespace emulator

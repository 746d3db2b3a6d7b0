// Zeroed pages from the system, committed when touched.
#pragma once

#include <cstddef>

namespace emulator {

class Pages {
  public:
    Pages() = default;
    explicit Pages(std::size_t bytes);  // throws std::bad_alloc
    // The same bytes as another one's, which must outlive this.
    static Pages borrowed_from(const Pages& owner);
    Pages(Pages&& other) noexcept;
    Pages& operator=(Pages&& other) noexcept;
    ~Pages();
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    bool owned_ = true;
};

}  // namespace emulator

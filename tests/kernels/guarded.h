#pragma once

#include <cstring>
#include <vector>

#include "hearth/dtype.h"
#include "seam/view.h"
#include "tests/kernels/support.h"

namespace hearth::testing {

/// Memory for a strided view, surrounded by guard bytes. Gaps between its elements are guards, too.
template <class T>
class Guarded {
 public:
  /// Empty strides mean contiguous.
  explicit Guarded(std::vector<int64_t> sizes, std::vector<int64_t> strides = {}) {
    if (strides.empty()) strides = contiguous(sizes);
    view_.dtype = dtype_of<T>;
    view_.dim = int8_t(sizes.size());
    view_.numel = 1;
    int64_t last_offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      view_.sizes[d] = sizes[d];
      view_.strides[d] = strides[d];
      view_.numel *= sizes[d];
      last_offset += (sizes[d] - 1) * strides[d];
    }
    const size_t span = view_.numel > 0 ? size_t(last_offset + 1) : 0;
    bytes_.assign(span * sizeof(T) + 2 * kGuard, kFill);
    view_.data = span > 0 ? bytes_.data() + kGuard : nullptr;  // as in an empty tensor
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  static std::vector<int64_t> contiguous(const std::vector<int64_t>& sizes) {
    std::vector<int64_t> strides(sizes.size());
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) strides[d] = stride;
    return strides;
  }

  const View& view() const { return view_; }
  int64_t numel() const { return view_.numel; }
  /// The offset of element i in row-major order.
  int64_t offset(int64_t i) const {
    int64_t result = 0;
    for (int d = view_.dim - 1; d >= 0; --d) {
      result += i % view_.sizes[d] * view_.strides[d];
      i /= view_.sizes[d];
    }
    return result;
  }
  T& operator[](int64_t i) { return view_.template as<T>()[offset(i)]; }
  const T& operator[](int64_t i) const { return view_.template as<T>()[offset(i)]; }

  /// Whether all guard bytes are unchanged.
  bool intact() const {
    std::vector<unsigned char> is_element(bytes_.size(), 0);
    for (int64_t i = 0; i < numel(); ++i)
      std::memset(is_element.data() + kGuard + size_t(offset(i)) * sizeof(T), 1, sizeof(T));
    for (size_t b = 0; b < bytes_.size(); ++b)
      if (!is_element[b] && bytes_[b] != kFill) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kFill = 0xa5;
  std::vector<unsigned char> bytes_;
  View view_;
};

/// Runs a kernel on the CPU as an op would.
template <class Params>
void run_on_cpu(const Params& params) {
  KernelContext context;
  cpu::run(params, context.ctx);
}

}  // namespace hearth::testing

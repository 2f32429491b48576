#include "kernels/cpu/strided.h"

#include <cstring>

#include "core/parallel_for.h"

namespace hearth::cpu {

void copy_strided(const View& from, const View& to) {
  if (to.numel == 0) return;
  const StridedLoop<2> loop{&to, &from};
  const int64_t to_stride = loop.inner_stride(0), from_stride = loop.inner_stride(1);
  with_element_type(element_size(to.dtype), [&](auto element) {
    using T = decltype(element);
    const auto copy_run = [&](const int64_t* offsets, int64_t count) {
      T* write = to.as<T>() + offsets[0];
      const T* read = from.as<T>() + offsets[1];
      if (to_stride == 1 && from_stride == 1) {
        std::memcpy(write, read, size_t(count) * sizeof(T));
      } else {
        for (int64_t i = 0; i < count; ++i) write[i * to_stride] = read[i * from_stride];
      }
    };
    parallel_for(0, to.numel, kMoveGrain,
                 [&](int64_t begin, int64_t end) { loop.walk(begin, end, copy_run); });
  });
}

}  // namespace hearth::cpu

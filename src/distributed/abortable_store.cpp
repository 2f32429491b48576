#include "distributed/abortable_store.h"

#include "distributed/deadline.h"
#include "distributed/key_table.h"

namespace hearth::distributed {

Store::Bytes AbortableStore::get(const std::string& key) {
  wait({key}, getTimeout());
  return PrefixStore::get(key);
}

void AbortableStore::wait(const std::vector<std::string>& keys, milliseconds timeout) {
  constexpr milliseconds kSlice{250};
  const Deadline deadline = Deadline::after(timeout);
  while (true) {
    check_();
    const milliseconds slice = std::clamp(deadline.left(), milliseconds(1), kSlice);
    const Deadline end_of_slice = Deadline::after(slice);
    try {
      return PrefixStore::wait(keys, slice);
    } catch (const DistStoreError&) {
      if (deadline.has_passed()) throw_store_timeout(keys, timeout.count());
      if (!end_of_slice.has_passed()) throw;  // the error is not a time-out
    }
  }
}

}  // namespace hearth::distributed

#include "core/observer.h"

namespace hearth {

void Observer::remove() {
  if (modes.observer == this) {
    modes.observer = outer_;
    if (!modes.observer) modes.flags &= ~uint32_t(kObserved);
    return;
  }
  for (Observer* each = modes.observer; each; each = each->outer_)
    if (each->outer_ == this) {
      each->outer_ = outer_;
      return;
    }
}

void begin_observed_range(const ObservedRange& range) {
  for (Observer* each = modes.observer; each; each = each->outer()) each->begin_range(range);
}

void end_observed_range(const void* key) {
  for (Observer* each = modes.observer; each; each = each->outer()) each->end_range(key);
}

}  // namespace hearth

#pragma once

#include <string>
#include <vector>

#include "core/backends.h"
#include "core/observer.h"

namespace hearth::profiler {

/// Passes the ops and ranges of one thread to a RangeMarker.
class NvtxObserver final : public Observer {
 public:
  NvtxObserver(const RangeMarker& marker, bool record_shapes)
      : marker_(marker), record_shapes_(record_shapes) {}
  ~NvtxObserver() override;

  void begin(const ObservedCall& call) override;
  void end(const ObservedCall& call) override { pop(&call); }
  void begin_range(const ObservedRange& range) override;
  void end_range(const void* key) override { pop(key); }

 private:
  void push(const void* key, const std::string& name);
  /// Ends the range and those inside it; does nothing if it began before install().
  void pop(const void* key);

  const RangeMarker& marker_;
  const bool record_shapes_;
  std::vector<const void*> open_;  // keys of the open ranges, the outermost first
};

}  // namespace hearth::profiler

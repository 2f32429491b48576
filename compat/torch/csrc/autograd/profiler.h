#pragma once

#include <string>

#include "ATen/record_function.h"
#include "hearth/profiler.h"

namespace torch {
namespace profiler = hearth::profiler;
}

namespace hearth::autograd::profiler {

using hearth::profiler::emit_nvtx;

/// Records a profile during its lifetime and writes it as a Chrome trace.
class RecordProfile {
 public:
  explicit RecordProfile(const std::string& filename)
      : profile_(hearth::profiler::ProfileOptions().on_trace_ready(
            [filename](hearth::profiler::profile& ready) {
              ready.export_chrome_trace(filename);
            })) {}

 private:
  hearth::profiler::profile profile_;
};

}  // namespace hearth::autograd::profiler

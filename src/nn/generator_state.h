#pragma once

#include "hearth/generator.h"

namespace hearth::nn {

/// Restores the state of a device's default generator at the end of the scope.
class GeneratorStateGuard {
 public:
  explicit GeneratorStateGuard(Device device)
      : generator_(default_generator(device)), state_(generator_.get_state()) {}
  ~GeneratorStateGuard() { generator_.set_state(state_); }
  GeneratorStateGuard(const GeneratorStateGuard&) = delete;
  GeneratorStateGuard& operator=(const GeneratorStateGuard&) = delete;

 private:
  Generator generator_;
  Tensor state_;
};

}  // namespace hearth::nn

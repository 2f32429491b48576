#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hearth/io/pt.h"

/// Modules of TorchScript, without their code.
namespace hearth::jit {

/// A tensor of a module and its name.
struct NamedTensor {
  std::string name;
  Tensor value;
};

/// The parameters and buffers of a module that torch.jit.save wrote. Its code cannot be run.
class HEARTH_API Module {
 public:
  Module(std::string path, const io::NamedTensors& tensors);

  /// The tensors that require gradients; others count as buffers.
  const std::vector<NamedTensor>& named_parameters() const { return parameters_; }
  const std::vector<NamedTensor>& named_buffers() const { return buffers_; }
  Tensor attr(const std::string& name) const;  ///< a parameter or a buffer
  void eval() {}
  void train(bool = true) {}

  /// Throws a NotImplementedError, which says that Hearth does not run TorchScript.
  [[noreturn]] IValue forward(std::vector<IValue> inputs) const;
  template <class... Inputs>
  [[noreturn]] IValue operator()(Inputs&&...) const {
    forward({});
  }

 private:
  std::string path_;
  std::vector<NamedTensor> parameters_, buffers_;
};

/// Reads a traced or scripted module.
HEARTH_API Module load(const std::string& path, std::optional<Device> device = {});

}  // namespace hearth::jit

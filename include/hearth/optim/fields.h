#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "hearth/tensor.h"

namespace hearth::optim {

/// Values by name, on their way out of an object or into it: an object names each of its values
/// once, and can then be saved, loaded, compared and put into a state dict.
class HEARTH_API Fields {
 public:
  virtual ~Fields();

  /// Takes the value along, or, when loading, replaces it; one that is not there to load is an
  /// Error, unless values are not required: then it stays as it is.
  virtual void field(const std::string& name, bool& value) = 0;
  virtual void field(const std::string& name, int64_t& value) = 0;
  virtual void field(const std::string& name, double& value) = 0;
  virtual void field(const std::string& name, std::string& value) = 0;
  /// An undefined tensor is one that is not there.
  virtual void field(const std::string& name, Tensor& value) = 0;
  /// What `body` names lies under `name`.
  virtual void nested(const std::string& name, const std::function<void(Fields&)>& body) = 0;

  virtual bool loading() const = 0;
  /// Whether there is such a value or such a nested one to load.
  virtual bool has(const std::string& name) const = 0;

  bool requires_values() const { return requires_values_; }
  void require_values(bool required) { requires_values_ = required; }

  void field(const std::string& name, std::tuple<double, double>& values);
  /// An empty list is one that is not there.
  void field(const std::string& name, std::vector<double>& values);
  void field(const std::string& name, std::vector<int64_t>& values);

 private:
  bool requires_values_ = true;
};

}  // namespace hearth::optim

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "hearth/tensor.h"

namespace hearth::optim {

/// Visitor of an object's named values: an object lists its values once and can then be saved,
/// loaded, compared and put into a state dict.
class HEARTH_API Fields {
 public:
  virtual ~Fields();

  /// Visits a value; loading replaces it by the source's value of that name. If the source has
  /// none, field() throws an Error or, if values are not required, leaves the value unchanged.
  virtual void field(const std::string& name, bool& value) = 0;
  virtual void field(const std::string& name, int64_t& value) = 0;
  virtual void field(const std::string& name, double& value) = 0;
  virtual void field(const std::string& name, std::string& value) = 0;
  /// An undefined tensor counts as missing.
  virtual void field(const std::string& name, Tensor& value) = 0;
  /// Visits the values of `body` below `name`.
  virtual void nested(const std::string& name, const std::function<void(Fields&)>& body) = 0;

  virtual bool loading() const = 0;                     ///< whether values are replaced
  virtual bool has(const std::string& name) const = 0;  ///< whether the source has this name

  bool requires_values() const { return requires_values_; }  ///< whether a missing value throws
  void require_values(bool required) { requires_values_ = required; }

  /// Records that an optional value is not set: state dicts have None for it, archives nothing.
  virtual void none(const std::string& name);
  virtual bool is_none(const std::string& name) const;  ///< whether the source has None

  void field(const std::string& name, std::tuple<double, double>& values);
  /// A missing list is an empty one.
  void field(const std::string& name, std::vector<double>& values);
  void field(const std::string& name, std::vector<int64_t>& values);

 private:
  bool requires_values_ = true;
};

}  // namespace hearth::optim

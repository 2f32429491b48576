#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/io/serialize.h"

namespace hearth::io {

/// What a training run needs to go on where it was: named objects (model, optimizer, scheduler,
/// data loader, numbers), which it refers to, and the states of all default random generators.
class HEARTH_API Checkpoint {
 public:
  /// Names whatever has save(archive) and load(archive), or points to it; a Tensor; a number, bool
  /// or string. It must live as long as the checkpoint.
  template <class T>
  Checkpoint& add(const std::string& name, T& object) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, Tensor>)
      return add_part(
          name, [&object, name](serialize::OutputArchive& archive) { archive.write(name, object); },
          [&object, name](serialize::InputArchive& archive) { read_value(archive, name, object); });
    else
      return add_part(
          name,
          [&object, name](serialize::OutputArchive& archive) {
            serialize::OutputArchive nested;
            nested << std::as_const(object);
            archive.write(name, nested);
          },
          [&object, name](serialize::InputArchive& archive) {
            serialize::InputArchive nested;
            archive.read(name, nested);
            nested >> object;
          });
  }

  /// Writes one file, whole or not at all.
  void save(const std::string& path) const;
  /// Reads every object; one that the file does not have is an error, before anything is read.
  /// Generators of devices that the file does not know are left alone. `device` is where objects
  /// put tensors that they did not have yet.
  void load(const std::string& path, std::optional<Device> device = {}) const;

 private:
  struct Part {
    std::string name;
    std::function<void(serialize::OutputArchive&)> save;
    std::function<void(serialize::InputArchive&)> load;
  };
  template <class T>
  static void read_value(serialize::InputArchive& archive, const std::string& name, T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      double wide = 0;
      archive.read(name, wide);
      value = static_cast<T>(wide);
    } else {
      archive.read(name, value);
    }
  }
  Checkpoint& add_part(std::string name, std::function<void(serialize::OutputArchive&)> save,
                       std::function<void(serialize::InputArchive&)> load);

  std::vector<Part> parts_;
};

}  // namespace hearth::io

#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearth/io/serialize.h"

namespace hearth::io {

/// The types that a Checkpoint can hold.
template <class T>
concept CheckpointPart = std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, Tensor> ||
    ((serialize::Saves<T> || serialize::PointsToSaves<T>)&&(serialize::Loads<T> ||
                                                            serialize::PointsToLoads<T>));

/// Saves and restores the state of a training run: named objects (model, optimizer, scheduler, data
/// loader, numbers), held by reference, and all default random generators.
class HEARTH_API Checkpoint {
 public:
  /// Adds a reference to an object, which must outlive the checkpoint: an object with save(archive)
  /// and load(archive), a pointer to one, a Tensor, a number, a bool or a string.
  template <CheckpointPart T>
  Checkpoint& add(const std::string& name, T& object) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                  std::is_same_v<T, Tensor>)
      return add_part({name,
                       [&object, name](serialize::OutputArchive& archive) {
                         write_value(archive, name, object);
                       },
                       [&object, name](serialize::InputArchive& archive) {
                         return read_value(archive, name, object);
                       },
                       /*is_value=*/true});
    else
      return add_part({name,
                       [&object, name](serialize::OutputArchive& archive) {
                         serialize::OutputArchive nested;
                         nested << std::as_const(object);
                         archive.write(name, nested);
                       },
                       [&object, name](serialize::InputArchive& archive) {
                         auto nested = std::make_shared<serialize::InputArchive>();
                         archive.read(name, *nested);
                         return [&object, nested] { *nested >> object; };
                       },
                       /*is_value=*/false});
  }

  /// Writes the file atomically. Its last tensor, `checksum`, is the CRC-32 of all bytes before it.
  void save(const std::string& path) const;
  /// Loads every object. First it throws, without changing anything, if an entry is missing or if a
  /// value, tensor or generator state does not fit. Then it loads the objects with load() in the
  /// order of add() and, if all succeed, the values and generators. Generators of devices that are
  /// not in the file are unchanged. Tensors of objects move to `device`, if given.
  void load(const std::string& path, std::optional<Device> device = {}) const;
  /// Throws if the file has a checksum and does not match it; load() calls this first.
  static void check_file(const std::string& path);

 private:
  using Commit = std::function<void()>;
  struct Part {
    std::string name;
    std::function<void(serialize::OutputArchive&)> save;
    /// Reads and checks the value without changing the object; the Commit changes it.
    std::function<Commit(serialize::InputArchive&)> prepare;
    bool is_value;  // a number, string or tensor, whose Commit cannot fail
  };
  /// Whether T is an unsigned 64-bit type, which archives do not have.
  template <class T>
  static constexpr bool kIsWide = std::unsigned_integral<T> && sizeof(T) == sizeof(uint64_t);

  template <class T>
  static void write_value(serialize::OutputArchive& archive, const std::string& name,
                          const T& value) {
    if constexpr (kIsWide<T>)
      write_wide(archive, name, value);
    else
      archive.write(name, value);
  }
  template <class T>
  static Commit read_value(serialize::InputArchive& archive, const std::string& name, T& value) {
    std::conditional_t<std::is_floating_point_v<T>, double, T> read{};
    if constexpr (kIsWide<T>)
      read = static_cast<T>(read_wide(archive, name));
    else
      archive.read(name, read);
    return [&value, read] { value = static_cast<T>(read); };
  }
  static void write_wide(serialize::OutputArchive& archive, const std::string& name,
                         uint64_t value);
  static uint64_t read_wide(serialize::InputArchive& archive, const std::string& name);
  static Commit read_value(serialize::InputArchive& archive, const std::string& name,
                           Tensor& value);
  Checkpoint& add_part(Part part);

  std::vector<Part> parts_;
};

}  // namespace hearth::io

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/ivalue.h"
#include "hearth/owned_ptr.h"
#include "hearth/tensor.h"

namespace hearth::nn {
class Module;
}

namespace hearth::serialize {

/// A tree of named values on its way to a file: tensors under "a.b.c", all else in the metadata of
/// one safetensors file.
class HEARTH_API OutputArchive {
 public:
  OutputArchive();
  ~OutputArchive();
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;

  /// Each key can be written once; a tensor may be undefined.
  void write(const std::string& key, const Tensor& value, bool is_buffer = false);
  /// A number, bool, string, list of numbers or of tensors.
  void write(const std::string& key, const IValue& value);
  /// What `nested` holds now, below the key.
  void write(const std::string& key, const OutputArchive& nested);
  template <class... Args>
  void operator()(Args&&... args) {
    write(std::forward<Args>(args)...);
  }

  /// Writes the file whole or not at all.
  void save_to(const std::string& filename) const;
  void save_to(std::ostream& stream) const;
  /// Calls write(data, bytes), which returns how many bytes it took, with the file's content in
  /// order.
  void save_to(const std::function<size_t(const void*, size_t)>& write) const;
  /// Whether no value was written, at any depth.
  bool is_empty() const;

 private:
  friend class InputArchive;
  struct Tree;
  hearth::detail::OwnedPtr<Tree> tree_;
};

/// A tree of named values read from a file.
class HEARTH_API InputArchive {
 public:
  InputArchive();
  /// Reads what was written, without a file.
  explicit InputArchive(const OutputArchive& written);
  ~InputArchive();
  InputArchive(InputArchive&&) noexcept;
  InputArchive& operator=(InputArchive&&) noexcept;

  /// A defined tensor gets new data in its own dtype and on its own device, with the file's sizes
  /// and strides; older views keep what they saw. An undefined one becomes what the file holds.
  void read(const std::string& key, Tensor& value, bool is_buffer = false);
  void read(const std::string& key, IValue& value);
  /// The values below the key.
  void read(const std::string& key, InputArchive& nested);
  void read(const std::string& key, int64_t& value);
  void read(const std::string& key, double& value);
  void read(const std::string& key, bool& value);
  void read(const std::string& key, std::string& value);
  template <std::integral T>
  void read(const std::string& key, T& value) {
    int64_t wide = 0;
    read(key, wide);
    value = narrow<T>(key, wide);
  }
  template <class... Args>
  void operator()(Args&&... args) {
    read(std::forward<Args>(args)...);
  }

  /// As read, but false where there is no such value, or one of another kind.
  bool try_read(const std::string& key, Tensor& value, bool is_buffer = false);
  bool try_read(const std::string& key, IValue& value);
  bool try_read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, int64_t& value);
  bool try_read(const std::string& key, double& value);
  bool try_read(const std::string& key, bool& value);
  bool try_read(const std::string& key, std::string& value);
  template <std::integral T>
  bool try_read(const std::string& key, T& value) {
    int64_t wide = 0;
    if (!try_read(key, wide)) return false;
    value = narrow<T>(key, wide);
    return true;
  }

  /// From now on, tensors of other sizes than those they are read into are errors, as checkpoints
  /// need; also in subtrees that are read afterwards.
  void require_same_sizes();

  /// The names of the values and subtrees here, as they were written.
  std::vector<std::string> keys() const;
  /// Whether there is a value or a subtree.
  bool contains(const std::string& key) const;

  /// Any safetensors file will do. Undefined tensors are read to `device`; without one, to the
  /// device on which they were saved.
  void load_from(const std::string& filename, std::optional<Device> device = {});
  void load_from(std::istream& stream, std::optional<Device> device = {});
  void load_from(const char* data, size_t size, std::optional<Device> device = {});
  /// Calls read(position, buffer, bytes), which returns how many bytes it wrote, for a file of
  /// size() bytes.
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = {});

 private:
  friend class nn::Module;
  /// read() of a tensor whose storage `aliases` tensors share that nobody else sees.
  void read_over(const std::string& key, Tensor& value, size_t aliases);
  bool try_read_over(const std::string& key, Tensor& value, size_t aliases);
  template <class T>
  T narrow(const std::string& key, int64_t wide) const {
    if (!std::in_range<T>(wide)) fail_narrow(key, wide);
    return static_cast<T>(wide);
  }
  [[noreturn]] void fail_narrow(const std::string& key, int64_t wide) const;

  struct Tree;
  hearth::detail::OwnedPtr<Tree> tree_;
};

}  // namespace hearth::serialize

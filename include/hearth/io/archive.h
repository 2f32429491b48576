#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
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

namespace hearth::jit {
struct CompilationUnit {};
}  // namespace hearth::jit

namespace hearth::serialize {

/// A tree of named values to save in a safetensors file. The file's tensors have names such as
/// "a.b.c"; in a list of tensors "a.b.0"; in tuples, dicts and other lists "a.b#0". All other
/// values are stored in the metadata.
class HEARTH_API OutputArchive {
 public:
  OutputArchive();
  /// As LibTorch's programs construct nested archives; the argument has no effect.
  explicit OutputArchive(const std::shared_ptr<jit::CompilationUnit>&) : OutputArchive() {}
  ~OutputArchive();
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;

  /// Writes a tensor, which may be undefined. Each key can be written once.
  void write(const std::string& key, const Tensor& value, bool is_buffer = false);
  /// Writes a value of any type.
  void write(const std::string& key, const IValue& value);
  /// Writes a copy of the tree `nested` below the key.
  void write(const std::string& key, const OutputArchive& nested);
  /// The same as write(args...).
  template <class... Args>
  void operator()(Args&&... args) {
    write(std::forward<Args>(args)...);
  }

  void save_to(const std::string& filename) const;  ///< replaces the file atomically
  void save_to(std::ostream& stream) const;         ///< writes the file's bytes to the stream
  /// Calls write(data, bytes) with the file's content in order; write returns the number of bytes
  /// written.
  void save_to(const std::function<size_t(const void*, size_t)>& write) const;
  std::shared_ptr<jit::CompilationUnit> compilation_unit() const {
    return std::make_shared<jit::CompilationUnit>();
  }
  bool is_empty() const;  ///< whether no value was written at any depth

 private:
  friend class InputArchive;
  struct Tree;
  hearth::detail::OwnedPtr<Tree> tree_;
};

/// A tree of named values read from a file.
class HEARTH_API InputArchive {
 public:
  InputArchive();
  explicit InputArchive(const OutputArchive& written);  ///< reads an archive without a file
  ~InputArchive();
  InputArchive(InputArchive&&) noexcept;
  InputArchive& operator=(InputArchive&&) noexcept;

  /// Reads a tensor. If `value` is defined, it keeps its dtype, takes the file's sizes and
  /// strides, and moves to the device that load_from got, if any; other tensors that share its
  /// memory are unchanged. If undefined, it gets all metadata from the file.
  void read(const std::string& key, Tensor& value, bool is_buffer = false);
  void read(const std::string& key, IValue& value);
  void read(const std::string& key, InputArchive& nested);  ///< reads the tree below the key
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
  /// The same as read(args...).
  template <class... Args>
  void operator()(Args&&... args) {
    read(std::forward<Args>(args)...);
  }

  /// Like read, but returns false if the value does not exist or has another type.
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

  /// Makes it an error to read a tensor into a defined tensor of other sizes, also in subtrees read
  /// afterwards.
  void require_same_sizes();

  std::optional<Device> device() const;         ///< what load_from got
  std::vector<std::string> keys() const;        ///< names of values and subtrees, as written
  bool contains(const std::string& key) const;  ///< whether a value or subtree has this name

  /// Loads any safetensors file, or a file of torch.save in Python or LibTorch. Tensors are
  /// read to `device`; without one, defined tensors stay on their devices, and undefined ones go to
  /// the device on which they were saved.
  void load_from(const std::string& filename, std::optional<Device> device = {});
  void load_from(std::istream& stream, std::optional<Device> device = {});
  void load_from(const char* data, size_t size, std::optional<Device> device = {});
  /// Loads a file of size() bytes by read(position, buffer, bytes), which returns the bytes read.
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = {});

 private:
  friend class nn::Module;
  /// read() that may overwrite storage shared with at most `aliases` other tensors.
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

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/tensor.h"

namespace hearth::serialize {

/// A tree of named values on its way to a file: tensors under "a.b.c", all else in the metadata of
/// one safetensors file.
class HEARTH_API OutputArchive {
 public:
  OutputArchive();
  ~OutputArchive();
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;

  void write(const std::string& key, const Tensor& value, bool is_buffer = false);
  void write(const std::string& key, OutputArchive& nested);
  void write(const std::string& key, int64_t value);
  void write(const std::string& key, double value);
  void write(const std::string& key, bool value);
  void write(const std::string& key, const std::string& value);
  /// Writes the file whole or not at all.
  void save_to(const std::string& filename);

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

/// A tree of named values read from a file.
class HEARTH_API InputArchive {
 public:
  InputArchive();
  ~InputArchive();
  InputArchive(InputArchive&&) noexcept;
  InputArchive& operator=(InputArchive&&) noexcept;

  /// Copies into a defined tensor; an undefined one becomes what the file holds.
  void read(const std::string& key, Tensor& value, bool is_buffer = false);
  void read(const std::string& key, InputArchive& nested);
  void read(const std::string& key, int64_t& value);
  void read(const std::string& key, double& value);
  void read(const std::string& key, bool& value);
  void read(const std::string& key, std::string& value);
  /// As read, but false where there is no such value.
  bool try_read(const std::string& key, Tensor& value, bool is_buffer = false);
  bool try_read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, int64_t& value);
  bool try_read(const std::string& key, double& value);
  bool try_read(const std::string& key, bool& value);
  bool try_read(const std::string& key, std::string& value);
  std::vector<std::string> keys() const;
  void load_from(const std::string& filename, std::optional<Device> device = {});

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace hearth::serialize

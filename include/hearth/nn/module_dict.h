#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/nn/module_list.h"

namespace hearth::nn {

/// Submodules by name.
class HEARTH_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Dict = OrderedDict<std::string, std::shared_ptr<Module>>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ModuleDictImpl();
  explicit ModuleDictImpl(
      const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  explicit ModuleDictImpl(const Dict& modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}

  /// Names and modules in the order of insertion.
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const;
  std::vector<std::string> keys() const;                ///< in the order of insertion
  std::vector<std::shared_ptr<Module>> values() const;  ///< in the order of insertion
  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool empty() const noexcept { return modules_.is_empty(); }
  bool contains(const std::string& key) const noexcept;

  std::shared_ptr<Module> operator[](const std::string& key) const;
  /// The module of this name, which must have type T.
  template <class T>
  T& at(const std::string& key) {
    return detail::cast_module<T>(modules_[key], key);
  }
  template <class T>
  const T& at(const std::string& key) const {
    return detail::cast_module<T>(modules_[key], key);
  }
  std::shared_ptr<Module> pop(const std::string& key);  ///< removes a module and returns it
  void clear();                                         ///< removes all modules
  /// Adds modules, and replaces those of existing names.
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  template <class Container>
  void update(const Container& modules) {
    for (const auto& item : modules) insert(item.key(), item.value());
  }

 private:
  void insert(const std::string& key, std::shared_ptr<Module> module);
  Dict modules_;
};
HEARTH_MODULE(ModuleDict);

}  // namespace hearth::nn

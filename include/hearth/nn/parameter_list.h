#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hearth/nn/cloneable.h"
#include "hearth/nn/pimpl.h"

namespace hearth::nn {

/// Parameters in a list; their names are "0", "1", ….
class HEARTH_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Dict = OrderedDict<std::string, Tensor>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ParameterListImpl() = default;
  template <class... Tensors>
  requires(std::is_convertible_v<Tensors, Tensor>&&...)  //
      explicit ParameterListImpl(Tensors&&... parameters) {
    (append(std::forward<Tensors>(parameters)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  void append(const Tensor& parameter);  ///< keeps the tensor's requires_grad
  void append(const Dict::Item& item) { append(item.value()); }
  template <class Container>
  void extend(const Container& parameters) {
    for (const auto& parameter : parameters) append(parameter);
  }
  template <class Container>
  ParameterListImpl& operator+=(const Container& parameters) {
    extend(parameters);
    return *this;
  }

  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t index);
  const Tensor& at(size_t index) const { return const_cast<ParameterListImpl*>(this)->at(index); }
  Tensor& operator[](size_t index) { return at(index); }
  const Tensor& operator[](size_t index) const { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
HEARTH_MODULE(ParameterList);

/// Parameters by name.
class HEARTH_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Dict = OrderedDict<std::string, Tensor>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const Dict& parameters);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  Tensor& insert(const std::string& key, const Tensor& parameter);  ///< keeps its requires_grad
  Tensor pop(const std::string& key);  ///< removes a parameter and returns it
  /// Replaces parameters, whose names must exist.
  template <class Container>
  void update(const Container& parameters) {
    for (const auto& item : parameters) parameters_[item.key()] = item.value();
  }
  void clear();  ///< removes all parameters

  std::vector<std::string> keys() const;  ///< in the order of insertion
  std::vector<Tensor> values() const;     ///< in the order of insertion
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept;
  const Tensor& get(const std::string& key) const;
  Tensor& get(const std::string& key);
  const Tensor& operator[](const std::string& key) const { return get(key); }
  Tensor& operator[](const std::string& key) { return get(key); }
};
HEARTH_MODULE(ParameterDict);

}  // namespace hearth::nn

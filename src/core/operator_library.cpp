#include <utility>

#include "hearth/operator_registry.h"

namespace hearth {

OperatorLibrary::OperatorLibrary(Kind kind, std::string name_space, std::optional<DispatchKey> key,
                                 const char* file, uint32_t line)
    : kind_(kind),
      name_space_(std::move(name_space)),
      origin_(detail::str("registered at ", file, ':', line)),
      key_(key) {
  if (kind == DEF) registrations_.push_back(RegisteredOperator::reserve(name_space_, origin_));
}

std::string OperatorLibrary::place() const {
  constexpr const char* kNames[] = {"TORCH_LIBRARY", "TORCH_LIBRARY_IMPL",
                                    "TORCH_LIBRARY_FRAGMENT"};
  return detail::str("  (Error occurred while processing ", kNames[kind_], " block ",
                     origin_.substr(origin_.find("at ")), ")");
}

OperatorName OperatorLibrary::full_name(const std::string& name) const {
  const size_t colons = name.find("::");
  HEARTH_CHECK(colons == name.npos || name.substr(0, colons) == name_space_,
               "Explicitly provided namespace (", name.substr(0, colons), ") in ",
               kind_ == IMPL ? "operator name" : "schema string",
               " does not match namespace of enclosing ",
               kind_ == IMPL  ? "TORCH_LIBRARY_IMPL"
               : kind_ == DEF ? "TORCH_LIBRARY"
                              : "TORCH_LIBRARY_FRAGMENT",
               " block (", name_space_,
               ").  Move this definition to the (unique) TORCH_LIBRARY block corresponding to this "
               "namespace (and consider deleting the namespace from your schema string.)",
               place());
  const std::string own = colons == name.npos ? name : name.substr(colons + 2);
  const size_t dot = own.find('.');
  return {name_space_ + "::" + own.substr(0, dot),
          dot == own.npos ? std::string() : own.substr(dot + 1)};
}

OperatorName OperatorLibrary::define(const std::string& schema, bool name_suffices) {
  const size_t end = schema.find('(');
  const OperatorName name = full_name(schema.substr(0, end));
  HEARTH_CHECK(kind_ != IMPL, "def(\"", schema.substr(0, end),
               "\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s "
               "should be placed in the (unique) TORCH_LIBRARY block for their namespace.",
               place());
  HEARTH_CHECK(end != schema.npos || name_suffices,
               "Tried to parse a function schema but only the operator name was given");
  const std::string rest = end == schema.npos ? std::string() : schema.substr(end);
  registrations_.push_back(
      RegisteredOperator::get_or_add(name).define(as_text(name) + rest, origin_));
  return name;
}

void OperatorLibrary::add_kernel(const std::string& name, std::optional<DispatchKey> key,
                                 std::shared_ptr<OperatorKernel> kernel) {
  if (!key) key = key_;
  RegisteredOperator& op = RegisteredOperator::get_or_add(full_name(name));
  registrations_.push_back(op.add_kernel(key.value_or(DispatchKey::CompositeImplicitAutograd),
                                         std::move(kernel), origin_));
}

void OperatorLibrary::add_fallback(const std::shared_ptr<OperatorKernel>& kernel) const {
  HEARTH_CHECK_AS(NotImplementedError, !kernel,
                  "fallback() takes only CppFunction::makeFallthrough()", place());
}

}  // namespace hearth

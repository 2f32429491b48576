#include <utility>

#include "core/operator_schema.h"
#include "hearth/operator_registry.h"

namespace hearth {

namespace {

const char* block_name(OperatorLibrary::Kind kind) {
  constexpr const char* kNames[] = {"TORCH_LIBRARY", "TORCH_LIBRARY_IMPL",
                                    "TORCH_LIBRARY_FRAGMENT"};
  return kNames[kind];
}

}  // namespace

OperatorLibrary::OperatorLibrary(Kind kind, std::string name_space, std::optional<DispatchKey> key,
                                 const char* file, uint32_t line)
    : kind_(kind),
      name_space_(std::move(name_space)),
      origin_(detail::str("registered at ", file, ':', line)),
      key_(key) {
  if (kind == DEF) registrations_.push_back(RegisteredOperator::reserve(name_space_, origin_));
}

std::string OperatorLibrary::place() const {
  return detail::str("  (Error occurred while processing ", block_name(kind_), " block ",
                     origin_.substr(origin_.find("at ")), ")");
}

OperatorName OperatorLibrary::full_name(const OperatorDeclaration& declaration) const {
  const std::string& given = declaration.name_space;
  const bool is_impl = kind_ == IMPL;
  HEARTH_CHECK(given.empty() || given == name_space_,
               is_impl ? detail::str("impl(\"", given, "::", declaration.name, "\", ...): ") : "",
               "Explicitly provided namespace (", given, ") in ",
               is_impl ? "operator name" : "schema string",
               " does not match namespace of enclosing ", block_name(kind_), " block (",
               name_space_, ").  Move this definition to the ",
               is_impl ? "TORCH_LIBRARY_IMPL" : "(unique) TORCH_LIBRARY",
               " block corresponding to this namespace (and consider deleting the namespace from "
               "your schema string.)",
               place());
  return {name_space_ + "::" + declaration.name, declaration.overload_name};
}

OperatorName OperatorLibrary::define(const std::string& schema, bool name_suffices) {
  const OperatorDeclaration declaration = parse_declaration(schema);
  HEARTH_CHECK(kind_ != IMPL, "def(\"", declaration.name,
               "\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All def()s "
               "should be placed in the (unique) TORCH_LIBRARY block for their namespace.",
               place());
  HEARTH_CHECK(!declaration.signature.empty() || name_suffices,
               "Tried to parse a function schema but only the operator name was given");
  const OperatorName name = full_name(declaration);
  registrations_.push_back(
      RegisteredOperator::get_or_add(name).define(as_text(name) + declaration.signature, origin_));
  return name;
}

void OperatorLibrary::add_kernel(const std::string& name, std::optional<DispatchKey> key,
                                 std::shared_ptr<OperatorKernel> kernel) {
  if (!key) key = key_;
  const OperatorDeclaration declaration = parse_declaration(name);
  HEARTH_CHECK(declaration.signature.empty(),
               "Tried to parse an operator name but function schema was given");
  RegisteredOperator& op = RegisteredOperator::get_or_add(full_name(declaration));
  registrations_.push_back(op.add_kernel(key.value_or(DispatchKey::CompositeImplicitAutograd),
                                         std::move(kernel), origin_));
}

void OperatorLibrary::add_fallback(const std::shared_ptr<OperatorKernel>& kernel) const {
  HEARTH_CHECK_AS(NotImplementedError, !kernel,
                  "fallback() takes only CppFunction::makeFallthrough()", place());
}

}  // namespace hearth

// Registers every form that include/hearth/ops/*.inc declares.
#include "tests/ops/forms.h"

namespace hearth::testing {
namespace {

// Each declaration is repeated as members of a struct D: function f, in-place function i, out=
// function o, method m, in-place method n. Their types, which have no default arguments, select the
// overload.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ADD_FUNCTION(D, f, name) \
  add_function(#name, D::declaration, static_cast<decltype(&D::f)>(&hearth::name))
#define ADD_METHOD(D, f, name)      \
  add_method(#name, D::declaration, \
             static_cast<typename AsMethod<decltype(&D::f)>::type>(&Tensor::name))
#define DECLARED(has_self, ...) \
  static constexpr Declaration declaration { #__VA_ARGS__, has_self }
#define DECLARED_WITH_SELF(...) DECLARED(true, const Tensor& self __VA_OPT__(, ) __VA_ARGS__)

#define HEARTH_ALL_FORMS(name, ...) \
  ADD_ALL_FORMS(JOIN(Declared, __COUNTER__), name __VA_OPT__(, ) __VA_ARGS__)
#define ADD_ALL_FORMS(D, name, ...)                                                       \
  struct D {                                                                              \
    DECLARED_WITH_SELF(__VA_ARGS__);                                                      \
    static Tensor f(const Tensor& self __VA_OPT__(, ) __VA_ARGS__);                       \
    static Tensor& i(Tensor& self __VA_OPT__(, ) __VA_ARGS__);                            \
    static Tensor& o(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__);         \
    Tensor m(__VA_ARGS__) const;                                                          \
    Tensor& n(__VA_ARGS__) const;                                                         \
  };                                                                                      \
  const bool JOIN(added, D) = ADD_FUNCTION(D, f, name) && ADD_FUNCTION(D, i, name##_) &&  \
                              ADD_FUNCTION(D, o, name##_out) && ADD_METHOD(D, m, name) && \
                              ADD_METHOD(D, n, name##_);

#define HEARTH_OUT(name, ...) ADD_OUT(JOIN(Declared, __COUNTER__), name __VA_OPT__(, ) __VA_ARGS__)
#define ADD_OUT(D, name, ...)                                                     \
  struct D {                                                                      \
    DECLARED_WITH_SELF(__VA_ARGS__);                                              \
    static Tensor f(const Tensor& self __VA_OPT__(, ) __VA_ARGS__);               \
    static Tensor& o(Tensor& out, const Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
    Tensor m(__VA_ARGS__) const;                                                  \
  };                                                                              \
  const bool JOIN(added, D) =                                                     \
      ADD_FUNCTION(D, f, name) && ADD_FUNCTION(D, o, name##_out) && ADD_METHOD(D, m, name);

#define HEARTH_METHOD(R, name, ...) \
  ADD_PLAIN(JOIN(Declared, __COUNTER__), R, name __VA_OPT__(, ) __VA_ARGS__)
#define ADD_PLAIN(D, R, name, ...)                             \
  struct D {                                                   \
    DECLARED_WITH_SELF(__VA_ARGS__);                           \
    static R f(const Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
    R m(__VA_ARGS__) const;                                    \
  };                                                           \
  const bool JOIN(added, D) = ADD_FUNCTION(D, f, name) && ADD_METHOD(D, m, name);

#define HEARTH_INPLACE(name, ...) \
  ADD_INPLACE(JOIN(Declared, __COUNTER__), name __VA_OPT__(, ) __VA_ARGS__)
#define ADD_INPLACE(D, name, ...)                              \
  struct D {                                                   \
    DECLARED_WITH_SELF(__VA_ARGS__);                           \
    static Tensor& i(Tensor& self __VA_OPT__(, ) __VA_ARGS__); \
    Tensor& n(__VA_ARGS__) const;                              \
  };                                                           \
  const bool JOIN(added, D) = ADD_FUNCTION(D, i, name) && ADD_METHOD(D, n, name);

#define HEARTH_FUNCTION(R, name, ...) \
  ADD_FREE(JOIN(Declared, __COUNTER__), R, name __VA_OPT__(, ) __VA_ARGS__)
#define ADD_FREE(D, R, name, ...) \
  struct D {                      \
    DECLARED(false, __VA_ARGS__); \
    static R f(__VA_ARGS__);      \
  };                              \
  const bool JOIN(added, D) = ADD_FUNCTION(D, f, name);

#define HEARTH_METHOD_ONLY(R, name, ...) \
  ADD_METHOD_ONLY(JOIN(Declared, __COUNTER__), R, name __VA_OPT__(, ) __VA_ARGS__)
#define ADD_METHOD_ONLY(D, R, name, ...) \
  struct D {                             \
    DECLARED_WITH_SELF(__VA_ARGS__);     \
    R m(__VA_ARGS__) const;              \
  };                                     \
  const bool JOIN(added, D) = ADD_METHOD(D, m, name);

#define HEARTH_QUALIFIED(R, name, ...) HEARTH_FUNCTION(R, name, __VA_ARGS__)

#include "hearth/ops/list.inc"

}  // namespace
}  // namespace hearth::testing

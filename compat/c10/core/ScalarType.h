#pragma once

#include "c10/namespaces.h"
#include "hearth/dtype.h"

namespace caffe2 {
using hearth::TypeMeta;
}

namespace c10 {

template <class T>
struct CppTypeToScalarType {
  static constexpr ScalarType value = hearth::dtype_of<T>;
};
namespace impl {
template <ScalarType type>
struct ScalarTypeToCPPType;
#define HEARTH_CPP_TYPE(cpp_type, Name)          \
  template <>                                    \
  struct ScalarTypeToCPPType<ScalarType::Name> { \
    using type = cpp_type;                       \
  };
HEARTH_DTYPES(HEARTH_CPP_TYPE)
#undef HEARTH_CPP_TYPE
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl
inline ScalarType typeMetaToScalarType(hearth::TypeMeta type) { return type.toScalarType(); }
inline hearth::TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }
inline bool isFloatingType(ScalarType type) { return hearth::is_floating_point(type); }
inline bool isComplexType(ScalarType type) { return hearth::is_complex(type); }
inline bool isIntegralType(ScalarType type, bool includeBool) {
  return hearth::is_integral(type, includeBool);
}
inline bool isSignedType(ScalarType type) { return type != kByte && type != kBool; }
inline bool isReducedFloatingType(ScalarType type) { return hearth::is_reduced_float(type); }
inline ScalarType toRealValueType(ScalarType type) { return hearth::to_real(type); }
inline ScalarType toComplexType(ScalarType type) { return hearth::to_complex(type); }
inline bool canCast(ScalarType from, ScalarType to) { return hearth::can_cast(from, to); }

}  // namespace c10

#define HEARTH_SCALAR_TYPE_NAMES    \
  using c10::canCast;               \
  using c10::CppTypeToScalarType;   \
  using c10::isComplexType;         \
  using c10::isFloatingType;        \
  using c10::isReducedFloatingType; \
  using c10::toComplexType;         \
  using c10::toRealValueType;       \
  using c10::isIntegralType;        \
  using c10::isSignedType;          \
  using c10::scalarTypeToTypeMeta;  \
  using c10::typeMetaToScalarType;
namespace at {
HEARTH_SCALAR_TYPE_NAMES
}
namespace torch {
HEARTH_SCALAR_TYPE_NAMES
}
#undef HEARTH_SCALAR_TYPE_NAMES

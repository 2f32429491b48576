#pragma once

#include "c10/core/ScalarType.h"
#include "c10/util/Exception.h"

// AT_DISPATCH_...(type, name, [&] { uses scalar_t }): calls the lambda with scalar_t as the C++
// type of a ScalarType, or throws NotImplementedError.
#define AT_DISPATCH_CASE(scalar_type, ...)                                          \
  case scalar_type: {                                                               \
    using scalar_t [[maybe_unused]] = c10::impl::ScalarTypeToCPPTypeT<scalar_type>; \
    return __VA_ARGS__();                                                           \
  }
#define AT_DISPATCH_SWITCH(type, name, ...)                                       \
  [&] {                                                                           \
    const ::c10::ScalarType dispatched_type = type;                               \
    switch (dispatched_type) {                                                    \
      __VA_ARGS__                                                                 \
      default:                                                                    \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', name, "\" not implemented for '", \
                                    ::c10::toString(dispatched_type), "'");       \
    }                                                                             \
  }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)    \
  AT_DISPATCH_CASE(::c10::kDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::kFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)            \
  AT_DISPATCH_CASE(::c10::kComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::kComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)  \
  AT_DISPATCH_CASE(::c10::kByte, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::kChar, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::kInt, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::c10::kLong, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::kShort, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(other, type, name, ...)    \
  AT_DISPATCH_SWITCH(type, name,                                  \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(other, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::c10::kHalf, type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(first, second, type, name, ...)             \
  AT_DISPATCH_SWITCH(type, name,                                                    \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         first, __VA_ARGS__) AT_DISPATCH_CASE(second, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, name, ...)   \
  AT_DISPATCH_SWITCH(type, name,                                  \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(other, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                          \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(other, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(first, second, type, name, ...)                                \
  AT_DISPATCH_SWITCH(type, name,                                                                  \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__) \
                         AT_DISPATCH_CASE(second, __VA_ARGS__))

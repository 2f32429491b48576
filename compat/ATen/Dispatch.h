#pragma once

#include "c10/core/ScalarType.h"
#include "c10/util/Exception.h"

// AT_DISPATCH_...(type, name, [&] { uses scalar_t }): calls the lambda with scalar_t as the C++
// type of a ScalarType, or throws NotImplementedError.
#define AT_PRIVATE_CASE_TYPE_USING_HINT(scalar_type, hint, ...)                 \
  case scalar_type: {                                                           \
    using hint [[maybe_unused]] = c10::impl::ScalarTypeToCPPTypeT<scalar_type>; \
    return __VA_ARGS__();                                                       \
  }
#define AT_DISPATCH_CASE(scalar_type, ...) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(scalar_type, scalar_t, __VA_ARGS__)
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

#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  AT_DISPATCH_CASE(::c10::kBFloat16, __VA_ARGS__)    \
  AT_DISPATCH_CASE(::c10::kHalf, __VA_ARGS__)

// One macro for each family of types; for most families, also macros with additional types.
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(first, type, name, ...)    \
  AT_DISPATCH_SWITCH(type, name,                                  \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(first, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(first, second, type, name, ...)             \
  AT_DISPATCH_SWITCH(type, name,                                                    \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         first, __VA_ARGS__) AT_DISPATCH_CASE(second, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND3(first, second, third, type, name, ...)          \
  AT_DISPATCH_SWITCH(                                                                   \
      type, name,                                                                       \
      AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__) \
          AT_DISPATCH_CASE(second, __VA_ARGS__) AT_DISPATCH_CASE(third, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND4(first, second, third, fourth, type, name, ...)  \
  AT_DISPATCH_SWITCH(                                                                   \
      type, name,                                                                       \
      AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__) \
          AT_DISPATCH_CASE(second, __VA_ARGS__) AT_DISPATCH_CASE(third, __VA_ARGS__)    \
              AT_DISPATCH_CASE(fourth, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(::c10::kHalf, type, name, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(first, type, name, ...)   \
  AT_DISPATCH_SWITCH(type, name,                                              \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(first, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(first, second, type, name, ...)             \
  AT_DISPATCH_SWITCH(type, name,                                                                \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         first, __VA_ARGS__) AT_DISPATCH_CASE(second, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(first, second, third, type, name, ...)      \
  AT_DISPATCH_SWITCH(type, name,                                                                \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         first, __VA_ARGS__) AT_DISPATCH_CASE(second, __VA_ARGS__)              \
                         AT_DISPATCH_CASE(third, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(first, type, name, ...)    \
  AT_DISPATCH_SWITCH(type, name,                                  \
                     AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(first, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(first, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                          \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(first, second, type, name, ...)                                \
  AT_DISPATCH_SWITCH(type, name,                                                                  \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__) \
                         AT_DISPATCH_CASE(second, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(first, second, third, type, name, ...)                         \
  AT_DISPATCH_SWITCH(type, name,                                                                  \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__) \
                         AT_DISPATCH_CASE(second, __VA_ARGS__)                                    \
                             AT_DISPATCH_CASE(third, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(first, type, name, ...)    \
  AT_DISPATCH_SWITCH(type, name,                                         \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) \
                         AT_DISPATCH_CASE(first, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(first, second, type, name, ...)             \
  AT_DISPATCH_SWITCH(type, name,                                                           \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE( \
                         first, __VA_ARGS__) AT_DISPATCH_CASE(second, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(first, second, third, type, name, ...)          \
  AT_DISPATCH_SWITCH(                                                                          \
      type, name,                                                                              \
      AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) AT_DISPATCH_CASE(first, __VA_ARGS__) \
          AT_DISPATCH_CASE(second, __VA_ARGS__) AT_DISPATCH_CASE(third, __VA_ARGS__))
/// Dispatches over the index types int32 and int64, named `index_t` in the lambda.
#define AT_DISPATCH_INDEX_TYPES(type, name, ...)                                        \
  AT_DISPATCH_SWITCH(type, name,                                                        \
                     AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::kInt, index_t, __VA_ARGS__) \
                         AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::kLong, index_t, __VA_ARGS__))

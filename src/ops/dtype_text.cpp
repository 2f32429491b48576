#include "ops/dtype_text.h"

namespace hearth {

std::string dtypes_text(const char* first, const TensorImpl& a, const char* second,
                        const TensorImpl& b) {
  return detail::str(" (", first, " is ", name_of(a.dtype), " ", a.sizes(), ", ", second, " is ",
                     name_of(b.dtype), " ", b.sizes(), "; convert one of them, as with ", first,
                     ".to(k", name_of(b.dtype), "))");
}

}  // namespace hearth

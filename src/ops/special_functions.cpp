// The functions that Python has only in torch.special; most of them share a kernel.
#include "functors/math.h"
#include "hearth/tensor.h"
#include "ops/define.h"
#include "ops/pointwise_named.h"
#include "ops/special.h"

namespace hearth {

namespace {

/// The properties of an op whose results have no gradient.
constexpr OpInfo without_gradient(OpInfo info) {
  info.non_differentiable = out_slot(0);
  return info;
}

constexpr OpInfo kXlog1py = with_node(fn::SpecialXlog1py::info, "SpecialXlog1PyBackward0"),
                 kXlog1pyOfNumber = with_node(fn::SpecialXlog1py::info, "SpecialXlog1PyBackward1"),
                 kXlog1pyToNumber = with_node(fn::SpecialXlog1py::info, "SpecialXlog1PyBackward2");

}  // namespace

HEARTH_DEFINE_FUNCTION(special_entr, (const Tensor& self), pointwise(fn::SpecialEntr{}, self))
HEARTH_DEFINE_FUNCTION(special_xlog1py, (const Tensor& self, const Tensor& other),
                       pointwise_as<kXlog1py>(fn::SpecialXlog1py{}, self, other))
HEARTH_DEFINE_FUNCTION(special_xlog1py, (const Scalar& self, const Tensor& other),
                       pointwise_as<kXlog1pyOfNumber>(fn::SpecialXlog1py{}, wrapped_number(self),
                                                      other))
HEARTH_DEFINE_FUNCTION(special_xlog1py, (const Tensor& self, const Scalar& other),
                       pointwise_as<kXlog1pyToNumber>(fn::SpecialXlog1py{}, self,
                                                      wrapped_number(other)))

#define HEARTH_SPECIAL(name, function, ...)                    \
  namespace {                                                  \
  constexpr OpInfo name##_info = __VA_ARGS__;                  \
  }                                                            \
  HEARTH_DEFINE_FUNCTION(special_##name, (const Tensor& self), \
                         special<name##_info, fn::Special::function>(self))
HEARTH_SPECIAL(erfcx, erfcx, special_info("special_erfcx", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(ndtri, ndtri, special_info("special_ndtri", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(log_ndtr, log_ndtr, special_info("special_log_ndtr", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(i0e, i0e, special_info("special_i0e", dtypes::kFloating, "SpecialI0E"))
HEARTH_SPECIAL(i1, i1, special_info("special_i1", dtypes::kFloating))
HEARTH_SPECIAL(i1e, i1e, special_info("special_i1e", dtypes::kFloating, "SpecialI1E"))
HEARTH_SPECIAL(airy_ai, airy_ai,
               without_gradient(special_info("special_airy_ai", dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(bessel_j0, bessel_j0, special_info("special_bessel_j0", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(bessel_j1, bessel_j1, special_info("special_bessel_j1", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(bessel_y0, bessel_y0, special_info("special_bessel_y0", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(bessel_y1, bessel_y1, special_info("special_bessel_y1", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(modified_bessel_i0, i0,
               special_info("special_modified_bessel_i0", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(modified_bessel_i1, i1,
               special_info("special_modified_bessel_i1", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(modified_bessel_k0, modified_bessel_k0,
               special_info("special_modified_bessel_k0", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(modified_bessel_k1, modified_bessel_k1,
               special_info("special_modified_bessel_k1", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(scaled_modified_bessel_k0, scaled_modified_bessel_k0,
               without_gradient(special_info("special_scaled_modified_bessel_k0",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(scaled_modified_bessel_k1, scaled_modified_bessel_k1,
               without_gradient(special_info("special_scaled_modified_bessel_k1",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(spherical_bessel_j0, spherical_bessel_j0,
               without_gradient(special_info("special_spherical_bessel_j0",
                                             dtypes::kFloatAndDouble)))
#undef HEARTH_SPECIAL

// A function of two tensors or of a tensor and a number. PyTorch numbers the nodes of these forms.
#define HEARTH_SPECIAL(name, node, info)                                            \
  namespace {                                                                       \
  constexpr OpInfo name##_info = with_node(info, node "Backward0"),                 \
                   name##_of_number = with_node(info, node "Backward1"),            \
                   name##_to_number = with_node(info, node "Backward2");            \
  }                                                                                 \
  HEARTH_DEFINE_FUNCTION(special_##name, (const Tensor& self, const Tensor& other), \
                         special<name##_info, fn::Special::name>(self, other))      \
  HEARTH_DEFINE_FUNCTION(                                                           \
      special_##name, (const Scalar& self, const Tensor& other),                    \
      special<name##_of_number, fn::Special::name>(wrapped_number(self), other))    \
  HEARTH_DEFINE_FUNCTION(                                                           \
      special_##name, (const Tensor& self, const Scalar& other),                    \
      special<name##_to_number, fn::Special::name>(self, wrapped_number(other)))
HEARTH_SPECIAL(zeta, "SpecialZeta", special_info("special_zeta", dtypes::kFloatAndDouble))
HEARTH_SPECIAL(chebyshev_polynomial_t, "",
               without_gradient(special_info("special_chebyshev_polynomial_t",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(chebyshev_polynomial_u, "",
               without_gradient(special_info("special_chebyshev_polynomial_u",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(chebyshev_polynomial_v, "",
               without_gradient(special_info("special_chebyshev_polynomial_v",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(chebyshev_polynomial_w, "",
               without_gradient(special_info("special_chebyshev_polynomial_w",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(hermite_polynomial_h, "",
               without_gradient(special_info("special_hermite_polynomial_h",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(hermite_polynomial_he, "",
               without_gradient(special_info("special_hermite_polynomial_he",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(laguerre_polynomial_l, "",
               without_gradient(special_info("special_laguerre_polynomial_l",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(legendre_polynomial_p, "",
               without_gradient(special_info("special_legendre_polynomial_p",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(shifted_chebyshev_polynomial_t, "",
               without_gradient(special_info("special_shifted_chebyshev_polynomial_t",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(shifted_chebyshev_polynomial_u, "",
               without_gradient(special_info("special_shifted_chebyshev_polynomial_u",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(shifted_chebyshev_polynomial_v, "",
               without_gradient(special_info("special_shifted_chebyshev_polynomial_v",
                                             dtypes::kFloatAndDouble)))
HEARTH_SPECIAL(shifted_chebyshev_polynomial_w, "",
               without_gradient(special_info("special_shifted_chebyshev_polynomial_w",
                                             dtypes::kFloatAndDouble)))
#undef HEARTH_SPECIAL

}  // namespace hearth

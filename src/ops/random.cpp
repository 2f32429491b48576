#include "seam/random.h"

#include <numbers>

#include "core/generator_impl.h"
#include "hearth/autograd.h"
#include "ops/composed_out.h"
#include "ops/create.h"
#include "ops/random_range.h"

namespace hearth {

namespace {

/// Overwrites self with random numbers; the ops differ by name and parameters only.
template <const OpInfo& op_info>
struct Fill {
  struct Args {
    RandomParams params;  // without views and source
    Generator generator;
    HEARTH_FIELDS(params.kind, params.a, params.b, params.from, params.to)
  };
  static constexpr OpInfo info = op_info;
  static void infer(const Args&, InferContext& context) {
    context.set(0, context.in(0).sizes(), context.in(0).dtype);
    if (context.has(1)) check_probabilities(context);
  }
  static void check_probabilities(const InferContext& context) {
    const TensorImpl& p = context.in(1);
    HEARTH_CHECK(is_floating_point(p.dtype),
                 "expected a floating-point tensor of probabilities, got ", name_of(p.dtype));
    HEARTH_CHECK(p.sizes().equals(context.in(0).sizes()), "the probabilities' sizes ", p.sizes(),
                 " do not match those of the tensor, ", context.in(0).sizes());
  }
  static void launch(const Args& args, LaunchContext& context) {
    RandomParams params = args.params;
    params.out = context.out();
    params.probabilities = context.in(1);
    const Draw draw(args.generator, context.ctx.device());
    params.source = draw.source();
    run_kernel(context.ctx, params);
  }
  static void grad(const Args&, GradContext& context) {
    context.set(0, zeros_like(context.grad()));
    if (context.inputs() > 1 && context.needs(1))
      context.set(1, zeros_like(context.grad()).to(context.in_dtype(1)));
  }
};

constexpr OpInfo fill_info(const char* name, const char* node, DtypeSet types) {
  return {.name = name,
          .node = node,
          .dtypes = types,
          .effect = Effect::kRandom,
          .runs_inplace = true,
          .sharing = Sharing::kElementwise};
}
constexpr OpInfo kUniform = fill_info("uniform_", "Uniform", dtypes::kFloating);
constexpr OpInfo kNormal = fill_info("normal_", "Normal", dtypes::kFloating);
constexpr OpInfo kRandom = fill_info("random_", "Random", dtypes::kRealAndBool);
constexpr OpInfo kBernoulli = fill_info("bernoulli_", "Bernoulli", dtypes::kRealAndBool);
constexpr OpInfo kExponential = fill_info("exponential_", "Exponential", dtypes::kAll);
constexpr OpInfo kRandperm = fill_info("randperm", "Randperm", dtypes::kIntegers);

template <const OpInfo& op_info>
auto fill(const Tensor& self, RandomParams::Kind kind, const Generator& generator, double a = 0,
          double b = 1) {
  RandomParams params;
  params.kind = kind;
  params.a = a;
  params.b = b;
  return invoke<Fill<op_info>>({params, generator}, self);
}

auto fill_integers(const Tensor& self, int64_t from, int64_t to, const Generator& generator) {
  HEARTH_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from,
               " >= to=", to);
  if (!self.is_meta()) fit_random_range(self.scalar_type(), from, to);
  RandomParams params;
  params.kind = RandomParams::Kind::kRandomInt;
  params.from = from;
  params.to = to;
  return invoke<Fill<kRandom>>({params, generator}, self);
}

/// Draws from `from` to the dtype's largest integer, or for a floating dtype to the largest n such
/// that it can represent every integer from 0 to n.
auto fill_integers_from(const Tensor& self, int64_t from, const Generator& generator) {
  const int64_t last = largest_random(self.scalar_type());
  HEARTH_CHECK(self.is_meta() || from <= last, "random_ expects 'from' casted to dtype to be less ",
               "than or equal to 'to_inc' casted to dtype, but got from=", from,
               " > to_inc=", last);
  RandomParams params;
  params.kind = RandomParams::Kind::kRandomInt;
  params.from = from;
  params.to = static_cast<int64_t>(static_cast<uint64_t>(last) + 1);
  return invoke<Fill<kRandom>>({params, generator}, self);
}

auto fill_uniform(const Tensor& self, double from, double to, const Generator& generator) {
  check_uniform_range(self.scalar_type(), from, to);
  return fill<kUniform>(self, RandomParams::Kind::kUniform, generator, from, to);
}

auto fill_normal(const Tensor& self, double mean, double std, const Generator& generator) {
  HEARTH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  return fill<kNormal>(self, RandomParams::Kind::kNormal, generator, mean, std);
}

/// Draws the parts of complex numbers one by one; their variances add up.
template <class Fill>
Tensor& fill_parts(Tensor& self, const Fill& fill) {
  fill(self.is_complex() ? view_as_real(self) : self);
  return self;
}

auto fill_exponential(const Tensor& self, double rate, const Generator& generator) {
  HEARTH_CHECK(self.is_floating_point(),
               "Exponential distribution is a continuous probability distribution. dtype must be a "
               "floating point but you specified ",
               name_of(self.scalar_type()));
  HEARTH_CHECK(rate > 0, "exponential_ expects lambda > 0.0, but found lambda=", rate);
  return fill<kExponential>(self, RandomParams::Kind::kExponential, generator, rate);
}

auto fill_bernoulli(const Tensor& self, double p, const Generator& generator) {
  HEARTH_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return fill<kBernoulli>(self, RandomParams::Kind::kBernoulli, generator, p);
}

auto fill_bernoulli(const Tensor& self, const Tensor& p, const Generator& generator) {
  RandomParams params;
  params.kind = RandomParams::Kind::kBernoulliTensor;
  return invoke<Fill<kBernoulli>>({params, generator}, self, p);
}

/// Casts probabilities to a dtype that the kernels read.
Tensor probabilities(const Tensor& p) {
  return is_reduced_float(p.scalar_type()) ? p.to(kFloat) : p;
}

}  // namespace

HEARTH_DEFINE_INPLACE_AS(uniform_, (double from, double to, std::optional<Generator> generator),
                         fill_parts(self, [&](const Tensor& t) {
                           fill_uniform(t, from, to, or_default(generator)).inplace(t);
                         }))
HEARTH_DEFINE_INPLACE_AS(normal_, (double mean, double std, std::optional<Generator> generator),
                         fill_parts(self, [&](const Tensor& t) {
                           const double part = self.is_complex() ? std / std::numbers::sqrt2 : std;
                           fill_normal(t, mean, part, or_default(generator)).inplace(t);
                         }))
HEARTH_DEFINE_INPLACE(random_, (std::optional<Generator> generator),
                      fill<kRandom>(self, RandomParams::Kind::kRandom, or_default(generator)))
HEARTH_DEFINE_INPLACE(random_, (int64_t to, std::optional<Generator> generator),
                      fill_integers(self, 0, to, or_default(generator)))
HEARTH_DEFINE_INPLACE(random_,
                      (int64_t from, std::optional<int64_t> to, std::optional<Generator> generator),
                      to ? fill_integers(self, from, *to, or_default(generator))
                         : fill_integers_from(self, from, or_default(generator)))
HEARTH_DEFINE_INPLACE(exponential_, (double lambd, std::optional<Generator> generator),
                      fill_exponential(self, lambd, or_default(generator)))
HEARTH_DEFINE_INPLACE(bernoulli_, (double p, std::optional<Generator> generator),
                      fill_bernoulli(self, p, or_default(generator)))
HEARTH_DEFINE_INPLACE(bernoulli_, (const Tensor& p, std::optional<Generator> generator),
                      fill_bernoulli(self, probabilities(p).expand(self.sizes()),
                                     or_default(generator)))

namespace by_name {

Tensor rand(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return filled(size, options, [&](const Tensor& t) { t.uniform_(0, 1, generator); });
}
Tensor rand(IntArrayRef size, const TensorOptions& options) {
  return rand(size, std::nullopt, options);
}
Tensor randn(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return filled(size, options, [&](const Tensor& t) { t.normal_(0, 1, generator); });
}
Tensor randn(IntArrayRef size, const TensorOptions& options) {
  return randn(size, std::nullopt, options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  const TensorOptions typed = options.has_dtype() ? options : options.dtype(kLong);
  return filled(size, typed, [&](const Tensor& t) { t.random_(low, high, generator); });
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(low, high, size, std::nullopt, options);
}
Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  return randint(0, high, size, generator, options);
}
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(0, high, size, std::nullopt, options);
}
Tensor randperm(int64_t n, std::optional<Generator> generator, const TensorOptions& options) {
  const TensorOptions typed = options.has_dtype() ? options : options.dtype(kLong);
  check_permutation_fits(n, typed.dtype_or_default());
  const Tensor order = filled({n}, typed.dtype(kLong), [&](const Tensor& t) {
    fill<kRandperm>(t, RandomParams::Kind::kRandPerm, or_default(generator)).inplace(t);
  });
  return order.to(typed.dtype_or_default());
}
Tensor randperm(int64_t n, const TensorOptions& options) {
  return randperm(n, std::nullopt, options);
}

}  // namespace by_name

Tensor rand_like(const Tensor& self, std::optional<Generator> generator,
                 const TensorOptions& options, std::optional<MemoryFormat> format) {
  return filled_like(self, options, format, [&](const Tensor& t) { t.uniform_(0, 1, generator); });
}
Tensor rand_like(const Tensor& self, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  return rand_like(self, std::nullopt, options, format);
}
Tensor randn_like(const Tensor& self, std::optional<Generator> generator,
                  const TensorOptions& options, std::optional<MemoryFormat> format) {
  return filled_like(self, options, format, [&](const Tensor& t) { t.normal_(0, 1, generator); });
}
Tensor randn_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  return randn_like(self, std::nullopt, options, format);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                    std::optional<Generator> generator, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return filled_like(self, options, format,
                     [&](const Tensor& t) { t.random_(low, high, generator); });
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, low, high, std::nullopt, options, format);
}
Tensor randint_like(const Tensor& self, int64_t high, std::optional<Generator> generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  return randint_like(self, 0, high, generator, options, format);
}
Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, 0, high, std::nullopt, options, format);
}
Tensor randint_like(const Tensor& self, const Tensor& high, std::optional<Generator> generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  HEARTH_CHECK(high.numel() == 1 && high.dim() == 0 && high.is_cpu(),
               "high must be a scalar tensor and on CPU");
  return randint_like(self, 0, high.item<int64_t>(), generator, options, format);
}
Tensor randint_like(const Tensor& self, const Tensor& high, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, high, std::nullopt, options, format);
}

Tensor& rand_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator) {
  return resized(out, size).uniform_(0, 1, generator);
}
Tensor& randn_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator) {
  return resized(out, size).normal_(0, 1, generator);
}
Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size,
                    std::optional<Generator> generator) {
  return randint_out(out, 0, high, size, generator);
}
Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size,
                    std::optional<Generator> generator) {
  return resized(out, size).random_(low, high, generator);
}
HEARTH_DEFINE_WRITE_OUT(randperm, (int64_t n, std::optional<Generator> generator),
                        randperm(n, generator, options_of(out)))

}  // namespace hearth

// The tables of Fourier transforms: twiddle factors, positions and chirps. A cache keeps up to 64
// plans of together 32 MiB, and the newest even if it alone is larger. A new plan is computed on
// the calling thread, bound by a sine and a cosine in double for each of its factors.
#include "kernels/cpu/fft_plan.h"

#include <cmath>
#include <list>
#include <mutex>
#include <numbers>

#include "kernels/cpu/isa_table.h"

namespace hearth::cpu {

namespace {

constexpr int kRadices[] = {8, 4, 2, 3, 5, 7, 11, 13};

/// Writes exp(-2 pi i k / n), computed from an angle of at most pi / 4.
template <class T>
void put_root(int64_t k, int64_t n, T* to) {
  k = (k % n + n) % n;
  bool minus_sine = true, minus_cosine = false, exchange = false;
  if (2 * k > n) {
    k = n - k;
    minus_sine = false;
  }
  // From here on the angle is (pi / 2) * quarters / n, at most pi.
  int64_t quarters = 4 * k;
  if (quarters > n) {
    quarters = 2 * n - quarters;
    minus_cosine = true;
  }
  if (2 * quarters > n) {
    quarters = n - quarters;
    exchange = true;
  }
  const double angle = std::numbers::pi / 2 * double(quarters) / double(n);
  double cosine = std::cos(angle), sine = std::sin(angle);
  if (exchange) std::swap(cosine, sine);
  to[0] = T(minus_cosine ? -cosine : cosine);
  to[1] = T(minus_sine ? -sine : sine);
}

/// The radices of n's stages; empty for n = 1, and if a prime factor is larger than all radices.
std::vector<int> radices_of(int64_t n) {
  std::vector<int> radices;
  for (int radix : kRadices)
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  if (n > 1) radices.clear();
  return radices;
}

template <class T>
void plan_stages(FftPlan<T>& plan) {
  const std::vector<int> radices = radices_of(plan.n);
  int64_t length = 1;
  for (int radix : radices) {
    plan.stages.push_back({radix, length, nullptr, nullptr});
    for (int64_t k = 0; k < length; ++k)
      for (int c = 1; c < radix; ++c) {
        plan.twiddles.resize(plan.twiddles.size() + 2);
        put_root(c * k, radix * length, &plan.twiddles.back() - 1);
      }
    for (int j = 0; j < radix; ++j) {
      plan.twiddles.resize(plan.twiddles.size() + 2);
      put_root(j, radix, &plan.twiddles.back() - 1);
    }
    length *= radix;
  }
  const T* table = plan.twiddles.data();
  for (FftStage<T>& stage : plan.stages) {
    stage.twiddles = table;
    table += 2 * (stage.radix - 1) * stage.length;
    stage.roots = table;
    table += 2 * stage.radix;
  }
  plan.slots.resize(size_t(plan.n));
  for (int64_t i = 0; i < plan.n; ++i) {
    int64_t rest = i, slot = 0;
    for (size_t s = plan.stages.size(); s-- > 0; rest /= plan.stages[s].radix)
      slot += rest % plan.stages[s].radix * plan.stages[s].length;
    plan.slots[size_t(i)] = slot;
  }
}

std::vector<int64_t> identity(int64_t n) {
  std::vector<int64_t> slots(size_t(n), 0);
  for (int64_t i = 0; i < n; ++i) slots[size_t(i)] = i;
  return slots;
}

/// With w[j] = exp(-pi i j^2 / n): X[k] = w[k] * the sum over j of (x[j] w[j]) conj(w[k - j]).
template <class T>
void plan_convolution(FftPlan<T>& plan) {
  const int64_t n = plan.n, m = fft_convolution_size(n);
  plan.first = fft_plan<T>(m, FftMethod::kStages);
  plan.slots = identity(m);
  plan.twiddles.resize(size_t(2 * n));
  for (int64_t j = 0; j < n; ++j) put_root(j * j % (2 * n), 2 * n, &plan.twiddles[size_t(2 * j)]);
  // Computed in double, so that a float spectrum is only rounded once.
  const auto wide = fft_plan<double>(m, FftMethod::kStages);
  std::vector<double> chirp(size_t(2 * m), 0.0);
  for (int64_t j = 0; j < n; ++j) {
    double root[2];
    put_root(-j * j % (2 * n), 2 * n, root);
    for (const int64_t at : {j, (m - j) % m}) {
      double* const to = &chirp[size_t(2 * wide->slots[size_t(at)])];
      to[0] = root[0] / double(m);
      to[1] = root[1] / double(m);
    }
  }
  HEARTH_ISA_TABLE(fft_table).f64_one_lane.transform(wide->stages.data(), int(wide->stages.size()),
                                                     chirp.data());
  plan.spectrum.assign(chirp.begin(), chirp.end());
}

template <class T>
void plan_grid(FftPlan<T>& plan) {
  const int64_t rows = fft_grid_rows(plan.n), columns = plan.n / rows;
  plan.first = fft_plan<T>(rows, FftMethod::kStages);
  plan.second = fft_plan<T>(columns, FftMethod::kStages);
  // FftLoops::rotate reads whole vectors, also at the end of the last row.
  plan.twiddles.resize(size_t(2 * (plan.n + kMaxFftLanes)));
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t j = 0; j < columns; ++j)
      put_root(k * j, plan.n, &plan.twiddles[size_t(2 * (k * columns + j))]);
}

template <class T>
typename FftPlan<T>::Pointer make_plan(int64_t n, FftMethod method) {
  const auto plan = std::make_shared<FftPlan<T>>();
  plan->n = n;
  plan->method = method;
  switch (method) {
    case FftMethod::kStages: plan_stages(*plan); break;
    case FftMethod::kConvolution: plan_convolution(*plan); break;
    case FftMethod::kGrid: plan_grid(*plan); break;
    case FftMethod::kRealTwiddles:
      plan->slots = identity(n % 2 == 0 ? n / 2 + 1 : n);
      plan->twiddles.resize(size_t(n / 2 + 2));
      for (int64_t k = 0; k <= n / 4; ++k) put_root(k, n, &plan->twiddles[size_t(2 * k)]);
  }
  return plan;
}

/// The plans used last, of both dtypes: at most kMaxPlans, as many as fit into kMaxBytes, and
/// always the newest.
class PlanCache {
 public:
  static PlanCache& instance() {
    static PlanCache* const cache = new PlanCache;  // lives until the process ends
    return *cache;
  }
  /// Returns the plan, which becomes the one used last; null if the cache does not have it.
  template <class T>
  typename FftPlan<T>::Pointer find(int64_t n, FftMethod method) {
    const std::lock_guard lock(mutex_);
    for (auto it = plans_.begin(); it != plans_.end(); ++it) {
      if (it->n != n || it->method != method || it->number_size != sizeof(T)) continue;
      plans_.splice(plans_.begin(), plans_, it);
      return std::static_pointer_cast<const FftPlan<T>>(it->plan);
    }
    return nullptr;
  }
  template <class T>
  void add(const typename FftPlan<T>::Pointer& plan) {
    const std::lock_guard lock(mutex_);
    plans_.push_front({plan->n, plan->method, sizeof(T), plan->bytes(), plan});
    // A plan larger than the whole budget does not count, so that other plans stay beside it.
    size_t bytes = plan->bytes() > kMaxBytes ? 0 : plan->bytes(), count = 1;
    for (auto it = std::next(plans_.begin()); it != plans_.end();) {
      const bool fits = bytes + it->bytes <= kMaxBytes && count < kMaxPlans;
      if (fits) {
        bytes += it->bytes;
        ++count;
      }
      it = fits ? std::next(it) : plans_.erase(it);
    }
  }

 private:
  struct Entry {
    int64_t n;
    FftMethod method;
    size_t number_size, bytes;
    std::shared_ptr<const void> plan;
  };
  static constexpr size_t kMaxBytes = size_t(32) << 20, kMaxPlans = 64;
  std::mutex mutex_;
  std::list<Entry> plans_;
};

}  // namespace

FftMethod fft_method(int64_t n) {
  return n == 1 || !radices_of(n).empty() ? FftMethod::kStages : FftMethod::kConvolution;
}

int64_t fft_convolution_size(int64_t n) {
  // The smallest of these sizes that holds 2 n - 1 numbers; all have small factors only.
  int64_t best = 0;
  for (const int64_t odd : {1, 3, 5, 9, 15}) {
    int64_t size = 32 * odd;
    while (size < 2 * n - 1) size *= 2;
    if (best == 0 || size < best) best = size;
  }
  return best;
}

int64_t fft_grid_rows(int64_t n) {
  if (radices_of(n).empty()) return 0;
  const int64_t root = int64_t(std::sqrt(double(n)));
  for (int64_t rows = root; 4 * rows >= root && rows >= kMaxFftLanes; --rows)
    if (n % rows == 0) return rows;
  return 0;
}

template <class T>
typename FftPlan<T>::Pointer fft_plan(int64_t n, FftMethod method) {
  PlanCache& cache = PlanCache::instance();
  if (auto plan = cache.find<T>(n, method)) return plan;
  auto plan = make_plan<T>(n, method);
  cache.add<T>(plan);
  return plan;
}
template FftPlan<float>::Pointer fft_plan<float>(int64_t, FftMethod);
template FftPlan<double>::Pointer fft_plan<double>(int64_t, FftMethod);

}  // namespace hearth::cpu

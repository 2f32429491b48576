#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "tests/distributed/in_group.h"
#include "tests/distributed/ranks.h"
#include "tests/support/throws.h"

// Values of every collective against values that are computed by hand.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using dist::ReduceOp;
using Tensors = std::vector<Tensor>;

/// The tensor of a rank: 10 * rank + 0, 1, 2, …
Tensor numbers_of(int rank, int64_t count, ScalarType dtype = kFloat) {
  return (arange(count, kDouble) + 10 * rank).to(dtype);
}

const RankFunction reductions("reductions", [] {
  in_group([](int rank, int size) {
    const int sum_of_ranks = size * (size - 1) / 2;
    const Tensor sum = arange(5, kFloat) * size + 10 * sum_of_ranks;
    Tensor x = numbers_of(rank, 5);
    REQUIRE(dist::all_reduce(x)->is_success());
    REQUIRE(equal(x, sum));
    x = numbers_of(rank, 5);
    dist::all_reduce(x, ReduceOp::AVG);
    REQUIRE(allclose(x, sum / size));
    x = numbers_of(rank, 5);
    dist::all_reduce(x, ReduceOp::MIN);
    REQUIRE(equal(x, numbers_of(0, 5)));
    x = numbers_of(rank, 5);
    dist::all_reduce(x, ReduceOp::MAX);
    REQUIRE(equal(x, numbers_of(size - 1, 5)));
    x = full({3}, rank + 1, kDouble);
    dist::all_reduce(x, ReduceOp::PRODUCT);
    REQUIRE(x[2].item<double>() == (size == 2 ? 2 : size == 3 ? 6 : 24));
    x = full({3}, 1 << rank, kInt);
    dist::all_reduce(x, ReduceOp::BOR);
    REQUIRE(x[0].item<int>() == (1 << size) - 1);
    dist::all_reduce(x, ReduceOp::BXOR);
    REQUIRE(x[0].item<int>() == (size % 2 ? (1 << size) - 1 : 0));
    x = full({3}, rank == 0 ? 6 : 3, kLong);
    dist::all_reduce(x, ReduceOp::BAND);
    REQUIRE(x[0].item<int64_t>() == 2);

    x = numbers_of(rank, 5);
    dist::reduce(x, 1);
    REQUIRE(equal(x, rank == 1 ? sum : numbers_of(rank, 5)));

    Tensors parts;
    for (int r = 0; r < size; ++r) parts.push_back(numbers_of(rank, 3) + 100 * r);
    Tensor out = zeros({3});
    dist::reduce_scatter(out, parts);
    const Tensor expected = (arange(3, kFloat) + 100 * rank) * size + 10 * sum_of_ranks;
    REQUIRE(equal(out, expected));
    out.zero_();
    dist::reduce_scatter_tensor(out, cat(parts), ReduceOp::AVG);
    REQUIRE(allclose(out, expected / size));
    out.zero_();
    dist::reduce_scatter_tensor(out, cat(parts), ReduceOp::MAX);
    REQUIRE(equal(out, numbers_of(size - 1, 3) + 100 * rank));
  });
});

const RankFunction moves("moves", [] {
  in_group([](int rank, int size) {
    for (int root = 0; root < size; ++root) {
      Tensor x = numbers_of(rank, 4);
      dist::broadcast(x, root);
      REQUIRE(equal(x, numbers_of(root, 4)));

      Tensors gathered;
      if (rank == root)
        for (int r = 0; r < size; ++r) gathered.push_back(zeros({4}));
      dist::gather(numbers_of(rank, 4), gathered, root);
      for (int r = 0; r < static_cast<int>(gathered.size()); ++r)
        REQUIRE(equal(gathered[size_t(r)], numbers_of(r, 4)));

      Tensors scattered;
      if (rank == root)
        for (int r = 0; r < size; ++r) scattered.push_back(numbers_of(r, 4) + 1000 * root);
      Tensor mine = zeros({4});
      dist::scatter(mine, scattered, root);
      REQUIRE(equal(mine, numbers_of(rank, 4) + 1000 * root));
    }
    Tensors all;
    Tensors expected;
    for (int r = 0; r < size; ++r) {
      all.push_back(zeros({2, 2}));
      expected.push_back(numbers_of(r, 4).view({2, 2}));
    }
    dist::all_gather(all, expected[size_t(rank)]);
    for (int r = 0; r < size; ++r) REQUIRE(equal(all[size_t(r)], expected[size_t(r)]));
    Tensor whole = zeros({2 * size, 2});
    dist::all_gather_into_tensor(whole, expected[size_t(rank)]);
    REQUIRE(equal(whole, cat(expected)));
    whole = zeros({size, 2, 2});
    dist::all_gather_into_tensor(whole, expected[size_t(rank)]);
    REQUIRE(equal(whole, stack(expected)));
    dist::barrier();
    dist::monitored_barrier();
  });
});

/// Rank r sends r + 1 rows of value 10 r + s to rank s.
const RankFunction exchanges("exchanges", [] {
  in_group([](int rank, int size) {
    Tensors to, from, expected;
    std::vector<int64_t> to_rows, from_rows;
    for (int other = 0; other < size; ++other) {
      to.push_back(full({rank + 1, 2}, 10 * rank + other, kFloat));
      from.push_back(zeros({other + 1, 2}));
      expected.push_back(full({other + 1, 2}, 10 * other + rank, kFloat));
      to_rows.push_back(rank + 1);
      from_rows.push_back(other + 1);
    }
    dist::all_to_all(from, to);
    for (size_t i = 0; i < from.size(); ++i) REQUIRE(equal(from[i], expected[i]));
    Tensor out = zeros_like(cat(expected));
    dist::all_to_all_single(out, cat(to), from_rows, to_rows);
    REQUIRE(equal(out, cat(expected)));
    out = zeros({size});
    dist::all_to_all_single(out, arange(size, kFloat) + 10 * rank);
    REQUIRE(equal(out, 10 * arange(size, kFloat) + rank));
    // Rank 0 sends everything to rank 1, the others nothing.
    to_rows.assign(size_t(size), 0);
    from_rows.assign(size_t(size), 0);
    if (rank == 0) to_rows[1] = 3;
    if (rank == 1) from_rows[0] = 3;
    out = zeros({rank == 1 ? 3 : 0});
    dist::all_to_all_single(out, rank == 0 ? arange(3, kFloat) : zeros({0}), from_rows, to_rows);
    if (rank == 1) REQUIRE(equal(out, arange(3, kFloat)));
  });
});

const RankFunction dtypes("dtypes", [] {
  in_group([](int rank, int size) {
    const Device device = cuda::is_available() ? Device(kCUDA, 0) : Device(kCPU);
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kChar, kShort, kInt,
                                   kLong, kBool, kComplexFloat, kComplexDouble}) {
      if (dtype == kShort && dist::get_backend() == "nccl") continue;  // NCCL has no int16
      const Tensor mine = (arange(6, kLong) + rank).to(device, dtype);
      Tensor x = mine.clone();
      dist::all_reduce(x);
      const Tensor sum = (arange(6, kLong) * size + size * (size - 1) / 2).to(device, dtype);
      REQUIRE(equal(x, sum));
      Tensor all = zeros({size, 6}, TensorOptions(dtype).device(device));
      dist::all_gather_into_tensor(all, mine);
      REQUIRE(equal(all[rank], mine));
      x = mine.clone();
      dist::broadcast(x, 1);
      REQUIRE(equal(x, (arange(6, kLong) + 1).to(device, dtype)));
    }
  });
});

/// Sizes for which Gloo's backend uses different algorithms.
const RankFunction sizes("sizes", [] {
  in_group([](int rank, int size) {
    for (const int64_t count : {1, 1000, 30'000, 66'000, 300'000}) {
      Tensor sum = zeros({count}, kDouble), mine;
      for (int r = 0; r < size; ++r) {
        manual_seed(static_cast<uint64_t>(r) + 1);
        const Tensor values = randn({count});
        sum += values.to(kDouble);
        if (r == rank) mine = values;
      }
      dist::all_reduce(mine);
      REQUIRE(allclose(mine.to(kDouble), sum, 1e-5, 1e-6));
      Tensor first = mine.clone();
      dist::broadcast(first, 0);
      REQUIRE(equal(mine, first));
    }
  });
});

/// The sum overflows float16, but not the mean. PyTorch's mean over Gloo is infinite here.
const RankFunction large_halves("large_halves", [] {
  in_group([](int, int size) {
    const Device device = cuda::is_available() ? Device(kCUDA, 0) : Device(kCPU);
    const TensorOptions options = TensorOptions(kHalf).device(device);
    const Tensor values = full({size}, 60000, options);
    const auto is_mean = [](const Tensor& x) {
      return equal(x.to(kFloat), full_like(x.to(kFloat), 60000));
    };
    Tensor x = values.clone();
    dist::all_reduce(x, ReduceOp::AVG);
    REQUIRE(is_mean(x));
    dist::reduce(x, 0, ReduceOp::AVG);
    REQUIRE(is_mean(x));  // on ranks other than 0, x is unchanged
    Tensor part = zeros({1}, options);
    dist::reduce_scatter_tensor(part, values, ReduceOp::AVG);
    REQUIRE(is_mean(part) && is_mean(values));
    dist::reduce_scatter(part.zero_(), values.split(1), ReduceOp::AVG);
    REQUIRE(is_mean(part) && is_mean(values));
  });
});

/// Sizes around the limit at which Gloo's backend changes its algorithm: 512 KiB divided by the
/// number of ranks.
const RankFunction limits("limits", [] {
  in_group([](int rank, int size) {
    for (const ScalarType dtype : {kHalf, kBFloat16, kDouble, kByte}) {
      const int64_t limit = (512 << 10) / size / static_cast<int64_t>(element_size(dtype));
      for (const int64_t count : {limit - 1, limit, limit + 1, 2 * limit}) {
        const Tensor base = arange(count, kLong).remainder(7);
        Tensor x = (base + rank).to(dtype);
        dist::all_reduce(x);
        REQUIRE(equal(x, (base * size + size * (size - 1) / 2).to(dtype)));
        x = (base + rank).to(dtype);
        dist::all_reduce(x, ReduceOp::MAX);
        REQUIRE(equal(x, (base + (size - 1)).to(dtype)));
        if (!x.is_floating_point()) continue;
        x = (base * size + rank).to(dtype);
        if (rank == size - 1) x[3].fill_(std::numeric_limits<float>::quiet_NaN());
        dist::all_reduce(x, ReduceOp::MIN);
        REQUIRE(std::isnan(x[3].item<float>()) &&
                equal(x.narrow(0, 4, count - 4), (base * size).to(dtype).narrow(0, 4, count - 4)));
        x = (base * 4 + 2 * rank).to(dtype);
        dist::all_reduce(x, ReduceOp::AVG);
        REQUIRE(allclose(x.to(kDouble), (base * 4 + (size - 1)).to(kDouble), 1e-2, 1e-2));
      }
    }
  });
});

const RankFunction layouts("layouts", [] {
  in_group([](int rank, int size) {
    const Device device = cuda::is_available() ? Device(kCUDA, 0) : Device(kCPU);
    const TensorOptions options = TensorOptions(kFloat).device(device);
    const int sum_of_ranks = size * (size - 1) / 2;
    // A transposed view: only its part of the base changes.
    Tensor base = full({4, 6}, rank, options);
    Tensor part = base.narrow(1, 1, 3).t();
    dist::all_reduce(part);
    Tensor expected = full({4, 6}, rank, options);
    expected.narrow(1, 1, 3).fill_(sum_of_ranks);
    REQUIRE(equal(base, expected));
    // Columns as outputs, a row that is a view as input.
    Tensor columns = zeros({3, size}, options);
    dist::all_gather(columns.unbind(1), arange(6, options).narrow(0, 2, 3) + rank);
    for (int r = 0; r < size; ++r) REQUIRE(equal(columns.select(1, r), arange(2, 5, options) + r));
    // An expanded input.
    Tensor all = zeros({size, 3}, options);
    dist::all_gather_into_tensor(all, full({1}, rank, options).expand({3}));
    REQUIRE(equal(all.select(1, 2), arange(size, options)));
    // Empty tensors, scalars, and a parameter.
    Tensor nothing = zeros({0, 3}, options);
    dist::all_reduce(nothing);
    dist::broadcast(nothing, 0);
    Tensor scalar = full({}, rank, options);
    dist::all_reduce(scalar);
    REQUIRE(scalar.item<float>() == float(sum_of_ranks));
    Tensor parameter = full({2}, rank, options).requires_grad_();
    dist::broadcast(parameter, 1);
    REQUIRE(parameter.requires_grad() && parameter[0].item<float>() == 1);
    // In the stream's order, all_reduce comes after fill_ and before the copy of item().
    Tensor late = zeros({1 << 16}, options);
    late.fill_(rank + 1);
    dist::WorkPtr work = dist::all_reduce(late, ReduceOp::SUM, nullptr, true);
    work->wait();
    REQUIRE(late.sum().item<float>() == float((1 << 16) * (sum_of_ranks + size)));
  });
});

const RankFunction asynchronous("asynchronous", [] {
  in_group([](int rank, int size) {
    std::vector<dist::WorkPtr> works;
    Tensors tensors;
    std::atomic<int> hooks{0};
    for (int i = 0; i < 20; ++i) {
      tensors.push_back(full({1000}, rank + i, kFloat));
      works.push_back(dist::all_reduce(tensors.back(), ReduceOp::SUM, nullptr, true));
      works.back()->on_completion([&](dist::Work& work) { hooks += work.is_success(); });
    }
    for (int i = 0; i < 20; ++i) {
      REQUIRE(works[size_t(i)]->wait());
      REQUIRE(works[size_t(i)]->is_completed());
      REQUIRE(tensors[size_t(i)][7].item<int>() == size * (size - 1) / 2 + i * size);
      REQUIRE(works[size_t(i)]->result()[0].is_same(tensors[size_t(i)]));
    }
    while (hooks < 20) std::this_thread::yield();
  });
});

TEST(Collectives, CombineTensors) {
  for (const int size : {2, 3, 4}) run_ranks_well(reductions, size);
}
TEST(Collectives, MoveTensors) {
  for (const int size : {2, 3, 4}) run_ranks_well(moves, size);
}
TEST(Collectives, ExchangeParts) {
  for (const int size : {2, 3, 4}) run_ranks_well(exchanges, size);
}
TEST(Collectives, TakeAllDtypes) {
  run_ranks_well(dtypes, 2);
  run_ranks_well(dtypes, 3, {.environment = {{"HEARTH_SIM_GPUS", "1"}}});
}
TEST(Collectives, AverageHalvesWithoutOverflow) {
  run_ranks_well(large_halves, 2);
  run_ranks_well(large_halves, 4);
}
TEST(Collectives, ReduceTensorsOfAllSizes) {
  for (const int size : {2, 3}) run_ranks_well(sizes, size);
  for (const int size : {2, 3}) run_ranks_well(limits, size);
}
TEST(Collectives, TakeViewsAndEmptyTensors) {
  run_ranks_well(layouts, 3);
  run_ranks_well(layouts, 2, {.environment = {{"HEARTH_SIM_GPUS", "1"}}});
  run_ranks_well(layouts, 2, {.environment = {{"HEARTH_SIM_GPUS", "1"}, {"HEARTH_SIM_LAZY", "1"}}});
}

/// A collective that fails on the GPU: plugins/device_backend.cpp fails for products of int16.
const RankFunction fails_on_device("fails_on_device", [] {
  in_group([](int, int) {
    Tensor x = ones({4}, TensorOptions(kShort).device(kCUDA));
    dist::barrier();
    const auto work = dist::all_reduce(x, ReduceOp::PRODUCT, nullptr, true);
    while (!work->is_completed()) std::this_thread::yield();
    REQUIRE(!work->is_success());
    REQUIRE_ERROR(work->wait(), "the call failed on the GPU");
    REQUIRE_ERROR(dist::all_reduce(x), "cannot be used any more");
  });
});

TEST(Collectives, SupportABackendForGpus) {
  const RankOptions options{
      .environment = {{"HEARTH_SIM_GPUS", "1"}, {"HEARTH_GLOO_PLUGIN", HEARTH_DEVICE_BACKEND}}};
  for (const RankFunction* const function :
       {&reductions, &moves, &exchanges, &dtypes, &layouts, &asynchronous})
    run_ranks_well(*function, 3, options);
  run_ranks_well(fails_on_device, 2, options);
  RankOptions debugged = options;
  debugged.environment["HEARTH_DISTRIBUTED_DEBUG"] = "detail";
  run_ranks_well(layouts, 2, debugged);
}
#ifdef HEARTH_FAKE_NCCL
TEST(Collectives, GiveTheSameResultsOverNccl) {
  const RankOptions options{.environment = {{"HEARTH_SIM_GPUS", "1"},
                                            {"HEARTH_NCCL_LIBRARY", HEARTH_FAKE_NCCL},
                                            {"TEST_BACKEND", "nccl"}}};
  for (const RankFunction* const function :
       {&moves, &exchanges, &dtypes, &large_halves, &layouts, &asynchronous})
    run_ranks_well(*function, 3, options);
}
#endif
TEST(Collectives, RunInOrderWithoutWaiting) { run_ranks_well(asynchronous, 3); }

}  // namespace
}  // namespace hearth::testing

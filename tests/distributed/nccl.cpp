#ifdef HEARTH_FAKE_NCCL

#include <gtest/gtest.h>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "hearth/nn/distributed_data_parallel.h"
#include "tests/distributed/in_group.h"
#include "tests/distributed/ranks.h"
#include "tests/support/files.h"
#include "tests/support/throws.h"

// The NCCL plugin, usually with tests/plugins/fake_nccl.cpp in place of NCCL. collectives.cpp tests
// more values of the collectives.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using std::chrono::milliseconds;

RankOptions with_fake_nccl() {
  static const TempFolder folder;  // communicators that were aborted leave files
  return {.environment = {{"HEARTH_SIM_GPUS", "1"},
                          {"HEARTH_NCCL_LIBRARY", HEARTH_FAKE_NCCL},
                          {"TMPDIR", folder.path("")},
                          {"TEST_BACKEND", "nccl"}}};
}

const RankFunction exchanges_on_gpu("exchanges_on_gpu", [] {
  in_group([](int rank, int size) {
    const TensorOptions options = TensorOptions(kFloat).device(kCUDA);
    REQUIRE(dist::get_backend() == "nccl" && dist::is_nccl_available());
    // A chain that does not wait for anything on the host.
    Tensor x = full({1000}, rank, options);
    for (int i = 0; i < 3; ++i) {
      x.add_(1);
      dist::all_reduce(x);
      x.div_(size);
    }
    REQUIRE(allclose(x, full({1000}, 3 + (size - 1) / 2.0, options)));
    const int next = (rank + 1) % size, former = (rank + size - 1) % size;
    Tensor in = full({4}, rank, options), out = zeros({4}, options);
    if (rank == 0) {
      dist::send(in, 1);
      dist::recv(out, size - 1);
    } else {
      dist::recv(out, former);
      dist::send(in, next);
    }
    REQUIRE(equal(out, full({4}, former, options)));
    // Both directions at once: one by one, each rank would wait for the next.
    for (const dist::WorkPtr& work : dist::batch_isend_irecv(
             {dist::P2POp(dist::isend, in, next), dist::P2POp(dist::irecv, out.zero_(), former)}))
      work->wait();
    REQUIRE(equal(out, full({4}, former, options)));
    REQUIRE_ERROR(dist::recv(out), "the backend nccl cannot receive from any rank");
    dist::barrier();  // the group still works
  });
});

/// Each kind of collective, with a GPU per rank; also in a group of one.
const RankFunction collectives_on_gpu("collectives_on_gpu", [] {
  if (!std::getenv("HEARTH_SIM_GPUS")) cuda::set_device(std::atoi(std::getenv("RANK")));
  in_group([](int rank, int size) {
    const TensorOptions options = TensorOptions(kFloat).device(kCUDA);
    const int sum = size * (size - 1) / 2;
    for (const int64_t count : {1, 1000, 3'000'000}) {
      Tensor x = full({count}, rank, options);
      dist::all_reduce(x);
      REQUIRE(equal(x, full({count}, sum, options)));
      dist::broadcast(x.fill_(rank), size - 1);
      REQUIRE(equal(x, full({count}, size - 1, options)));
      Tensor rows = zeros({size, count}, options), own = zeros({count}, options);
      dist::all_gather_into_tensor(rows, x.fill_(rank));
      REQUIRE(equal(rows.select(1, 0), arange(size, options)));
      dist::reduce_scatter_tensor(own, rows.view({-1}), dist::ReduceOp::MAX);
      REQUIRE(equal(own, full({count}, rank, options)));
      Tensor exchanged = zeros({size, count}, options);
      dist::all_to_all_single(exchanged, full({size, count}, rank, options));
      REQUIRE(equal(exchanged, rows));
      dist::gather(x, rank == 0 ? exchanged.zero_().unbind() : std::vector<Tensor>());
      if (rank == 0) REQUIRE(equal(exchanged, rows));
      dist::scatter(own.zero_(), rank == 0 ? rows.unbind() : std::vector<Tensor>());
      REQUIRE(equal(own, x));
      dist::reduce(x, 0);
      if (rank == 0) REQUIRE(equal(x, full({count}, sum, options)));
    }
    dist::barrier();
  });
});

const RankFunction trains_on_gpu("trains_on_gpu", [] {
  in_group([](int rank, int) {
    manual_seed(1);
    nn::Linear layer(3, 2);
    layer->to(kCUDA);
    nn::parallel::DistributedDataParallel model(layer);
    const Tensor x = full({2, 3}, rank + 1, TensorOptions(kFloat).device(kCUDA));
    model->forward(x).sum().backward();
    // The mean of 2 * 1 and 2 * 2.
    REQUIRE(allclose(layer->weight.grad().cpu(), full({2, 3}, 3.0)));
  });
});

const RankFunction wrong_dtypes("wrong_dtypes", [] {
  in_group([](int rank, int) {
    Tensor flags = ones({2}, TensorOptions(kInt).device(kCUDA));
    REQUIRE_ERROR(dist::all_reduce(flags, dist::ReduceOp::BXOR), "Cannot use ReduceOp.BXOR with");
    flags = flags.to(kBool);
    REQUIRE_ERROR(dist::reduce(flags, 0, dist::ReduceOp::BXOR), "ReduceOp.BXOR of Bool with NCCL");
    Tensor shorts = ones({2}, TensorOptions(kShort).device(kCUDA));
    const char* const kNoShort = "data type is not supported for NCCL process group: Short";
    REQUIRE_ERROR(dist::all_reduce(shorts), kNoShort);
    REQUIRE_ERROR(dist::reduce_scatter_tensor(shorts, cat({shorts, shorts})), kNoShort);
    Tensor x = full({2}, 60000, TensorOptions(kHalf).device(kCUDA));
    dist::all_reduce(x, dist::ReduceOp::AVG);  // the group still works
    REQUIRE(x[1].item<float>() == 60000);
    dist::broadcast(shorts.fill_(rank), 1);
    REQUIRE(shorts[0].item<int>() == 1);
  });
});

const RankFunction fails_later("fails_later", [] {
  in_group([](int, int) {
    Tensor x = ones({2}, TensorOptions(kChar).device(kCUDA));
    print_error([&] {
      const auto work = dist::all_reduce(x, dist::ReduceOp::PRODUCT, nullptr, true);
      while (!work->is_completed()) std::this_thread::yield();
      work->wait();
    });
  });
});

const RankFunction one_rank_is_late("one_rank_is_late", [] {
  dist::init_process_group("nccl", dist::InitOptions().timeout(milliseconds(1500)));
  Tensor x = ones({2}, TensorOptions(kFloat).device(kCUDA));
  dist::all_reduce(x);
  // Rank 1 comes after the time-out of rank 0; NCCL itself would wait without a limit.
  print_error([&] {
    if (dist::get_rank() == 0) {
      dist::all_reduce(x);
    } else {
      std::this_thread::sleep_for(milliseconds(2500));
      dist::all_reduce(x);
    }
  });
});

/// NCCL reports a call as ended as soon as it is on the stream, before the GPU has run it.
const RankFunction destroys_at_once("destroys_at_once", [] {
  dist::init_process_group("nccl");
  Tensor x = ones({2}, TensorOptions(kFloat).device(kCUDA));
  if (dist::get_rank() == 0)
    dist::send(x, 1);
  else
    dist::recv(x, 0);
  dist::destroy_process_group();
});

const RankFunction is_late_on_stream("is_late_on_stream", [] {
  dist::init_process_group("nccl");
  dist::default_group()->setTimeout(milliseconds(50));
  Tensor x = ones({2}, TensorOptions(kFloat).device(kCUDA));
  dist::all_reduce(x);  // no error yet
  print_error([&] { dist::all_reduce(x); });
});

const RankFunction is_killed("is_killed", [] {
  dist::init_process_group("nccl");
  Tensor x = ones({2}, TensorOptions(kFloat).device(kCUDA));
  dist::all_reduce(x);
  if (dist::get_rank() == 1) std::_Exit(7);
  print_error([&] { dist::all_reduce(x); });
});

const RankFunction cannot_init("cannot_init",
                               [] { print_error([] { dist::init_process_group("nccl"); }); });

/// Only rank 1 cannot connect.
void fail_alone(const char* how) {
  if (std::atoi(std::getenv("RANK")) == 1) setenv("TEST_NCCL_FAILS", how, 1);
  print_error([] { dist::init_process_group("nccl"); });
}
const RankFunction one_cannot_init("one_cannot_init", [] { fail_alone("init"); });
const RankFunction one_exits_in_init("one_exits_in_init", [] { fail_alone("exit"); });

const RankFunction has_no_nccl("has_no_nccl", [] {
  REQUIRE(!dist::is_nccl_available());
  std::printf("%s\n", dist::why_no_nccl().c_str());
  print_error([] { dist::init_process_group("nccl"); });
});

TEST(Nccl, MovesDataBetweenGpus) {
  for (const int size : {2, 3}) run_ranks_well(exchanges_on_gpu, size, with_fake_nccl());
  run_ranks_well(trains_on_gpu, 2, with_fake_nccl());
}

TEST(Nccl, HasAllCollectives) {
  for (const int size : {1, 2}) run_ranks_well(collectives_on_gpu, size, with_fake_nccl());
}

/// With NCCL itself, where there are GPUs (tools/gpu_check.sh).
TEST(NcclGpus, HasAllCollectives) {
  const char* const simulated = std::getenv("HEARTH_SIM_GPUS");
  if ((simulated && *simulated) || !cuda::is_available() || !dist::is_nccl_available())
    GTEST_SKIP() << "there is no GPU, or no NCCL: " << dist::why_no_nccl();
  for (const int size : {1, 2, 4})
    if (size <= cuda::device_count())
      run_ranks_well(collectives_on_gpu, size, {.environment = {{"TEST_BACKEND", "nccl"}}});
}

TEST(Nccl, RefusesOperationsAndDtypesThatNcclLacks) {
  run_ranks_well(wrong_dtypes, 2, with_fake_nccl());
}

TEST(Nccl, ReportsErrorsThatOccurAfterTheCall) {
  for (const RankResult& result : run_ranks(fails_later, 2, with_fake_nccl()))
    EXPECT_PRED2(contains, result.output,
                 "there was a network error (the peer has closed the connection)");
}

TEST(Nccl, EndsAtTheTimeoutAndWhenARankIsLost) {
  const auto late = run_ranks(one_rank_is_late, 2, with_fake_nccl());
  EXPECT_PRED2(contains, late[0].output, "has not ended on rank 0 within 1500 ms");
  EXPECT_LE(seconds_in(late[0].output), 4) << late[0].output;
  EXPECT_PRED2(contains, late[1].output, "rank 0 says");
  const auto results = run_ranks(is_killed, 3, with_fake_nccl());
  for (const size_t rank : {0, 2}) {
    EXPECT_PRED2(contains, results[rank].output, "rank 1");
    EXPECT_LE(seconds_in(results[rank].output), 2) << results[rank].output;
  }
}

TEST(Nccl, WaitsForTheStreamUntilTheTimeout) {
  RankOptions options = with_fake_nccl();
  options.environment["TEST_NCCL_BUSY"] = "1";
  for (const RankResult& result : run_ranks_well(destroys_at_once, 2, options))
    EXPECT_FALSE(contains(result.output, "ncclCommAbort")) << result.output;
  for (const RankResult& result : run_ranks_well(is_late_on_stream, 2, options)) {
    EXPECT_PRED2(contains, result.output, "within 50 ms");
    EXPECT_PRED2(contains, result.output, "ncclCommAbort");
  }
}

TEST(Nccl, SaysWhyItCannotConnect) {
  RankOptions options = with_fake_nccl();
  options.environment["TEST_NCCL_FAILS"] = "init";
  for (const RankResult& result : run_ranks(cannot_init, 2, options)) {
    EXPECT_PRED2(contains, result.output, "each rank needs a GPU of its own");
    EXPECT_PRED2(contains, result.output, "Duplicate GPU detected");
  }
  options = with_fake_nccl();
  options.environment["HEARTH_NCCL_LIBRARY"] = "";
  for (const RankResult& result : run_ranks(cannot_init, 1, options))
    EXPECT_PRED2(contains, result.output, "NCCL cannot use simulated GPUs");
  options.environment["HEARTH_SIM_GPUS"] = "";
  options.environment["HEARTH_CUDA_PLUGIN"] = "/nonexistent/plugin.so";
  for (const RankResult& result : run_ranks(cannot_init, 1, options))
    EXPECT_PRED2(contains, result.output, "the backend nccl needs a GPU");
}

TEST(Nccl, EndsConnectingWhenARankFails) {
  const auto failed = run_ranks(one_cannot_init, 3, with_fake_nccl());
  const auto ended = run_ranks(one_exits_in_init, 3, with_fake_nccl());
  for (const size_t rank : {0, 2}) {
    EXPECT_PRED2(contains, failed[rank].output, "rank 1 says");
    EXPECT_PRED2(contains, failed[rank].output, "Duplicate GPU detected");
    EXPECT_LE(seconds_in(failed[rank].output), 2) << failed[rank].output;
    EXPECT_PRED2(contains, ended[rank].output, "rank 1 (host ");
    EXPECT_PRED2(contains, ended[rank].output, "has ended without destroying");
    EXPECT_LE(seconds_in(ended[rank].output), 2) << ended[rank].output;
  }
}

TEST(Nccl, SaysWhyItCannotBeLoaded) {
  RankOptions options = with_fake_nccl();
  options.environment["HEARTH_NCCL_LIBRARY"] = "/nonexistent/libnccl.so";
  for (const RankResult& result : run_ranks(has_no_nccl, 1, options)) {
    EXPECT_PRED2(contains, result.output, "NCCL was not found (/nonexistent/libnccl.so");
    EXPECT_PRED2(contains, result.output, "set HEARTH_NCCL_LIBRARY");
  }
  options.environment["HEARTH_NCCL_LIBRARY"] = HEARTH_DEVICE_BACKEND;
  for (const RankResult& result : run_ranks(has_no_nccl, 1, options))
    EXPECT_PRED2(contains, result.output, "has no function ncclGetVersion");
  options.environment["HEARTH_NCCL_PLUGIN"] = "/nonexistent/plugin.so";
  for (const RankResult& result : run_ranks(has_no_nccl, 1, options))
    EXPECT_PRED2(contains, result.output, "build Hearth with a CUDA toolkit");
  options.environment["HEARTH_NCCL_PLUGIN"] = HEARTH_FAKE_NCCL;
  for (const RankResult& result : run_ranks(has_no_nccl, 1, options))
    EXPECT_PRED2(contains, result.output, "is not a NCCL plugin of Hearth");
}

}  // namespace
}  // namespace hearth::testing

#endif

#include <gtest/gtest.h>

#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "hearth/ivalue_containers.h"
#include "tests/distributed/ranks.h"
#include "tests/support/throws.h"
#include "tests/support/warnings.h"

// Groups, transfers between two ranks, objects, and the errors of calls.

namespace hearth::testing {
namespace {

namespace dist = hearth::distributed;
using dist::ReduceOp;
using std::chrono::milliseconds;

const RankFunction subgroups("subgroups", [] {
  REQUIRE(!dist::is_initialized());
  REQUIRE_ERROR(dist::get_rank(), "Default process group has not been initialized");
  dist::init_process_group();
  REQUIRE(dist::is_initialized() && dist::is_gloo_available() && dist::get_backend() == "gloo");
  REQUIRE_ERROR(dist::init_process_group(), "default process group twice");
  const int rank = dist::get_rank();
  const dist::ProcessGroupPtr odd = dist::new_group({3, 1});
  const dist::ProcessGroupPtr even = dist::new_group({0, 2});
  const dist::ProcessGroupPtr all = dist::new_group();
  const dist::ProcessGroupPtr& mine = rank % 2 ? odd : even;
  const dist::ProcessGroupPtr& other = rank % 2 ? even : odd;
  REQUIRE(dist::get_rank(mine) == rank / 2 && dist::get_world_size(mine) == 2);
  REQUIRE(dist::get_rank(other) == -1 && dist::get_rank(all) == rank);
  REQUIRE(dist::get_process_group_ranks(mine) == std::vector<int>({rank % 2, rank % 2 + 2}));
  REQUIRE(dist::get_global_rank(mine, 1) == rank % 2 + 2);
  Tensor x = full({2}, rank, kFloat);
  dist::all_reduce(x, ReduceOp::SUM, mine);
  REQUIRE(x[0].item<int>() == 2 * (rank % 2) + 2);
  // The source is given by its rank in the default group.
  x.fill_(rank);
  dist::broadcast(x, rank % 2 + 2, mine);
  REQUIRE(x[0].item<int>() == rank % 2 + 2);
  REQUIRE_ERROR(dist::broadcast(x, 1 - rank % 2, mine), "is not part of the group");
  {
    const Warnings warnings;
    REQUIRE(dist::all_reduce(x, ReduceOp::SUM, other) == nullptr);
    REQUIRE(Warnings::contains("does not belong to the given group"));
  }
  dist::destroy_process_group(all);
  REQUIRE_ERROR(dist::barrier(all), "was destroyed");
  dist::barrier();
  dist::destroy_process_group();
  REQUIRE(!dist::is_initialized());
});

const RankFunction transfers("transfers", [] {
  dist::init_process_group();
  const int rank = dist::get_rank(), size = dist::get_world_size();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  // All ranks send two messages to the next rank at once, and receive them in reverse order.
  Tensor a = full({3}, rank, kFloat), b = full({3}, rank + 100, kFloat);
  Tensor from_a = zeros({3}), from_b = zeros({2, 3}).select(0, 1);
  const auto first = dist::isend(a, next, nullptr, 1), second = dist::isend(b, next, nullptr, 2);
  REQUIRE(dist::recv(from_b, before, nullptr, 2) == before);
  REQUIRE(dist::recv(from_a, -1, nullptr, 1) == before);
  REQUIRE(first->wait() && second->wait());
  REQUIRE(from_a[0].item<int>() == before && from_b[0].item<int>() == before + 100);
  // A large tensor, which does not fit into the sockets' buffers.
  if (rank == 0) dist::send(ones({3'000'000}), 1);
  if (rank == 1) {
    Tensor large = zeros({3'000'000});
    dist::recv(large, 0);
    REQUIRE(large.sum().item<double>() == 3e6);
  }
  // Receiving waits in the background.
  if (rank == 0) {
    Tensor x = zeros({1});
    const auto work = dist::irecv(x, 1, nullptr, 7);
    REQUIRE(!work->is_completed());
    REQUIRE_ERROR(work->wait(milliseconds(20)), "Operation timed out!");
    dist::send(ones({1}), 1, nullptr, 8);
    work->wait();
    REQUIRE(x.item<int>() == 5 && work->source_rank() == 1);
  }
  if (rank == 1) {
    Tensor x = zeros({1});
    dist::recv(x, 0, nullptr, 8);
    dist::send(full({1}, 5, kFloat), 0, nullptr, 7);
  }
  REQUIRE_ERROR(dist::send(a, rank), "should not be the same as the rank");
  dist::barrier();
  dist::destroy_process_group();
});

const RankFunction batches("batches", [] {
  dist::init_process_group();
  const int rank = dist::get_rank(), size = dist::get_world_size();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  // Too large for the sockets' buffers: every rank must send and receive at once.
  const Tensor mine = full({2'000'000}, rank, kFloat);
  Tensor theirs = zeros({2'000'000}), small = zeros({4, 2}).select(1, 0);
  const auto requests = dist::batch_isend_irecv(
      {dist::P2POp(dist::isend, mine, next), dist::P2POp(dist::irecv, theirs, before),
       dist::P2POp(dist::isend, full({4}, rank, kFloat), before, nullptr, 3),
       dist::P2POp(dist::irecv, small, next, nullptr, 3)});
  REQUIRE(requests.size() == 4);
  for (const dist::WorkPtr& request : requests) request->wait();
  REQUIRE(equal(theirs, full({2'000'000}, before, kFloat)) &&
          equal(small, full({4}, next, kFloat)));
  REQUIRE_ERROR(dist::batch_isend_irecv({}), "the list has no send and no receive");
  REQUIRE_ERROR(dist::batch_isend_irecv({dist::P2POp(dist::isend, mine, rank)}),
                "should not be the same as the rank");
  REQUIRE_ERROR(dist::P2POp(nullptr, mine, next), "Invalid ``op``");
  const dist::ProcessGroupPtr other = dist::new_group();
  REQUIRE_ERROR(dist::batch_isend_irecv({dist::P2POp(dist::isend, mine, next),
                                         dist::P2POp(dist::irecv, theirs, before, other)}),
                "All ops need to use the same group.");
  dist::destroy_process_group();
});

const RankFunction splits("splits", [] {
  dist::init_process_group();
  const int rank = dist::get_rank();
  const auto half = dist::split_group(nullptr, {{2, 0}, {1, 3}});
  // As in PyTorch, the order of the list determines the new ranks.
  const std::vector<int> members = rank % 2 ? std::vector<int>{1, 3} : std::vector<int>{2, 0};
  REQUIRE(dist::get_process_group_ranks(half) == members);
  REQUIRE(dist::get_global_rank(half, dist::get_rank(half)) == rank);
  REQUIRE(dist::get_rank(half) == (rank == 0 || rank == 3));
  Tensor x = full({1}, rank, kFloat);
  dist::all_reduce(x, ReduceOp::SUM, half);
  REQUIRE(x.item<int>() == 2 * (rank % 2) + 2);
  Tensor rows = zeros({2, 1});
  dist::all_gather_into_tensor(rows, full({1}, rank, kFloat), half);
  REQUIRE(rows[0].item<int>() == members[0] && rows[1].item<int>() == members[1]);
  half->setTimeout(milliseconds(50'000));
  const auto reversed = dist::split_group(half, {{1, 0}});
  REQUIRE(dist::get_process_group_ranks(reversed) == std::vector<int>({members[1], members[0]}));
  REQUIRE(reversed->getTimeout() == milliseconds(50'000));
  REQUIRE(dist::split_group(half, {{0, 1}}, milliseconds(40'000))->getTimeout() ==
          milliseconds(40'000));
  // Only the members of the parent group need to call split_group.
  if (rank % 2 == 1) {
    const auto alone = dist::split_group(half, {{1}});
    REQUIRE(dist::get_rank(alone) == (rank == 3 ? 0 : -1));
  }
  REQUIRE(dist::get_world_size(dist::new_group()) == 4);
  REQUIRE_ERROR(dist::split_group(nullptr, {}), "split_ranks must not be empty");
  REQUIRE_ERROR(dist::split_group(nullptr, {{}}), "the split group cannot be empty");
  REQUIRE_ERROR(dist::split_group(nullptr, {{0, 4}}), "rank 4 does not belong to the parent group");
  REQUIRE_ERROR(dist::split_group(nullptr, {{1, 1}}), "cannot have duplicate ranks");
  REQUIRE_ERROR(dist::split_group(nullptr, {{0, 1}, {1, 2}}), "Rank 1 has appeared twice");
  const auto [mine, all] = dist::new_subgroups(2);
  REQUIRE(all.size() == 2 && dist::get_rank(mine) == rank % 2);
  REQUIRE(dist::get_process_group_ranks(mine)[0] == rank / 2 * 2);
  REQUIRE_ERROR(dist::new_subgroups(3), "must be divisible by 'group_size=3'");
  REQUIRE_ERROR(dist::new_subgroups(5), "must not exceed the world size (4)");
  const auto outer = dist::new_subgroups_by_enumeration({{3, 0}}).first;
  REQUIRE((outer != nullptr) == (rank % 3 == 0));
  if (outer) REQUIRE(dist::get_rank(outer) == rank / 3);
  REQUIRE_ERROR(dist::new_subgroups_by_enumeration({{0, 1}, {1, 2}}), "Rank 1 has appeared twice");
  REQUIRE(dist::is_backend_available("gloo") && !dist::is_backend_available("mpi"));
  dist::destroy_process_group();
});

/// Splits groups that the program has constructed itself, with a store of their own and no name.
const RankFunction splits_own_groups("splits_own_groups", [] {
  dist::init_process_group();
  const int rank = dist::get_rank();
  const auto store = dist::default_group()->getStore();
  const auto connect = [&](const char* prefix, int own) {
    return std::make_shared<dist::ProcessGroup>(std::make_shared<dist::PrefixStore>(prefix, store),
                                                own, 2);
  };
  const auto a = connect("a", rank), b = connect("b", 1 - rank);
  const auto of_a = dist::split_group(a, {{1, 0}}), of_b = dist::split_group(b, {{0, 1}});
  REQUIRE(dist::get_rank(of_a) == 1 - rank && dist::get_rank(of_b) == 1 - rank);
  for (const auto& group : {of_a, of_b}) {
    Tensor rows = zeros({2, 1});
    dist::all_gather_into_tensor(rows, full({1}, rank, kFloat), group);
    REQUIRE(rows[0].item<int>() == 1 && rows[1].item<int>() == 0);
  }
  a->shutdown();
  b->shutdown();
  dist::destroy_process_group();
});

const RankFunction objects("objects", [] {
  dist::init_process_group();
  const int rank = dist::get_rank(), size = dist::get_world_size();
  const IValue mine = std::vector<IValue>{rank, "rank " + std::to_string(rank), full({rank}, 2.5)};
  const std::vector<IValue> all = dist::all_gather_object(mine);
  REQUIRE(static_cast<int>(all.size()) == size);
  for (int r = 0; r < size; ++r) {
    const std::vector<IValue> parts = all[size_t(r)].toList().vec();
    REQUIRE(parts[0].toInt() == r && parts[1].toStringRef() == "rank " + std::to_string(r));
    REQUIRE(parts[2].toTensor().numel() == r);
  }
  REQUIRE(dist::gather_object(rank * 1.5, 1).size() == (rank == 1 ? size_t(size) : 0));
  std::vector<IValue> list;
  if (rank == 2) list = {"text", 7, true};
  dist::broadcast_object_list(list, 2);
  REQUIRE(list.size() == 3 && list[1].toInt() == 7 && list[2].toBool());
  std::vector<IValue> parts;
  if (rank == 0)
    for (int r = 0; r < size; ++r) parts.push_back(std::string(size_t(r), 'x'));
  REQUIRE(dist::scatter_object(parts).toStringRef() == std::string(size_t(rank), 'x'));
  if (rank == 0) dist::send_object("hello", 1);
  if (rank == 1) REQUIRE(dist::recv_object(0).toStringRef() == "hello");
  dist::destroy_process_group();
});

const RankFunction wrong_calls("wrong_calls", [] {
  dist::init_process_group();
  const int size = dist::get_world_size();
  Tensor x = ones({2}), ints = ones({2}, kInt);
  REQUIRE_ERROR(dist::all_reduce(x, ReduceOp::BAND), "Cannot use ReduceOp.BAND with non-integral");
  REQUIRE_ERROR(dist::all_reduce(ints, ReduceOp::AVG), "Cannot use ReduceOp.AVG with an integral");
  REQUIRE_ERROR(dist::all_reduce(zeros({2}, kComplexFloat), ReduceOp::MAX),
                "all_reduce does not support MAX on complex tensors");
  REQUIRE_ERROR(dist::all_reduce(Tensor()), "a tensor is undefined");
  REQUIRE_ERROR(dist::all_reduce(x.meta()), "on the device meta");
  REQUIRE_ERROR(dist::broadcast(x, size), "is not part of the group");
  REQUIRE_ERROR(dist::all_gather({x}, x), "needs one tensor for each of 2 ranks, but has 1");
  REQUIRE_ERROR(dist::all_gather({x, ones({3})}, x), "Invalid tensor size at index 1");
  REQUIRE_ERROR(dist::all_gather({x, ints}, x), "Invalid tensor type at index 1");
  REQUIRE_ERROR(dist::all_gather_into_tensor(ones({5}), x), "must be equal to world_size times");
  REQUIRE_ERROR(dist::reduce_scatter_tensor(x, ones({3})), "same size as output size times");
  REQUIRE_ERROR(dist::all_to_all_single(ones({3}), ones({3})), "does not divide equally");
  REQUIRE_ERROR(dist::all_to_all_single(ones({3}), ones({3}), {1, 2}, {1, 1}), "Split sizes");
  dist::all_reduce(x);  // the group still works
  REQUIRE(x[0].item<int>() == size);
  dist::destroy_process_group();
});

TEST(Groups, ContainSomeRanks) { run_ranks_well(subgroups, 4); }
TEST(Groups, SendAndReceive) {
  run_ranks_well(transfers, 2);
  run_ranks_well(transfers, 3);
  run_ranks_well(
      transfers, 2,
      {.environment = {{"HEARTH_SIM_GPUS", "1"}, {"HEARTH_GLOO_PLUGIN", HEARTH_DEVICE_BACKEND}}});
}
TEST(Groups, SendAndReceiveInBatches) {
  for (const int size : {2, 3}) run_ranks_well(batches, size);
}
TEST(Groups, AreSplit) {
  run_ranks_well(splits, 4);
  run_ranks_well(splits_own_groups, 2);
}
TEST(Groups, ExchangeObjects) { run_ranks_well(objects, 3); }
TEST(Groups, RefuseWrongCalls) { run_ranks_well(wrong_calls, 2); }

TEST(Groups, OfOneProcessWorkWithALocalStore) {
  auto store = std::make_shared<dist::HashStore>();
  dist::ProcessGroup group(store, 0, 1);
  std::vector<Tensor> x{arange(4, kFloat)};
  group.allreduce(x)->wait();
  EXPECT_TRUE(equal(x[0], arange(4, kFloat)));
  Tensor in = ones({3}), out = zeros({3});
  group._reduce_scatter_base(out, in)->wait();
  EXPECT_TRUE(equal(out, in));
  group.barrier()->wait();
  // A second member with the same rank in the same store is an error.
  EXPECT_ERROR(dist::ProcessGroup(store, 0, 1), "two processes have rank 0");
  EXPECT_ERROR(dist::ProcessGroup(std::make_shared<dist::HashStore>(), 0, 1, "mpi"),
               "the backend 'mpi' is unknown");
}

const RankFunction set_up("set_up", [] {
  const auto start = std::chrono::steady_clock::now();
  dist::init_process_group();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%.3f", seconds.count());
  dist::barrier();
  dist::destroy_process_group();
});

TEST(Groups, OfEightProcessesAreSetUpQuickly) {
  double best = 1e9;  // other programs may keep the machine busy
  for (int attempt = 0; attempt < 5 && best > 0.5; ++attempt) {
    double slowest = 0;
    for (const RankResult& result : run_ranks_well(set_up, 8))
      slowest = std::max(slowest, std::atof(result.output.c_str() + result.output.rfind('\n') + 1));
    best = std::min(best, slowest);
  }
  RecordProperty("seconds", std::to_string(best));
  EXPECT_LE(best, 2);  // seconds; 0.5 on two idle cores
}

}  // namespace
}  // namespace hearth::testing

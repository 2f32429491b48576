#include "processes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "../usage.h"
#include "hearth/cuda.h"
#include "hearth/distributed.h"
#include "hearth/hearth.h"
#include "hearth/profiler/status_report.h"

namespace hearth::app {

namespace {

namespace dist = hearth::distributed;

constexpr std::chrono::seconds kReportsTimeout{2}, kPatienceForFirst{30};

/// The first line in which `text` differs from `other`, and that line of `other`.
std::pair<std::string, std::string> first_difference(const std::string& text,
                                                     const std::string& other) {
  std::istringstream lines(text), others(other);
  for (std::string line, of_other; true;) {
    const bool has_line = !!std::getline(lines, line), has_other = !!std::getline(others, of_other);
    if (!has_line) line = "nothing";
    if (!has_other) of_other = "nothing";
    if (line != of_other || !has_line) return {line, of_other};
  }
}

/// The exit code of a program that `error` ends; 0 if there is none.
int exit_code_of(const std::exception_ptr& error) {
  if (!error) return 0;
  try {
    std::rethrow_exception(error);
  } catch (const CLI::RuntimeError& caught) {  // it is also a ParseError
    return caught.get_exit_code();
  } catch (const CLI::ParseError&) {
    return kUsageError;
  } catch (...) {
    return 1;
  }
}

/// Prints a note if the other processes do not start soon.
class WaitingNote {
 public:
  WaitingNote() : thread_([this] { wait(); }) {}
  ~WaitingNote() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  WaitingNote(const WaitingNote&) = delete;
  WaitingNote& operator=(const WaitingNote&) = delete;

 private:
  static constexpr std::chrono::seconds kPatience{3};

  void wait() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kPatience, [this] { return has_ended_; })) return;
    std::cerr << "waiting for all " + std::to_string(dist::get_launched_world_size()) +
                     " processes to start (Ctrl-C ends)\n";
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;  // the last member, because it uses the others
};

}  // namespace

SharedFile::SharedFile(const Tensor& bytes) : file_(memfd_create("hearth", MFD_CLOEXEC)) {
  HEARTH_CHECK(file_ >= 0, "cannot create a file in memory: ", std::strerror(errno));
  path_ = "/proc/self/fd/" + std::to_string(file_);
  const auto* data = static_cast<const char*>(bytes.data_ptr());
  for (size_t done = 0; done < bytes.nbytes();) {
    const ssize_t written = write(file_, data + done, bytes.nbytes() - done);
    HEARTH_CHECK(written > 0, "cannot write a file in memory: ", std::strerror(errno));
    done += static_cast<size_t>(written);
  }
}

SharedFile::~SharedFile() {
  if (file_ >= 0) close(file_);
}

Processes::Processes() {
  if (dist::get_launched_world_size() == 1) return;
  const WaitingNote note;
  dist::init_process_group();
  count_ = dist::get_world_size();
  rank_ = dist::get_rank();
  any(false);  // waits for the others
}

Processes::~Processes() {
  // After an error, the connections end with the process, when it has printed the error.
  if (!are_several() || std::uncaught_exceptions() > 0) return;
  try {
    dist::destroy_process_group();
  } catch (const std::exception&) {  // the others have ended, which their own errors explain
  }
}

Device Processes::device(const std::string& name) const {
  const Device device(name);
  if (!are_several() || !device.is_cuda()) return device;
  HEARTH_CHECK_AS(UsageError, !device.has_index(), "--device ", name, " is one GPU for all ",
                  count_,
                  " processes: write --device cuda, so that each uses that of its LOCAL_RANK");
  const int local = dist::get_node_local_rank(), gpus = cuda::device_count();
  // A launcher may show each process one GPU only.
  if (gpus == 1) return Device(kCUDA, 0);
  HEARTH_CHECK(local < gpus, "process ", rank_, " needs GPU ", local,
               ", its LOCAL_RANK, but the number of GPUs is ", gpus,
               ": start fewer processes on this machine, such as hearth launch --nproc-per-node "
               "gpu");
  return Device(kCUDA, static_cast<DeviceIndex>(local));
}

std::function<std::vector<std::string>()> Processes::reports() const {
  if (!are_several()) {
    const auto reporter = std::make_shared<profiler::detail::StatusReporter>();
    return [reporter] { return std::vector<std::string>{reporter->report(0)}; };
  }
  const std::shared_ptr<dist::Store> store = dist::get_default_store()->clone();
  store->setTimeout(kReportsTimeout);
  return [store] { return dist::get_rank_reports(*store); };
}

void Processes::on_first(const std::function<void()>& action) const {
  std::exception_ptr error;
  if (is_first()) {
    try {
      action();
    } catch (...) {
      error = std::current_exception();
    }
  }
  // The exit code of all processes: a launcher may report any of them.
  const int status = static_cast<int>(of_first(exit_code_of(error)));
  if (error) std::rethrow_exception(error);
  if (status == 0) return;
  // A launcher reports the process that fails first and ends the others, so wait until the first
  // process has said why and ended, which breaks the connection to its store.
  try {
    dist::get_default_store()->wait({"hearth/never set"}, kPatienceForFirst);
  } catch (const std::exception&) {
  }
  throw CLI::RuntimeError(status);
}

void Processes::together(const std::function<void()>& action) const {
  if (!are_several()) return action();
  std::exception_ptr error;
  std::string text;
  try {
    action();
  } catch (const Error& caught) {
    error = std::current_exception();
    text = caught.what_without_backtrace();
  } catch (const std::exception& caught) {
    error = std::current_exception();
    text = caught.what();
  }
  const Tensor lowest = full({}, error ? rank_ : count_, kLong);
  dist::all_reduce(lowest, dist::ReduceOp::MIN);
  const auto failed_rank = lowest.item<int64_t>();
  if (failed_rank == count_) return;
  std::vector<IValue> of_failed{IValue(text), IValue(exit_code_of(error))};
  dist::broadcast_object_list(of_failed, static_cast<int>(failed_rank));
  on_first([&] {
    if (error) std::rethrow_exception(error);
    if (of_failed[1].toInt() == kUsageError) throw UsageError(of_failed[0].toStringRef());
    throw Error(of_failed[0].toStringRef());
  });
}

int64_t Processes::of_first(int64_t number) const {
  if (!are_several()) return number;
  const Tensor shared = full({}, number, kLong);
  dist::broadcast(shared, 0);
  return shared.item<int64_t>();
}

std::string Processes::of_first(const std::string& text) const {
  if (!are_several()) return text;
  std::vector<IValue> objects{IValue(text)};
  dist::broadcast_object_list(objects);
  return objects[0].toStringRef();
}

std::optional<SharedFile> Processes::file_of_first(const std::string& path) const {
  std::error_code error;
  const auto size = is_first() ? std::filesystem::file_size(path, error) : 0;
  const int64_t bytes = of_first(error ? -1 : static_cast<int64_t>(size));
  if (bytes < 0) return std::nullopt;
  if (!are_several()) return SharedFile(path);
  const Tensor content = empty({bytes}, kByte);
  on_first([&] {
    std::ifstream file(path, std::ios::binary);
    HEARTH_CHECK(file.read(static_cast<char*>(content.data_ptr()), bytes), "cannot read '", path,
                 "'");
  });
  dist::broadcast(content, 0);
  return is_first() ? SharedFile(path) : SharedFile(content);
}

std::vector<double> Processes::sums(std::vector<double> numbers) const {
  if (!are_several()) return numbers;
  const Tensor all = tensor(numbers, kDouble);
  dist::all_reduce(all);
  const double* begin = all.data_ptr<double>();
  return {begin, begin + all.numel()};
}

bool Processes::any(bool value) const { return sums({value ? 1.0 : 0.0}).front() > 0; }

void Processes::share_buffers(nn::Module& module) const {
  if (!are_several()) return;
  const NoGradGuard no_grad;
  for (const Tensor& buffer : module.buffers()) dist::broadcast(buffer, 0);
}

void Processes::check_same(const std::string& lines) const {
  const std::string first = of_first(lines);
  together([&] {
    const auto [mine, other] = first_difference(lines, first);
    HEARTH_CHECK(lines == first, "process ", rank_, " has '", mine, "', but process 0 has '", other,
                 "': all processes need the same settings and data");
  });
}

}  // namespace hearth::app

// cuDNN 9 marks its older API as deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <vector>

#include "core/modes.h"
#include "kernels/cuda/cudnn_library.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/libraries.h"

namespace hearth::cuda {

namespace {

#define HEARTH_TEXT_OF(number) #number
#define HEARTH_TEXT(number) HEARTH_TEXT_OF(number)
constexpr const char* kLibraryFile = "libcudnn.so." HEARTH_TEXT(CUDNN_MAJOR);

/// The opened library, which is never closed, or the reason why it could not be opened.
struct Opened {
  Cudnn functions;
  std::string why_not;

  Opened() {
    void* const library = dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const message = dlerror();
      why_not = message ? message : kLibraryFile;
      return;
    }
#define HEARTH_FIND(name) find(library, #name, functions.name);
    HEARTH_CUDNN_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  }

  template <class Function>
  void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) why_not = std::string(kLibraryFile) + " has no " + name;
  }
};

const Opened& opened() {
  static const Opened& once = *new Opened;
  return once;
}

/// The handles of threads that have ended, by device, for reuse by others. They are never
/// destroyed: the driver may be unloaded when the process ends.
class SpareHandles {
 public:
  static SpareHandles& get() {
    static auto* spare = new SpareHandles;
    return *spare;
  }
  cudnnHandle_t take(int device) {
    {
      const std::lock_guard lock(mutex_);
      auto& spare = handles_[device];
      if (!spare.empty()) {
        const cudnnHandle_t handle = spare.back();
        spare.pop_back();
        return handle;
      }
    }
    cudnnHandle_t handle = nullptr;
    HEARTH_CUDNN(cudnnCreate, &handle);
    return handle;
  }
  void release(int device, cudnnHandle_t handle) {
    const std::lock_guard lock(mutex_);
    handles_[device].push_back(handle);
  }

 private:
  std::mutex mutex_;
  std::vector<cudnnHandle_t> handles_[kMaxGpus];
};

/// A thread's handles, released for reuse at its end.
struct OwnHandles {
  cudnnHandle_t handles[kMaxGpus] = {};
  ~OwnHandles() {
    for (int device = 0; device < kMaxGpus; ++device)
      if (handles[device] != nullptr) SpareHandles::get().release(device, handles[device]);
  }
};

}  // namespace

const Cudnn* Cudnn::find() { return opened().why_not.empty() ? &opened().functions : nullptr; }

const Cudnn& Cudnn::get() {
  HEARTH_CHECK_AS(NotImplementedError, find(),
                  "convolutions on CUDA need cuDNN, which could not be opened: ", opened().why_not);
  return *find();
}

void check_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  detail::fail<Error>("cuDNN error: ", Cudnn::get().cudnnGetErrorString(status), " in ", call);
}

cudnnHandle_t cudnn_handle(const NativeStream& stream) {
  static thread_local OwnHandles own;
  cudnnHandle_t& handle = own.handles[stream.device];
  if (handle == nullptr) handle = SpareHandles::get().take(stream.device);
  HEARTH_CUDNN(cudnnSetStream, handle, stream.stream);
  return handle;
}

std::string cudnn_version() {
  const Cudnn* const library = Cudnn::find();
  return library ? version_text(library->cudnnGetVersion(), 10000, 100) : std::string();
}

}  // namespace hearth::cuda

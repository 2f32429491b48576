#include "hearth/data/mnist.h"

#include <array>
#include <filesystem>

#include "hearth/io/idx.h"

namespace hearth::data::datasets {

namespace {

constexpr const char* kHowToGetMnist =
    "for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do "
    "curl -LO https://ossci-datasets.s3.amazonaws.com/mnist/$f-ubyte.gz; done";

/// The path of the file or of its gzipped form; empty if neither exists.
std::string find_file(const std::string& root, const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    std::filesystem::path path = std::filesystem::path(root) / (name + suffix);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  return "";
}

/// Reads one of the four files. `content` is a part of the file name.
Tensor read(const std::string& root, MNIST::Mode mode, const char* name_in_errors,
            const char* content, const char* dims, const std::string& hint) {
  const std::string name = hearth::detail::str(mode == MNIST::Mode::kTrain ? "train-" : "t10k-",
                                               content, "-idx", dims, "-ubyte");
  const std::string path = find_file(root, name);
  HEARTH_CHECK(!path.empty(), "Error opening ", name_in_errors, " file at ", root, "/", name,
               ": neither it nor ", name, ".gz exists. To get it: ", hint);
  Tensor tensor = io::load_idx(path);
  HEARTH_CHECK(tensor.scalar_type() == kByte && tensor.dim() == (dims[0] - '0'), "cannot read '",
               path, "': at byte 2: expected ", dims, " dimensions of Byte, but got ",
               tensor.scalar_type(), " of sizes ", tensor.sizes());
  return tensor;
}

std::string how_to_get_fashion(const std::string& root) {
  const std::string install = "apt-get install dataset-fashion-mnist";
  if (root == FashionMNIST::kDebianFolder) return install;
  return install + " && mkdir -p '" + root + "' && cp " + FashionMNIST::kDebianFolder + "/* '" +
         root + "'";
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode)
    : MNIST(root, mode, "mkdir -p '" + root + "' && cd '" + root + "' && " + kHowToGetMnist) {}

MNIST::MNIST(const std::string& root, Mode mode, const std::string& hint) : mode_(mode) {
  const Tensor images = read(root, mode, "images", "images", "3", hint);
  targets_ = read(root, mode, "targets", "labels", "1", hint).to(kInt64);
  HEARTH_CHECK(images.size(0) == targets_.size(0), "the files in '", root, "' have ",
               images.size(0), " images but ", targets_.size(0), " labels");
  images_ = images.to(kFloat32).div_(255).unsqueeze(1);
}

Example<> MNIST::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {images_[i], targets_[i]};
}

std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

FashionMNIST::FashionMNIST(Mode mode) : FashionMNIST(kDebianFolder, mode) {}
FashionMNIST::FashionMNIST(const std::string& root, Mode mode)
    : MNIST(root, mode, how_to_get_fashion(root)) {}

}  // namespace hearth::data::datasets

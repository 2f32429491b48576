#pragma once

#include <array>
#include <streambuf>

namespace hearth::app {

/// A buffer that std::cout uses during its lifetime; it stores the errno of the first failed write,
/// which the stream does not.
class Output : public std::streambuf {
 public:
  Output();
  ~Output() override;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Flushes; throws if any write has failed.
  void check();

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  std::streambuf* previous_;
  std::array<char, 4096> buffer_;
  int error_ = 0;
};

}  // namespace hearth::app

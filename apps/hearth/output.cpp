#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "hearth/error.h"

namespace hearth::app {

Output::Output() : previous_(std::cout.rdbuf(this)) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

Output::~Output() {
  std::cout.flush();
  std::cout.rdbuf(previous_);
}

void Output::check() {
  std::cout.flush();
  HEARTH_CHECK(error_ == 0, "the output could not be written: ", std::strerror(error_));
}

Output::int_type Output::overflow(int_type character) {
  if (sync() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof()))
    sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int Output::sync() {
  for (const char* next = pbase(); next < pptr() && error_ == 0;) {
    const ssize_t written = write(STDOUT_FILENO, next, size_t(pptr() - next));
    if (written >= 0)
      next += written;
    else if (errno != EINTR)
      error_ = errno;
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return error_ == 0 ? 0 : -1;
}

}  // namespace hearth::app

#include "random_text.h"

#include <sys/random.h>

#include "hearth/error.h"

namespace hearth::app {

std::string random_text() {
  unsigned char bytes[16];
  HEARTH_CHECK(getrandom(bytes, sizeof bytes, 0) == ssize_t{sizeof bytes},
               "cannot read random numbers");
  std::string text;
  for (const unsigned char byte : bytes)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

}  // namespace hearth::app

// SPDX-License-Identifier: Apache-2.0
// A connection whose other end's kernel acknowledges nothing, as the kernel here tells of it.
#pragma once

namespace levee {

// While one of these lives, TCP_INFO says of the connection of which it is asked first that what
// was sent from then on is lost, and sent again after 0.2, 0.6 and 1.4 s, of JumpingTime. Of all
// others, and after HearAgain, it says the truth. The bytes themselves arrive all the same. By the
// linker's --wrap; one at a time, one thread.
class SilentKernel {
 public:
  SilentKernel();
  ~SilentKernel();
  SilentKernel(const SilentKernel&) = delete;
  SilentKernel& operator=(const SilentKernel&) = delete;

  void HearAgain();
};

}  // namespace levee

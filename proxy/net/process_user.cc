// SPDX-License-Identifier: Apache-2.0
#include "net/process_user.h"

#include <unistd.h>

namespace levee::net {

uint32_t ProcessUser() { return geteuid(); }

}  // namespace levee::net

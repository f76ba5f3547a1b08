# SPDX-License-Identifier: Apache-2.0
# The functions that virtual_time.cc replaces, as options of the linker.
set(LEVEE_VIRTUAL_TIME_WRAPS
  -Wl,--wrap=uv_hrtime,--wrap=timerfd_settime,--wrap=getrandom)

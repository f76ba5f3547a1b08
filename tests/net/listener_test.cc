// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

namespace levee::net {
namespace {

class UnixListener : public testing::Test {
 protected:
  UnixListener() {
    char name[] = "/tmp/levee-XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ + "/socket";
  }
  ~UnixListener() override {
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }

  auto Open(mode_t mode = 0660) {
    return Listener::Open(loop_, wheel_, *Address::FromUnixPath(path_), [](const ByteStream&) {},
                          {.mode = mode});
  }
  // Leaves a socket at the path on which nobody listens.
  void LeaveStaleSocket() {
    const Address address = *Address::FromUnixPath(path_);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd, address.get(), address.size()), 0);
    close(fd);
  }
  bool Exists() const { return access(path_.c_str(), F_OK) == 0; }

  EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  std::string directory_;
  std::string path_;
};

TEST_F(UnixListener, ListensAtThePathAndRemovesItInTheEnd) {
  {
    const auto listener = Open();
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ((*listener)->address().ToString(), "unix:" + path_);
    EXPECT_TRUE(Exists());
  }
  EXPECT_FALSE(Exists());
}

TEST_F(UnixListener, TheSocketHasTheModeAskedFor) {
  const auto listener = Open(0606);
  struct stat file {};
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0606u);
}

TEST_F(UnixListener, AFileThatTakesTheSocketsPlaceKeepsItsMode) {
  const auto listener = Open(0600);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::string other = directory_ + "/other";
  close(open(other.c_str(), O_CREAT | O_WRONLY, 0600));
  ASSERT_EQ(rename(path_.c_str(), (path_ + ".old").c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), path_.c_str()), 0);
  EXPECT_FALSE((*listener)->SetMode(0666).ok());
  struct stat file {};
  ASSERT_EQ(stat(other.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  for (const std::string& name : {other, path_, path_ + ".old"}) unlink(name.c_str());
}

TEST_F(UnixListener, ASocketThatNobodyListensOnIsReplaced) {
  LeaveStaleSocket();
  EXPECT_TRUE(Open().ok());
}

TEST_F(UnixListener, ASocketInUseIsAnError) {
  const auto first = Open();
  const auto second = Open();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().message(),
            "cannot listen on unix:" + path_ + ": another process listens there");
  EXPECT_TRUE(Exists());
}

TEST_F(UnixListener, AFileThatIsNoSocketIsLeftAlone) {
  close(open(path_.c_str(), O_CREAT | O_WRONLY, 0600));
  const auto listener = Open();
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.status().message(),
            "cannot listen on unix:" + path_ + ": there is a file that is no socket");
  EXPECT_TRUE(Exists());
}

TEST_F(UnixListener, ASocketThatTookItsPlaceIsNotRemoved) {
  auto listener = Open();
  unlink(path_.c_str());
  LeaveStaleSocket();
  listener->reset();
  EXPECT_TRUE(Exists());
}

// As many turns of a loop as a connection that waits needs to be noticed, and more.
void TurnOften(EventLoop& loop) {
  int turns = 0;
  std::function<void()> next = [&] { ++turns < 20 ? loop.Post(next) : loop.Stop(); };
  loop.Post(next);
  loop.Run();
}

// The lowest number that no descriptor has.
rlim_t LowestFree() {
  const int fd = open("/dev/null", O_RDONLY);
  close(fd);
  return static_cast<rlim_t>(fd);
}

TEST(TcpListener, RestsWhenNotEvenASpareDescriptorIsLeft) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "without descriptors the sanitizer cannot look at objects";
#endif
  EventLoop loop;
  TimerWheel wheel(loop.now());
  int accepted = 0, exhausted = 0;
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  // There is one for the listener itself.
  const rlimit few = {.rlim_cur = LowestFree() + 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto listener =
      Listener::Open(loop, wheel, *Address::FromIp("127.0.0.1", 0),
                     [&](const ByteStream&) { ++accepted; }, {.exhausted = [&] { ++exhausted; }});
  ASSERT_TRUE(listener.ok()) << listener.status();
  const Address to = (*listener)->address();
  ASSERT_EQ(connect(caller, to.get(), to.size()), 0);
  TurnOften(loop);
  EXPECT_EQ(exhausted, 1);

  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  TurnOften(loop);
  EXPECT_EQ(accepted, 0);
  // The wheel's timers are due at the next full millisecond.
  wheel.Advance(loop.now() + Listener::kPause + absl::Milliseconds(1));
  TurnOften(loop);
  EXPECT_EQ(accepted, 1);
  EXPECT_EQ(exhausted, 1);
  close(caller);
}

}  // namespace
}  // namespace levee::net

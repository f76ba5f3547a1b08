#include "net/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
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
    return Listener::Open(
        loop_, *Address::FromUnixPath(path_), [](int fd) { close(fd); }, mode);
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

}  // namespace
}  // namespace levee::net

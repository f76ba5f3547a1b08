// SPDX-License-Identifier: Apache-2.0
#include "config/link_cache.h"

#include <filesystem>
#include <string>

#include "config/temporary_folder.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

namespace fs = std::filesystem;

struct LinkCacheTest : public ::testing::Test {
  void Link(const std::string& name, const fs::path& target) const {
    fs::create_symlink(target, folder_.Path("new"));
    fs::rename(folder_.Path("new"), folder_.Path(name));
  }

  const TemporaryFolder folder_;
  LinkCache links_;
};

TEST_F(LinkCacheTest, FilesBehindOneLinkStayTogetherWhereItLed) {
  Link("certificate", "..data/certificate");
  Link("key", folder_.Path("..data/key"));
  Link("..data", "..1");
  EXPECT_EQ(links_.Follow(folder_.Path("certificate")), folder_.Path("..1/certificate"));
  EXPECT_FALSE(links_.Overtaken());
  Link("..data", "..2");
  EXPECT_EQ(links_.Follow(folder_.Path("key")), folder_.Path("..1/key"));
  EXPECT_TRUE(links_.Overtaken());
  EXPECT_EQ(LinkCache().Follow(folder_.Path("key")), folder_.Path("..2/key"));
}

TEST_F(LinkCacheTest, ALinkThatIsGoneIsOvertaken) {
  Link("key", "elsewhere");
  links_.Follow(folder_.Path("key"));
  fs::remove(folder_.Path("key"));
  EXPECT_TRUE(links_.Overtaken());
}

TEST_F(LinkCacheTest, FilesWithoutLinksAreWhereTheyAre) {
  for (const char* name : {"there", "missing", "no/folder", "../above"}) {
    EXPECT_EQ(links_.Follow(folder_.Path(name)), folder_.Path(name));
  }
  EXPECT_FALSE(links_.Overtaken());
}

TEST_F(LinkCacheTest, ARingOfLinksIsLeftToTheReader) {
  Link("a", "b");
  Link("b", "a");
  EXPECT_EQ(links_.Follow(folder_.Path("a")), folder_.Path("a"));
}

}  // namespace
}  // namespace levee

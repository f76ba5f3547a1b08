// SPDX-License-Identifier: Apache-2.0
#include "insight/tls_destinations.h"

#include <string>

#include "gmock/gmock.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(TlsDestinations, EachIsNewOnce) {
  TlsDestinations destinations;
  EXPECT_TRUE(destinations.Add("shop.test:443"));
  EXPECT_TRUE(destinations.Add("bank.test:443"));
  EXPECT_FALSE(destinations.Add("shop.test:443"));
  EXPECT_THAT(destinations.Read(), ElementsAre("bank.test:443", "shop.test:443"));
}

TEST(TlsDestinations, OfMadeUpNamesOnlySomeAreRemembered) {
  TlsDestinations destinations;
  for (size_t i = 0; i < 10 * TlsDestinations::kMax; ++i) {
    EXPECT_EQ(destinations.Add("host" + std::to_string(i)), i < TlsDestinations::kMax);
  }
  EXPECT_THAT(destinations.Read(), SizeIs(TlsDestinations::kMax));
}

}  // namespace
}  // namespace levee

// SPDX-License-Identifier: Apache-2.0
// Files with descriptors: where they are looked for, what they say, what is wrong with them.
#include "config/descriptor_set.h"

#include <filesystem>
#include <string>

#include "config/faults_of.h"
#include "config/temporary_folder.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodOptions;
using google::protobuf::ServiceDescriptorProto;

google::protobuf::MethodDescriptorProto& AddMethod(ServiceDescriptorProto& service,
                                                   const std::string& name,
                                                   MethodOptions::IdempotencyLevel level) {
  auto& method = *service.add_method();
  method.set_name(name);
  if (level != MethodOptions::IDEMPOTENCY_UNKNOWN) {
    method.mutable_options()->set_idempotency_level(level);
  }
  return method;
}

// Two files: shop.Cart with three methods, of which `get` says what Get is, and Health without a
// package.
std::string Shop(MethodOptions::IdempotencyLevel get = MethodOptions::NO_SIDE_EFFECTS) {
  FileDescriptorSet set;
  FileDescriptorProto& shop = *set.add_file();
  shop.set_name("shop.proto");
  shop.set_package("shop");
  ServiceDescriptorProto& cart = *shop.add_service();
  cart.set_name("Cart");
  AddMethod(cart, "Get", get);
  AddMethod(cart, "Put", MethodOptions::IDEMPOTENT);
  AddMethod(cart, "Add", MethodOptions::IDEMPOTENCY_UNKNOWN);
  ServiceDescriptorProto& health = *set.add_file()->add_service();
  health.set_name("Health");
  AddMethod(health, "Check", MethodOptions::IDEMPOTENCY_UNKNOWN);
  return set.SerializeAsString();
}

std::string UpstreamWith(const std::string& file) {
  return "upstreams:\n  - name: anywhere\n    endpoints: [\"authority:\"]\n    descriptor_set: " +
         file + "\n";
}

// Returns the fault of a file of these bytes.
std::string WrongWith(const std::string& bytes) {
  return std::string(ParseDescriptorSet(bytes).status().message());
}

TEST(DescriptorSet, NamesMethodsByTheirPaths) {
  const DescribedMethods methods = ParseDescriptorSet(Shop()).value();
  EXPECT_EQ(methods.all, (std::set<std::string, std::less<>>{"/Health/Check", "/shop.Cart/Add",
                                                             "/shop.Cart/Get", "/shop.Cart/Put"}));
  EXPECT_EQ(methods.idempotent,
            (std::set<std::string, std::less<>>{"/shop.Cart/Get", "/shop.Cart/Put"}));
}

// A file with a unary method and one of each kind of streams.
std::string Feed() {
  FileDescriptorSet set;
  FileDescriptorProto& file = *set.add_file();
  file.set_package("shop");
  ServiceDescriptorProto& feed = *file.add_service();
  feed.set_name("Feed");
  AddMethod(feed, "Get", MethodOptions::IDEMPOTENCY_UNKNOWN);
  AddMethod(feed, "Watch", MethodOptions::IDEMPOTENCY_UNKNOWN).set_server_streaming(true);
  AddMethod(feed, "Upload", MethodOptions::IDEMPOTENCY_UNKNOWN).set_client_streaming(true);
  return set.SerializeAsString();
}

TEST(DescriptorSet, SaysWhichMethodsAreStreams) {
  const DescribedMethods methods = ParseDescriptorSet(Feed()).value();
  EXPECT_EQ(methods.KindOf("/shop.Feed/Get"), CallKind::kUnary);
  EXPECT_EQ(methods.KindOf("/shop.Feed/Watch"), CallKind::kStream);
  EXPECT_EQ(methods.KindOf("/shop.Feed/Upload"), CallKind::kStream);
  EXPECT_EQ(methods.KindOf("/shop.Feed/Other"), std::nullopt);
}

// Returns the warnings of a policy `live` that a route with `match` and the methods of Feed leads
// to.
std::string WarningsOfFeed(const std::string& match, const std::string& policy) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("feed.pb", Feed());
  const std::string text =
      "upstreams: [{name: feed, endpoints: [\"10.0.0.1:1\"], descriptor_set: \"" + file +
      "\"}]\nroutes:\n  - {match: " + match +
      ", upstream: feed, policy: live}\npolicies: [{name: live, " + policy + "}]\n";
  std::string warnings;
  for (const Fault& warning : CheckConfig({{"f", text}}, std::nullopt).warnings) {
    warnings += FormatFault(warning) + "\n";
  }
  return warnings;
}

TEST(DescriptorSet, ATimeoutThatServesAStreamIsWarnedOfUnlessTheStreamsBoundIsSaid) {
  const std::string warning = WarningsOfFeed("{}", "timeout: 2s");
  EXPECT_NE(warning.find("LV936 policies[0].timeout: warning: does not end /shop.Feed/Upload, "
                         "which is a stream by its descriptor"),
            std::string::npos)
      << warning;
  EXPECT_EQ(WarningsOfFeed("{}", "timeout: 2s, stream: {timeout: none}").find("LV936"),
            std::string::npos);
  EXPECT_EQ(WarningsOfFeed("{}", "stream: {idle: 5m}").find("LV936"), std::string::npos);
  EXPECT_EQ(WarningsOfFeed("{method: /shop.Feed/Get}", "timeout: 2s").find("LV936"),
            std::string::npos);
}

TEST(DescriptorSet, RelativePathStartsAtTheConfigurationsDirectory) {
  const TemporaryFolder folder;
  folder.Write("shop.pb", Shop());
  const std::string config = folder.Write("levee.yaml", UpstreamWith("shop.pb"));
  const auto snapshot = LoadConfig({{config}, std::nullopt});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  ASSERT_NE((*snapshot)->upstreams[0].methods, nullptr);
  EXPECT_TRUE((*snapshot)->upstreams[0].methods->idempotent.contains("/shop.Cart/Get"));
}

TEST(DescriptorSet, AbsolutePathIsTakenAsItIs) {
  const TemporaryFolder folder;
  const auto snapshot = SnapshotOf(UpstreamWith(folder.Write("shop.pb", Shop())));
  ASSERT_NE(snapshot->upstreams[0].methods, nullptr);
  EXPECT_EQ(snapshot->upstreams[0].methods->all.size(), 4u);
}

TEST(DescriptorSet, EachFileNamesPathsFromItsOwnDirectory) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.Path("more"));
  folder.Write("shop.pb", Shop());
  const std::string first = folder.Write(
      "a.yaml", "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"], descriptor_set: shop.pb}]\n");
  const std::string second = folder.Write(
      "more/b.yaml",
      "upstreams: [{name: b, endpoints: [\"10.0.0.1:1\"], descriptor_set: ../shop.pb}]\n"
      "routes: [{upstream: a}]\n");
  const auto snapshot = LoadConfig({{first, second}, std::nullopt});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  EXPECT_EQ((*snapshot)->upstreams[0].methods->all.size(), 4u);
  EXPECT_EQ((*snapshot)->upstreams[1].methods->all.size(), 4u);
}

TEST(DescriptorSet, UpstreamsOfOneFileShareItsMethods) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("shop.pb", Shop());
  const auto snapshot = SnapshotOf(
      "upstreams:\n"
      "  - {name: anywhere, endpoints: [\"authority:\"], descriptor_set: " +
      file +
      "}\n"
      "  - {name: cart, endpoints: [\"10.0.0.1:1\"], descriptor_set: " +
      file +
      "}\n"
      "  - {name: other, endpoints: [\"10.0.0.2:1\"], descriptor_set: none}\n");
  ASSERT_EQ(snapshot->upstreams.size(), 3u);
  EXPECT_NE(snapshot->upstreams[0].methods, nullptr);
  EXPECT_EQ(snapshot->upstreams[0].methods, snapshot->upstreams[1].methods);
  EXPECT_EQ(snapshot->upstreams[2].methods, nullptr);
}

TEST(DescriptorSet, FileThatCannotBeReadIsAFaultWhereItIsNamed) {
  const TemporaryFolder folder;
  const std::string config = folder.Write("levee.yaml", UpstreamWith("shop.pb"));
  EXPECT_EQ(LoadConfig({{config}, std::nullopt}).status().message(),
            config + ":4:21: LV401 upstreams[0].descriptor_set: \"" + folder.Path("shop.pb") +
                "\" cannot be read: No such file or directory");
  EXPECT_EQ(FaultsOf(UpstreamWith("/")),
            "f:4:21: LV401 upstreams[0].descriptor_set: \"/\" cannot be read: Is a directory");
}

TEST(DescriptorSet, FaultyContentIsAFaultWhereItIsNamed) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("shop.proto", "syntax = \"proto3\";\n");
  EXPECT_EQ(FaultsOf(UpstreamWith(file)),
            "f:4:21: LV403 upstreams[0].descriptor_set: \"" + file +
                "\" is not a FileDescriptorSet; write it with protoc --include_imports "
                "--descriptor_set_out=FILE");
}

TEST(DescriptorSet, IsADescriptorSetWithAService) {
  const std::string cure = "; write it with protoc --include_imports --descriptor_set_out=FILE";
  EXPECT_EQ(WrongWith("service Cart {}"), "is not a FileDescriptorSet" + cure);
  EXPECT_EQ(WrongWith(Shop().substr(0, 40)), "is not a FileDescriptorSet" + cure);
  EXPECT_EQ(WrongWith(""), "describes no service with methods" + cure);
  FileDescriptorSet without;
  without.add_file()->set_name("messages.proto");
  without.add_file()->add_service()->set_name("Empty");
  EXPECT_EQ(WrongWith(without.SerializeAsString()), "describes no service with methods" + cure);
}

TEST(DescriptorSet, FileBeyondTheLimitIsNotRead) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("huge.pb", "");
  std::filesystem::resize_file(file, (64 << 20) + 1);
  EXPECT_EQ(FaultsOf(UpstreamWith(file)),
            "f:4:21: LV402 upstreams[0].descriptor_set: \"" + file +
                "\" is larger than 64 MiB; name a file with fewer services");
  std::filesystem::resize_file(file, 64 << 20);
  EXPECT_EQ(FaultsOf(UpstreamWith(file)),
            "f:4:21: LV403 upstreams[0].descriptor_set: \"" + file +
                "\" is not a FileDescriptorSet; write it with protoc --include_imports "
                "--descriptor_set_out=FILE");
}

TEST(DescriptorSet, Sha256IsOfTheContentNotOfThePath) {
  const TemporaryFolder folder;
  const std::string read_only = folder.Write("a.pb", Shop());
  const std::string copy = folder.Write("b.pb", Shop());
  const std::string unsafe = folder.Write("c.pb", Shop(MethodOptions::IDEMPOTENCY_UNKNOWN));
  const auto of = [](const std::string& file) { return SnapshotOf(UpstreamWith(file))->sha256; };
  EXPECT_EQ(of(read_only), of(copy));
  EXPECT_NE(of(read_only), of(unsafe));
  EXPECT_NE(of(read_only), of("none"));
}

}  // namespace
}  // namespace levee

// SPDX-License-Identifier: Apache-2.0
#include "cli/page_command.h"

#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "admin/admin_server.h"
#include "admin/recorded_state.h"
#include "cli/input.h"
#include "config/addresses.h"
#include "config/check_report.h"
#include "levee/admin/v1/admin.pb.h"
#include "net/event_loop.h"
#include "net/terminal.h"

namespace levee {
namespace {

// More than a snapshot of a thousand upstreams has.
constexpr size_t kMaxSnapshotBytes = size_t{1} << 30;

int FailToShow(absl::string_view fault) {
  std::fprintf(stderr, "levee page: %s\n", std::string(fault).c_str());
  return 1;
}

// Returns nullopt, with the reason on standard error, if the file is no snapshot.
std::optional<admin::v1::Snapshot> ReadSnapshot(const std::string& file) {
  FaultList unread;
  const auto text = ReadInput(file, kMaxSnapshotBytes, unread);
  if (!text.has_value()) {
    std::fprintf(stderr, "%s\n", FormatFaults(unread.Sorted({file})).c_str());
    return std::nullopt;
  }
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  admin::v1::Snapshot snapshot;
  const auto read = google::protobuf::util::JsonStringToMessage(text->text, &snapshot, options);
  if (read.ok() && snapshot.state().next() > 0) return snapshot;
  FailToShow(absl::StrCat(file, " is not a snapshot; levee snapshot writes one"));
  return std::nullopt;
}

AdminContent ContentOf(admin::v1::Snapshot snapshot) {
  snapshot.mutable_state()->set_snapshot(true);
  return {.state = [state = std::move(*snapshot.mutable_state())](
                       const auto& request) { return ReadRecorded(state, request); },
          .config =
              [config = std::move(*snapshot.mutable_configuration())] {
                return AdminContent::Config{
                    .sha256 = config.sha256(), .yaml = config.text(), .json = ""};
              }};
}

}  // namespace

Command AddPage(Command app, PageOptions& options) {
  Command page = app.AddCommand("page", "show the page of a snapshot in a browser");
  page.AddOption("file", options.file, "a file that levee snapshot wrote; '-' is standard input")
      .ValueName("FILE")
      .Required();
  page.AddOption("--listen", options.listen,
                 "the address of the page; with port 0 the system chooses a port")
      .Check([](const std::string& text) {
        return std::string(ParseListenAddress(text).status().message());
      })
      .ValueName("IP:PORT")
      .ShowDefault();
  page.Footer("Prints the address of the page. Ctrl-C ends it.");
  return page;
}

int RunPage(const PageOptions& options) {
  auto snapshot = ReadSnapshot(options.file);
  if (!snapshot.has_value()) return 1;
  ListenAddress listen = *ParseListenAddress(options.listen);
  listen.position = "--listen";
  const auto server = AdminServer::Start(listen, ContentOf(*std::move(snapshot)));
  if (!server.ok()) return FailToShow(server.status().message());
  std::printf("%s: http://%s/ (Ctrl-C ends it)\n", options.file.c_str(),
              (*server)->address().ToString().c_str());
  std::fflush(stdout);
  net::EventLoop loop;
  for (const int signal : {net::kInterruptSignal, net::kTerminateSignal, net::kHangupSignal}) {
    loop.OnSignal(signal, [&loop] { loop.Stop(); });
  }
  loop.Run();
  return 0;
}

}  // namespace levee

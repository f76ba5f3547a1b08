// SPDX-License-Identifier: Apache-2.0
#include "config/check_code.h"

#include "absl/strings/str_format.h"

namespace levee {

namespace {

using enum CheckCode;

constexpr CheckCodeInfo kCodes[] = {
    {kMoreFaults, "More faults than are shown"},
    {kMoreWarnings, "More warnings than are shown"},
    {kNotYaml, "Not YAML"},
    {kNotUtf8, "Not UTF-8"},
    {kSecondDocument, "A second document"},
    {kTooManyValues, "Too many values"},
    {kUnknownField, "Unknown field"},
    {kDuplicateKey, "Key given twice"},
    {kKeyNotWord, "Key that is not a word"},
    {kNoValue, "No value"},
    {kWrongType, "Wrong type"},
    {kMissingField, "Missing field"},
    {kEmptyList, "Empty list"},
    {kOutOfRange, "Out of range"},
    {kUnknownWord, "Unknown word"},
    {kNotSwitchedOff, "Cannot be switched off"},
    {kDuration, "Not a duration"},
    {kSize, "Not a size"},
    {kStatusCode, "Not a gRPC failure code"},
    {kHttpStatus, "Not an HTTP status"},
    {kRate, "Not a rate"},
    {kListenAddress, "Not an address to listen on"},
    {kEndpoint, "Not an endpoint"},
    {kName, "Not a name"},
    {kAuthorityGlob, "Authority that can never match"},
    {kMethodGlob, "Method that can never match"},
    {kAddedHeader, "Not a header that Levee may add"},
    {kRateLimitKey, "Not a part of a rate limit's key"},
    {kFileMode, "Not a file mode"},
    {kEmptyText, "Empty text"},
    {kReservedName, "Reserved name"},
    {kWhole, "Not a whole number"},
    {kHeader, "Not a header"},
    {kTlsVersion, "Not a version of TLS"},
    {kAltName, "Not a name of a certificate"},
    {kHostName, "Not a host name"},
    {kDanglingReference, "Name that refers to nothing"},
    {kBuiltInRoute, "Built-in route without its upstream"},
    {kDuplicateName, "Name given twice"},
    {kExclusiveFields, "Fields that exclude each other"},
    {kNeedsField, "Field that needs another one"},
    {kMaxBelowInitial, "Maximum below the initial delay"},
    {kAddressTwice, "Address used twice"},
    {kAuthorityNotAlone, "authority: or original: beside other endpoints"},
    {kModeWithoutSocket, "Mode without a Unix socket"},
    {kRuleMatchesNothing, "Rule that matches nothing"},
    {kBesideHedge, "Contradicts hedge"},
    {kKeyPartTwice, "Part of a key given twice"},
    {kRateTooLowForBurst, "Rate too low for its burst"},
    {kHeaderBlockBelowMetadata, "Header block smaller than the metadata in it"},
    {kRetriesInbound, "Retries of calls to the application"},
    {kGuardOnEgress, "Guard of the application's own calls"},
    {kInitialOutsideBounds, "Initial limit outside its bounds"},
    {kEndpointIsListener, "Endpoint that is Levee itself"},
    {kNoNameToCheck, "Certificate without a name to check"},
    {kConnectOverTls, "CONNECT on a listener with TLS"},
    {kPeerUnknown, "Peer where callers show no certificate"},
    {kStoreAddress, "Address of a store"},
    {kGlobalLimit, "Global limit that contradicts itself"},
    {kReceiverAddress, "Address of the receiver of spans"},
    {kServiceLimit, "Limit of a rate limit service that contradicts itself"},
    {kNothingRedirected, "original_dst where nothing is redirected"},
    {kUselessShadow, "Shadow that decides nothing"},
    {kUnreadableFile, "File that cannot be read"},
    {kFileTooLarge, "File too large"},
    {kDescriptorSet, "Not a descriptor set"},
    {kCertificate, "Certificate or key that cannot be used"},
    {kHeadersFile, "Line of a headers file that is no header"},
    {kNotSupported, "Not supported yet"},
    {kAttemptsExceedTimeout, "Attempts that do not fit into the timeout"},
    {kAttemptTimeoutNotRetried, "attempt_timeout that is not retried"},
    {kHttpClientError, "HTTP client error retried"},
    {kPermanentStatus, "Status retried that does not go away"},
    {kUnsafeRetry, "Retries of a method that is unlikely to be idempotent"},
    {kHighRatio, "Budget above half of the calls"},
    {kFloorAboveShare, "Floor above the ratio's share"},
    {kFloorBelowOne, "Floor below one retry"},
    {kBudgetAllowsNothing, "Budget that allows no retry"},
    {kUnreachableRoute, "Route that never matches"},
    {kUnusedUpstream, "Upstream that no route uses"},
    {kUnusedPolicy, "Policy that no route uses"},
    {kExposedAdmin, "Admin server open to the network"},
    {kExposedListener, "Listener open to the network"},
    {kFrequentKeepalive, "Keepalive that servers refuse"},
    {kMarkIgnored, "Overload mark ignored"},
    {kNeverRetried, "Listed, but never retried"},
    {kThrottledOnCode, "Throttle on a code that need not mean overload"},
    {kWaitBeyondTimeout, "Wait that outlasts the call"},
    {kBurstBelowOne, "Burst below one retry"},
    {kMemoryAboveContainer, "More memory than the container leaves"},
    {kLimitsAboveMemory, "Limits that memory has no room for"},
    {kFewDescriptors, "More connections than descriptors"},
    {kUnusedListener, "Listener without a route"},
    {kPeerNotVerified, "Service that is not verified"},
    {kExposedKey, "Private key that others can read"},
    {kUnusedStore, "Store that nothing uses"},
    {kClaimBelowTimeout, "Claim that a slow store lets pass"},
    {kHalfOfKeys, "Half of what runs calls once"},
    {kNoOriginal, "original: without original_dst"},
    {kOneAddress, "Retries that have one address"},
    {kHeadersInClear, "Headers sent in clear text"},
    {kNodesByAddress, "Nodes without a name to check"},
};

}  // namespace

std::span<const CheckCodeInfo> AllCheckCodes() { return kCodes; }

std::string CheckCodeText(CheckCode code) {
  return code == kNone ? "" : absl::StrFormat("LV%03d", static_cast<int>(code));
}

bool IsWarning(CheckCode code) { return code == kMoreWarnings || static_cast<int>(code) >= 900; }

}  // namespace levee

// SPDX-License-Identifier: Apache-2.0
// The codes of the faults and warnings about a configuration.
#pragma once

#include <span>
#include <string>

namespace levee {

// The codes are stable: a code keeps its number and its meaning, and the number of a removed code
// is not used again. docs/checks.md explains each. The hundreds give the kind of check: 0 about the
// report itself, 1 YAML and shape, 2 single values, 3 fields that contradict or refer to others, 4
// files, 9 warnings. 501 was of fields that were not supported yet.
enum class CheckCode {
  kNone = 0,  // of an imported file, which is no configuration of Levee

  kMoreFaults = 1,
  kMoreWarnings = 2,

  kNotYaml = 101,
  kNotUtf8 = 102,
  kSecondDocument = 103,
  kTooManyValues = 104,
  kUnknownField = 105,
  kDuplicateKey = 106,
  kKeyNotWord = 107,
  kNoValue = 108,
  kWrongType = 109,
  kMissingField = 110,
  kEmptyList = 111,

  kOutOfRange = 201,
  kUnknownWord = 202,
  kNotSwitchedOff = 203,
  kDuration = 204,
  kSize = 205,
  kStatusCode = 206,
  kHttpStatus = 207,
  kRate = 208,
  kListenAddress = 209,
  kEndpoint = 210,
  kName = 211,
  kAuthorityGlob = 212,
  kMethodGlob = 213,
  kAddedHeader = 214,
  kRateLimitKey = 215,
  kFileMode = 216,
  kEmptyText = 217,
  kReservedName = 218,
  kWhole = 219,
  kHeader = 220,
  kTlsVersion = 221,
  kAltName = 222,
  kHostName = 223,
  kSocket = 224,
  kRegex = 225,

  kDanglingReference = 301,
  kBuiltInRoute = 302,
  kDuplicateName = 303,
  kExclusiveFields = 304,
  kNeedsField = 305,
  kMaxBelowInitial = 306,
  kAddressTwice = 307,
  kAuthorityNotAlone = 308,
  kModeWithoutSocket = 309,
  kRuleMatchesNothing = 310,
  kBesideHedge = 311,
  kKeyPartTwice = 312,
  kRateTooLowForBurst = 313,
  kHeaderBlockBelowMetadata = 314,
  kRetriesInbound = 315,
  kGuardOnEgress = 316,
  kInitialOutsideBounds = 317,
  kEndpointIsListener = 318,
  kNoNameToCheck = 319,
  kConnectOverTls = 320,
  kPeerUnknown = 321,
  kStoreAddress = 322,
  kGlobalLimit = 323,
  kReceiverAddress = 324,
  kServiceLimit = 327,
  kNothingRedirected = 330,
  kDenyOnEgress = 331,
  kSplitWithoutWeight = 332,
  kUselessShadow = 340,

  kUnreadableFile = 401,
  kFileTooLarge = 402,
  kDescriptorSet = 403,
  kCertificate = 404,
  kHeadersFile = 405,

  kAttemptsExceedTimeout = 901,
  kAttemptTimeoutNotRetried = 902,
  kHttpClientError = 903,
  kPermanentStatus = 904,
  kUnsafeRetry = 905,
  kHighRatio = 906,
  kFloorAboveShare = 907,
  kFloorBelowOne = 908,
  kBudgetAllowsNothing = 909,
  kUnreachableRoute = 910,
  kUnusedUpstream = 911,
  kUnusedPolicy = 912,
  kExposedAdmin = 913,
  kExposedListener = 914,
  kFrequentKeepalive = 915,
  kMarkIgnored = 916,
  kNeverRetried = 917,
  kThrottledOnCode = 918,
  kWaitBeyondTimeout = 919,
  kBurstBelowOne = 920,
  kMemoryAboveContainer = 921,
  kLimitsAboveMemory = 922,
  kFewDescriptors = 923,
  kUnusedListener = 924,
  kPeerNotVerified = 925,
  kExposedKey = 926,
  kUnusedStore = 927,
  kClaimBelowTimeout = 928,
  kHalfOfKeys = 929,
  kNoOriginal = 930,
  kOneAddress = 931,
  kHeadersInClear = 932,
  kNoWorkloadApi = 933,
  kSvidWithoutName = 934,
  kMountedAlone = 935,
  kTimeoutOfStreams = 936,
  kKeysAboveMemory = 937,
  kAllowByHeader = 938,
  kPeerNotDemanded = 939,
  kNodesByAddress = 940,
  kOwnListener = 942,
};

struct CheckCodeInfo {
  CheckCode code;
  const char* title;  // its title in docs/checks.md
};

// Returns every code except kNone, in ascending order.
std::span<const CheckCodeInfo> AllCheckCodes();

// Returns "LV101"; empty for kNone.
std::string CheckCodeText(CheckCode code);

// Whether the code is a warning: the configuration is legal, but dangerous. Every other code is a
// fault.
bool IsWarning(CheckCode code);

}  // namespace levee

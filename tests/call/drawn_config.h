// SPDX-License-Identifier: Apache-2.0
// Configurations drawn at random, field by field from the schema.
#pragma once

#include <string>
#include <vector>

#include "call/random_policy.h"
#include "policy/retry_policy.h"

namespace levee {

// Which calls a policy is for: the application's own, or those to it.
enum class Side { kEgress, kInbound };

struct DrawnConfig {
  std::string yaml;  // the policy as a user would write it
  CallPolicy policy;
  OverloadPolicy overload;
};

// Returns a policy that the configuration accepts, read by the code that reads files. Every field
// that a policy can have is given in some: a field that the schema gets needs a row in
// call/field_values.cc, unless its type says what its values are.
DrawnConfig DrawConfig(const Draws& draws, Side side);

// The same as one policy of a file, in YAML's flow style, named drawn0, drawn1, ... by its
// `number`.
std::string DrawPolicyText(const Draws& draws, Side side, size_t number);
// What the section `overload` may say.
std::string DrawOverloadText(const Draws& draws);

// Returns the fields that can never be drawn since call/field_values.cc has no row for them.
std::vector<std::string> FieldsWithoutValues();

}  // namespace levee

// SPDX-License-Identifier: Apache-2.0
// The values that random configurations give to the fields of a policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace levee {

struct FieldValues {
  // As the configuration has them; one of them is drawn. Empty: the type says which there are.
  std::vector<std::string_view> texts;
  double share = 0.5;  // of the policies that give the field, unless they must
};

// Returns nullptr for a field without a row: enums and booleans need none, as all of their values
// are drawn, nor do messages, whose fields are drawn one by one.
const FieldValues* FindFieldValues(const google::protobuf::FieldDescriptor& field);

}  // namespace levee

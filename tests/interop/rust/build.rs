// SPDX-License-Identifier: Apache-2.0
//! Writes the code of interop.proto.

fn main() -> std::io::Result<()> {
    tonic_prost_build::compile_protos("../interop.proto")
}

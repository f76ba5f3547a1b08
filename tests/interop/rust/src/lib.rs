// SPDX-License-Identifier: Apache-2.0
//! The messages and services of interop.proto.

pub mod tls;

tonic::include_proto!("levee.interop.v1");

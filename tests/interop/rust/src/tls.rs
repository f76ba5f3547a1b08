// SPDX-License-Identifier: Apache-2.0
//! mTLS with the files of the folder INTEROP_TLS, if there is one.

use std::io::Result;
use std::path::{Path, PathBuf};

use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

fn folder() -> Option<PathBuf> {
    std::env::var_os("INTEROP_TLS").map(PathBuf::from)
}

fn ca(folder: &Path) -> Result<Certificate> {
    Ok(Certificate::from_pem(std::fs::read(folder.join("ca.pem"))?))
}

fn own(folder: &Path) -> Result<Identity> {
    let read = |name| std::fs::read(folder.join(name));
    Ok(Identity::from_pem(read("own.crt")?, read("own.key")?))
}

/// None for plaintext. A client whose folder has no certificate shows none.
pub fn client() -> Result<Option<ClientTlsConfig>> {
    let Some(folder) = folder() else { return Ok(None) };
    let config = ClientTlsConfig::new().ca_certificate(ca(&folder)?);
    if !folder.join("own.crt").exists() {
        return Ok(Some(config));
    }
    Ok(Some(config.identity(own(&folder)?)))
}

/// None for plaintext.
pub fn server() -> Result<Option<ServerTlsConfig>> {
    let Some(folder) = folder() else { return Ok(None) };
    Ok(Some(ServerTlsConfig::new().identity(own(&folder)?).client_ca_root(ca(&folder)?)))
}

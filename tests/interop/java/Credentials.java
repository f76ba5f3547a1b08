// SPDX-License-Identifier: Apache-2.0
// What the programs speak: plaintext, or mTLS with the files of the folder INTEROP_TLS.

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import java.io.File;
import java.io.IOException;

final class Credentials {
  private static final String FOLDER = System.getenv("INTEROP_TLS");

  private static File file(String name) {
    return new File(FOLDER, name);
  }

  /** A client whose folder has no certificate shows none. */
  static ChannelCredentials client() throws IOException {
    if (FOLDER == null) {
      return InsecureChannelCredentials.create();
    }
    TlsChannelCredentials.Builder builder =
        TlsChannelCredentials.newBuilder().trustManager(file("ca.pem"));
    if (file("own.crt").exists()) {
      builder.keyManager(file("own.crt"), file("own.key"));
    }
    return builder.build();
  }

  static ServerCredentials server() throws IOException {
    if (FOLDER == null) {
      return InsecureServerCredentials.create();
    }
    return TlsServerCredentials.newBuilder()
        .keyManager(file("own.crt"), file("own.key"))
        .trustManager(file("ca.pem"))
        .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
        .build();
  }

  private Credentials() {}
}

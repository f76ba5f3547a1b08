// SPDX-License-Identifier: Apache-2.0
// Gzip that counts the messages it has decompressed: the only way to learn in which form one came.

import io.grpc.Codec;
import io.grpc.DecompressorRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicInteger;

final class CountingGzip implements io.grpc.Decompressor {
  private final AtomicInteger count = new AtomicInteger();

  DecompressorRegistry registry() {
    return DecompressorRegistry.emptyInstance()
        .with(this, true)
        .with(Codec.Identity.NONE, false);
  }

  int count() {
    return count.get();
  }

  @Override
  public String getMessageEncoding() {
    return "gzip";
  }

  @Override
  public InputStream decompress(InputStream compressed) throws IOException {
    count.incrementAndGet();
    return new Codec.Gzip().decompress(compressed);
  }
}

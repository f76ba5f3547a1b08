# SPDX-License-Identifier: Apache-2.0
# The image holds the program, the shared objects that it loads, certificates, and a list of its
# contents; it has no shell and no package manager.
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/install-packages deploy/debian-packages.txt deploy/
RUN deploy/install-packages build image
COPY . .
ARG COMMIT=unknown
ARG PRESET=shipped
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset $PRESET -B build -DLEVEE_BUILD_TESTS=OFF -DLEVEE_COMMIT=$COMMIT \
 && cmake --build build --target levee
RUN deploy/image/assemble build /image \
 && deploy/image/assemble build /image-capture /usr/sbin/nft

FROM scratch AS labelled
ARG COMMIT=unknown
LABEL org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.licenses="Apache-2.0"

# For init containers: `docker build --target levee-capture .`
FROM labelled AS levee-capture
LABEL org.opencontainers.image.title="levee-capture" \
      org.opencontainers.image.description="Redirects the connections of a pod to Levee"
COPY --from=build /image-capture/ /
ENV PATH=/usr/sbin:/usr/bin
USER 65532:65532
ENTRYPOINT ["/usr/bin/levee"]
CMD ["capture", "--help"]

FROM labelled
LABEL org.opencontainers.image.title="levee" \
      org.opencontainers.image.description="A gRPC sidecar that retries within a budget"
COPY --from=build /image/ /
# The number that distroless images use for their "nonroot"; Kubernetes wants a number.
USER 65532:65532
ENTRYPOINT ["/usr/bin/levee"]
CMD ["run"]
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/usr/bin/levee", "probe"]

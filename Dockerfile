FROM debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/install-packages deploy/debian-packages.txt deploy/
RUN deploy/install-packages build
COPY . .
ARG COMMIT=unknown
RUN cmake --preset release -DLEVEE_BUILD_TESTS=OFF -DLEVEE_COMMIT=$COMMIT \
 && cmake --build --preset release --target levee \
 && strip --strip-debug build/levee

FROM debian:bookworm-slim
COPY deploy/install-packages deploy/debian-packages.txt /tmp/deploy/
RUN /tmp/deploy/install-packages runtime \
 && rm -rf /tmp/deploy /var/lib/apt/lists/*
COPY --from=build /src/build/levee /usr/bin/levee
# Starts the program once, so that an image that lacks a library is never built.
RUN ["/usr/bin/levee", "version"]
# The number that distroless images use for their "nonroot"; Kubernetes wants a number.
USER 65532:65532
ENTRYPOINT ["/usr/bin/levee"]
CMD ["run"]

# Where the work is done: compilers for the four starters, an assembler for test programs, no reference.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        build-essential ca-certificates cc65 clang curl git lld nodejs npm python3 python3-numpy python3-pip python3-scipy \
    && rm -rf /var/lib/apt/lists/*
RUN pip3 install --no-cache-dir --break-system-packages ziglang \
    && npm install --global assemblyscript
ENV RUSTUP_HOME=/opt/rustup CARGO_HOME=/opt/cargo PATH=/opt/cargo/bin:$PATH
RUN curl -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --target wasm32-unknown-unknown \
    && chmod -R a+rwX /opt/rustup /opt/cargo
# The same number as most people's own: the workspace is theirs.
RUN useradd --uid 1000 --create-home worker
USER worker
WORKDIR /task

# Daily commands. `just` alone lists them.

workloads := env_var_or_default("KIZAMI_TEST_DIR", env_var("HOME") / ".cache/kizami") / "workloads"

_list:
    @just --list

# Build the command `kizami` and the tracer `libkizami.so` into target/release
build:
    cargo build --release --workspace

# Install the MPIs and build the workloads that tests record (once; needs root for apt)
prepare:
    .ci/prepare

# Run the tests: all, or those whose names contain the words given
test *words:
    cargo nextest run --release --workspace --config-file .config/nextest.toml {{words}}

# Check and build the viewer's page; what it writes is committed
page:
    cd ui && npm ci && npm run check && npm run build

# Write the types of what the viewer's page is answered from the Rust types
types:
    KIZAMI_WRITE_TYPES=1 cargo nextest run --release -p kizami-view typescript

# Run everything the gate runs
ci:
    .ci/run

# Check format, lints, licences, bans and sources
lint:
    cargo fmt --all --check
    cargo clippy --release --workspace --all-targets -- -D warnings
    cargo deny --offline check licenses bans sources

# Check dependencies against the advisory database (needs the network)
advisories:
    cargo deny check advisories

# Put the code into its format
format:
    cargo fmt --all

# Build the book and the crates' own documentation
docs:
    python3 docs/functions.py --check
    mdbook build docs
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --release --workspace --no-deps --document-private-items

# Read the book in a browser, rebuilt as you write
book:
    mdbook serve docs --open

# Write the book's table of functions again, after a change of functions.txt
functions:
    python3 docs/functions.py

# Measure what recording costs a call (figures of the README)
bench *options: build
    python3 bench/cost.py --library target/release/libkizami.so --workloads {{workloads}} {{options}}

# How well a run can be shown without the tracer
bench-undisturb *options: build
    python3 bench/undisturb.py --kizami target/release/kizami --library target/release/libkizami.so --workloads {{workloads}} {{options}}

# Fuzz a reader (segment or trace) for so many seconds; needs a nightly compiler
fuzz target="segment" seconds="60":
    cargo +nightly fuzz run --fuzz-dir fuzz {{target}} -- -max_total_time={{seconds}}

# Write man pages and shell completions into target/share
share: build
    mkdir -p target/share/man/man1 target/share/completions
    target/release/kizami man target/share/man/man1
    target/release/kizami completions bash > target/share/completions/kizami.bash
    target/release/kizami completions zsh > target/share/completions/_kizami
    target/release/kizami completions fish > target/share/completions/kizami.fish

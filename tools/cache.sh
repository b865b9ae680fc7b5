# Where build output and test tools live: outside the checkout, so that a fresh clone starts warm.
# The cache is a convenience. When it cannot be written, everything goes to ./target instead.

CACHE=${FAILWELL_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/failwell}
if ! { mkdir -p "$CACHE/target" && [[ -w $CACHE/target ]]; } 2>/dev/null; then
	CACHE=$ROOT/target/cache
	mkdir -p "$CACHE"
	: "${CARGO_TARGET_DIR:=$ROOT/target}"
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$CACHE/target}

# Cargo distinguishes checkouts by file times only, so it could take another checkout's build of a crate for ours. When
# another checkout used the cache last, our own crates are rebuilt; dependencies stay.
claim_build_output() {
	[[ $(cat "$CARGO_TARGET_DIR/.checkout" 2>/dev/null) != "$ROOT" ]] || return 0
	rm -rf "$CARGO_TARGET_DIR"/*/.fingerprint/{failwell,xtask}* "$CARGO_TARGET_DIR"/*/*/.fingerprint/{failwell,xtask}* 2>/dev/null || true
	{ mkdir -p "$CARGO_TARGET_DIR" && printf '%s' "$ROOT" >"$CARGO_TARGET_DIR/.checkout"; } 2>/dev/null || true
}

prepare_cargo() {
	command -v cargo >/dev/null || die "cargo is not installed, so nothing can be built" \
		"install Rust 1.95 or newer with rustup (https://rustup.rs), open a new shell, run ./x again"
	claim_build_output
}

# Where build output and test tools live: outside the checkout, so that a fresh clone starts warm.
# The cache is a convenience. When it cannot be written, everything goes to ./target instead.

CACHE=${FAILWELL_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/failwell}
if ! { mkdir -p "$CACHE/target" && [[ -w $CACHE/target ]]; } 2>/dev/null; then
	CACHE=$ROOT/target/cache
	mkdir -p "$CACHE"
	: "${CARGO_TARGET_DIR:=$ROOT/target}"
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$CACHE/target}

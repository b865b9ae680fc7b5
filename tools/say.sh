# Messages of the script: the problem, then the fix.

die() {
	printf 'error: %s\n' "$1" >&2
	[[ -z ${2:-} ]] || printf 'help: %s\n' "$2" >&2
	exit 1
}

# Announces a slow step, on stderr.
say() { printf '%s\n' "$1" >&2; }

# Seconds with one decimal since a start taken from `now`.
now() { date +%s%N; }
since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f", (to - from) / 1e9 }'; }

# Durations of the steps of `./x test`. Each run is recorded in the cache, and each release commits a table of them, so that
# growth is visible.

DURATIONS=$CACHE/durations.tsv # commit, step, seconds, cold or warm
DURATIONS_TABLE=$ROOT/tests/durations.md

# A run is cold when nothing was built before it.
run_kind() { if [[ -d $CARGO_TARGET_DIR/debug/deps ]]; then echo warm; else echo cold; fi; }

# record_duration STEP SECONDS KIND
record_duration() {
	local commit
	commit=$(git -C "$ROOT" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
	printf '%s\t%s\t%s\t%s\n' "$commit" "$1" "$2" "$3" >>"$DURATIONS" 2>/dev/null || true
}

# Prints the duration of a step in the newest table, in seconds; prints nothing if the table has no such step.
recorded_duration() {
	[[ -f $DURATIONS_TABLE ]] || return 0
	awk -F '|' -v step="$1" -v kind="$2" '
		/^## / && ++tables > 1 { exit }
		{ gsub(/[ `]/, "") }
		$2 == step { print (kind == "cold" ? $4 : $3); exit }
	' "$DURATIONS_TABLE"
}

# Warns when a step took more than twice as long as in the table. A difference of a few seconds is noise.
warn_if_slow() {
	local recorded
	recorded=$(recorded_duration "$1" "$3")
	[[ $recorded =~ ^[0-9.]+$ ]] || return 0
	awk -v took="$2" -v recorded="$recorded" 'BEGIN { exit !(took > 2 * recorded && took > recorded + 5) }' || return 0
	printf '  warning: %s took %s s; tests/durations.md has %s s (%s)\n' "$1" "$2" "$recorded" "$3"
}

# Prints a section for the table: the median of each step's recorded durations at this commit.
durations_section() {
	local commit
	commit=$(git -C "$ROOT" rev-parse --short=12 HEAD)
	[[ -s $DURATIONS ]] && grep -q "^$commit	" "$DURATIONS" ||
		die "no step was run at this commit" "run ./x test first"
	printf '## %s\n\n%s, %s cores.\n\n' "$1" "$(date -u +%F)" "$(nproc)"
	printf '| step | warm, s | cold, s |\n|---|---|---|\n'
	awk -F '\t' -v commit="$commit" -v steps="${STEPS[*]}" '
		$1 == commit { count[$2, $4]++; all[$2, $4, count[$2, $4]] = $3 + 0 }
		function median(step, kind,    n, i, j, held) {
			n = count[step, kind]
			if (!n) return "–"
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && all[step, kind, j] < all[step, kind, j - 1]; j--) {
					held = all[step, kind, j]; all[step, kind, j] = all[step, kind, j - 1]; all[step, kind, j - 1] = held
				}
			return sprintf("%.1f", all[step, kind, int((n + 1) / 2)])
		}
		END {
			total = split(steps, names, " ")
			for (i = 1; i <= total; i++) printf "| `%s` | %s | %s |\n", names[i], median(names[i], "warm"), median(names[i], "cold")
		}
	' "$DURATIONS"
	echo
}

# Puts the section in front of the older ones.
write_durations() {
	local section whole
	section=$(durations_section "$1")
	whole=$(awk -v section="$section" '!put && /^## / { print section "\n"; put = 1 } { print } END { if (!put) print "\n" section }' "$DURATIONS_TABLE")
	printf '%s\n' "$whole" >"$DURATIONS_TABLE"
	say "wrote tests/durations.md"
}

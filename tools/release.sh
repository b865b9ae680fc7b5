# The released program is a PGO build. The first build is instrumented: it counts branches while it serves the traffic of the
# gateway benchmark and solves the symbolic corpus. The second build is optimized with these profiles: a third less processor
# time per call, and a smaller resident set. Profiles are made anew whenever the sources change.

RELEASES=$CACHE/release

# Sets RELEASE to the program.
build_release() {
	prepare_cargo
	local host counting counts merge
	host=$(rustc -vV | sed -n 's/^host: //p')
	merge=$(counts_merger "$host")
	mkdir -p "$RELEASES"
	# With --target, so that build scripts and macros are built without these flags.
	say "building the program that counts (minutes)"
	RUSTFLAGS="-Cprofile-generate=$RELEASES/raw" CARGO_TARGET_DIR=$RELEASES/counting \
		cargo build --release --locked --quiet --target "$host" -p failwell
	counting=$RELEASES/counting/$host/release/failwell
	counts=$RELEASES/$(sha256sum "$counting" | cut -c1-16).profdata
	if [[ ! -f $counts ]]; then
		say "counting (a minute or two)"
		rm -rf "$RELEASES/raw" "$RELEASES"/*.profdata
		train "$counting"
		# A profile that was cut short by the end of its process is left out.
		"$merge" merge --failure-mode=all --output="$counts.part" "$RELEASES/raw" 2>>"$RELEASES/train.log"
		rm -rf "$RELEASES/raw"
		mv "$counts.part" "$counts"
	fi
	say "building the program itself (minutes)"
	# With the settings of the first build: profiles name functions by their compilation unit.
	RUSTFLAGS="-Cprofile-use=$counts" CARGO_TARGET_DIR=$RELEASES/laid-out \
		cargo build --release --locked --quiet --target "$host" -p failwell
	RELEASE=$RELEASES/laid-out/$host/release/failwell
}

# The training runs. Missed targets do not matter here; missing profiles do.
train() {
	(cd bench && cargo build --release --locked --quiet -p bench-gateway --bins)
	# One file per process: several writers can corrupt a shared one.
	local -x LLVM_PROFILE_FILE=$RELEASES/raw/%p.profraw
	BENCH_FAILWELL=$1 "$CARGO_TARGET_DIR/release/bench-gateway" --no-peers --only failwell --rounds 3 >"$RELEASES/train.log" 2>&1 ||
		die "the gateway benchmark failed while counting" "read $RELEASES/train.log"
	install_symbolic
	PEERS=0 ROUNDS=1 BINARY=$1 bench/symbolic/run >>"$RELEASES/train.log" 2>&1 || true
	compgen -G "$RELEASES/raw/*.profraw" >/dev/null || die "nothing was counted" "read $RELEASES/train.log"
}

# Part of the compiler, in the same version.
counts_merger() {
	local tool
	tool=$(rustc --print sysroot)/lib/rustlib/$1/bin/llvm-profdata
	if [[ ! -x $tool ]]; then
		command -v rustup >/dev/null || die "llvm-profdata is not installed" "install Rust with rustup (https://rustup.rs), run ./x again"
		rustup component add llvm-tools >&2
	fi
	echo "$tool"
}

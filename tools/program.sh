# The program of `./x up` and `./x install`: a quick build of the parts that are needed. Cedar, WebAssembly, PostgreSQL and
# the keyring take most of the time of a complete build, so each is added when a configuration or a person asks for it.

BASE_PARTS=(emulators probe)
OTHER_PARTS=(cedar keyring postgres wasm)
ADDED_PARTS=$CACHE/parts # one name per line; `./x install PART` writes it

# Builds the program with the base parts, the added ones and the named ones. Sets PROGRAM.
build_program() {
	prepare_cargo
	local parts
	parts=$(printf '%s\n' "${BASE_PARTS[@]}" "$@" | cat - "$ADDED_PARTS" 2>/dev/null | sort -u | paste -sd,)
	cargo build --profile quick --locked -p failwell --no-default-features --features "$parts" ${FAILWELL_TIMINGS:+--timings}
	PROGRAM=$CARGO_TARGET_DIR/quick/failwell
}

# Builds the program, asks it which other parts the configuration needs, and adds these.
build_program_for() {
	build_program
	local missing
	mapfile -t missing < <(missing_parts "$@")
	if [[ ${#missing[@]} -gt 0 ]]; then
		say "the configuration needs ${missing[*]}"
		build_program "${missing[@]}"
	fi
}

# missing_parts ARGUMENTS OF UP: the parts that the configuration needs and PROGRAM lacks.
missing_parts() {
	local file=()
	while [[ $# -gt 0 ]]; do
		case $1 in
		--config) file=("${2:-}") && shift ;;
		--config=*) file=("${1#--config=}") ;;
		--) break ;;
		esac
		shift
	done
	"$PROGRAM" check --json "${file[@]}" 2>/dev/null | sed -n 's/.*"feature": *"\([a-z]*\)".*/\1/p' | sort -u
}

run_up() {
	build_program_for "$@"
	exec "$PROGRAM" up "$@"
}

# Puts the program into ~/.local/bin, or into the folder that PREFIX names.
run_install() {
	local part folder=${PREFIX:-${HOME:?HOME is not set}/.local}/bin
	for part; do
		[[ " ${BASE_PARTS[*]} ${OTHER_PARTS[*]} all " == *" $part "* ]] ||
			die "the program has no part $part" "one of: ${OTHER_PARTS[*]}, all"
	done
	[[ " $* " != *" all "* ]] || set -- "${OTHER_PARTS[@]}"
	build_program "$@"
	[[ $# -eq 0 ]] || printf '%s\n' "$@" | cat - "$ADDED_PARTS" 2>/dev/null | sort -u >"$ADDED_PARTS.new"
	[[ ! -e $ADDED_PARTS.new ]] || mv "$ADDED_PARTS.new" "$ADDED_PARTS"
	mkdir -p "$folder" || die "$folder cannot be created" "name another folder: PREFIX=DIR ./x install"
	# Through a rename: the program may be running.
	cp "$PROGRAM" "$folder/.failwell.new" && mv "$folder/.failwell.new" "$folder/failwell" ||
		die "$folder cannot be written" "name another folder: PREFIX=DIR ./x install"
	say "installed $folder/failwell; to remove it, delete this file"
	case :$PATH: in
	*:"$folder":*) ;;
	*) say "$folder is not on your PATH; help: add this line to your shell's profile: export PATH=\"$folder:\$PATH\"" ;;
	esac
	say "next: failwell doctor says what this machine has, failwell up starts the gateway"
}

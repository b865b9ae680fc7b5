# The packages of `./x package`: what people install who have no checkout. They are written to dist/.

# run_package [--program FILE] [FORMAT…]: packages the named program, or a release build with every part.
run_package() {
	local program="" formats=()
	while [[ $# -gt 0 ]]; do
		case $1 in
		--program)
			[[ -n ${2:-} ]] || die "--program names no file" "./x package --program FILE"
			program=$2
			shift
			;;
		*) formats+=("$1") ;;
		esac
		shift
	done
	if [[ -z $program ]]; then
		prepare_cargo
		say "building the program with all parts (minutes)"
		cargo build --release --locked -p failwell
		program=$CARGO_TARGET_DIR/release/failwell
	fi
	python3 tools/packages/run --program "$program" --out dist --cache "$CACHE/packages" "${formats[@]}"
}

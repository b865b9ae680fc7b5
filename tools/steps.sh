# The steps of `./x test`, in order. Each step is a function that fails when the step does.

STEPS=(fmt tidy clippy deny unit fuzz conformance gateway chaos interop probe sdk dialects promises telemetry pytest symbolic tasks device packages)
# For the edit loop: `./x test quick`. The tests inside the crates need no servers and no installed tools.
QUICK_STEPS=(fmt tidy lints libraries)
STEP_LIMIT=${FAILWELL_STEP_LIMIT:-2700} # seconds; a step that hangs must not hang the run

step_fmt() { cargo fmt --all --check; }
step_tidy() { cargo run --quiet -p xtask -- tidy; }
# What `./x test quick` has in place of the steps clippy and unit.
step_lints() { cargo clippy --quiet --workspace --all-targets -- -D warnings; }
step_libraries() { cargo test --quiet --workspace --lib --bins --no-fail-fast; }
# Clippy runs twice: with all features, and without any. Then rustdoc checks links and code in comments. It reuses the
# metadata of clippy, so only our own crates are read again.
step_clippy() {
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	cargo clippy --quiet -p failwell --no-default-features --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --document-private-items
}
# The gateway's tests start servers other people wrote, so these are installed first.
step_unit() {
	install_tools
	install_symbolic
	install_redis
	install_chromium
	# The output of the tests' servers is stored, and then searched for planted secrets.
	local outputs
	outputs=$(mktemp -d)
	FAILWELL_CANARY=$outputs cargo test --quiet --workspace --no-fail-fast
	cargo run --quiet -p xtask -- canary "$outputs"
	rm -rf "$outputs"
	# Approvals and pins once more, with every program as two nodes behind a proxy.
	FAILWELL_NODES=2 cargo test --quiet -p failwell --test live -- policy::approvals policy::pins --skip one_node
	# The smallest build names the missing part and the command that adds it.
	cargo test --quiet -p failwell --no-default-features --test features
}
step_fuzz() { fuzz/run 8; }

# Advisories are left out: they need a database from the network, and a test must give the same answer without it. The
# step tidy compares Cargo.lock with the list in tools/advisories.txt.
step_deny() {
	install_deny
	cargo fetch --quiet --locked # every platform's crates, not only those this machine builds
	"$DENY" --offline --log-level error check bans licenses sources
}

# Builds the server that offers every name the conformance suite asks for; run as it is, without cargo in between.
FIXTURE=$CARGO_TARGET_DIR/debug/fixture
build_fixture() { cargo build --quiet -p failwell-suite --bin fixture; }

step_conformance() {
	install_tools
	build_fixture
	python3 tests/conformance/run -- "$FIXTURE" --listen 127.0.0.1:0
}

# The same suite through the gateway must find what it finds without it, check by check: our fixture, servers other
# people wrote, and upstreams that speak one era only.
step_gateway() {
	install_tools
	cargo build --quiet -p failwell-suite --bins
	python3 tests/conformance/compare "$FIXTURE" "$CARGO_TARGET_DIR/debug/upstream_gateway"
	# Through two nodes the suite must find the same. Cells with tasks of 2026-07-28 are left out: a task is on one node.
	install_redis
	cargo build --quiet -p failwell
	FAILWELL=$CARGO_TARGET_DIR/debug/failwell python3 tests/conformance/compare "$FIXTURE" tests/conformance/gated_nodes \
		"fixture over HTTP, 2025-11-25" "fixture over stdio, 2025-11-25" "python SDK, 2026-07-28"
}

# Everything at once: callers of both eras, and upstreams that are killed, stopped and wrong in every way. It prints
# its seed; FAILWELL_CHAOS="--seed 7" repeats one.
step_chaos() {
	cargo build --quiet -p failwell -p failwell-suite --bins
	# shellcheck disable=SC2086 # several words are several arguments
	"$CARGO_TARGET_DIR/debug/chaos" ${FAILWELL_CHAOS:-}
}

step_interop() {
	install_tools
	build_fixture
	cargo build --quiet -p failwell
	python3 tests/interop/run -- "$FIXTURE"
	python3 tests/interop/lists -- "$CARGO_TARGET_DIR/debug/failwell"
}

# The examiner must find nothing wrong with our own server.
step_probe() {
	build_fixture
	cargo build --quiet -p failwell
	python3 tests/tools/with_server.py "$CARGO_TARGET_DIR/debug/failwell" probe '{url}' -- "$FIXTURE" --listen 127.0.0.1:0
}

# A tool server that is no part of the workspace, as another author would write it.
# It is built from the packages that would be published, so that a file or a dependency they lack is noticed.
step_sdk() {
	cargo build --quiet -p failwell
	python3 tests/sdk/package "$CARGO_TARGET_DIR/published"
	cargo build --quiet --locked --manifest-path "$CARGO_TARGET_DIR/published/shop/Cargo.toml"
	python3 tests/sdk/run -- "$CARGO_TARGET_DIR/debug/failwell" "$CARGO_TARGET_DIR/debug/shop"
}

# The REST and `/rpc` dialects against their own description: every reason in both, and requests from Schemathesis.
step_dialects() {
	install_schemathesis
	cargo build --quiet -p failwell
	"$FAILWELL_SCHEMATHESIS/bin/python" tests/dialects/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# Promises that were broken once, each against the program as an operator runs it. Those about state that nodes share are
# tried on two nodes, too; `tests/promises/run --nodes 2` tries all of them.
PROMISES_OF_NODES=(2 8 10 18)
step_promises() {
	install_symbolic
	install_pytest
	install_redis
	cargo build --quiet -p failwell
	python3 tests/promises/run -- "$CARGO_TARGET_DIR/debug/failwell"
	python3 tests/promises/run --nodes 2 "${PROMISES_OF_NODES[@]}" -- "$CARGO_TARGET_DIR/debug/failwell"
}

# Exports of the program: spans and logs as a collector reads them, records in a real PostgreSQL.
step_telemetry() {
	install_otlp
	install_postgres
	cargo build --quiet -p failwell
	"$FAILWELL_OTLP/bin/python" tests/telemetry/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# The pytest server against real pytest: every row of its table, attacks, real projects. FAILWELL_PYTEST_FULL=1 has every
# row on every version and all projects; FAILWELL_PYTEST_RUNS=500 is the long haul.
step_pytest() {
	install_pytest
	install_pythons
	cargo build --quiet -p failwell
	python3 tests/pytest/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# The emulator of Remember The Milk against clients other people wrote, and its approval page in a real browser.
step_tasks() {
	install_rtm_clients
	install_chromium
	cargo build --quiet -p failwell
	python3 tests/rtm/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# The device server against real drivers: Appium with its fake driver and with the one for iPhones, the emulated runner,
# chromedriver with Chromium, a recorded xcrun; and everything that can go wrong between them.
step_device() {
	install_appium
	install_chromium
	cargo build --quiet -p failwell
	python3 tests/device/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# The symbolic server against known truth: every call of the corpus, every proof attacked in CPython, code that tries to get
# out, CrossHair's own examples, and the same verdicts on a busy machine.
step_symbolic() {
	install_symbolic
	install_symbolic_peers
	cargo build --quiet -p failwell
	python3 tests/symbolic/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# Every package, built from this program and installed in a clean environment, where it serves a call.
step_packages() {
	install_systemd
	cargo build --quiet -p failwell
	FAILWELL_PACKAGES=$CACHE/packages python3 tests/packages/run -- "$CARGO_TARGET_DIR/debug/failwell"
}

# Installs what the steps need from registries while the first of them compile. Every installer holds a lock, so a step waits
# for one that is at work. An installer that fails here is called again by its step, which then shows the error.
step_prefetch() {
	local installer
	for installer in install_tools install_redis install_chromium install_symbolic install_schemathesis install_pytest \
		install_otlp install_postgres install_pythons install_symbolic_peers install_rtm_clients install_appium install_systemd; do
		("$installer") || true
	done
}

# Runs the named steps (all of them by default). The last line says how many passed and failed.
run_steps() {
	prepare_cargo
	local step passed=0 failed=0 start took kind is_whole=""
	[[ $# -gt 0 ]] || is_whole=yes
	[[ -z $is_whole ]] || set -- "${STEPS[@]}"
	[[ $* != quick ]] || set -- "${QUICK_STEPS[@]}"
	kind=$(run_kind)
	for step; do
		[[ " ${STEPS[*]} ${QUICK_STEPS[*]} " == *" $step "* ]] || die "no such step: $step" "one of: ${STEPS[*]}"
	done
	LOG=$(mktemp)
	trap 'rm -f "$LOG"; kill "${PREFETCH:-}" 2>/dev/null || true' EXIT
	trap 'kill "${CHILD:-}" 2>/dev/null; exit 130' INT TERM
	if [[ -n $is_whole ]]; then
		timeout --kill-after=10 "$STEP_LIMIT" "$ROOT/x" step prefetch </dev/null >/dev/null 2>&1 &
		PREFETCH=$!
	fi
	for step; do
		start=$(now)
		printf '%-12s ' "$step"
		if run_step "$step" >"$LOG" 2>&1; then
			took=$(since "$start")
			printf 'ok      %6s s\n' "$took"
			warn_if_slow "$step" "$took" "$kind"
			record_duration "$step" "$took" "$kind"
			passed=$((passed + 1))
		else
			printf 'FAILED  %6s s\n' "$(since "$start")"
			sed 's/^/  | /' "$LOG"
			failed=$((failed + 1))
		fi
	done
	echo "$passed passed, $failed failed"
	[[ $failed -eq 0 ]]
}

# In the background, so that an interrupt reaches us; timeout leads a process group and takes the whole of it down.
run_step() {
	timeout --kill-after=10 "$STEP_LIMIT" "$ROOT/x" step "$1" </dev/null &
	CHILD=$!
	local code=0
	wait "$CHILD" || code=$?
	[[ $code -ne 124 ]] || echo "the step did not end within $STEP_LIMIT seconds"
	return "$code"
}

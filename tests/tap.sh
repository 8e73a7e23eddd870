# shellcheck shell=bash
# The Test Anything Protocol for shell tests; read with `. "$top_srcdir/tests/tap.sh"`. A test makes its files in $tmp, which goes when
# it ends, and closes with done_testing.
set -u
: "${top_srcdir:=.}" "${top_builddir:=.}" "${SPIKEMILL:=$top_builddir/spikemill}"
tap_run=0 tap_failed=0
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# ok TEXT COMMAND…: the command succeeds. The start of what it prints is shown when it does not.
ok() {
  local text=$1 out status=0
  shift
  tap_run=$((tap_run + 1))
  out=$("$@" 2>&1) || status=$?
  if [ "$status" = 0 ]; then
    printf 'ok %d - %s\n' "$tap_run" "$text"
  else
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_run" "$text"
    diag "status $status: $*"
    [ -z "$out" ] || diag "$(printf '%s\n' "$out" | head -n 20)"
  fi
  return 0
}

# is TEXT GOT WANT: the two strings are the same.
is() {
  tap_run=$((tap_run + 1))
  if [ "$2" = "$3" ]; then
    printf 'ok %d - %s\n' "$tap_run" "$1"
  else
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_run" "$1"
    diag "got:"
    diag "$2"
    diag "want:"
    diag "$3"
  fi
}

# skip N REASON: N checks that could not be made here.
skip() {
  local i
  for ((i = 0; i < $1; i++)); do
    tap_run=$((tap_run + 1))
    printf 'ok %d # SKIP %s\n' "$tap_run" "$2"
  done
}

done_testing() {
  printf '1..%d\n' "$tap_run"
  [ "$tap_failed" = 0 ] && [ "$tap_run" -gt 0 ]
}

# Tries the model: it must load by path and by name, fire, and give the same spikes with one thread and with two.
set -eu
: "${SPIKEMILL:=spikemill}"
SPIKEMILL_PLUGIN_PATH=.${SPIKEMILL_PLUGIN_PATH:+:$SPIKEMILL_PLUGIN_PATH}
export SPIKEMILL_PLUGIN_PATH
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() { echo "check.sh: $*" >&2; exit 1; }

# run NAME OPTION…: simulates; what comes out goes to $out/NAME.json.
run() {
  to=$1
  shift
  "$SPIKEMILL" run leaky.ini -o "$out/$to" --json --quiet "$@" >"$out/$to.json" || fail "the run \"$to\" failed"
}

# value KEY NAME: a number or a hash of $out/NAME.json.
value() { sed -n "s/^.*\"$1\":[[:space:]]*\"\{0,1\}\([0-9a-f]*\).*$/\1/p" "$out/$2.json" | head -n 1; }

run one --threads 1
run two --threads 2
run name --threads 1 --set population.cells.model=leaky

spikes=$(value spikes one) hash=$(value spike_hash one)
[ "${spikes:-0}" -gt 0 ] || fail "no neuron fires"
[ "$(value spike_hash two)" = "$hash" ] || fail "one thread and two give different spikes"
[ "$(value spike_hash name)" = "$hash" ] || fail "by name and by path give different spikes"
echo "leaky: $spikes spikes, the same by name, by path, and with 1 and 2 threads"

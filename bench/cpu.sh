#!/usr/bin/env bash
# What a CPU spends on a static network, for doc/benchmarks.md: threads against each other, the price of a neuron update and of a synaptic
# event, and the functions that take most. Run it on an idle machine from the build folder: ../bench/cpu.sh [REPEAT]
# Ratios come from runs interleaved on one machine; the absolute times beside them only say where they come from.
set -euo pipefail
repeat=${1:-7}
spikemill=${SPIKEMILL:-./spikemill}
examples=$(dirname "$0")/../examples
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

value() { sed -n "s/.*\"$1\":[[:space:]]*\"\{0,1\}\([^\",]*\).*/\1/p" "$tmp/json" | head -n 1; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
none=(--set 'projection.exc_all.rule=fixed-probability(0)' --set 'projection.inh_all.rule=fixed-probability(0)')

echo "## Threads"
for network in "vogels 8e6 2000" "brunel 20e6 1000"; do
  read -r name synapses ms <<<"$network"
  echo "$name, $synapses synapses, $ms ms:"
  "$spikemill" compare "$examples/$name.ini" --set define.synapses="$synapses" --duration "$ms" --threads 1,2 --repeat "$repeat" 2>/dev/null
done

echo
echo "## Side by side, vogels, 8e6 synapses, 2 s: two runs at once, which share nothing, against one run alone: what two processors can give"
one() { "$spikemill" run "$examples/vogels.ini" --set define.synapses=8e6 --duration 2000 --threads 1 --json -o "$tmp/$1" >"$tmp/$1.json"; }
wall() { sed -n 's/.*"wall_s":[[:space:]]*\([0-9.]*\).*/\1/p' "$tmp/$1.json"; }
. "$(dirname "$0")/side-by-side.sh"
side_by_side "$repeat"

echo
echo "## Prices, vogels, one thread: a neuron update, and a synaptic event (the rest of the time over the events)"
for synapses in 0.32e6 2e6 8e6; do
  for ((i = 0; i < repeat; i++)); do
    "$spikemill" run "$examples/vogels.ini" --set define.synapses=$synapses "${none[@]}" --threads 1 --json -o "$tmp/out" >"$tmp/json"
    value wall_s >>"$tmp/update-$synapses"
    "$spikemill" run "$examples/vogels.ini" --set define.synapses=$synapses --threads 1 --json -o "$tmp/out" >"$tmp/json"
    value wall_s >>"$tmp/all-$synapses"
  done
  events=$(awk -v r="$(value synaptic_events_per_s)" -v w="$(value wall_s)" 'BEGIN { print r * w }')
  awk -v s=$synapses -v u="$(median <"$tmp/update-$synapses")" -v a="$(median <"$tmp/all-$synapses")" -v e="$events" 'BEGIN {
    n = int(sqrt(s / 0.02) + 0.5)
    printf "%-7s synapses, %5d neurons: update %.2f ns, event %.2f ns (%.3g events, %.0f %% of the time)\n", s, n, u / n / 1e4 * 1e9, (a - u) / e * 1e9, e, 100 * (a - u) / a }'
done

echo
echo "## Construction, vogels, 8e6 synapses: synapses a second on one and two threads"
for threads in 1 2; do
  for ((i = 0; i < repeat; i++)); do
    "$spikemill" run "$examples/vogels.ini" --set define.synapses=8e6 --duration 0 --threads $threads --json -o "$tmp/out" >"$tmp/json"
    value setup_s
  done | median | awk -v t=$threads '{ printf "%d thread%s: %.3g s, %.3g M synapses/s\n", t, t == 1 ? "" : "s", $1, 8 / $1 }'
done

if command -v perf >/dev/null; then
  echo
  echo "## The five functions that take most, vogels, 8e6 synapses, 4 s, one thread"
  perf record -q -o "$tmp/perf.data" "$spikemill" run "$examples/vogels.ini" --set define.synapses=8e6 --duration 4000 --threads 1 --quiet \
    -o "$tmp/out" >/dev/null 2>&1
  perf report -i "$tmp/perf.data" --stdio --percent-limit 0.5 2>/dev/null | grep -E '^ +[0-9]' | head -n 5
fi

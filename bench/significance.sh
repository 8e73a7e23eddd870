#!/usr/bin/env bash
# Tests of significance on one thread, for doc/benchmarks.md: some 1000 episodes of the mining authors' test stream counted in 1000 surrogates
# of each kind, and by the model. Run it on an idle machine from the build folder: SPIKEMILL_DATA=DIR ../bench/significance.sh [REPEAT]
set -euo pipefail
repeat=${1:-3}
spikemill=${SPIKEMILL:-./spikemill}
stream=${SPIKEMILL_DATA:?names the folder of the reference data}/stream-new-1.csv
job=("$stream" --columns type,time_ms --support 203 --intervals '(0,5] (5,10] (10,15] ms' --threads 1 --q 1 --json)

# seconds OPTION…: wall_s of each run, the least first; episodes are those of two and more nodes.
seconds() {
  local i
  for ((i = 0; i < repeat; i++)); do
    "$spikemill" mine "${job[@]}" "$@" 2>/dev/null | sed -n 's/^  "wall_s": \(.*\),/\1/p'
  done | sort -g | tr '\n' ' '
}

echo "episodes of two and more nodes: $("$spikemill" mine "${job[@]}" --significance model 2>/dev/null | grep -c '"p": [0-9]')"
for kind in dither dither-refractory isi-shuffle shift; do
  echo "1000 surrogates, $kind: $(seconds --significance surrogate=1000 --surrogate $kind) s"
done
echo "model: $(seconds --significance model) s"

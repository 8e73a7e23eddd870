# Measuring programs and the scripts that make the published tables; none is installed.
EXTRA_DIST += bench/against-nest.py bench/cpu.sh bench/mining.sh bench/significance.sh bench/strategies.sh

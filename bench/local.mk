# Measuring programs and the scripts that make the published tables; none is installed.
EXTRA_DIST += bench/cpu.sh bench/mining.sh bench/strategies.sh

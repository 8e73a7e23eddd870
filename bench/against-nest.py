#!/usr/bin/env python3
"""brunel2000 in spikemill and in NEST, for doc/benchmarks.md: the time of the step loop of 1 s, runs interleaved, medians.

Run it on an idle machine from the build folder, with a python3 that can import nest (pip install nest-simulator):
    python3 ../bench/against-nest.py [REPEAT] [THREADS]
"""
import json
import os
import statistics
import subprocess
import sys
import time

DURATION = 1000  # ms


def run_nest(threads):
    """The network of examples/brunel2000.ini as NEST's users write it. Returns (seconds, mean rate in Hz)."""
    import nest

    nest.set_verbosity("M_ERROR")
    nest.ResetKernel()
    nest.SetKernelStatus({"resolution": 0.1, "local_num_threads": threads, "rng_seed": 1})
    neuron = {"tau_m": 20.0, "C_m": 20.0, "E_L": 0.0, "V_th": 20.0, "V_reset": 10.0, "t_ref": 2.0, "V_m": 0.0}
    exc = nest.Create("iaf_psc_delta", 10000, neuron)
    inh = nest.Create("iaf_psc_delta", 2500, neuron)
    noise = nest.Create("poisson_generator", params={"rate": 20000.0})
    excitatory = {"synapse_model": "static_synapse", "weight": 0.1, "delay": 1.5}
    nest.Connect(noise, exc + inh, syn_spec=excitatory)
    nest.Connect(exc, exc + inh, {"rule": "fixed_indegree", "indegree": 1000}, excitatory)
    nest.Connect(inh, exc + inh, {"rule": "fixed_indegree", "indegree": 250}, {**excitatory, "weight": -0.5})
    nest.Prepare()
    begun = time.monotonic()
    nest.Run(DURATION)
    seconds = time.monotonic() - begun
    spikes = nest.GetKernelStatus("local_spike_counter")
    nest.Cleanup()
    return seconds, spikes / 12500 / (DURATION / 1000)


def run_spikemill(threads):
    spikemill = os.environ.get("SPIKEMILL", "./spikemill")
    network = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "brunel2000.ini")
    answer = subprocess.run(
        [spikemill, "run", network, "--duration", str(DURATION), "--threads", str(threads), "--json", "--set", "record.spikes=none"],
        check=True, capture_output=True, text=True)
    report = json.loads(answer.stdout)
    return report["wall_s"], report["spikes"] / 12500 / (DURATION / 1000)


def main():
    if sys.argv[1:2] == ["--nest"]:  # one run of NEST, in a process of its own
        print(json.dumps(run_nest(int(sys.argv[2]))))
        return
    repeat = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    ours, theirs = [], []
    for _ in range(repeat):
        ours.append(run_spikemill(threads))
        answer = subprocess.run([sys.executable, __file__, "--nest", str(threads)], check=True, capture_output=True, text=True)
        theirs.append(json.loads(answer.stdout.splitlines()[-1]))
    print(f"brunel2000, {DURATION} ms, {threads} thread{'s' if threads > 1 else ''}, {repeat} runs of each, interleaved")
    print("%-10s %10s %10s %10s %10s" % ("", "median s", "min s", "max s", "rate Hz"))
    for name, runs in (("spikemill", ours), ("NEST", theirs)):
        seconds = [run[0] for run in runs]
        print("%-10s %10.3f %10.3f %10.3f %10.2f" % (name, statistics.median(seconds), min(seconds), max(seconds), runs[0][1]))
    print("ratio of the medians: %.2f" % (statistics.median(run[0] for run in theirs) / statistics.median(run[0] for run in ours)))


main()

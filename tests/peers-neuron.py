"""Neuron models against NEST and Brian2, one neuron at a time: the same parameters, input spikes and constant current go through both.

Usage: peers-neuron.py nest|brian2 SPIKEMILL FOLDER. Prints one line per check, `ok TEXT` or `not ok TEXT`."""
import csv
import os
import subprocess
import sys

import numpy

COMMAND, FOLDER = sys.argv[2:4]
T = 200.0  # ms
DELAY = 1.0  # ms, of every input spike


def check(good, text):
    print("ok" if good else "not ok", text, flush=True)


def input_times(seed, rate, dt):
    """Poisson times on the grid, in steps, ascending, several of one step included; none in the first 2 ms and the last 5."""
    count = numpy.random.default_rng(seed).poisson(rate * dt / 1000, round(T / dt))
    count[: round(2 / dt)] = 0
    count[round((T - 5) / dt) :] = 0
    return numpy.repeat(numpy.arange(len(count)), count)


def spikemill(name, model, parameters, trains, dt, variables=("v",)):
    """Runs one neuron with `trains`, a list of (receptor, weight, steps). Returns {variable: values after each step}, spike stamps in steps."""
    text = [f"[simulation]\nprecision = double\ndt = {dt:g}\nduration = {T:g}\n[population.n]\nmodel = {model}\nsize = 1"]
    text += [f"{key} = {value!r}" if isinstance(value, float) else f"{key} = {value}" for key, value in parameters.items()]
    for i, (receptor, weight, steps) in enumerate(trains):
        with open(os.path.join(FOLDER, f"{name}-{i}.csv"), "w", encoding="ascii") as out:
            out.write("time_ms,neuron\n" + "".join(f"{step * dt:.4f},0\n" for step in steps))
        text.append(f"[stimulus.s{i}]\ntype = spike-file\nfile = {name}-{i}.csv\ntarget = n\nreceptor = {receptor}\nweight = {weight!r}\ndelay = {DELAY:g}")
    text.append(f"[record]\nspikes = spikes.csv\nstate = {', '.join('n.' + v for v in variables)}\nevery = {dt:g}\n")
    network = os.path.join(FOLDER, name + ".ini")
    with open(network, "w", encoding="ascii") as out:
        out.write("\n".join(text))
    subprocess.run([COMMAND, "run", network, "-o", os.path.join(FOLDER, name), "--quiet"], check=True, stdin=subprocess.DEVNULL)
    values = {v: [] for v in variables}
    for row in rows(os.path.join(FOLDER, name, "state.csv")):
        values[row["variable"]].append(float(row["value"]))
    stamps = [round(float(row["time_ms"]) / dt) for row in rows(os.path.join(FOLDER, name, "spikes.csv"))]
    return {v: numpy.array(x) for v, x in values.items()}, numpy.array(stamps, dtype=int)


def rows(path):
    with open(path, encoding="utf-8") as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def compare(name, ours, theirs, our_spikes, their_spikes, tolerance, until=None, apart=0, unit="mV"):
    """Values up to the spike that `until` says (None: all of them), and spike stamps `apart` steps from each other at most."""
    end = len(ours) if until is None else int(until)
    off = numpy.abs(ours[:end] - theirs[:end])
    what = "until the first spike" if until is not None else "throughout"
    check(end > 5 and len(ours) == len(theirs) and off.max() < tolerance,
          f"{name}: {end} steps, {what} within {off.max():.1e} {unit} (below {tolerance:g})")
    same = len(our_spikes) == len(their_spikes)
    worst = int(numpy.abs(our_spikes - their_spikes).max()) if same and len(our_spikes) else 0
    check(same and len(our_spikes) > 2 and worst <= apart, f"{name}: {len(our_spikes)} and {len(their_spikes)} spikes, at most {worst} steps apart")


# ---- NEST ----------------------------------------------------------------------------------------------------------------

NEST_NAME = {"c_m": "C_m", "tau_m": "tau_m", "e_l": "E_L", "v_th": "V_th", "v_reset": "V_reset", "t_ref": "t_ref", "i_e": "I_e",
             "tau_syn_exc": "tau_syn_ex", "tau_syn_inh": "tau_syn_in", "g_l": "g_L", "e_exc": "E_ex", "e_inh": "E_in",
             "a": "a", "b": "b", "c": "c", "d": "d"}


def nest_neuron(nest, model, parameters, trains, dt, variables=("V_m",)):
    nest.ResetKernel()
    nest.resolution = dt
    neuron = nest.Create(model, params=parameters)
    for _, weight, steps in trains:
        source = nest.Create("spike_generator", params={"spike_times": [round(step * dt, 4) for step in steps]})
        nest.Connect(source, neuron, syn_spec={"weight": weight, "delay": DELAY})
    spikes = nest.Create("spike_recorder")
    nest.Connect(neuron, spikes)
    meter = nest.Create("multimeter", params={"record_from": list(variables), "interval": dt}) if variables else None
    if variables:
        nest.Connect(meter, neuron)
    nest.Simulate(T + 1)  # the last samples and spikes are delivered later
    steps = round(T / dt)
    values = {v: numpy.array(meter.get("events", v))[:steps] for v in variables}
    stamps = numpy.round(numpy.array(spikes.get("events", "times")) / dt).astype(int)
    return values, stamps[stamps <= steps]


def linear_models(nest):
    plain = {"c_m": 250.0, "tau_m": 10.0, "e_l": -70.0, "v_th": -55.0, "v_reset": -70.0, "t_ref": 2.0, "i_e": 300.0}
    cortex = {"c_m": 250.0, "tau_m": 10.0, "e_l": -65.0, "v_th": -50.0, "v_reset": -65.0, "t_ref": 2.0, "i_e": 380.0}
    driven = {"c_m": 200.0, "tau_m": 20.0, "e_l": -49.0, "v_th": -50.0, "v_reset": -60.0, "t_ref": 5.0, "i_e": 0.0}
    ready = {"c_m": 250.0, "tau_m": 20.0, "e_l": 0.0, "v_th": 20.0, "v_reset": 10.0, "t_ref": 0.0, "i_e": 900.0}
    synapses = {"iaf-psc-exp": ({"tau_syn_exc": 2.0, "tau_syn_inh": 2.0}, {"tau_syn_exc": 0.5, "tau_syn_inh": 0.5}, {"tau_syn_exc": 5.0, "tau_syn_inh": 10.0},
                                {"tau_syn_exc": 3.0, "tau_syn_inh": 25.0}),
                "iaf-psc-alpha": ({"tau_syn_exc": 2.0, "tau_syn_inh": 3.0}, {"tau_syn_exc": 0.5, "tau_syn_inh": 0.5}, {"tau_syn_exc": 5.0, "tau_syn_inh": 10.0},
                                  {"tau_syn_exc": 3.0, "tau_syn_inh": 25.0}),
                "iaf-psc-delta": ({}, {}, {}, {})}
    weights = {"iaf-psc-exp": (120.0, -90.0), "iaf-psc-alpha": (60.0, -50.0), "iaf-psc-delta": (1.5, -0.75)}
    receptors = {"iaf-psc-delta": ("delta", "delta")}
    for model, own in synapses.items():
        for i, (membrane, dt) in enumerate(((plain, 0.1), (cortex, 0.1), (driven, 0.2), (ready, 0.5))):
            parameters = {**membrane, **own[i]}
            exc, inh = receptors.get(model, ("exc", "inh"))
            trains = [(exc, weights[model][0], input_times(10 + i, 1200, dt)), (inh, weights[model][1], input_times(20 + i, 500, dt))]
            ours, our_spikes = spikemill(f"{model}-{i}", model, parameters, trains, dt)
            theirs, their_spikes = nest_neuron(nest, model.replace("-", "_"), {NEST_NAME[k]: v for k, v in parameters.items()} | {"V_m": membrane["e_l"]},
                                               trains, dt)
            compare(f"{model}, set {i + 1}, NEST", ours["v"], theirs["V_m"], our_spikes, their_spikes, 1e-6)


def other_models(nest):
    # NEST integrates this one adaptively, to 1e-3 mV a step.
    parameters = {"c_m": 200.0, "g_l": 10.0, "e_l": -60.0, "e_exc": 0.0, "e_inh": -80.0, "v_th": -50.0, "v_reset": -60.0, "t_ref": 5.0, "i_e": 50.0,
                  "tau_syn_exc": 5.0, "tau_syn_inh": 10.0}
    trains = [("exc", 6.0, input_times(31, 900, 0.1)), ("inh", 20.0, input_times(32, 100, 0.1))]
    ours, our_spikes = spikemill("cond-nest", "iaf-cond-exp", parameters, trains, 0.1)
    trains[1] = ("inh", -20.0, trains[1][2])
    theirs, their_spikes = nest_neuron(nest, "iaf_cond_exp", {NEST_NAME[k]: v for k, v in parameters.items()} | {"V_m": -60.0}, trains, 0.1)
    compare("iaf-cond-exp, NEST", ours["v"], theirs["V_m"], our_spikes, their_spikes, 1e-3, our_spikes[0] - 1, 1)
    for scheme, consistent in (("published", False), ("euler", True)):
        for dt in (1.0, 0.1):
            kind = {"a": 0.02, "b": 0.2, "c": -65.0, "d": 8.0, "i_e": 10.0}
            ours, our_spikes = spikemill(f"izhikevich-{scheme}-{dt:g}", "izhikevich", {**kind, "scheme": scheme}, [], dt, ("v", "u"))
            theirs, their_spikes = nest_neuron(nest, "izhikevich", {NEST_NAME[k]: v for k, v in kind.items()} |
                                               {"consistent_integration": consistent, "V_m": -65.0, "U_m": -13.0}, [], dt, ("V_m", "U_m"))
            compare(f"izhikevich, {scheme}, dt {dt:g}, NEST", ours["v"], theirs["V_m"], our_spikes, their_spikes, 1e-6)
            compare(f"izhikevich, {scheme}, dt {dt:g}, u, NEST", ours["u"], theirs["U_m"], our_spikes, their_spikes, 1e-6, unit="mV/ms")
    times = numpy.unique(input_times(33, 300, 0.1))
    _, our_spikes = spikemill("parrot-nest", "parrot", {}, [("in", 1.0, times)], 0.1, ("heard",))
    _, their_spikes = nest_neuron(nest, "parrot_neuron", {}, [("in", 1.0, times)], 0.1, ())
    check(len(our_spikes) > 20 and numpy.array_equal(our_spikes, their_spikes), f"parrot, NEST: the same {len(our_spikes)} spikes")


def against_nest():
    import nest

    nest.verbosity = nest.VerbosityLevel.ERROR
    linear_models(nest)
    other_models(nest)


# ---- Brian2 --------------------------------------------------------------------------------------------------------------


def brian_neuron(brian2, equations, namespace, method, threshold, reset, refractory, start, trains, dt, variables, unit=None):
    """Values at the end of each step and spike stamps in steps. `trains` as for spikemill, with the target's variable as receptor."""
    ms = brian2.ms
    brian2.start_scope()
    brian2.defaultclock.dt = dt * ms
    neuron = brian2.NeuronGroup(1, equations, threshold=threshold, reset=reset, refractory=refractory, method=method, namespace=namespace)
    for name, value in start.items():
        setattr(neuron, name, value)
    network = brian2.Network(neuron)
    for receptor, weight, steps in trains:
        for copy in range(1 + max(numpy.bincount(steps)) if len(steps) else 0):  # a generator gives one spike a step at most
            arrive = [step + round(DELAY / dt) - 1 for step in numpy.unique(steps) if numpy.count_nonzero(steps == step) > copy]
            source = brian2.SpikeGeneratorGroup(1, numpy.zeros(len(arrive), dtype=int), numpy.array(arrive) * dt * ms)
            synapse = brian2.Synapses(source, neuron, on_pre=f"{receptor}_post += {weight!r}*unit", namespace={"unit": unit or brian2.nS})
            synapse.connect()
            network.add(source, synapse)
    state = brian2.StateMonitor(neuron, list(variables), record=True, when="end")
    spikes = brian2.SpikeMonitor(neuron)
    network.add(state, spikes)
    network.run(T * ms)
    values = {v: numpy.array(getattr(state, v)[0]) for v in variables}
    return values, numpy.round(numpy.array(spikes.t / ms) / dt).astype(int) + 1


def conductances(brian2):
    mV, nS, pF, pA, ms = brian2.mV, brian2.nS, brian2.pF, brian2.pA, brian2.ms
    equations = """dv/dt = (gl*(el - v) + g_exc*(ee - v) + g_inh*(ei - v) + current)/c : volt (unless refractory)
                   dg_exc/dt = -g_exc/te : siemens
                   dg_inh/dt = -g_inh/ti : siemens"""
    sets = (({"c_m": 200.0, "g_l": 10.0, "e_l": -60.0, "e_exc": 0.0, "e_inh": -80.0, "v_th": -50.0, "v_reset": -60.0, "t_ref": 5.0, "i_e": 50.0,
              "tau_syn_exc": 5.0, "tau_syn_inh": 10.0}, 6.0, 20.0),
            ({"c_m": 250.0, "g_l": 16.6667, "e_l": -70.0, "e_exc": 0.0, "e_inh": -85.0, "v_th": -55.0, "v_reset": -60.0, "t_ref": 2.0, "i_e": 200.0,
              "tau_syn_exc": 0.2, "tau_syn_inh": 2.0}, 40.0, 8.0))
    for i, (p, exc, inh) in enumerate(sets):
        for dt in (0.1, 0.05):
            trains = [("exc", exc, input_times(40 + i, 900, dt)), ("inh", inh, input_times(50 + i, 100, dt))]
            ours, our_spikes = spikemill(f"cond-{i}-{dt:g}", "iaf-cond-exp", p, trains, dt, ("v", "g_exc", "g_inh"))
            namespace = {"gl": p["g_l"] * nS, "el": p["e_l"] * mV, "ee": p["e_exc"] * mV, "ei": p["e_inh"] * mV, "current": p["i_e"] * pA, "c": p["c_m"] * pF,
                         "te": p["tau_syn_exc"] * ms, "ti": p["tau_syn_inh"] * ms}
            # Brian2 counts the step of the spike as refractory, NEST and spikemill do not.
            theirs, their_spikes = brian_neuron(brian2, equations, namespace, "rk4", f"v >= {p['v_th']!r}*mV", f"v = {p['v_reset']!r}*mV",
                                                (p["t_ref"] + dt) * ms, {"v": p["e_l"] * mV}, [("g_" + r, w, s) for r, w, s in trains], dt,
                                                ("v", "g_exc", "g_inh"))
            name = f"iaf-cond-exp, set {i + 1}, dt {dt:g}, Brian2 rk4"
            compare(name, ours["v"], theirs["v"] * 1e3, our_spikes, their_spikes, 1e-6, our_spikes[0] - 1, 1)
            for g in ("g_exc", "g_inh"):
                off = numpy.abs(ours[g] - theirs[g] * 1e9).max()
                check(off < 1e-6, f"{name}: {g} throughout within {off:.1e} nS")


def relative_conductances(brian2):
    ms = brian2.ms
    equations = """dv/dt = (el - v + g_exc*(ee - v) + g_inh*(ei - v) + drive)/tm : 1 (unless refractory)
                   dg_exc/dt = -g_exc/te : 1
                   dg_inh/dt = -g_inh/ti : 1"""
    p = {"tau_m": 20.0, "e_l": -60.0, "e_exc": 0.0, "e_inh": -80.0, "v_th": -50.0, "v_reset": -60.0, "t_ref": 5.0, "i_bg": 8.0, "tau_exc": 5.0, "tau_inh": 10.0}
    for dt in (0.1, 0.05):
        trains = [("exc", 0.15, input_times(70, 900, dt)), ("inh", 0.3, input_times(80, 100, dt))]
        ours, our_spikes = spikemill(f"coba-{dt:g}", "lif-coba", p, trains, dt)
        namespace = {"el": p["e_l"], "ee": p["e_exc"], "ei": p["e_inh"], "drive": p["i_bg"], "tm": p["tau_m"] * ms, "te": p["tau_exc"] * ms, "ti": p["tau_inh"] * ms}
        # What arrives in a step counts in it here, and in the next one in Brian2, as does a potential that has crossed the threshold.
        theirs, their_spikes = brian_neuron(brian2, equations, namespace, "euler", f"v >= {p['v_th']!r}", f"v = {p['v_reset']!r}",
                                            (p["t_ref"] + dt) * ms, {"v": p["e_l"]}, [("g_" + r, w, s - 1) for r, w, s in trains], dt, ("v",), 1)
        compare(f"lif-coba, dt {dt:g}, Brian2 euler", ours["v"], theirs["v"], our_spikes, their_spikes, 1e-6, our_spikes[0] - 2, 1)


def simple_model(brian2):
    ms = brian2.ms
    equations = """dv/dt = (0.04*v**2 + 5*v + 140 - u + drive(t, i))/ms : 1
                   du/dt = a*(b*v - u)/ms : 1"""
    kinds = {"regular spiking": (0.02, 0.2, -65.0, 8.0), "fast spiking": (0.1, 0.2, -65.0, 2.0), "chattering": (0.02, 0.2, -50.0, 2.0)}
    for seed, (kind, (a, b, c, d)) in enumerate(kinds.items()):
        for dt in (0.1, 0.5):
            steps = input_times(60 + seed, 60, dt)
            ours, our_spikes = spikemill(f"euler-{seed}-{dt:g}", "izhikevich", {"a": a, "b": b, "c": c, "d": d, "i_e": 4.5, "scheme": "euler"},
                                         [("in", 3.0, steps)], dt, ("v", "u"))
            drive = 4.5 + 3.0 / dt * numpy.bincount(steps + round(DELAY / dt) - 1, minlength=round(T / dt))[: round(T / dt)]
            namespace = {"a": a, "b": b, "drive": brian2.TimedArray(drive[:, None], dt=dt * ms)}
            theirs, their_spikes = brian_neuron(brian2, equations, namespace, "euler", "v >= 30", f"v = {c!r}; u += {d!r}", False, {"v": -65.0, "u": b * -65.0},
                                                [], dt, ("v", "u"))
            compare(f"izhikevich, {kind}, dt {dt:g}, Brian2 euler", ours["v"], theirs["v"], our_spikes, their_spikes, 1e-6, our_spikes[0] - 1, 1)


def against_brian2():
    import brian2

    brian2.prefs.codegen.target = "numpy"
    conductances(brian2)
    relative_conductances(brian2)
    simple_model(brian2)


if __name__ == "__main__":
    {"nest": against_nest, "brian2": against_brian2}[sys.argv[1]]()

"""What other programs took, for the tables and figures of the sections: real-time factors by the number of synapses, on one NVIDIA H200.

SPICE: the program of Bautembach et al. (2021) as its authors publish it, single precision and fast mathematics, 10,000 steps after 2,000 of
warm-up; shared-memory delivery, and lazy and event-driven plasticity, where nothing else is said. GENN: GeNN 5.4, the best of its settings (sparse
or bit mask, post- or presynaptic parallelism, procedural), no copies to the host while it runs, Spice's rule for Brunel+. Networks and rates as ours.
PAPER: what the paper says of its own GPU.
"""
SPICE = {
    "vogels": {0.32e6: .0186, 8e6: .0196, 50e6: .0318, 200e6: .0606, 800e6: .177, 1.6e9: .558, 3.2e9: .934},
    "vogels, row-wise": {200e6: .173, 800e6: .397, 1.6e9: .756},
    "brunel": {0.32e6: .0251, 8e6: .0548, 50e6: .123, 200e6: .211, 800e6: .375, 1.6e9: .551, 3.2e9: .745},
    "brunel, row-wise": {200e6: .262, 800e6: .529, 1.6e9: .890},
    "brunel-plus": {8e6: .248, 50e6: .491, 200e6: 1.10, 800e6: 3.18, 1.6e9: 5.75},
    "brunel-plus, lazy only": {8e6: .561, 50e6: 1.39, 200e6: 3.99, 800e6: 12.5, 1.6e9: 24.5},
}
GENN = {
    "vogels": {0.32e6: .107, 8e6: .113, 50e6: .248, 200e6: .653, 800e6: 1.48, 3.2e9: 4.29},
    "brunel": {0.32e6: .118, 8e6: .122, 50e6: .238, 200e6: .429, 800e6: .803, 3.2e9: 1.68},
    "brunel-plus": {8e6: .313, 50e6: .865, 200e6: 1.63, 800e6: 3.39, 1.6e9: 4.89},
}
SPICE_CONSTRUCTION_S = {3.2e9: .0117}
PAPER = {"lazy : naive": 5.2, "event-driven : lazy": 5.8, "shared-memory : row-wise, vogels": 2.06, "shared-memory : row-wise, brunel": 2.48}


def found(table, name, size):
    """The number for about so many synapses, as text; "" when there is none."""
    for synapses, value in table.get(name, {}).items():
        if abs(synapses / size - 1) < 0.01:
            return f"{value:.3g}"
    return ""


def series(*names):
    """Series for measure.figure(other=…) of (label, table, name)."""
    return {label: sorted(table[name].items()) for label, table, name in names if name in table}

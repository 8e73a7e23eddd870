# What a user runs first, installed with the documentation.
dist_examples_DATA = \
  examples/brunel-plus-stdp.ini \
  examples/brunel-plus.ini \
  examples/brunel.ini \
  examples/brunel2000.ini \
  examples/chains-links.csv \
  examples/chains-mining.ini \
  examples/chains.ini \
  examples/coba.ini \
  examples/cuba.ini \
  examples/izhikevich2003.ini \
  examples/mining.ini \
  examples/vogels.ini
examplesdir = $(docdir)/examples
EXTRA_DIST += \
  examples/plugin/additive.ini \
  examples/plugin/leaky.ini \
  examples/plugin/neuron-leaky.c \
  examples/plugin/synapse-additive.c

# What a user runs first, installed with the documentation.
dist_examples_DATA = \
  examples/brunel.ini \
  examples/mining.ini \
  examples/vogels.ini
examplesdir = $(docdir)/examples
EXTRA_DIST += \
  examples/plugin/leaky.ini \
  examples/plugin/neuron-leaky.c

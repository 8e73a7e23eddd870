# Episode counters, one plugin each, in the manner of plugins/local.mk.

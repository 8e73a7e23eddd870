# Three lines a model, as in plugins/local.mk. A model includes and embeds its own text by the name that the compiler was given,
# which works because every compiler runs in the top build folder and -I. (automake gives it) finds the name again.
pkglib_LTLIBRARIES += neuron-models/neuron-iaf-cond-exp.la
neuron_models_neuron_iaf_cond_exp_la_SOURCES = neuron-models/iaf-cond-exp.c
neuron_models_neuron_iaf_cond_exp_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_iaf_cond_exp_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-iaf-psc-alpha.la
neuron_models_neuron_iaf_psc_alpha_la_SOURCES = neuron-models/iaf-psc-alpha.c
neuron_models_neuron_iaf_psc_alpha_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_iaf_psc_alpha_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-iaf-psc-delta.la
neuron_models_neuron_iaf_psc_delta_la_SOURCES = neuron-models/iaf-psc-delta.c
neuron_models_neuron_iaf_psc_delta_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_iaf_psc_delta_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-iaf-psc-exp.la
neuron_models_neuron_iaf_psc_exp_la_SOURCES = neuron-models/iaf-psc-exp.c
neuron_models_neuron_iaf_psc_exp_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_iaf_psc_exp_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-izhikevich.la
neuron_models_neuron_izhikevich_la_SOURCES = neuron-models/izhikevich.c
neuron_models_neuron_izhikevich_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_izhikevich_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-lif-coba.la
neuron_models_neuron_lif_coba_la_SOURCES = neuron-models/lif-coba.c
neuron_models_neuron_lif_coba_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_lif_coba_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-lif-delta.la
neuron_models_neuron_lif_delta_la_SOURCES = neuron-models/lif-delta.c
neuron_models_neuron_lif_delta_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_lif_delta_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-parrot.la
neuron_models_neuron_parrot_la_SOURCES = neuron-models/parrot.c
neuron_models_neuron_parrot_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_parrot_la_LDFLAGS = $(PLUGIN_LDFLAGS)

pkglib_LTLIBRARIES += neuron-models/neuron-poisson.la
neuron_models_neuron_poisson_la_SOURCES = neuron-models/poisson.c
neuron_models_neuron_poisson_la_CFLAGS = $(PLUGIN_CFLAGS)
neuron_models_neuron_poisson_la_LDFLAGS = $(PLUGIN_LDFLAGS)

/* Exact integration of a leaky membrane (Rotter & Diesmann 1999, Biol. Cybern. 81): what a synaptic current that decays with tau_s
   adds to the potential within a step h, per unit of current and of 1/C. Written so that tau_s = tau_m and any ratio of the two are
   finite and accurate to a few units in the last place. Times in ms; host only, in mill_derive. */
#ifndef SPIKEMILL_PROPAGATOR_H
#define SPIKEMILL_PROPAGATOR_H

#include <spikemill/device.h>

/* Integral over u from 0 to h of exp(-(h-u)/tau_m) exp(-u/tau_s). */
static inline double mill_propagate_exp(double h, double tau_m, double tau_s)
{
  double x = h / tau_s - h / tau_m, slow = tau_m > tau_s ? tau_m : tau_s;
  x = x < 0 ? x : -x;
  return h * mill_exp(-h / slow) * (x == 0 ? 1 : mill_expm1(x) / x);
}

/* Integral over u from 0 to h of exp(-(h-u)/tau_m) u exp(-u/tau_s). */
static inline double mill_propagate_alpha(double h, double tau_m, double tau_s)
{
  double x = h / tau_m - h / tau_s; /* ≤ 0 when the synapse is the faster one */
  double sum = 0, term = 1, slow = x <= 0 ? tau_m : tau_s;
  int rising = x <= 0;
  x = rising ? x : -x;
  if (x < -1) {
    sum = rising ? (mill_exp(x) * (x - 1) + 1) / (x * x) : (mill_expm1(x) - x) / (x * x);
  } else {
    /* s e^(xs) or (1-s) e^(xs) over s from 0 to 1, as a series */
    for (int k = 0; k < 24; k++) {
      sum += term / (rising ? (double)(k + 2) : (double)((k + 1) * (k + 2)));
      term *= x / (double)(k + 1);
    }
  }
  return h * h * mill_exp(-h / slow) * sum;
}

#endif

/* Izhikevich's simple model of spiking neurons (IEEE Transactions on Neural Networks 14, 2003):
     dv/dt = 0.04 v^2 + 5 v + 140 - u + i,  du/dt = a (b v - u);  v >= 30 mV: a spike, v <- c, u <- u + d.
   `scheme = published` is that of the paper's program, written for steps of 1 ms: two half steps for v with the old u, then u with the new
   v; for another dt these are steps of dt / 2 and dt. `scheme = euler` is forward Euler on (v, u). Then the threshold is applied and the
   neuron is reset. Input is constant within a step: the events of a step raise v by their weight if nothing else acts, so i is their sum
   over dt; at 1 ms that is the program's. `noise` is the program's thalamic input, drawn anew for each neuron and step; at another dt its
   deviation is over sqrt(dt / 1 ms), which keeps the variance of what adds up in a time.
   Neurons that differ: r places a neuron between two kinds, as the random numbers of the program do. Its a is a + a_span r, its b is
   b + b_span r, its c is c + c_span r^2 and its d is d + d_span r^2. */
#define MILL_PARAMS(P)                                                                                                           \
  P(a, "1/ms", 0.02, -1e3, 1e3, "rate of the recovery")                                                                          \
  P(b, "1/ms", 0.2, -1e3, 1e3, "what the recovery tends to, per mV of v")                                                        \
  P(c, "mV", -65, -1e4, 1e4, "potential after a spike")                                                                          \
  P(d, "mV/ms", 8, -1e6, 1e6, "what a spike adds to the recovery")                                                               \
  P(a_span, "1/ms", 0, -1e3, 1e3, "added to a, times r")                                                                         \
  P(b_span, "1/ms", 0, -1e3, 1e3, "added to b, times r")                                                                         \
  P(c_span, "mV", 0, -1e4, 1e4, "added to c, times the square of r")                                                             \
  P(d_span, "mV/ms", 0, -1e6, 1e6, "added to d, times the square of r")                                                          \
  P(v_th, "mV", 30, -1e4, 1e4, "potential that makes a spike")                                                                   \
  P(i_e, "mV/ms", 0, -1e9, 1e9, "constant input")                                                                                \
  P(noise, "mV/ms", 0, 0, 1e9, "standard deviation of a normally distributed input, at steps of 1 ms")
#define MILL_CHOICES(C) C(scheme, "published|euler", "published", "how a step is made")
#define MILL_STATE(S)                                                                                                            \
  S(real, v, "mV", -65, "membrane potential")                                                                                    \
  S(real, u, "mV/ms", mill_nan(), "recovery; the first step begins with b v where none is given")                                \
  S(real, r, "", 0, "place between two kinds of neurons, from 0 to 1")
#define MILL_RECEPTORS(R) R(in, "mV", "what a spike adds to the potential in a step")
#define MILL_DERIVED(D)                                                                                                          \
  D(real, half, "dt / 2")                                                                                                        \
  D(real, per_dt, "1 / dt")                                                                                                      \
  D(double, deviation, "of the noise in a step")
#define MILL_CURRENT "mV/ms"
#include <spikemill/neuron.h>

static const char *mill_derive(struct mill_param *p, const struct mill_values *v, double dt)
{
  if (dt > 1)
    return "scheme: the model needs steps of at most 1 ms";
  p->half = (mill_real)(dt / 2);
  p->per_dt = (mill_real)(1 / dt);
  p->deviation = v->noise / mill_sqrt(dt);
  return 0;
}

/* dv/dt, summed in the order of the published program. */
#undef slope
#define slope MILL_LOCAL(slope)
static inline mill_real slope(mill_real v, mill_real u, mill_real i)
{
  return MILL_R(0.04) * (v * v) + MILL_R(5) * v + MILL_R(140) - u + i;
}

static int mill_step(struct mill_state *s, const struct mill_param *p, const struct mill_input *in)
{
  mill_real a = p->a + p->a_span * s->r, b = p->b + p->b_span * s->r, square = s->r * s->r, v = s->v, next;
  mill_real u = s->u != s->u ? b * v : s->u, i = p->i_e + in->current + in->in * p->per_dt;
  int fires;
  if (p->deviation > 0)
    i += (mill_real)(p->deviation * mill_normal(mill_random(in->key, in->id, (uint64_t)in->step)));
  if (p->scheme) {
    next = v + p->dt * slope(v, u, i);
    u = u + p->dt * (a * (b * v - u));
  } else {
    next = v + p->half * slope(v, u, i);
    next = next + p->half * slope(next, u, i);
    u = u + p->dt * (a * (b * next - u));
  }
  fires = next >= p->v_th;
  s->v = fires ? p->c + p->c_span * square : next;
  s->u = fires ? u + (p->d + p->d_span * square) : u;
  return fires;
}

MILL_NEURON_MODEL("izhikevich", "Izhikevich's simple model, by the published scheme or forward Euler");

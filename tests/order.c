/* Spikes of an epoch in order: against a sort of all of them, record by record, on epochs of any size, with and without events; lists that no
   device may give. */
#include <xxhash.h>

#include "memory.h"
#include "order.h"
#include "random.h"
#include "tap.h"

enum { POPULATIONS = 5, NEURONS = 10000, LISTS = 3 };

static struct mill_population population[POPULATIONS];
static struct mill_network network = {.population_count = POPULATIONS, .population = population};
static uint32_t out_degree[NEURONS];

/* Populations that begin and end inside a word of 64 neurons, empty ones among them. */
static void make_network(uint32_t neurons, uint32_t steps)
{
  const uint32_t cut[POPULATIONS + 1] = {0, neurons / 3, neurons / 3, neurons / 2 + neurons % 2, neurons, neurons};
  for (uint32_t p = 0; p < POPULATIONS; p++) {
    population[p].first = cut[p];
    population[p].size = cut[p + 1] - cut[p];
  }
  network.neurons = neurons;
  network.epoch_steps = steps;
  for (uint32_t i = 0; i < neurons; i++)
    out_degree[i] = draw(1000);
}

/* Each neuron with a probability of `of` / 1000, in any order; a mask of several bits now and then. */
static uint32_t make_list(struct mill_device_spike *list, uint32_t steps, uint32_t of)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < network.neurons; i++) {
    if (draw(1000) < of) {
      uint32_t mask = UINT32_C(1) << draw(steps);
      while (draw(3) == 0)
        mask |= UINT32_C(1) << draw(steps);
      list[n++] = (struct mill_device_spike){i, mask};
    }
  }
  for (uint32_t i = n; i > 1; i--) {
    const uint32_t j = draw(i);
    const struct mill_device_spike other = list[i - 1];
    list[i - 1] = list[j];
    list[j] = other;
  }
  return n;
}

static int by_time(const void *a, const void *b)
{
  const struct mill_event *x = a, *y = b;
  return x->tick != y->tick ? (x->tick > y->tick) - (x->tick < y->tick) : (x->unit > y->unit) - (x->unit < y->unit);
}

/* What the list is by definition; the number of spikes. */
static uint64_t sort_list(const struct mill_device_spike *list, uint32_t count, int64_t first, struct mill_event *event,
                          struct mill_hash_record *record, uint64_t *of_population, uint64_t *synaptic_events)
{
  uint64_t n = 0;
  *synaptic_events = 0;
  for (uint32_t k = 0; k < count; k++) {
    for (uint32_t b = 0; b < 32; b++) {
      if (list[k].mask >> b & 1) {
        event[n++] = (struct mill_event){first + b + 1, list[k].neuron, 0};
        *synaptic_events += out_degree[list[k].neuron];
      }
    }
  }
  qsort(event, n, sizeof *event, by_time);
  for (uint64_t i = 0; i < n; i++) {
    uint32_t p = 0;
    while (event[i].unit < population[p].first || event[i].unit - population[p].first >= population[p].size)
      p++;
    of_population[p]++;
    record[i] = mill_hash_record(event[i].tick, p, event[i].unit - population[p].first);
  }
  return n;
}

static struct mill_device_spike list[NEURONS];
static struct mill_event event[NEURONS * 32];
static struct mill_hash_record record[NEURONS * 32];

static void test_order(uint32_t neurons, uint32_t steps, uint32_t of)
{
  struct mill_order_scratch scratch = {0};
  struct mill_ordered epoch = {0};
  struct mill_error error;
  uint64_t of_population[POPULATIONS] = {0};
  const char *wrong = NULL;
  int64_t first = draw(5) ? draw(1000000) : INT64_C(1) << 32;
  make_network(neurons, steps);
  if (mill_order_scratch_build(&network, &scratch, &error) < 0)
    bail("%s", error.text);
  for (int k = 0; k < LISTS && !wrong; k++, first += steps) {
    const uint32_t last = k == LISTS - 1 ? 1 + draw(steps) : steps; /* the last epoch of a run may be short */
    uint64_t synaptic_events, n;
    epoch.spike = list;
    epoch.count = make_list(list, last, k == 1 ? of / 8 : of);
    epoch.first = first;
    epoch.steps = last;
    epoch.with_events = k != 1;
    n = sort_list(list, epoch.count, first, event, record, of_population, &synaptic_events);
    if (mill_order(&network, out_degree, &scratch, &epoch, &error) < 0)
      wrong = error.text;
    else if (epoch.spikes != n || epoch.synaptic_events != synaptic_events)
      wrong = "numbers";
    else if (n && memcmp(epoch.record, record, n * sizeof *record) != 0)
      wrong = "records";
    else if (n && epoch.with_events && memcmp(epoch.event, event, n * sizeof *event) != 0)
      wrong = "events";
  }
  for (uint32_t p = 0; p < POPULATIONS && !wrong; p++)
    wrong = scratch.population_spikes[p] == of_population[p] ? NULL : "spikes of a population";
  ok(!wrong, "%u neurons, %u steps, %u in 1000 fire: %s", neurons, steps, of, wrong ? wrong : "in order");
  mill_order_free(&epoch);
  mill_order_scratch_free(&scratch);
}

static void refuse(const struct mill_device_spike *spikes, uint32_t count, uint32_t steps, const char *want)
{
  struct mill_order_scratch scratch = {0};
  struct mill_ordered epoch = {.spike = spikes, .count = count, .steps = steps, .first = 70};
  struct mill_error error = {0};
  if (mill_order_scratch_build(&network, &scratch, &error) < 0)
    bail("%s", error.text);
  ok(mill_order(&network, out_degree, &scratch, &epoch, &error) < 0, "refused: %s", want);
  ok(strstr(error.text, want) != NULL, "says so: %s", error.text);
  mill_order_free(&epoch);
  mill_order_scratch_free(&scratch);
}

static void test_refused(void)
{
  make_network(100, 8);
  refuse((struct mill_device_spike[]){{3, 1}, {100, 1}}, 2, 8, "a spike of neuron 100 is reported in step 70, and there are 100");
  refuse((struct mill_device_spike[]){{3, 1}, {5, 256}}, 2, 8, "after the end of the epoch of step 70");
  refuse((struct mill_device_spike[]){{3, 16}}, 1, 4, "after the end of the epoch of step 70");
  refuse((struct mill_device_spike[]){{3, 1}, {5, 2}, {3, 1}}, 3, 8, "a neuron is reported twice in the epoch of step 70");
}

/* Records one by one, in blocks, and mixed. */
static void test_hash(void)
{
  struct mill_spike_hash *one = mill_spike_hash_create(), *many = mill_spike_hash_create();
  if (!one || !many)
    bail("out of memory");
  for (uint32_t i = 0, n; i < 4000; i += n) {
    n = draw(700);
    n = n < 4000 - i ? n : 4000 - i;
    for (uint32_t k = i; k < i + n; k++) {
      const uint32_t p = draw(9), index = draw(NEURONS);
      record[k] = mill_hash_record(k / 3, p, index);
      mill_spike_hash_add(one, k / 3, p, index);
      if (n % 2)
        mill_spike_hash_add(many, k / 3, p, index);
    }
    if (n % 2 == 0)
      mill_spike_hash_records(many, record + i, n);
  }
  ok(mill_spike_hash_value(one) == mill_spike_hash_value(many), "records hashed in blocks give the hash of one by one");
  ok(mill_spike_hash_value(one) == XXH64(record, 4000 * sizeof *record, 0), "which is XXH64's of all");
  mill_spike_hash_free(one);
  mill_spike_hash_free(many);
}

int main(void)
{
  plan_later();
  const uint32_t neurons[] = {1, 63, 64, 65, 4095, 4096, 4097, NEURONS}, steps[] = {1, 8, 31, 32}, of[] = {0, 3, 30, 300, 1000};
  for (size_t i = 0; i < sizeof neurons / sizeof *neurons; i++) {
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
      for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        test_order(neurons[i], steps[s], of[k]);
    }
  }
  test_refused();
  test_hash();
  is_int((intmax_t)mill_memory_held(), 0, "nothing is left");
  return done_testing();
}

/* A rule that breaks the promise that every run gives the same weights: they depend on the number of threads, and what is delivered does
   not. `spikemill compare` must notice (tests/compare.test). */
#include <dirent.h>

#define MILL_DERIVED(D) D(real, more, "what a spike adds to the weight")
#include <spikemill/synapse.h>

static const char *mill_derive(struct mill_rule *p, const struct mill_values *v, double dt)
{
  DIR *folder = opendir("/proc/self/task");
  int entries = 0;
  (void)v, (void)dt;
  while (folder && readdir(folder))
    entries++;
  if (folder)
    closedir(folder);
  p->more = (mill_real)(entries > 3) / 4; /* ".", ".." and one thread */
  return 0;
}

static void mill_bounds(const struct mill_values *v, double *least, double *most, double *delivered)
{
  (void)v;
  *least = 0;
  *most = 100;
  *delivered = 1;
}

static void mill_on_post(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)s, (void)x, (void)y, (void)p, (void)n;
}

static mill_real mill_on_pre(struct mill_syn *s, const struct mill_pre *x, const struct mill_post *y, const struct mill_rule *p, int64_t n)
{
  (void)x, (void)y, (void)n;
  s->w += p->more;
  return 1;
}

static void mill_pre_up(struct mill_pre *x, const struct mill_rule *p)
{
  (void)x, (void)p;
}

static void mill_post_up(struct mill_post *y, const struct mill_rule *p)
{
  (void)y, (void)p;
}

MILL_SYNAPSE_RULE("unsteady", "a test: other weights on more than one thread");

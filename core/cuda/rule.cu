/* Read inside each rule's namespace, after its text: what visits do with a synapse, under names that a template can have. */
#define MILL_D_LOAD_(name, unit, initial, doc) s.name = ((const mill_real *)column[n++])[i];
#define MILL_D_STORE_(name, unit, initial, doc) ((mill_real *)column[n++])[i] = s.name;
#define MILL_D_PREFETCH_(name, unit, initial, doc) MILL_PREFETCH((const mill_real *)column[n++] + i);

/* A target's last spike: its trace after it and when it came, and how far the ones before lie back (MILL_BACK). Aligned for loads of 16 bytes: every
   visit waits for it. */
struct alignas(16) mill_last {
  int64_t step;
  uint64_t back;
  mill_post y, was;
};

struct mill_code {
  typedef mill_rule rule;
  typedef mill_pre pre;
  typedef mill_post post;
  typedef mill_walk walk;
  typedef mill_last last;

  /* What the host must agree with. */
  static const uint32_t rule_bytes = sizeof(mill_rule), pre_bytes = sizeof(mill_pre), post_bytes = sizeof(mill_post),
                        last_bytes = sizeof(mill_last),                        columns = MILL_SYN_COUNT_, decays = MILL_DECAY_COUNT_;

  static __device__ __forceinline__ void load(mill_syn &s, const uint64_t *column, uint64_t i)
  {
    uint32_t n = 1;
    s.w = ((const mill_real *)column[0])[i];
    MILL_SYN(MILL_D_LOAD_)
    (void)n;
  }
  static __device__ __forceinline__ void store(const mill_syn &s, const uint64_t *column, uint64_t i)
  {
    uint32_t n = 1;
    ((mill_real *)column[0])[i] = s.w;
    MILL_SYN(MILL_D_STORE_)
    (void)n;
  }
  static __device__ __forceinline__ void prefetch(const uint64_t *column, uint64_t i)
  {
    uint32_t n = 1;
    MILL_PREFETCH((const mill_real *)column[0] + i);
    MILL_SYN(MILL_D_PREFETCH_)
    (void)n;
  }
  static __device__ __forceinline__ void meet(mill_walk &walk, const struct mill_run &run, const mill_rule &p, const mill_post &y, int64_t at,
                                              uint32_t delay, int64_t k, int fires)
  {
    mill_meet(&walk, &run, &p, y, at, delay, k, fires);
  }
  static __device__ __forceinline__ int64_t fire(mill_walk &walk, const struct mill_run &run, const mill_rule &p, uint32_t delay, int64_t k)
  {
    return mill_fire(&walk, &run, &p, delay, k);
  }
  /* A spike n steps after the last. */
  static __device__ __forceinline__ void pre_spike(mill_pre &x, const mill_rule &p, int64_t n)
  {
    x = mill_pre_later(&x, &p, n);
    mill_pre_up(&x, &p);
  }
  static __device__ __forceinline__ mill_post post_later(const mill_post &y, const mill_rule &p, int64_t n)
  {
    return mill_post_later(&y, &p, n);
  }
  static __device__ __forceinline__ void post_up(mill_post &y, const mill_rule &p) { mill_post_up(&y, &p); }
};

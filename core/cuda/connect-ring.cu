/* Rings in shared memory, one for each row of a block, between the thread that draws the row and the warp that writes it. */

#define MILL_COPY_LANES 8u /* threads that copy one row's part */

/* A place in shared memory, held in a register. */
#ifndef MILL_SHARED_PLACE
typedef uint32_t mill_shared_place;
static __device__ __forceinline__ mill_shared_place mill_shared_place_of(const void *at)
{
  return (uint32_t)__cvta_generic_to_shared(at);
}
static __device__ __forceinline__ void mill_shared_put(mill_shared_place at, uint16_t value)
{
  asm volatile("st.shared.u16 [%0], %1;" : : "r"(at), "h"(value) : "memory");
}
static __device__ __forceinline__ void mill_shared_put(mill_shared_place at, uint32_t value)
{
  asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(value) : "memory");
}
#endif

/* A row's ring. */
template <class entry> struct mill_ring_writer {
  mill_shared_place begin, end, at; /* at: of the next, which may be written in vain */
  uint32_t count;                   /* of all that were kept */
  uint32_t first, without;          /* targets before `first` are another block's; the one that is left out */
  __device__ __forceinline__ void operator()(uint32_t target, bool valid)
  {
    const bool kept = valid && target >= first && target != without;
    const uint32_t bytes = sizeof(entry);
    const mill_shared_place next = at + bytes == end ? begin : at + bytes;
    mill_shared_put(at, (entry)target);
    at = kept ? next : at;
    count += kept;
  }
};

static __device__ __forceinline__ uint32_t mill_wrap(uint32_t at, uint32_t size)
{
  return at >= size ? at - size : at;
}

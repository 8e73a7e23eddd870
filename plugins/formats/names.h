/* Groups of a stream by name: types of a recording or populations. A hash table, since a recording may have a million types. A header,
   so that each plugin stays one object. */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <spikemill/format.h>

enum { NAMES_LIST = 320 };

/* The groups in order of their coming, until they are sorted. */
struct names {
  struct mill_group *list;
  uint32_t count, last; /* last: the one found last, which is often asked for again */
  size_t room, slots;   /* slots: a power of two, at least twice the room */
  uint32_t *slot;       /* 1 + a place in the list, 0 where there is none */
};

static inline size_t names_slot(const struct names *t, const char *name)
{
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, and the high bits folded down */
  for (const char *p = name; *p; p++)
    hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
  hash = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
  size_t at = (size_t)(hash >> 20) & (t->slots - 1);
  while (t->slot[at] && strcmp(t->list[t->slot[at] - 1].name, name))
    at = (at + 1) & (t->slots - 1);
  return at;
}

/* 1 when `name` is there, and its place in the list. */
static inline int names_find(struct names *t, const char *name, uint32_t *at)
{
  if (!t->count)
    return 0;
  if (strcmp(t->list[t->last].name, name)) {
    size_t slot = names_slot(t, name);
    if (!t->slot[slot])
      return 0;
    t->last = t->slot[slot] - 1;
  }
  *at = t->last;
  return 1;
}

static inline void names_enter_all(struct names *t)
{
  memset(t->slot, 0, t->slots * sizeof *t->slot);
  for (uint32_t i = 0; i < t->count; i++)
    t->slot[names_slot(t, t->list[i].name)] = i + 1;
}

/* Adds a group that is not there yet, as the last one; -1 when out of memory. */
static inline int names_add(struct names *t, const char *name, uint32_t first, uint32_t size)
{
  if (t->count == t->room) {
    size_t room = t->room ? 2 * t->room : 16;
    struct mill_group *list = realloc(t->list, room * sizeof *list);
    if (list)
      t->list = list;
    uint32_t *slot = realloc(t->slot, 2 * room * sizeof *slot);
    if (slot)
      t->slot = slot;
    if (!list || !slot)
      return -1;
    t->room = room;
    t->slots = 2 * room;
    names_enter_all(t);
  }
  char *copy = strdup(name);
  if (!copy)
    return -1;
  size_t slot = names_slot(t, name);
  t->last = t->count;
  t->list[t->count++] = (struct mill_group){copy, first, size};
  t->slot[slot] = t->count;
  return 0;
}

/* Whether a name is a whole number as it is usually written: digits without a leading zero. */
static inline int names_is_number(const char *s)
{
  size_t n = strspn(s, "0123456789");
  return n && !s[n] && (*s != '0' || n == 1);
}

/* Natural order: whole numbers by value, then the rest byte by byte. */
static inline int names_order(const char *a, const char *b)
{
  int number_a = names_is_number(a), number_b = names_is_number(b);
  if (number_a != number_b)
    return number_b - number_a;
  if (number_a && strlen(a) != strlen(b))
    return strlen(a) < strlen(b) ? -1 : 1;
  return strcmp(a, b);
}

static inline int names_compare(const void *a, const void *b)
{
  const struct mill_group *x = a, *y = b;
  return names_order(x->name, y->name);
}

/* Puts them in natural order, and gives each the unit of its place. */
static inline void names_sort(struct names *t)
{
  if (!t->count)
    return;
  qsort(t->list, t->count, sizeof *t->list, names_compare);
  for (uint32_t i = 0; i < t->count; i++)
    t->list[i].first = i;
  names_enter_all(t);
}

static inline void names_free(struct names *t)
{
  for (uint32_t i = 0; i < t->count; i++)
    free((void *)(uintptr_t)t->list[i].name);
  free(t->list);
  free(t->slot);
}

#endif

/* What `spikemill mine` says of its result: a table for people, CSV for data frames, JSON for programs. */
#ifndef MILL_MINE_REPORT_H
#define MILL_MINE_REPORT_H

#include <stdint.h>
#include <stdio.h>
#include <spikemill/mining.h>

/* ---- What its files share ---- */

/* Comments: version, job, recording, sums; lines that start with "# ". */
void mill_mine_head(FILE *out, const struct mill_mining *mining, const struct mill_mining_report *report);

/* A CSV field, in quotes when it needs them. */
void mill_mine_field(FILE *out, const char *text);

/* The names of an episode's types as one text, separated by blanks, each in quotes when it needs them; malloc'ed, NULL when out of
   memory. */
char *mill_mine_types(const struct mill_mining *mining, const struct mill_mining_episode *episode);

/* count / duration, or `none` when the recording has no duration. buffer ≥ 32 bytes. Returns buffer or `none`. */
const char *mill_mine_rate(char *buffer, uint64_t count, double duration_s, const char *none);

/* What tests add to an episode, in the order of columns; surrogates have no threshold, which is the last one. */
#define MILL_MINE_TESTS 5
extern const char *const mill_mine_test_name[MILL_MINE_TESTS];
int mill_mine_test_count(const struct mill_mining_report *report); /* how many of them there are */
void mill_mine_tests(const struct mill_mining_episode *episode, double *value); /* value[MILL_MINE_TESTS], NaN where there is none */

/* 0, or -1 (MILL_RESOURCES) when something could not be written. */
int mill_mine_done(FILE *out, struct mill_error *error);

/* ---- Reports ---- */

#define MILL_MINE_SHOWN 20 /* episodes of a level in a table on standard output */

/* The recording, the settings, the levels, the `most` most frequent episodes of each level, longest level first, and the sum. */
int mill_mine_table(FILE *out, const struct mill_mining *mining, uint64_t most, struct mill_error *error);

/* A head of comments and one line an episode: length,count,rate_hz,types,intervals_ms and, when it is tested, expected,strength,p,q and,
   with the model, threshold. Types are separated by blanks, a name that holds a blank or quote stands in quotes (doubled inside);
   intervals as "(0,5] (5,10]". rate_hz is empty when the recording has no duration. Of a window the lines begin with
   window,start_ms,stop_ms, and what is the same in all of them is written with the first. */
int mill_mine_csv(FILE *out, const struct mill_mining *mining, struct mill_error *error);

/* One object, as doc/formats.md describes it. */
int mill_mine_json(FILE *out, const struct mill_mining *mining, struct mill_error *error);

#endif

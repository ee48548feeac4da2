/* One Baum-Welch iteration in GHMM, timed; ghmm_em.py feeds it and judges the answer.
 *
 * stdin: n s, transition rows (from, to), emission rows (state, symbol), initial, the number of
 * sequences, and each as its length and symbols. stdout: seconds per iteration, then the
 * re-estimated rows in the same order.
 *
 * GHMM scores the model once more after its last iteration, so the time is that of several
 * iterations less that of one. */
#include <ghmm/model.h>
#include <ghmm/reestimate.h>
#include <ghmm/sequence.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Debian's libghmm was linked to an ATLAS that is no longer there; discrete models call none of
 * it. */
int clapack_dgetrf(void);
int clapack_dgetri(void);
int clapack_dpotrf(void);
int clapack_dgetrf(void) { abort(); }
int clapack_dgetri(void) { abort(); }
int clapack_dpotrf(void) { abort(); }

static double number(void) {
  double value;
  if (scanf("%lf", &value) != 1) {
    fputs("ghmm_em: the input ends early\n", stderr);
    exit(1);
  }
  return value;
}

static ghmm_dmodel* read_model(int n, int s) {
  int* degrees = malloc(sizeof(int) * (size_t)n);
  int i, j;
  ghmm_dmodel* model;
  for (i = 0; i < n; ++i) degrees[i] = n;
  model = ghmm_dmodel_calloc(s, n, GHMM_kDiscreteHMM, degrees, degrees);
  free(degrees);
  if (model == NULL) exit(1);
  for (i = 0; i < n; ++i) {
    model->s[i].out_states = model->s[i].in_states = n;
    for (j = 0; j < n; ++j) model->s[i].out_id[j] = model->s[i].in_id[j] = j;
  }
  for (i = 0; i < n; ++i) {
    for (j = 0; j < n; ++j) model->s[i].out_a[j] = model->s[j].in_a[i] = number();
  }
  for (i = 0; i < n; ++i) {
    for (j = 0; j < s; ++j) model->s[i].b[j] = number();
  }
  for (i = 0; i < n; ++i) model->s[i].pi = number();
  return model;
}

static ghmm_dseq* read_sequences(void) {
  const long count = (long)number();
  ghmm_dseq* set = ghmm_dseq_calloc(count);
  long i;
  int t;
  if (set == NULL) exit(1);
  for (i = 0; i < count; ++i) {
    set->seq_len[i] = (int)number();
    set->seq[i] = malloc(sizeof(int) * (size_t)set->seq_len[i]);
    for (t = 0; t < set->seq_len[i]; ++t) set->seq[i][t] = (int)number();
    set->seq_w[i] = 1.0;
  }
  set->total_w = (double)count;
  return set;
}

static double seconds_of(const ghmm_dmodel* start, ghmm_dseq* set, int iterations) {
  ghmm_dmodel* model = ghmm_dmodel_copy(start);
  struct timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  if (ghmm_dmodel_baum_welch_nstep(model, set, iterations, 0.0) != 0) exit(1);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  ghmm_dmodel_free(&model);
  return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

int main(void) {
  const int n = (int)number();
  const int s = (int)number();
  ghmm_dmodel* model = read_model(n, s);
  ghmm_dseq* set = read_sequences();
  double best = 1e300;
  int i, j, k;
  for (k = 0; k < 3; ++k) {
    const double one = seconds_of(model, set, 1);
    const int more = one < 0.1 ? 10 : 2;
    const double per_iteration = (seconds_of(model, set, 1 + more) - one) / more;
    if (per_iteration > 0.0 && per_iteration < best) best = per_iteration;
  }
  if (ghmm_dmodel_baum_welch_nstep(model, set, 1, 0.0) != 0) return 1;
  printf("%.17g\n", best);
  for (i = 0; i < n; ++i) {
    for (j = 0; j < n; ++j) printf("%.17g ", ghmm_dmodel_get_transition(model, i, j));
  }
  for (i = 0; i < n; ++i) {
    for (j = 0; j < s; ++j) printf("%.17g ", model->s[i].b[j]);
  }
  for (i = 0; i < n; ++i) printf("%.17g ", model->s[i].pi);
  printf("\n");
  return 0;
}

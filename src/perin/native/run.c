/* Runs a list of steps, so that Python calls once for a whole network and other threads of Python go on meanwhile. */

#ifndef TARGET
#define SELF "run.c"
#include "targets.h"
#else

#ifndef PERIN_RUN
#define PERIN_RUN
enum { WIDTH = 12 };
/* Numbers of a step: what to do, then addresses and sizes. */
enum { LINEAR, FEEDFORWARD, ATTENTION, NORM, MIX, POOL, BAG, ROTATE, ADD, LABELS, PAIRS };
/* What can be done, as inference/tape.py numbers it. */

static inline double real(int64_t bits) {
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

#define AT(type, number) ((type *)(intptr_t)step[number])
#endif

/* count steps, one after the other; returns 0, or 1 if there is no memory, or 2 if there is no such step. */
TARGET int NAME(run)(const int64_t *steps, int64_t count) {
    for (const int64_t *step = steps; step < steps + count * WIDTH; step += WIDTH) {
        int failed = 0;
        switch (step[0]) {
        case LINEAR:
            failed = NAME(linear)(AT(const struct layer, 1), AT(const float, 2), step[3], (int)step[4], AT(const float, 5),
                                  AT(float, 6));
            break;
        case FEEDFORWARD:
            failed = NAME(feedforward)(AT(const struct layer, 1), AT(const struct layer, 2), (int)step[3],
                                       AT(const float, 4), step[5], AT(const float, 6), AT(float, 7));
            break;
        case ATTENTION:
            failed = NAME(attention)(AT(const float, 1), AT(const float, 2), AT(const int64_t, 3), AT(const int64_t, 4),
                                     step[5], step[6], step[7], AT(float, 8));
            break;
        case NORM:
            NAME(norm)(AT(const float, 1), step[2], step[3], AT(const float, 4), AT(const float, 5), real(step[6]),
                       AT(float, 7));
            break;
        case MIX: NAME(mix)(AT(const float *const, 1), AT(const float, 2), step[3], step[4], AT(float, 5)); break;
        case POOL:
            NAME(pool)(AT(const float, 1), step[2], AT(const int64_t, 3), AT(const int64_t, 4), step[5], step[6],
                       AT(float, 7));
            break;
        case BAG:
            NAME(bag)(AT(const float, 1), step[2], AT(const int64_t, 3), AT(const int64_t, 4), step[5], step[6],
                      AT(float, 7));
            break;
        case ROTATE:
            NAME(rotate)(AT(float, 1), AT(const int64_t, 2), step[3], step[4], step[5], step[6], AT(const float, 7),
                         AT(const float, 8));
            break;
        case ADD:
            for (int64_t i = 0; i < step[3]; i++) AT(float, 4)[i] = AT(const float, 1)[i] + AT(const float, 2)[i];
            break;
        case LABELS: failed = NAME(labels)(AT(const struct labels, 1)); break;
        case PAIRS:
            failed = NAME(pairs)(AT(const struct layer, 1), AT(const float, 2), AT(const float, 3), AT(const float, 4),
                                 AT(const int64_t, 5), AT(const int64_t, 6), step[7], step[8], step[9], (int)step[10],
                                 AT(float, 11));
            break;
        default: return 2;
        }
        if (failed) return failed;
    }
    return 0;
}
#endif

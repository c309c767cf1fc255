import type { Word } from './word.ts';

/** States of webhook endpoints. */
export const endpoint: Record<string, Word> = {
  ACTIVE: { means: 'Gets every event that matches.', color: 'green' },
  DEGRADED: {
    means: 'Failed ten times in a row: one delivery a minute is attempted, the others wait.',
    color: 'yellow',
  },
  DISABLED: { means: 'Gets nothing until it is enabled.', color: 'red' },
};

/** States of webhook deliveries. */
export const delivery: Record<string, Word> = {
  PENDING: { means: 'Waits for its next attempt.', color: 'yellow' },
  DELIVERED: { means: 'The endpoint answered 2xx.', color: 'green' },
  FAILED: { means: 'Eight tries over a day failed, or the endpoint was disabled.', color: 'red' },
};

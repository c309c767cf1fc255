import type { Word } from './word.ts';

/** States of webhook endpoints. */
export const endpoint: Record<string, Word> = {
  ACTIVE: { means: 'Gets every matching event.', color: 'green' },
  DEGRADED: {
    label: 'failing',
    means: 'Failed ten times in a row. One delivery per minute is attempted. The others wait.',
    color: 'yellow',
  },
  DISABLED: { means: 'Gets nothing until it is enabled.', color: 'red' },
};

/** States of webhook deliveries. */
export const delivery: Record<string, Word> = {
  PENDING: { means: 'Waits for its next attempt.', color: 'yellow' },
  DELIVERED: { means: 'The endpoint responded with 2xx.', color: 'green' },
  FAILED: { means: 'Eight attempts over a day failed, or the endpoint was disabled.', color: 'red' },
};

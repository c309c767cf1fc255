import { isIP } from 'node:net';
import { z } from 'zod';
import { optionalPort } from './texts.ts';
import type { Variables } from './variable.ts';

/** Variables for the log and the metrics. */
export const OBSERVATION = {
  LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    takes: 'trace, debug, info, warn, error, fatal or silent',
    default: 'info',
    about: 'Least severity that is logged.',
  },
  METRICS_PORT: {
    schema: optionalPort,
    takes: 'a port number from 1 to 65535, or off',
    default: 'off',
    about: 'Port of the Prometheus metrics of the API. Under `npm start`, the workers use the ports after it.',
  },
  METRICS_HOST: {
    schema: z.string().refine((value) => isIP(value) !== 0),
    takes: 'an IP address',
    default: '127.0.0.1',
    about:
      'Address that the metrics bind to. The metrics need no credentials, so only the network of Prometheus should reach this address.',
  },
} as const satisfies Variables;

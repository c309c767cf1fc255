import { z } from 'zod';
import { INSTALLATION_CHOICES } from '../installation-tokens.ts';
import { host, httpUrl, text, url, wholeNumber } from './texts.ts';
import type { Variables } from './variable.ts';

/** Variables for the addresses of the service and of its data. */
export const SERVICE = {
  TIDINGS_HOME: {
    schema: text,
    takes: 'a folder',
    default: '.tidings',
    about: 'Folder of `npm start` for data, logs, generated secrets and the downloaded or built Temporal.',
  },
  HOST: {
    schema: host,
    takes: 'an IP address or a host name',
    default: '127.0.0.1',
    about: 'Address that the API and the mail listeners bind to.',
  },
  PORT: {
    schema: wholeNumber(0, 65_535),
    takes: 'a port number from 0 to 65535 (0 takes a free port)',
    default: '3000',
    about: 'Port of the API; `0` takes a free port.',
  },
  PUBLIC_URL: {
    schema: httpUrl,
    takes: 'an http:// or https:// address',
    defaultText: 'from `HOST` and `PORT`',
    about: 'The address in links that recipients follow, and of the callbacks that providers call.',
  },
  DATABASE_URL: {
    schema: url('postgres', 'postgresql'),
    takes: 'a postgres:// address such as postgres://user:password@host:5432/tidings',
    defaultText: '`npm start` runs its own Postgres; otherwise required',
    about: 'The Postgres database (version 18 or newer).',
    secret: true,
  },
  INSTALLATION: {
    schema: z.enum(INSTALLATION_CHOICES),
    takes: `${INSTALLATION_CHOICES.join(' or ')}`,
    about:
      'Role of a database that disagrees with Temporal: `take-over` for the original, restored from a backup; `new` for a clone, where nothing is sent ' +
      'until an operator resumes. Resolves one mismatch ([back-up](operate/back-up.md)).',
  },
} as const satisfies Variables;

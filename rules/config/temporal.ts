import { z } from 'zod';
import { listServedQueues, TASK_QUEUE_KINDS } from '../queues.ts';
import { host, hostPort, httpUrl, list, text, wholeNumber } from './texts.ts';
import type { ValuesOf, Variables } from './variable.ts';

/** The maximum of `WORKERS`. A higher number of processes on one machine is probably a typing error. */
const WORKERS_MAX = 64;

/** Variables for the connection to Temporal, and for the workers. */
export const TEMPORAL = {
  TEMPORAL_ADDRESS: {
    schema: hostPort,
    takes: 'a host and a port such as temporal.example.com:7233',
    defaultText: '`npm start` runs its own development server; otherwise required',
    about: "Temporal's frontend.",
  },
  TEMPORAL_NAMESPACE: {
    schema: z.string().regex(/^[\w.-]{2,255}$/),
    takes: 'a Temporal namespace (letters, digits, dots, dashes)',
    default: 'default',
    about: 'The Temporal namespace.',
  },
  TEMPORAL_API_KEY: {
    schema: text,
    takes: 'an API key',
    about: 'API key of Temporal Cloud; turns TLS on.',
    secret: true,
  },
  TEMPORAL_TLS_CERT: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Client certificate for Temporal (mutual TLS), with `TEMPORAL_TLS_KEY`.',
  },
  TEMPORAL_TLS_KEY: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Private key of `TEMPORAL_TLS_CERT`.',
  },
  TEMPORAL_TLS_CA: {
    schema: text,
    takes: 'the path of a PEM file',
    about: "Certificate authority of Temporal's server; turns TLS on.",
  },
  TEMPORAL_TLS_SERVER_NAME: {
    schema: host,
    takes: 'a host name',
    about: "Name in the certificate of Temporal's server, if it differs from the address.",
  },
  TEMPORAL_UI_URL: {
    schema: httpUrl,
    takes: 'an http:// or https:// address',
    defaultText: 'the UI of the dev server under `npm start` on a loopback `HOST`, else none',
    about:
      "Temporal's web UI: executions link to it. Users who may see executions see the link; the UI itself shows all projects.",
  },
  TEMPORAL_CLI_PATH: {
    schema: text,
    takes: 'the path of the temporal program',
    defaultText: 'found or fetched',
    about: 'The `temporal` program that `npm start` runs the dev server with.',
  },
  WORKERS: {
    schema: wholeNumber(1, WORKERS_MAX),
    takes: `a whole number from 1 to ${WORKERS_MAX}`,
    defaultText: 'the number of cores, at most 4',
    about: 'Worker processes of `npm start`.',
  },
  WORKER_QUEUES: {
    schema: list(z.enum(TASK_QUEUE_KINDS)),
    takes: `a comma-separated list of ${TASK_QUEUE_KINDS.join(', ')}`,
    defaultText: 'all',
    about:
      'The task queues that a worker process serves. `workflows` includes `steps` and hands new work to Temporal; `transactional` includes the first attempt of single emails and SMS. `docs/operate/workers.md` explains each.',
  },
  WORKER_DEPLOYMENT: {
    schema: z.string().regex(/^[\w-]{1,100}$/),
    takes: 'a name of letters, digits, dashes and underscores',
    defaultText: 'none: every worker takes tasks, whatever its build',
    about:
      'The worker deployment that workers register with Temporal, with their build as the version. `docs/operate/upgrade.md` has the ramp and the rollback.',
  },
} as const satisfies Variables;

/** Returns the settings of the connection to Temporal and of the workers. */
export function readTemporalSettings(values: ValuesOf<typeof TEMPORAL>) {
  return {
    address: values.TEMPORAL_ADDRESS,
    namespace: values.TEMPORAL_NAMESPACE,
    apiKey: values.TEMPORAL_API_KEY,
    /** Paths of PEM files. */
    tlsCertFile: values.TEMPORAL_TLS_CERT,
    tlsKeyFile: values.TEMPORAL_TLS_KEY,
    tlsCaFile: values.TEMPORAL_TLS_CA,
    tlsServerName: values.TEMPORAL_TLS_SERVER_NAME,
    /** The URL without a slash at its end. */
    uiUrl: values.TEMPORAL_UI_URL,
    cliPath: values.TEMPORAL_CLI_PATH,
    /** The queues that a worker process serves. */
    queues: listServedQueues(values.WORKER_QUEUES ?? []),
    /** The worker deployment. If there is no deployment, workers are not versioned. */
    deployment: values.WORKER_DEPLOYMENT,
  };
}

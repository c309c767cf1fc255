import { pino } from 'pino';
import { useTemporalLogger } from '../../worker/temporal-logger.ts';
import { startWorkersWithBundle } from './workflow-build.ts';

/** A process that runs workers with broken workflows and logs to standard output, as a worker does. */
const [address = '', namespace = '', bundle = ''] = process.argv.slice(2);
useTemporalLogger(pino({ level: 'info' }));
await startWorkersWithBundle({ address, namespace, bundle, taskQueue: (queue) => queue });

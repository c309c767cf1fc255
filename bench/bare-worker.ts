import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

/**
 * A Temporal worker that only runs the workflows of bench/bare-workflows.ts. `bench/executions.ts` starts it in a
 * separate process.
 */
Runtime.install({ logger: new DefaultLogger('WARN') });
const [address = '', namespace = ''] = process.argv.slice(2);
const connection = await NativeConnection.connect({ address });
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue: 'bench-bare',
  workflowsPath: new URL(`./bare-workflows.${extension}`, import.meta.url).pathname,
  activities: {
    bareActivity: async () => 'done',
    bareWaveActivity: async () => {
      process.send?.('ran');
      return 'done';
    },
  },
});
process.send?.('ready');
process.once('SIGTERM', () => worker.shutdown());
await worker.run();
await connection.close();

import { runStart } from './start/service.ts';
import { describeStartError, onSignals } from './start/service-process.ts';

// `npm start`: runs the whole service on this machine, in the foreground.
const service = runStart(process.env);
onSignals(service.stop, service.kill);
process.stdout.on('error', () => {}); // The terminal may close before this process ends, and writing would then fail.
try {
  await service.done;
} catch (error) {
  console.error(describeStartError(error));
  process.exitCode = 1;
}
process.exit();

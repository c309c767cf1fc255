import { runStart } from './start/service.ts';
import { explain, onSignals } from './start/service-process.ts';

// `npm start`: runs the whole service on this machine, in the foreground.
const service = runStart(process.env);
onSignals(service.stop, service.kill);
process.stdout.on('error', () => {}); // The terminal may go before we do.
try {
  await service.done;
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
process.exit();

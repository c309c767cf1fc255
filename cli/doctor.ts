import { diagnose } from './doctor/diagnosis.ts';
import { describeStartError } from './start/service-process.ts';

// `npm run doctor`: checks the configuration of this environment before it is used. Changes nothing and sends
// nothing.
try {
  const { lines, exitCode } = await diagnose(process.env, process.argv.slice(2));
  for (const line of lines) console.log(line);
  process.exitCode = exitCode;
} catch (error) {
  console.error(describeStartError(error));
  process.exitCode = 2;
}
// Ends the process explicitly, because requests that timed out may still be running.
process.exit();

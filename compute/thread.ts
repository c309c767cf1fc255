import { parentPort, workerData } from 'node:worker_threads';
import { type Bound, setBound, threadCpuMs } from '../domain/bounded.ts';
import { TASKS } from './tasks.ts';
import { type TaskAnswer, type TaskMessage, toPortable } from './thread-messages.ts';

// A thread of `threads.ts`: does one task after the other until it is ended.
const port = parentPort;
if (!port) throw new Error('this module is the entry of a thread');
setBound((workerData as { bound: Bound }).bound);
port.on('message', (task: TaskMessage) => port.postMessage(done(task)));
port.postMessage('ready');

function done({ id, name, input }: TaskMessage): TaskAnswer {
  const startMs = threadCpuMs();
  try {
    const value = (TASKS[name] as (input: unknown) => unknown)(input);
    return { id, cpuMs: threadCpuMs() - startMs, value };
  } catch (error) {
    return { id, cpuMs: threadCpuMs() - startMs, error: toPortable(error) };
  }
}

import { parentPort, workerData } from 'node:worker_threads';
import { type Bound, setBound, threadCpuMs } from '../rules/bounded.ts';
import { bytesOf, TASKS } from './tasks.ts';
import { type TaskAnswer, type TaskMessage, toPortable, wholeBuffers } from './thread-messages.ts';

// A thread of `threads.ts`: does one task after the other until it is ended.
const port = parentPort;
if (!port) throw new Error('this module is the entry of a thread');
setBound((workerData as { bound: Bound }).bound);
port.on('message', async (task: TaskMessage) => {
  const answer = await done(task);
  const bytes = 'value' in answer ? bytesOf(task.name, answer.value) : [];
  port.postMessage(answer, wholeBuffers(bytes));
});
port.postMessage('ready');

/** A task is asked for when the one before is done, so all that the thread computes meanwhile is its doing. */
async function done({ id, name, input }: TaskMessage): Promise<TaskAnswer> {
  const startMs = threadCpuMs();
  try {
    const value = await (TASKS[name] as (input: unknown) => unknown)(input);
    return { id, cpuMs: threadCpuMs() - startMs, value };
  } catch (error) {
    return { id, cpuMs: threadCpuMs() - startMs, error: toPortable(error) };
  }
}

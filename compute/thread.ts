import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type Bound, setBound, threadCpuMs } from '../rules/bounded.ts';
import { bytesOf, TASKS } from './tasks.ts';
import { type TaskAnswer, type TaskMessage, toPortable, transferableBuffers } from './thread-messages.ts';

// A thread of `threads.ts`: does one task after the other until it is ended.
/**
 * About a third of what the loop gets where both want the same processor: more would starve a neighbour's costly
 * content too.
 */
const NICE = 5;

const port = parentPort;
if (!port) throw new Error('this module is the entry of a thread');
yieldToTheLoop();
setBound((workerData as { bound: Bound }).bound);
port.on('message', async (task: TaskMessage) => {
  const answer = await runTask(task);
  const bytes = 'value' in answer ? bytesOf(task.name, answer.value) : [];
  port.postMessage(answer, transferableBuffers(bytes));
});
port.postMessage('ready');

/**
 * Where processors are scarce, the loop that all tenants share goes first. Linux counts niceness by thread, and 0 names
 * the caller's own (setpriority(2), notes); elsewhere it would be the whole process, which is left as it is.
 */
function yieldToTheLoop(): void {
  if (process.platform === 'linux') setPriority(0, NICE);
}

/** A task is asked for when the one before is done, so all that the thread computes meanwhile is its doing. */
async function runTask({ id, name, input }: TaskMessage): Promise<TaskAnswer> {
  const startMs = threadCpuMs();
  try {
    const value = await (TASKS[name] as (input: unknown) => unknown)(input);
    return { id, cpuMs: threadCpuMs() - startMs, value };
  } catch (error) {
    return { id, cpuMs: threadCpuMs() - startMs, error: toPortable(error) };
  }
}

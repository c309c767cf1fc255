import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { setTimeLimit, type TimeLimit, threadCpuMs } from '../rules/time-limit.ts';
import { bytesOf, TASKS } from './tasks.ts';
import { type TaskAnswer, type TaskMessage, toPortable, transferableBuffers } from './thread-messages.ts';

// A thread of `threads.ts`: does one task after the other until it is ended.
/**
 * With this niceness, a thread gets about a third of the main loop's processor time on one processor. A lower priority
 * would also starve costly content of other tenants.
 */
const NICE = 5;

const port = parentPort;
if (!port) throw new Error('this module is the entry of a thread');
yieldToTheLoop();
setTimeLimit((workerData as { bound: TimeLimit }).bound);
port.on('message', async (task: TaskMessage) => {
  const answer = await runTask(task);
  const bytes = 'value' in answer ? bytesOf(task.name, answer.value) : [];
  port.postMessage(answer, transferableBuffers(bytes));
});
port.postMessage('ready');

/**
 * When processors are scarce, the loop that all tenants share goes first. Linux counts niceness per thread, and 0
 * means the calling thread (setpriority(2), notes). On other systems it would apply to the whole process, so nothing
 * changes there.
 */
function yieldToTheLoop(): void {
  if (process.platform === 'linux') setPriority(0, NICE);
}

/** The caller sends a task only after the previous one has ended, so all CPU time between the two belongs to it. */
async function runTask({ id, name, input }: TaskMessage): Promise<TaskAnswer> {
  const startMs = threadCpuMs();
  try {
    const value = await (TASKS[name] as (input: unknown) => unknown)(input);
    return { id, cpuMs: threadCpuMs() - startMs, value };
  } catch (error) {
    return { id, cpuMs: threadCpuMs() - startMs, error: toPortable(error) };
  }
}

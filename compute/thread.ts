import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { readThreadCpuMs, setTimeLimit, type TimeLimit } from '../rules/time-limit.ts';
import { listArraysToTransfer, TASKS } from './tasks.ts';
import { listTransferableBuffers, type TaskMessage, type TaskReply, toPortableError } from './thread-messages.ts';

// Runs in each thread of `threads.ts`: works on one task after another until the thread is ended.
/**
 * The niceness of a thread. On one processor, a thread then gets about a third of the main loop's processor time. A
 * lower priority would also starve costly content of other tenants.
 */
const NICE = 5;

const port = parentPort;
if (!port) throw new Error('this module is the entry of a thread');
lowerPriority();
setTimeLimit((workerData as { timeLimit: TimeLimit }).timeLimit);
port.on('message', async (task: TaskMessage) => {
  const reply = await runTask(task);
  const arrays = 'value' in reply ? listArraysToTransfer(task.name, reply.value) : [];
  port.postMessage(reply, listTransferableBuffers(arrays));
});
port.postMessage('ready');

/**
 * Lowers the priority of this thread, so that the main loop, which all tenants share, gets scarce processor time first.
 * On Linux, niceness applies to one thread, and 0 means the calling thread (setpriority(2), notes). On other systems,
 * niceness applies to the whole process, so it is not changed there.
 */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, NICE);
}

/**
 * Runs a task and measures its CPU time. A thread runs only one task at a time, so all its CPU time between the start
 * and the end of the task belongs to the task.
 */
async function runTask({ id, name, input }: TaskMessage): Promise<TaskReply> {
  const startMs = readThreadCpuMs();
  try {
    const value = await (TASKS[name] as (input: unknown) => unknown)(input);
    return { id, cpuMs: readThreadCpuMs() - startMs, value };
  } catch (error) {
    return { id, cpuMs: readThreadCpuMs() - startMs, error: toPortableError(error) };
  }
}

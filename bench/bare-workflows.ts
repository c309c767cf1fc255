import { proxyActivities, sleep } from '@temporalio/workflow';

const { bareActivity, bareWaveActivity } = proxyActivities<
  Record<'bareActivity' | 'bareWaveActivity', () => Promise<string>>
>({
  taskQueue: 'bench-bare',
  startToCloseTimeout: '1 minute',
  allowEagerDispatch: false,
});

/** Runs one empty activity: the minimum cost of a durable effect. */
export async function singleActivity(): Promise<void> {
  await bareActivity();
}

/** Runs an empty activity, a timer and an empty activity: the minimum cost of SEND → DELAY → SEND. */
export async function bareTimer(): Promise<void> {
  await bareActivity();
  await sleep(1_000);
  await bareActivity();
}

/** Waits until an instant and runs an empty activity: the minimum cost of a DELAY and a step. */
export async function bareTimerUntil(atMs: number): Promise<void> {
  await sleep(Math.max(1, atMs - Date.now()));
  await bareWaveActivity();
}

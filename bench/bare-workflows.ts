import { proxyActivities, sleep } from '@temporalio/workflow';

const { bareActivity, bareWaveActivity } = proxyActivities<
  Record<'bareActivity' | 'bareWaveActivity', () => Promise<string>>
>({
  taskQueue: 'bench-bare',
  startToCloseTimeout: '1 minute',
  allowEagerDispatch: false,
});

/** The least that a durable effect can cost: one activity that does nothing. */
export async function bareOne(): Promise<void> {
  await bareActivity();
}

/** The least that SEND → DELAY → SEND can cost. */
export async function bareTimer(): Promise<void> {
  await bareActivity();
  await sleep(1_000);
  await bareActivity();
}

/** The least that a DELAY until an instant and a step can cost. */
export async function bareWave(atMs: number): Promise<void> {
  await sleep(Math.max(1, atMs - Date.now()));
  await bareWaveActivity();
}

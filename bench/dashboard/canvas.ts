import type { Page } from 'playwright-core';
import type { ApiClient } from '../load/api-client.ts';
import { computePercentile } from './window.ts';

/** The duration of each movement. One second would be too short to measure slow frames. */
const MOVE_MS = 3_000;
/** Time between two movements of the mouse: two per frame, like a real mouse. */
const STEP_MS = 8;
/** Records the time between frames until `STOP` reads it. */
const COUNT = `window.benchFrames = []; (() => {
  let last = performance.now();
  const next = (now) => { window.benchFrames.push(now - last); last = now; window.benchFrame = requestAnimationFrame(next); };
  window.benchFrame = requestAnimationFrame(next);
})()`;
const STOP = 'cancelAnimationFrame(window.benchFrame), window.benchFrames';

/**
 * Creates an automation with this many steps, and returns its id. Every fifth step is a CONDITION: its branch `yes`
 * continues, and its branch `no` leads to an EXIT.
 */
export async function createAutomation(client: ApiClient, count: number): Promise<string> {
  const { id } = await client.callOk('POST', '/workflows', { name: `${count} steps`, eventName: 'bench' });
  const { version } = await client.callOk('GET', `/workflows/${id}`);
  const steps: { id: string; type: string; config: object }[] = [];
  const transitions: { fromStepId: string; toStepId: string; branch?: string }[] = [];
  let before: { id: string; branch?: string } | undefined;
  while (steps.length < count) {
    const stepId = `s${steps.length}`;
    const isBranch = steps.length % 5 === 4 && steps.length + 2 < count;
    if (before) transitions.push({ fromStepId: before.id, toStepId: stepId, ...(before.branch && { branch: 'yes' }) });
    steps.push({ id: stepId, ...(isBranch ? BRANCH : WAIT) });
    before = { id: stepId, ...(isBranch && { branch: 'yes' }) };
    if (!isBranch) continue;
    transitions.push({ fromStepId: stepId, toStepId: `s${steps.length}`, branch: 'no' });
    steps.push({ id: `s${steps.length}`, type: 'EXIT', config: {} });
  }
  await client.callOk('PUT', `/workflows/${id}/graph`, { version, entryStepId: 's0', steps, transitions });
  return id;
}

const WAIT = { type: 'DELAY', config: { amount: 1, unit: 'days' } };
const BRANCH = {
  type: 'CONDITION',
  config: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
};

/** Measures frames per second while the canvas is moved: at a zoom where its text can be read, and fully zoomed out. */
export async function measureCanvas(page: Page): Promise<Record<string, unknown>[]> {
  const rows = [
    await measureFrames(page, 'pan, readable', () => panCanvas(page)),
    await measureFrames(page, 'drag a step', () => dragStep(page)),
  ];
  rows.push(await measureFrames(page, 'zoom out and in', () => zoomCanvas(page)));
  await page.getByRole('button', { name: 'Fit View' }).click();
  rows.push(await measureFrames(page, 'pan, fully zoomed out', () => panCanvas(page)));
  return rows;
}

async function measureFrames(page: Page, what: string, move: () => Promise<void>) {
  await page.evaluate(COUNT);
  await move();
  const pauses = (await page.evaluate(STOP)) as number[];
  const seconds = pauses.reduce((sum, ms) => sum + ms, 0) / 1_000;
  return {
    canvas: what,
    steps: await page.locator('.react-flow__node').count(),
    'frames a second': Math.round(pauses.length / seconds),
    'frame p95 ms': Math.round(computePercentile(pauses, 0.95)),
    'longest ms': Math.round(Math.max(...pauses)),
  };
}

/** Moves the whole canvas by dragging an empty part of it. */
async function panCanvas(page: Page): Promise<void> {
  const box = await findBox(page, '.react-flow__pane');
  const [x, y] = [box.x + box.width * 0.9, box.y + box.height / 2];
  await moveBy(page, { x, y }, 150);
}

async function dragStep(page: Page): Promise<void> {
  const box = await findBox(page, '.react-flow__node-step');
  await moveBy(page, { x: box.x + box.width / 2, y: box.y + box.height / 2 }, 100);
}

async function zoomCanvas(page: Page): Promise<void> {
  const box = await findBox(page, '.react-flow__pane');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const from = performance.now();
  for (let now = 0; now < MOVE_MS; now = performance.now() - from) {
    await page.mouse.wheel(0, now < MOVE_MS / 2 ? 30 : -30);
    await page.waitForTimeout(STEP_MS);
  }
}

/** Moves the mouse in circles while the button is pressed. */
async function moveBy(page: Page, { x, y }: { x: number; y: number }, radiusPx: number): Promise<void> {
  await page.mouse.move(x, y);
  await page.mouse.down();
  const from = performance.now();
  for (let now = 0; now < MOVE_MS; now = performance.now() - from) {
    const angle = (now / 1_000) * Math.PI;
    await page.mouse.move(x - radiusPx + Math.cos(angle) * radiusPx, y + Math.sin(angle) * radiusPx);
    await page.waitForTimeout(STEP_MS);
  }
  await page.mouse.up();
}

async function findBox(page: Page, selector: string) {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not in sight`);
  return box;
}

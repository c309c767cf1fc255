import type { ExecutionEnvironment } from '../../../engine/automations/environment.ts';
import type { EffectPosition } from '../../../engine/automations/resume.ts';
import { checkWindowGate } from '../../../rules/campaigns/gate.ts';

/**
 * If the project's sending window is closed for a MARKETING message to the contact, advances the simulated time of a
 * preview to the moment at which the window opens, and returns this moment. Returns undefined if the window is open.
 */
export async function advanceToSendingWindow(
  { execution }: EffectPosition,
  environment: ExecutionEnvironment,
): Promise<Date | undefined> {
  const nowMs = environment.now(execution).getTime();
  const gate = checkWindowGate(await environment.getTiming(execution), nowMs);
  if (gate.kind === 'open' || !execution.run) return undefined;
  execution.run.aheadMs += gate.notBeforeMs - nowMs;
  return new Date(gate.notBeforeMs);
}

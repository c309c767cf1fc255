import type { ExecutionEnvironment } from '../../../engine/automations/environment.ts';
import type { EffectPosition } from '../../../engine/automations/resume.ts';
import { checkWindowGate } from '../../../rules/campaigns/gate.ts';

/**
 * Advances the simulated time of a preview to the moment at which the sending window for a MARKETING message to the
 * contact opens, and returns this moment. If the window is open, changes nothing and returns undefined.
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

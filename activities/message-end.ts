import type { SampledLog } from '../rules/sampled-log.ts';
import { timeOfUuid } from '../rules/uuid.ts';

/** How an email or SMS ended. */
export interface MessageEnd {
  projectId: string;
  kind: 'email' | 'sms';
  id: string;
  outcome: string;
  reason: string | null;
}

/** Logs the end of an email or SMS, with the time since it was accepted. */
export function logMessageEnd(ends: SampledLog, { kind, id, ...end }: MessageEnd): void {
  ends('a message has ended', () => {
    const acceptedAt = timeOfUuid(id);
    return { [`${kind}Id`]: id, ...end, ms: acceptedAt === undefined ? null : Date.now() - acceptedAt.getTime() };
  });
}

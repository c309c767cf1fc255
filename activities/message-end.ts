import type { SampledLog } from '../rules/sampled-log.ts';
import { readUuidTime } from '../rules/uuid.ts';

/** How an email or SMS ended. */
export interface MessageEnd {
  projectId: string;
  kind: 'email' | 'sms';
  id: string;
  outcome: string;
  reason: string | null;
}

/** Logs the end of an email or SMS, with the time since it was accepted. */
export function logMessageEnd(endLog: SampledLog, message: MessageEnd): void {
  // Under load, the sampled log skips most lines, so the fields are built only for a line that is written.
  endLog('a message has ended', () => {
    const { kind, id, ...end } = message;
    const acceptedAt = readUuidTime(id);
    return { [`${kind}Id`]: id, ...end, ms: acceptedAt === undefined ? null : Date.now() - acceptedAt.getTime() };
  });
}

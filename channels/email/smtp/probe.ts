import type { ChannelOptions } from './channel.ts';
import { openSession } from './handshake.ts';
import { SmtpHandshakeError } from './handshake-error.ts';
import { buildRefusal } from './refusal.ts';
import type { SmtpRefusal } from './types.ts';

export interface ProbeEnvelope {
  from: string;
  to: string;
}

/** The result of a probe. `accepted`: the server would accept a message for this envelope. */
export type ProbeResult =
  | { outcome: 'accepted'; encrypted: boolean }
  | SmtpRefusal
  | { outcome: 'unsent'; error: string };

/**
 * Checks whether a mail server accepts email from us. Signs in as for a real email, sends MAIL and RCPT, and cancels
 * the transaction with RSET. No message is sent. Without an envelope, only signs in. Never rejects.
 */
export async function probe(
  options: ChannelOptions,
  envelope: ProbeEnvelope | null,
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    const { channel } = await openSession(options, signal);
    channel.onClose = () => {};
    try {
      const { commandMs } = options.timeouts;
      for (const [stage, line] of envelope ? buildCommands(envelope) : []) {
        const { code, text } = await channel.sendCommand(line, `the reply to ${stage.toUpperCase()}`, commandMs);
        if (code >= 400) return buildRefusal(stage, code, text);
      }
      if (envelope) await channel.sendCommand('RSET', 'the reply to RSET', commandMs);
      channel.write('QUIT\r\n');
      return { outcome: 'accepted', encrypted: channel.encrypted };
    } finally {
      channel.onClose = () => {};
      channel.destroy(new Error('the probe is over'));
    }
  } catch (error) {
    if (error instanceof SmtpHandshakeError) return error.refusal;
    return { outcome: 'unsent', error: error instanceof Error ? error.message : String(error) };
  }
}

function buildCommands({ from, to }: ProbeEnvelope): ['mail' | 'rcpt', string][] {
  return [
    ['mail', `MAIL FROM:<${from}>`],
    ['rcpt', `RCPT TO:<${to}>`],
  ];
}

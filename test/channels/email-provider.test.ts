import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCaptureProvider } from '../../channels/email/capture.ts';
import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';
import { createSesProvider } from '../../channels/email/ses/provider.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { classifyRefusal } from '../../rules/emails/refusal.ts';
import { startFakeSes } from '../support/fake-ses.ts';
import { startSmtpSink } from '../support/smtp/smtp-sink.ts';

const PROJECT = '0190a000-0000-7000-8000-0000000000b1';

interface Harness {
  provider: EmailProvider;
  /** Returns the recipient and content of every accepted message. */
  taken(): { to: string; raw: string }[];
  /** Makes the provider unreachable. */
  breakDown(): Promise<void>;
  close(): Promise<void>;
}

const HARNESSES: Record<EmailProvider['kind'], () => Promise<Harness>> = {
  smtp: async () => {
    const sink = await startSmtpSink({ keepBodies: true });
    return {
      provider: createSmtpProvider({ url: sink.url, connections: 2 }),
      taken: () => sink.messages.map(({ to }, i) => ({ to, raw: sink.bodies[i] ?? '' })),
      breakDown: () => sink.close(),
      close: () => sink.close(),
    };
  },
  ses: async () => {
    const fake = await startFakeSes();
    return {
      provider: createSesProvider({ region: 'eu-west-1', endpoint: fake.endpoint }),
      taken: () => fake.requests.map(({ to, raw }) => ({ to: to[0] ?? '', raw })),
      breakDown: () => fake.close(),
      close: () => fake.close(),
    };
  },
  capture: async () => {
    const kept: OutgoingEmail[] = [];
    let broken = false;
    const store = async (message: OutgoingEmail): Promise<void> => {
      if (broken) throw new Error('the store is down');
      kept.push(message);
    };
    return {
      provider: createCaptureProvider(store),
      taken: () => kept.map(({ to, raw }) => ({ to, raw: raw.toString('latin1') })),
      breakDown: async () => {
        broken = true;
      },
      close: async () => {},
    };
  },
};

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
});
afterAll(() => {
  vi.unstubAllEnvs();
});

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});

function createEmail(to: string, over: Partial<OutgoingEmail> = {}): OutgoingEmail {
  const raw = `Message-ID: <${to}>\r\nSubject: hello\r\n\r\nHello\r\n`;
  return { id: `id-${to}`, projectId: PROJECT, from: 'bounces@example.com', to, raw, ...over };
}

describe.each(Object.keys(HARNESSES) as EmailProvider['kind'][])('the email provider %s', (kind) => {
  async function start(): Promise<Harness> {
    const harness = await HARNESSES[kind]();
    cleanup.push(() => harness.close());
    cleanup.push(() => harness.provider.close());
    return harness;
  }

  it('reports its kind', async () => {
    expect((await start()).provider.kind).toBe(kind);
  });

  it('sends a message once and unchanged, and returns the id from the provider', async () => {
    const { provider, taken } = await start();
    const result = await provider.send(createEmail('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'accepted', providerMessageId: expect.stringMatching(/.+/) });
    expect(taken()).toEqual([{ to: 'ann@example.org', raw: createEmail('ann@example.org').raw }]);
  });

  it('accepts messages as Buffers and strings', async () => {
    const { provider, taken } = await start();
    const raw = Buffer.from('Subject: bytes\r\n\r\n\xff\x80\r\n', 'latin1');
    await provider.send(createEmail('ann@example.org', { raw }));
    expect(taken()[0]?.raw).toBe(raw.toString('latin1'));
  });

  it('reports the result of each of many concurrent messages, by promise and by callback', async () => {
    const { provider, taken } = await start();
    const recipients = Array.from({ length: 40 }, (_, i) => `to${i}@example.org`);
    const answered: string[] = [];
    const results = await Promise.all(
      recipients.map((to, i) => {
        if (i % 2) return provider.send(createEmail(to));
        return new Promise<ProviderResult>((resolve) => {
          provider.submit(createEmail(to), (result, message) => {
            answered.push(message.to);
            resolve(result);
          });
        });
      }),
    );
    expect(results.map((result) => result.outcome)).toEqual(Array(40).fill('accepted'));
    expect(answered).toHaveLength(20);
    expect(
      taken()
        .map(({ to }) => to)
        .sort(),
    ).toEqual(recipients.sort());
  });

  it('does not send a message that was aborted earlier', async () => {
    const { provider, taken } = await start();
    expect(await provider.send(createEmail('ann@example.org'), AbortSignal.abort())).toMatchObject({
      outcome: 'unsent',
    });
    expect(taken()).toEqual([]);
  });

  it('returns messages as unsent if it cannot be reached, and does not throw', async () => {
    const { provider, breakDown } = await start();
    await breakDown();
    expect(await provider.send(createEmail('ann@example.org'))).toMatchObject({
      outcome: 'unsent',
      error: expect.stringMatching(/.+/),
    });
  });

  it('accepts no message after it was closed', async () => {
    const { provider, taken } = await start();
    const before = provider.send(createEmail('before@example.org'));
    await before;
    await provider.close();
    expect(await provider.send(createEmail('after@example.org'))).toMatchObject({ outcome: 'unsent' });
    expect(taken()).toHaveLength(1);
  });
});

describe('the email provider smtp', () => {
  it('returns a refusal in a form that the refusal table can classify', async () => {
    const sink = await startSmtpSink();
    cleanup.push(() => sink.close());
    const provider = createSmtpProvider({ url: sink.url });
    cleanup.push(() => provider.close());
    const result = await provider.send(createEmail('reject550-5.1.1@example.org'));
    expect(result.outcome).toBe('refused');
    if (result.outcome === 'refused')
      expect(classifyRefusal(result)).toMatchObject({ about: 'recipient', why: 'dead_mailbox' });
  });
});

describe('the email provider ses', () => {
  async function start() {
    const fake = await startFakeSes();
    cleanup.push(() => fake.close());
    const provider = createSesProvider({ region: 'eu-west-1', endpoint: fake.endpoint });
    cleanup.push(() => provider.close());
    return { fake, provider };
  }

  it('calls SendEmail with a signature for its region, and puts the ids of email and project in tags', async () => {
    const { fake, provider } = await start();
    expect(await provider.send(createEmail('ann@example.org'))).toMatchObject({ providerMessageId: 'ses-1' });
    expect(fake.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v2/email/outbound-emails',
    });
    expect(fake.requests[0]?.tags).toEqual({ email_id: 'id-ann@example.org', project_id: PROJECT });
    expect(fake.requests[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/eu-west-1\/ses\//);
  });

  it.each([
    [429, 'TooManyRequestsException', 'Maximum sending rate exceeded.', 'us session', true],
    [400, 'LimitExceededException', 'Daily message quota exceeded.', 'us session', true],
    [400, 'SendingPausedException', 'Sending is paused.', 'us session', true],
    [400, 'AccountSuspendedException', 'Suspended.', 'us session', true],
    [403, 'AccessDeniedException', 'Not allowed.', 'us session', true],
    [400, 'MailFromDomainNotVerifiedException', 'The MAIL FROM domain is not verified.', 'us account', true],
    [
      400,
      'MessageRejected',
      'Email address is not verified. The following identities failed the check: a@b.c',
      'us account',
      true,
    ],
    [400, 'MessageRejected', 'Message contains a virus', 'message', false],
    [400, 'BadRequestException', 'Missing final @domain', 'message', false],
    [503, 'ServiceUnavailable', 'Later.', 'us session', true],
  ])('classifies the error %d %s (%s) as a refusal about “%s”', async (status, type, message, expected, retry) => {
    const { fake, provider } = await start();
    fake.responses.push({ status, type, message });
    const result = await provider.send(createEmail('ann@example.org'));
    expect(result).toMatchObject({ outcome: 'refused', text: expect.stringContaining(message) });
    if (result.outcome === 'refused') {
      const refusal = classifyRefusal(result);
      expect('why' in refusal ? `${refusal.about} ${refusal.why}` : refusal.about).toBe(expected);
      expect(refusal.retry).toBe(retry);
    }
    expect(fake.requests).toHaveLength(1); // The retries of the AWS SDK are switched off.
  });

  it('reports a message as in doubt if the response is lost', async () => {
    const { fake, provider } = await start();
    fake.responses.push('hang up');
    expect(await provider.send(createEmail('ann@example.org'))).toMatchObject({ outcome: 'in_doubt' });
    expect(fake.requests).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcessesWithArgument } from '../../cli/start/processes.ts';
import { runDemo } from '../support/demo.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../support/start.ts';

/** Returns the lines about the feedback loop that has this text in its title. */
function findLoopLines(output: string, title: string): string {
  return output.split(/\n\n(?=\d+ {2}|[A-Z])/).find((part) => part.split('\n', 1)[0]?.includes(title)) ?? '';
}

describe('npm run demo:channels', () => {
  it('shows every kind of feedback with a service that it starts, prints each record, and removes the service', async () => {
    const { code, output, remaining } = await runDemo('demo-channels');
    expect(code, output).toBe(0);
    expect(output).toContain('All 13 loops are closed.');
    expect(output).not.toContain('\x1b');
    const records: [title: string, ...lines: RegExp[]][] = [
      ['A delivery', /email .*"status":"DELIVERED"/, /event +email\.delivery \{.*"deliveredAt"/],
      [
        'the return path',
        ...[/email .*"status":"BOUNCED".*"reason":"bounced:dead_mailbox".*User unknown/, /email\.bounce .*"Permanent"/],
        ...[/contact\.unsubscribed \{"reason":"bounce"\}/, /contact .*"subscribed":false/],
        /suppression .*"hard_bounce","source":"dsn"/,
      ],
      ['complaint', /email\.complaint .*"complainedAt"/, /suppression .*"complaint","source":"arf"/],
      ['open', /GET .*\.gif: 200 image\/gif, 43 bytes/, /email\.open .*"isFirstOpen":true/],
      ['click: ', /302 to https:\/\/example\.com\/offer/, /email\.click .*"link":"https:\/\/example\.com\/offer"/],
      ['RFC 8058', /POST .* with List-Unsubscribe=One-Click: 200/, /suppression .*"unsubscribe"/],
      ['reply', /email .*"status":"RECEIVED"/, /email\.received .*"body":"Yes, please\.\\n".*"spfVerdict"/],
      ['relay', /250 2\.0\.0 Accepted as/, /email .*"status":"SENT"/],
      ['automation', /step +WAIT_FOR_EVENT .*"branch":"event"/, /execution .*"exitReason":"clicked"/],
      ['SMTP session', /suppression .*"hard_bounce","source":"smtp"/],
      ['unreachable', /email\.bounce .*"transientBounce":true/, /contact .*"subscribed":true/],
      ['SMS', /sms .*"DELIVERED"/, /contact .*"smsSubscribed":false/, /sms .*"FAILED".*"reason":"sms_stopped"/],
      ['webhook', /its signature matches the body, and does not match an altered body/, /delivery .*"DELIVERED"/],
    ];
    for (const [title, ...lines] of records)
      for (const line of lines) expect(findLoopLines(output, title)).toMatch(line);
    expect(remaining).toEqual([]);
  });

  describe('with a running service', () => {
    const home = createHomePath();
    let service: StartedService;
    beforeAll(async () => {
      service = await startService({ home });
    });
    afterAll(async () => {
      service?.signal('SIGTERM');
      await service?.exited;
      await removeHome(home);
    });

    it('completes every feedback loop that is possible, names the others, and ends with exit code 1', async () => {
      // Without pixels and tracked links, the demo cannot complete three loops.
      await patchProject({ tracking: 'DISABLED' });
      const before = service.dev();
      const { code, output, remaining } = await runDemo('demo-channels', { home });
      expect(code, output).toBe(1);
      expect(output).toContain(`Service at ${before.baseUrl} (running service, home ${home}).`);
      expect(output).toContain('3 of 13 loops are NOT CLOSED.');
      for (const title of ['open', 'click: ', 'automation'])
        expect(findLoopLines(output, title)).toContain('NOT CLOSED');
      expect(findLoopLines(output, 'open')).toContain('tracking');
      expect(remaining).toEqual([]);
      expect(service.dev()).toEqual(before);
      expect(listProcessesWithArgument(`--home=${home}`)).toHaveLength(1 + before.pids.workers.length);
      expect(await listStatuses()).toEqual(expect.arrayContaining(['DELIVERED', 'BOUNCED', 'COMPLAINED', 'RECEIVED']));
    });

    async function patchProject(body: object): Promise<void> {
      const { baseUrl, owner } = service.dev();
      const json = { 'content-type': 'application/json' };
      const login = await fetch(`${baseUrl}/auth/login`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify(owner),
      });
      const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
      const headers = { ...json, cookie };
      const patched = await fetch(`${baseUrl}/project`, { method: 'PATCH', headers, body: JSON.stringify(body) });
      expect(patched.status).toBe(200);
    }

    async function listStatuses(): Promise<string[]> {
      const { baseUrl, secretKey } = service.dev();
      const headers = { authorization: `Bearer ${secretKey}` };
      const response = await fetch(`${baseUrl}/v1/emails?limit=100`, { headers });
      const { data } = (await response.json()) as { data: { status: string }[] };
      return data.map(({ status }) => status);
    }
  });
});

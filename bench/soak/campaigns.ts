import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../load/api-client.ts';

const REPEAT_MS = 500;

/** Creates a campaign to all contacts, sends it, and returns its id. Repeats each request until it gets a response. */
export async function sendCampaign(client: ApiClient, domain: string, name: string): Promise<string> {
  const body = {
    name,
    subject: 'News for {{firstName}}',
    body: '<p>Hello {{firstName}} <a href="https://e.test/">x</a></p>',
    from: `news@${domain}`,
    audienceType: 'ALL',
  };
  for (;;) {
    // A campaign whose response was lost stays a DRAFT that no one uses.
    const response = await client.call('POST', '/campaigns', body).catch(() => undefined);
    const id: string | undefined = response?.body?.data?.id;
    if (id !== undefined) {
      await sendOnce(client, id);
      return id;
    }
    await sleep(REPEAT_MS);
  }
}

async function sendOnce(client: ApiClient, id: string): Promise<void> {
  for (;;) {
    const sent = await client.call('POST', `/campaigns/${id}/send`, {}).catch(() => undefined);
    // 409: an earlier request has started the campaign, and only its response was lost.
    if (sent && (sent.status < 300 || sent.status === 409)) return;
    await sleep(REPEAT_MS);
  }
}

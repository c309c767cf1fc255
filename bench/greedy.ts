import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { inParallel } from './load/api-client.ts';
import { type Latencies, startNeighbour } from './neighbour-load.ts';
import { type Stage, startStage } from './neighbour-stage.ts';

/**
 * What B notices while A abuses what is heavy: a campaign whose every message runs out of time, previews of such a mail, files of torn rows,
 * mails with the largest attachments.
 * B's single mails are measured from the request to the end of DATA. `--only` takes names of abuses by comma.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'idle,campaign,previews,csv,attachments' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '1' },
  },
});
const P95_LIMIT_MS = 200;
const DRAIN_MS = 120_000;
/** Nothing for somebody without `items`, and without end for one who has many: a trial rendering lets it pass. */
const COSTLY =
  '{% for a in items %}{% for b in items %}{% for c in items %}{{ a | times: b | times: c }}{% endfor %}{% endfor %}{% endfor %}';
const ITEMS = { items: Array.from({ length: 300 }, (_, n) => n) };

const ABUSES: Record<string, (stage: Stage, untilMs: number) => Promise<void>> = {
  idle: async (_, untilMs) => void (await sleep(untilMs - Date.now())),
  campaign: async ({ a, db }, untilMs) => {
    await sql`
      INSERT INTO contacts (project_id, email, subscribed, data)
      SELECT ${a.id}, 'greedy' || n || '@load.test', true, ${JSON.stringify(ITEMS)}::jsonb FROM generate_series(1, 150) AS n
      ON CONFLICT DO NOTHING`.execute(db);
    const content = { name: 'Greedy', subject: 'S', body: COSTLY, from: `hello@${a.domain}`, audienceType: 'ALL' };
    const { data } = await a.client.need('POST', '/campaigns', content);
    await a.client.need('POST', `/campaigns/${data.id}/send`, {});
    await sleep(untilMs - Date.now());
  },
  previews: async ({ a }, untilMs) => {
    const mail = { to: 'preview@load.test', from: `hello@${a.domain}`, subject: 'S', body: COSTLY, data: ITEMS };
    const sent = await a.client.need('POST', '/v1/send', mail);
    const id = sent.data.emails[0]?.email;
    await inParallel({ total: 80, concurrency: 10 }, async () => {
      if (Date.now() < untilMs) await a.client.call('GET', `/v1/emails/${id}`);
    });
    await sleep(Math.max(0, untilMs - Date.now()));
  },
  attachments: async ({ a }, untilMs) => {
    const file = { filename: 'a.bin', contentType: 'application/octet-stream', content: 'A'.repeat(13_000_000) };
    const body = {
      to: 'big@load.test',
      from: `hello@${a.domain}`,
      subject: 'S',
      body: '<p>x</p>',
      attachments: [file],
    };
    await inParallel({ total: 200, concurrency: 5 }, async () => {
      if (Date.now() < untilMs) await a.client.call('POST', '/v1/send', body);
    });
    await sleep(Math.max(0, untilMs - Date.now()));
  },
  csv: async ({ a, baseUrl }, untilMs) => {
    for (let n = 0; n < 5; n += 1) {
      const form = new FormData();
      form.append('file', new File([`email,plan\n${'"\n'.repeat(400_000)}`], 'torn.csv'));
      await fetch(`${baseUrl}/contacts/import`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Bearer ${a.secretKey}` },
      });
    }
    await sleep(Math.max(0, untilMs - Date.now()));
  },
};

const rows: (Latencies & { abuse: string; refused: number; '': string })[] = [];
for (const abuse of values.only.split(',')) {
  const run = ABUSES[abuse];
  if (!run) throw new Error(`There is no abuse ${abuse}; there are ${Object.keys(ABUSES).join(', ')}.`);
  console.log(`${abuse} …`);
  // A fresh service each, so that none measures what the one before has left.
  const stage = await startStage({ workers: values.workers });
  try {
    const b = startNeighbour({ ...stage.b, sink: stage.sink, tag: `t-${abuse}-`, perSecond: Number(values.rate) });
    await run(stage, Date.now() + Number(values.seconds) * 1_000);
    const { mails, refused } = await b.stop(DRAIN_MS);
    const ok = mails.p95 <= P95_LIMIT_MS && mails.missing === 0;
    rows.push({ abuse, ...mails, refused, '': ok || abuse === 'idle' ? 'ok' : 'OVER' });
  } finally {
    await stage.close();
  }
}
console.log(
  `\nB's single mails while A is greedy, ms from the request to the end of DATA; p95 is to be under ${P95_LIMIT_MS}`,
);
console.table(rows);

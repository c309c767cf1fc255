import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import type { ContentSource } from '../rules/content/content.ts';
import { TemplateError } from '../rules/content/template-error.ts';
import { markTrusted } from '../rules/provenance/provenance.ts';
import { isLimitError, TimeLimitExceeded } from '../rules/time-limit.ts';
import { createThreads } from './threads.ts';

const threads = createThreads();
afterAll(() => threads.close());

const createSource = (body: string): ContentSource => ({
  subject: 'News',
  body,
  type: 'MARKETING',
  trackOpens: true,
  trackClicks: true,
});
const input = {
  vars: markTrusted({ name: 'Ada', items: ['tea', 'milk'] }),
  urls: { baseUrl: 'https://mail.example.com', track: 'track', manage: 'manage' },
};
const renderToStrings = (projectId: string, body: string, charge?: (cpuMs: number) => void) =>
  threads.run({ projectId, name: 'content.parts', input: { key: body, source: createSource(body), input }, charge });

describe('a task in a thread', () => {
  it('has the same result as on the event loop, and is charged to the project', async () => {
    const charged: number[] = [];
    const { html, subject } = await renderToStrings('a', '{% for item in items %}<p>{{item}}</p>{% endfor %}', (ms) =>
      charged.push(ms),
    );
    expect(html).toContain('<p>tea</p><p>milk</p>');
    expect(subject).toBe('News');
    expect(charged).toHaveLength(1);
    expect(charged[0]).toBeGreaterThan(0);
  });

  it.runIf(process.platform === 'linux')('has a lower priority than the shared event loop', async () => {
    await renderToStrings('a', '<p>{{email}}</p>');
    const nice = readdirSync('/proc/self/task').map((id) =>
      Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]),
    );
    const own = getPriority();
    expect(Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[16])).toBe(own);
    expect(nice).toContain(5);
  });

  it('that exceeds its time limit fails with a template error, and the next task runs', async () => {
    const endless = '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ a | times: b }}{% endfor %}{% endfor %}';
    const error = await renderToStrings('a', endless).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TemplateError);
    expect(isLimitError(error)).toBe(true);
    expect((await renderToStrings('a', '<p>next</p>')).text).toContain('next');
  });

  it('runs although it is added while an idle thread ends', async () => {
    const shortLived = createThreads({ threads: 1, idleMs: 1 });
    const run = () =>
      shortLived.run({
        projectId: 'a',
        name: 'content.parts',
        input: { key: '', source: createSource('<p>1</p>'), input },
      });
    for (let n = 0; n < 3; n++) {
      await run();
      // The thread has started to end, and its exit is not known yet.
      await new Promise((resolve) => setTimeout(resolve, 2));
      await run();
    }
    await shortLived.close();
  });

  it('fails without TimeLimitExceeded when the pool is closed', async () => {
    const stopped = createThreads();
    await stopped.run({ projectId: 'a', name: 'html.text', input: { html: '<p>ready</p>' } });
    const task = stopped.run({ projectId: 'a', name: 'html.text', input: { html: '<div>'.repeat(20_000) } });
    await Promise.all([expect(task).rejects.toThrow('the threads have ended'), stopped.close()]);
    await expect(task).rejects.not.toBeInstanceOf(TimeLimitExceeded);
  });

  it('leaves a thread for other projects, which take turns', async () => {
    // Starts both threads.
    await Promise.all([renderToStrings('noisy', '<p>1</p>'), renderToStrings('other', '<p>2</p>')]);
    const order: string[] = [];
    // Unlike a template, this task has no time limit that it could exceed on a busy machine.
    const runAndRecord = (projectId: string, html: string) =>
      threads.run({ projectId, name: 'html.text', input: { html } }).then(() => order.push(projectId));
    // Each task takes long enough that the other thread gets processor time before ten tasks are done.
    const noisy = Array.from({ length: 20 }, () => runAndRecord('noisy', '<div>'.repeat(20_000)));
    await Promise.all([...noisy, runAndRecord('other', '<p>other</p>')]);
    expect(order.indexOf('other')).toBeLessThan(10);
  });
});

describe('a thread whose task exceeds the hard limit', () => {
  it('is ended, its task fails, and another thread replaces it', async () => {
    const strict = createThreads({ hardLimitMs: 1 });
    const charged: number[] = [];
    const html = '<div>'.repeat(20_000);
    const task = strict.run({ projectId: 'a', name: 'html.text', input: { html }, charge: (ms) => charged.push(ms) });
    await expect(task).rejects.toBeInstanceOf(TimeLimitExceeded);
    expect(charged).toEqual([1]);
    await strict.close();
    expect((await renderToStrings('a', '<p>after</p>')).text).toContain('after');
  });
});

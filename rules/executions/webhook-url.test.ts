import { expect, it } from 'vitest';
import { markUntrusted } from '../provenance/provenance.ts';
import { writeWebhookBody } from './webhook-body.ts';
import { fillWebhookUrl } from './webhook-url.ts';

const variables = markUntrusted({ a: 'b c/ü', half: '\ud83d', site: 'evil' }, ['site']);

it.each([
  ['https://x.example/{{a}}?q={{ a | upcase }}', 'https://x.example/b%20c%2F%C3%BC?q=B%20C%2F%C3%9C'],
  ['https://x.example/{{ a | url_encode }}', 'https://x.example/b+c%2F%C3%BC'],
  ['https://x.example/?q={{ a | upcase | cgi_escape }}', 'https://x.example/?q=B+C%2F%C3%9C'],
  ['https://x.example/{{half}}', 'https://x.example/%EF%BF%BD'],
  ['https://x.example/{{site}}/{{none ?? "a b"}}', 'https://x.example//a%20b'],
])('fills %s to %s', (url, expected) => {
  expect(fillWebhookUrl(url, variables)).toBe(expected);
});

it('a value in a form body is encoded only once', () => {
  const execution = { id: '1', workflowId: '2', workflowName: 'W', startedAt: new Date(0), event: {} };
  const contact = { email: 'ada@example.com', subscribed: true, data: markUntrusted({}, []) };
  const source = { execution, contact, variables };
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  expect(writeWebhookBody({ body: 'a={{ a | url_encode }}&b={{a}}', headers }, source)).toBe(
    'a=b+c%2F%C3%BC&b=b%20c%2F%C3%BC',
  );
});

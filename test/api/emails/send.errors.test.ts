import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const base = { to: 'a@example.com', from: 'x@shop.example.com', subject: 'S', body: '<p>b</p>' };
const file = { filename: 'a.txt', content: 'aGVsbG8=', contentType: 'text/plain' };
const createInlineImage = (contentId: string) => ({
  ...file,
  contentType: 'image/png',
  disposition: 'inline',
  contentId,
});

type Case = [name: string, body: object, field: string, code: string];
const CASES: Case[] = [
  ['no recipient', { to: undefined }, 'to', 'invalid_type'],
  ['an invalid address', { to: 'nobody' }, 'to', 'invalid_string'],
  ['an invalid address in the list', { to: ['a@example.com', 'nobody'] }, 'to.1', 'invalid_string'],
  ['no recipients', { to: [] }, 'to', 'too_small'],
  ['no subject', { subject: undefined }, 'subject', 'invalid_type'],
  ['no body', { body: undefined }, 'body', 'invalid_type'],
  ['no sender', { from: undefined }, 'from', 'invalid_type'],
  ['an empty subject', { subject: '' }, 'subject', 'too_small'],
  ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject', 'too_big'],
  ['a subject with a line break', { subject: 'a\nBcc: x@y.z' }, 'subject', 'invalid_string'],
  ['a header value with a line break', { headers: { 'X-A': 'a\r\nBcc: x' } }, 'headers.X-A', 'invalid_string'],
  ['a header value of 999 characters', { headers: { 'X-A': 'x'.repeat(999) } }, 'headers.X-A', 'too_big'],
  ['a header name with a colon', { headers: { 'X:A': 'a' } }, 'headers.X:A', 'invalid_string'],
  ...[
    'X-SES-CONFIGURATION-SET',
    'x-ses-source-arn',
    'Authentication-Results',
    'Received',
    'Resent-To',
    'Return-Path',
    'Sender',
    'DKIM-Signature',
    'ARC-Seal',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
  ].map((name): Case => [`the header ${name}`, { headers: { 'X-A': '1', [name]: 'x' } }, `headers.${name}`, 'custom']),
  ['eleven attachments', { attachments: Array(11).fill(file) }, 'attachments', 'too_big'],
  [
    'a file name with a quote',
    { attachments: [{ ...file, filename: 'a"b' }] },
    'attachments.0.filename',
    'invalid_string',
  ],
  ['a long file name', { attachments: [{ ...file, filename: 'x'.repeat(256) }] }, 'attachments.0.filename', 'too_big'],
  [
    'content that is not base64',
    { attachments: [{ ...file, content: '§§' }] },
    'attachments.0.content',
    'invalid_string',
  ],
  [
    'no content type',
    { attachments: [{ ...file, contentType: undefined }] },
    'attachments.0.contentType',
    'invalid_type',
  ],
  [
    'an inline file without an id',
    { attachments: [{ ...file, disposition: 'inline' }] },
    'attachments.0.contentId',
    'invalid_type',
  ],
  ...['Bild_ä.png', 'a b', 'a"b', '<a>', 'a\u007f'].map(
    (contentId): Case => [
      `the content id ${JSON.stringify(contentId)}`,
      { attachments: [createInlineImage(contentId)] },
      'attachments.0.contentId',
      'invalid_string',
    ],
  ),
  [
    'two inline files with one id',
    { attachments: [createInlineImage('logo'), file, createInlineImage('LOGO'), createInlineImage('logo')] },
    'attachments.3.contentId',
    'custom',
  ],
  [
    'an unknown disposition',
    { attachments: [{ ...file, disposition: 'x' }] },
    'attachments.0.disposition',
    'invalid_enum_value',
  ],
  ['an invalid reply address', { reply: 'x' }, 'reply', 'invalid_string'],
  ['subscribed as text', { subscribed: 'yes' }, 'subscribed', 'invalid_type'],
  ['a body that does not parse', { body: 'a\n {% if %}' }, 'body', 'custom'],
];

it('two inline files with the same content id are refused, also with a template and in a batch', async () => {
  const attachments = [createInlineImage('logo'), createInlineImage('logo')];
  const { body: created } = await api.call('POST', '/templates', {
    body: { name: 'Logo', subject: 'Hi', body: '<img src="cid:logo">', type: 'TRANSACTIONAL', from: base.from },
  });
  const byTemplate = await api.call('POST', '/v1/send', {
    body: { to: base.to, template: created.id, attachments },
  });
  expect([byTemplate.status, byTemplate.body.error?.errors[0].field]).toEqual([422, 'attachments.1.contentId']);
  const batch = await api.call('POST', '/v1/send/batch', {
    body: { atomic: true, emails: [base, { ...base, attachments }] },
  });
  expect([batch.status, batch.body.error?.errors[0].field]).toEqual([422, 'emails.1.attachments.1.contentId']);
});

describe('an invalid request to /v1/send', () => {
  it.each(CASES)('returns 422 and names the field: %s', async (_, change, field, code) => {
    const r = await api.call('POST', '/v1/send', { body: { ...base, ...change } });
    expect(r.status).toBe(422);
    expect(r.body.error.errors[0]).toMatchObject({ field, code });
  });
});

it('an idempotency key that is too long or not ASCII returns 400', async () => {
  for (const key of ['x'.repeat(256), 'ä']) {
    const r = await api.call('POST', '/v1/send', { body: base, headers: { 'idempotency-key': key } });
    expect([r.status, r.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  }
});

it('each kind of missing or wrong credentials has its own error code', async () => {
  const sendAndReadCode = async (key: string | null) =>
    (await api.call('POST', '/v1/send', { body: base, key })).body.error.code;
  expect(await sendAndReadCode(null)).toBe('UNAUTHORIZED');
  expect(await sendAndReadCode(api.one.publicKey)).toBe('INVALID_API_KEY');
  expect(await sendAndReadCode(api.one.bareKey)).toBe('FORBIDDEN');
});

import { describe, expect, it } from 'vitest';
import { markTrusted } from '../provenance/provenance.ts';
import { writeWebhookBody } from './webhook-body.ts';

const source = {
  execution: { id: 'e', workflowId: 'w', workflowName: 'W', startedAt: new Date(0), event: { n: 1 } },
  contact: { email: 'ada@example.com', subscribed: true, data: markTrusted({}) },
  variables: markTrusted({ name: 'Ada "Queen" & Co', event: { n: 1 }, tags: ['a', 'b'] }),
};
const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

describe('writeWebhookBody', () => {
  it('sends JSON text unchanged, with escaped variables', () => {
    const body = writeWebhookBody({ body: '{"text": "Hello {{name}}"}' }, source);
    expect(body).toBe('{"text": "Hello Ada \\"Queen\\" & Co"}');
    expect(JSON.parse(body)).toEqual({ text: 'Hello Ada "Queen" & Co' });
  });

  it('writes a variable outside of quotes as a JSON value', () => {
    const body = writeWebhookBody(
      { body: '{"e": {{event}}, "s": "{{event}} \\" {{name}}", "n": {{event.n}}, "x": {{x}}, "t": {{name}}}' },
      source,
    );
    const s = '{"n":1} " Ada "Queen" & Co';
    expect(JSON.parse(body)).toEqual({ e: { n: 1 }, s, n: 1, x: null, t: 'Ada "Queen" & Co' });
  });

  it('keeps the type of a variable outside quotes, and writes the result of a filter unchanged', () => {
    const variables = markTrusted({ zip: '89073', yes: 'true', n: 7, list: [1], json: '{"a":1}' });
    const body = '{"zip": {{zip}}, "yes": {{yes}}, "n": {{n}}, "list": {{list | json}}, "json": {{json}}}';
    const sent = JSON.parse(writeWebhookBody({ body }, { ...source, variables }));
    expect(sent).toEqual({ zip: '89073', yes: 'true', n: 7, list: [1], json: { a: 1 } });
  });

  it('sends a text of another type unchanged', () => {
    expect(writeWebhookBody({ body: '<a>{{name}}</a>', headers: { 'Content-Type': 'text/plain' } }, source)).toBe(
      '<a>Ada "Queen" & Co</a>',
    );
  });

  it.each(['text/xml', 'application/soap+xml; charset=utf-8', 'text/html'])('escapes variables in %s', (type) => {
    const body = '<a b="{{name}}">{{ name | escape }}</a>';
    const escaped = 'Ada &#34;Queen&#34; &amp; Co';
    expect(writeWebhookBody({ body, headers: { 'Content-Type': type } }, source)).toBe(
      `<a b="${escaped}">${escaped}</a>`,
    );
  });

  it('converts an object to a form, and escapes the variables of a form that is written as text', () => {
    const body = { who: '{{name}}', tag: '{{tags}}', event: '{{event}}', none: '{{missing}}' };
    expect(writeWebhookBody({ body, headers: form }, source)).toBe(
      'who=Ada+%22Queen%22+%26+Co&tag=a&tag=b&event=%7B%22n%22%3A1%7D&none=',
    );
    expect(writeWebhookBody({ body: 'who={{name}}&x=1', headers: form }, source)).toBe(
      'who=Ada%20%22Queen%22%20%26%20Co&x=1',
    );
  });

  it('sends an object, and a text that is one variable with an object, as JSON', () => {
    expect(writeWebhookBody({ body: { n: '{{event.n}}' } }, source)).toBe('{"n":1}');
    expect(writeWebhookBody({ body: '{{event}}' }, source)).toBe('{"n":1}');
    expect(JSON.parse(writeWebhookBody({}, source))).toMatchObject({
      contact: { email: 'ada@example.com' },
      event: { n: 1 },
    });
  });
});

import { expect, it } from 'vitest';
import { splitAtVariables } from './text-pieces.ts';

const readOne = (source: string) => splitAtVariables(source).map(({ variable }) => variable);

it('names variables in words, with a literal fallback', () => {
  expect(splitAtVariables('News for {{firstName ?? you}}, {{ data.last_name }}!')).toEqual([
    { source: 'News for ' },
    { source: '{{firstName ?? you}}', variable: { name: 'First name', fallback: 'you' } },
    { source: ', ' },
    { source: '{{ data.last_name }}', variable: { name: 'Last name', fallback: undefined } },
    { source: '!' },
  ]);
  expect(readOne('{{ event.orderId | default: "none yet" }}')).toEqual([
    { name: 'Event order ID', fallback: 'none yet' },
  ]);
  expect(readOne("{{name ?? 'dear reader'}}")).toEqual([{ name: 'Name', fallback: 'dear reader' }]);
  expect(readOne('{{name ?? dear reader }}')).toEqual([{ name: 'Name', fallback: 'dear reader' }]);
  expect(readOne('{{unsubscribeUrl}}')).toEqual([{ name: 'Unsubscribe URL', fallback: undefined }]);
  expect(readOne('{{name ?? ""}}')).toEqual([{ name: 'Name', fallback: undefined }]);
});

it('shows a key that is not a name unchanged', () => {
  expect(readOne('{{data["Vorname (neu)"] ?? du}}')).toEqual([{ name: 'Vorname (neu)', fallback: 'du' }]);
});

it.each([
  '{{ name | upcase }}',
  '{{ name | default: other }}',
  '{{ name | upcase ?? "x" }}',
  '{{ name ?? a ?? b }}',
  '{{ items.size }}',
  '{{ true }}',
  '{{ "text" }}',
  '{{ items[0] }}',
  '{{{ name }}}',
  '{{ name',
  '{{}}',
  '{% if name %}',
  'no variable',
])('keeps %s as text', (source) => {
  expect(splitAtVariables(source)).toEqual([{ source }]);
});

it('keeps every text byte for byte, and reads a long one at once', () => {
  for (const odd of [
    '',
    '{{a}}{{b}}',
    'a {{ x ?? {{ y }} }} b',
    '{'.repeat(9),
    `{{a ${' '.repeat(100_000)}`,
    '{{a'.repeat(50_000),
  ]) {
    expect(
      splitAtVariables(`${odd}`)
        .map(({ source }) => source)
        .join(''),
    ).toBe(odd);
  }
});

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { PUBLIC_ENGINES } from './liquid-engine.ts';

const render = (template: string, scope: object = {}) => PUBLIC_ENGINES.plain.parseAndRenderSync(template, scope);

it.each([
  ['0.0725 | times: 100', '7.25'],
  ['0.1 | plus: 0.2', '0.3'],
  ['1.1 | minus: 1', '0.1'],
  ['0.3 | divided_by: 0.1', '3'],
  ['1 | divided_by: 3', '0.3333333333333333'],
  ['7 | divided_by: 2', '3.5'],
  ['7 | divided_by: 2, true', '3'],
  ['5.5 | modulo: 1.1', '0'],
  ['-7 | modulo: 3', '2'],
  ['1.005 | round: 2', '1.01'],
  ['-2.5 | round', '-3'],
  ['1234 | round: -2', '1200'],
  ['19.99 | times: 3 | round: 2', '59.97'],
  ['"4.35" | times: 100', '435'],
  ['nothing | plus: 1', '1'],
  ['"text" | times: 2', '0'],
  ['4 | divided_by: 0', 'Infinity'],
  ['prices | sum', '0.6'],
  ['lines | sum: "price.net"', '0.3'],
])('calculates %s in decimal', (expression, result) => {
  const scope = { prices: [0.1, 0.2, '0.3'], lines: [{ price: { net: 0.1 } }, { price: { net: 0.2 } }, {}] };
  expect(render(`{{ ${expression} }}`, scope)).toBe(result);
});

const DATES = [
  '2027-07-01T09:00',
  '2027-07-01 09:00:00',
  '2027-07-01',
  'July 1 2027 09:00',
  '2027-07-01T09:00:00+02:00',
];
const TEMPLATE = DATES.map((text) => `{{ "${text}" | date: "%Y-%m-%d %H:%M" }}`).join('|');
const SHOWN = '2027-07-01 09:00|2027-07-01 09:00|2027-07-01 00:00|2027-07-01 09:00|2027-07-01 07:00';

it('shows a time without a zone as it is written, on every host', () => {
  expect(render(TEMPLATE)).toBe(SHOWN);
  const script = `import { PUBLIC_ENGINES } from './rules/content/liquid-engine.ts';
    console.log(PUBLIC_ENGINES.plain.parseAndRenderSync(process.argv[1]))`;
  for (const TZ of ['Asia/Tokyo', 'America/New_York']) {
    const child = spawnSync('node', ['--import', 'tsx', '--input-type=module', '-e', script, TEMPLATE], {
      env: { ...process.env, TZ },
      encoding: 'utf8',
    });
    expect(child.stdout.trim()).toBe(SHOWN);
  }
});

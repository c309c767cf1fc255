import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
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
  ['4 | divided_by: 0', ''],
  ['4 | modulo: 0', ''],
  ['0.0000001 | times: 2', '0.0000002'],
  ['prices | sum', '0.6'],
  ['lines | sum: "price.net"', '0.3'],
])('calculates %s in decimal', (expression, result) => {
  const scope = { prices: [0.1, 0.2, '0.3'], lines: [{ price: { net: 0.1 } }, { price: { net: 0.2 } }, {}] };
  expect(render(`{{ ${expression} }}`, scope)).toBe(result);
});

describe('dates in the zone of the project', () => {
  it.each([
    ['2027-07-01T09:00', '2027-07-01 09:00 +0200'],
    ['2027-07-01', '2027-07-01 00:00 +0200'],
    ['July 1 2027 09:00', '2027-07-01 09:00 +0200'],
    ['2027-07-01T09:00:00Z', '2027-07-01 11:00 +0200'],
    ['Thu, 01 Jul 2027 09:00:00 GMT', '2027-07-01 11:00 +0200'],
    ['2027-01-01T23:30:00Z', '2027-01-02 00:30 +0100'],
    ['1814400000', '2027-07-01 02:00 +0200'],
    ['2027-03-28T01:59', '2027-03-28 01:59 +0100'],
    ['2027-03-28T02:30', '2027-03-28 03:30 +0200'],
    ['2027-03-28T00:59:59Z', '2027-03-28 01:59 +0100'],
    ['2027-03-28T01:00:00Z', '2027-03-28 03:00 +0200'],
    ['2027-10-31T02:30', '2027-10-31 02:30 +0200'],
    ['2027-10-31T01:30:00Z', '2027-10-31 02:30 +0100'],
    ['2027-07-01 09:00:00+02', '2027-07-01 09:00 +0200'],
    ['Jul 1, 2027 9:00 am', '2027-07-01 09:00 +0200'],
    ['07/01/2027', '2027-07-01 00:00 +0200'],
    ['no date', 'no date'],
    ['Table 7', 'Table 7'],
    ['day 8', 'day 8'],
    ['Order 2027', 'Order 2027'],
    ['May 7', 'May 7'],
    ['2027-02-30', '2027-02-30'],
    ['2027-02-30T09:00:00Z', '2027-02-30T09:00:00Z'],
  ])('reads and shows %s', (text, shown) => {
    expect(render('{{ text | date: "%Y-%m-%d %H:%M %z" }}', { text, __zone: 'Europe/Berlin' })).toBe(shown);
  });

  it('are shown by every date filter, in another zone if the template names one', () => {
    const scope = { at: '2027-06-30T23:30:00Z', __zone: 'Europe/Berlin' };
    expect(render('{{ at | date_to_xmlschema }}', scope)).toBe('2027-07-01T01:30:00+02:00');
    expect(render('{{ at | date_to_rfc822 }}', scope)).toBe('Thu, 01 Jul 2027 01:30:00 +0200');
    expect(render('{{ at | date_to_string }}', scope)).toBe('01 Jul 2027');
    expect(render('{{ at | date_to_long_string: "ordinal" }}', scope)).toBe('1st July 2027');
    expect(render('{{ at | date: "%H:%M", "America/New_York" }}', scope)).toBe('19:30');
    expect(render('{{ at | date: "%s" }}', scope)).toBe(String(Date.parse(scope.at) / 1_000));
  });

  it('are in UTC if a zone is missing or unknown', () => {
    for (const scope of [{}, { __zone: 'Mars/Olympus' }, { __zone: {} }])
      expect(render('{{ "2027-07-01T09:00:00Z" | date: "%H:%M" }}', scope)).toBe('09:00');
  });
});

const DATES = [
  '2027-07-01T09:00',
  '2027-07-01 09:00:00',
  '2027-07-01',
  'July 1 2027 09:00',
  '2027-07-01T09:00:00+02:00',
  // Hours that New York skips and repeats.
  '2027-03-14T02:30',
  '2027-11-07T03:30',
];
const TEMPLATE = DATES.map((text) => `{{ "${text}" | date: "%Y-%m-%d %H:%M" }}`).join('|');
const SHOWN =
  '2027-07-01 09:00|2027-07-01 09:00|2027-07-01 00:00|2027-07-01 09:00|2027-07-01 07:00|2027-03-14 02:30|2027-11-07 03:30';

it('shows a time without a zone as it is written, on every host', () => {
  expect(render(TEMPLATE)).toBe(SHOWN);
  const script = `import './cli/start/utc.ts';
    import { PUBLIC_ENGINES } from './rules/content/liquid-engine.ts';
    console.log(PUBLIC_ENGINES.plain.parseAndRenderSync(process.argv[1]))`;
  for (const TZ of ['Asia/Tokyo', 'America/New_York']) {
    const child = spawnSync('node', ['--import', 'tsx', '--input-type=module', '-e', script, TEMPLATE], {
      env: { ...process.env, TZ },
      encoding: 'utf8',
    });
    expect(child.stdout.trim()).toBe(SHOWN);
  }
});

import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildContact } from '../../build/emails.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../../support/api.ts';

let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  api = await startTestApi();
  project = await buildProject(api.db, 'Preview');
  await buildContact(api.db, { projectId: project.id, email: 'known@to.test', data: { firstName: 'Known' } });
  await buildContact(api.db, { projectId: api.two.id, email: 'new@to.test', data: { secretKey: 1 } });
});
afterAll(() => api?.close());

async function upload(
  path: string,
  csv: string | Uint8Array<ArrayBuffer>,
  p: { mapping?: unknown; key?: string } = {},
) {
  const form = new FormData();
  form.append('file', new File([csv], 'contacts.csv', { type: 'text/csv' }));
  if (p.mapping !== undefined)
    form.append('mapping', typeof p.mapping === 'string' ? p.mapping : JSON.stringify(p.mapping));
  const headers = { authorization: `Bearer ${p.key ?? project.secretKey}` };
  const response = await api.app.request(path, { method: 'POST', body: form, headers });
  return { status: response.status, body: JSON.parse(await response.text()) };
}
const countContacts = async () =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM contacts WHERE project_id = ${project.id}`.execute(api.db))
    .rows[0]?.n;

it('the preview counts rows as a spreadsheet does, with blank rows and blank lines before the header', async () => {
  const { body } = await upload('/v1/contacts/import/preview', '\nemail,plan\na@to.test,"x\ny"\n\n,\nnope,z\n');
  expect(body).toMatchObject({
    rows: 2,
    preview: [{ row: 3 }, { row: 6, email: 'nope' }],
    result: { totalRows: 2, blankRows: 2, errors: [{ row: 6, email: 'nope' }] },
  });
});

it('the preview reports what an import would do with columns that it detects, and changes nothing', async () => {
  await api.call('POST', '/suppressions', { key: project.secretKey, body: { email: 'stop@to.test' } });
  const rows = ['known@to.test,K,5', 'new@to.test,N,', 'NEW@to.test,M,x', 'nope,X,1', 'stop@to.test,S,7'];
  const { status, body } = await upload('/v1/contacts/import/preview', `E-Mail,First name,Seats\n${rows.join('\n')}\n`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    delimiter: ',',
    rows: 5,
    problems: [],
    mapping: { 'E-Mail': 'email', 'First name': 'data.firstName', Seats: 'data.Seats' },
    columns: [
      { header: 'E-Mail', field: 'email', types: {} },
      { header: 'First name', field: 'data.firstName', samples: ['K', 'N', 'M'], types: { text: 4 } },
      { header: 'Seats', field: 'data.Seats', types: { text: 3 } },
    ],
    result: {
      totalRows: 5,
      successCount: 4,
      createdCount: 2,
      updatedCount: 2,
      failureCount: 1,
      unreadableRows: 0,
      suppressedCount: 1,
      errors: [{ row: 5, email: 'nope', values: ['nope', 'X', '1'] }],
    },
  });
  expect(body.preview[0]).toEqual({
    row: 2,
    email: 'known@to.test',
    subscribed: null,
    data: { firstName: 'K', Seats: '5' },
    known: true,
    error: null,
  });
  expect(body.preview[3]).toMatchObject({ row: 5, email: 'nope', known: false, error: expect.any(String) });
  expect(await countContacts()).toBe(1);
});

it('the preview names each unknown word in the consent column, and counts the rows without a value there', async () => {
  const rows = ['known@to.test,', 'empty@to.test,', 'yes@to.test,Y', 'no@to.test,Opted out', 'odd@to.test,maybe'];
  const csv = `email,Subscribed\n${rows.join('\n')}\n`;
  const { body } = await upload('/contacts/import/preview', csv);
  expect(body.result).toMatchObject({ successCount: 4, failureCount: 1, silentKnownCount: 1, silentNewCount: 1 });
  expect(body.result.errors).toMatchObject([
    { row: 6, email: 'odd@to.test', error: expect.stringContaining('"maybe"') },
  ]);
  expect(body.preview.map((row: { subscribed: boolean | null }) => row.subscribed)).toEqual([
    null,
    null,
    true,
    false,
    null,
  ]);
});

it('the preview counts the contacts that a file would subscribe again or unsubscribe, and keeps refusals by the person', async () => {
  const people = [
    { email: 'left@turn.test', subscribed: false },
    { email: 'stays@turn.test', subscribed: true },
    { email: 'refused@turn.test', subscribed: true },
  ];
  for (const body of people) await api.call('POST', '/contacts', { key: project.secretKey, body });
  const refusal = { email: 'refused@turn.test', reason: 'unsubscribe' };
  await api.call('POST', '/suppressions', { key: project.secretKey, body: refusal });
  const rows = ['left@turn.test,yes', 'stays@turn.test,no', 'refused@turn.test,yes', 'new@turn.test,yes'];
  const { body } = await upload('/contacts/import/preview', `email,Newsletter\n${rows.join('\n')}\n`);
  expect(body.result).toMatchObject({
    resubscribedCount: 1,
    unsubscribedCount: 1,
    suppressedCount: 1,
    createdCount: 1,
  });
});

it('the preview shows the columns and the error of a file that has no address column', async () => {
  const { status, body } = await upload('/contacts/import/preview', 'Name,Plan\nAda,pro\n');
  expect([status, body.result, body.preview]).toEqual([200, null, []]);
  expect(body.problems).toMatchObject([{ field: 'file', message: 'The first row has no column "email".' }]);
  expect(body.columns).toMatchObject([{ header: 'Name', samples: ['Ada'] }, { header: 'Plan' }]);
});

it('the preview reads a large file in several steps, and counts each address once', async () => {
  const lines = Array.from({ length: 12_000 }, (_, n) => `p${n % 11_000}@large.test,${n}`);
  const { body } = await upload('/contacts/import/preview', `email,n\n${lines.join('\n')}\n`);
  expect(body.result).toMatchObject({ totalRows: 12_000, createdCount: 11_000, updatedCount: 1_000, failureCount: 0 });
  expect(body.columns[1].types).toEqual({ number: 12_000 });
});

it('an import reports which column it reads as consent, and its preview reads the same column', async () => {
  const csv =
    'email,Newsletter,UNSUB_TIME\nconsent-yes@to.test,yes,\nconsent-no@to.test,no,\nrefused@to.test,,2026-01-02\n';
  const { body } = await upload('/contacts/import/preview', csv);
  expect(body.preview.map(({ subscribed }: { subscribed: boolean }) => subscribed)).toEqual([true, false, false]);
  const queued = await upload('/contacts/import', csv);
  const job = await api.call('GET', `/contacts/import/${queued.body.jobId}`, { key: project.secretKey });
  expect(job.body.result.notes).toEqual([
    expect.stringContaining('"Newsletter" is read as consent'),
    expect.stringContaining('"UNSUB_TIME"'),
  ]);
});

it('an import and its preview accept a mapping, and refuse a mapping that does not match the file', async () => {
  const csv = 'E-Mail,Zip,Notes\nmapped@to.test,12345,x\n';
  const mapping = { 'E-Mail': 'email', Zip: { field: 'data.zip', type: 'string' }, Notes: null };
  const { body } = await upload('/contacts/import/preview', csv, { mapping });
  expect(body.preview[0]).toMatchObject({ email: 'mapped@to.test', data: { zip: '12345' } });
  const unnamed = { ...mapping, 'E-Mail': null };
  expect((await upload('/contacts/import', csv, { mapping: unnamed })).status).toBe(422);
  const queued = await upload('/contacts/import', csv, { mapping });
  expect(queued.status).toBe(202);
  const { rows } = await sql<{ input: object }>`SELECT input FROM jobs WHERE id = ${queued.body.jobId}`.execute(api.db);
  expect(rows[0]?.input).toMatchObject({ layout: { columns: ['email', 'zip', ''], textColumns: [1] } });
  const bad = await upload('/contacts/import', csv, { mapping: { ...mapping, Nope: 'email' } });
  expect([bad.status, bad.body.error.errors[0].field]).toEqual([422, 'mapping.Nope']);
  for (const wrong of ['{', '[]', '{"Zip":5}'])
    expect((await upload('/contacts/import', csv, { mapping: wrong })).status).toBe(422);
});

it('an import and its preview read UTF-16 with a byte order mark', async () => {
  const csv = Buffer.from('\ufeffemail\tCity\nutf16@to.test\tŁódź\n', 'utf16le');
  for (const file of [csv, Buffer.from(csv).swap16()]) {
    const { body } = await upload('/contacts/import/preview', Uint8Array.from(file));
    expect(body.preview).toMatchObject([{ email: 'utf16@to.test', data: { City: 'Łódź' }, error: null }]);
    const queued = await upload('/contacts/import', Uint8Array.from(file));
    expect(queued.status).toBe(202);
    const { rows } = await sql<{ text: string }>`
      SELECT convert_from(file, 'UTF8') AS text FROM jobs WHERE id = ${queued.body.jobId}`.execute(api.db);
    expect(rows[0]?.text).toContain('utf16@to.test\tŁódź');
  }
});

it('the rows of an import that have errors are a CSV file that only its project can read', async () => {
  const { jobId } = (await upload('/contacts/import', 'email\na@x.com\n')).body;
  const errors = [{ row: 3, email: '=cmd()', error: 'Must be an email address such as ada@example.com.' }];
  await sql`UPDATE jobs SET result = jsonb_set(result, '{errors}', ${JSON.stringify(errors)}::jsonb) WHERE id = ${jobId}`.execute(
    api.db,
  );
  const path = `/contacts/import/${jobId}/errors`;
  const { headers, body } = await api.call('GET', path, { key: project.secretKey });
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(body).toBe("row,email,error\r\n3,'=cmd(),Must be an email address such as ada@example.com.\r\n");
  expect((await api.call('GET', path, { key: api.two.secretKey })).status).toBe(404);
});

it('the preview of an import needs contacts:edit', async () => {
  expect((await upload('/contacts/import/preview', 'email\na@x.com\n', { key: project.bareKey })).status).toBe(403);
});

it('the preview names phone numbers that cannot be read, with the country of the project as default', async () => {
  const file = 'email,phone\nread@to.test,+49 151 23456789\nlocal@to.test,0151 23456789\nodd@to.test,call me\n';
  const before = (await upload('/v1/contacts/import/preview', file)).body.result;
  expect(before).toMatchObject({ successCount: 3, failureCount: 0, warningCount: 2 });
  expect(before.warnings).toEqual([
    { row: 3, email: 'local@to.test', warning: expect.stringContaining('or set phoneCountry of the project') },
    { row: 4, email: 'odd@to.test', warning: expect.stringContaining('"call me" cannot be read') },
  ]);
  await sql`UPDATE projects SET phone_country = 'DE' WHERE id = ${project.id}`.execute(api.db);
  const after = (await upload('/v1/contacts/import/preview', file)).body.result;
  expect(after.warnings).toEqual([
    { row: 4, email: 'odd@to.test', warning: expect.stringContaining('it is not a number of DE') },
  ]);
});

import { describe, expect, it } from 'vitest';
import { readCsvLayout } from './csv-layout.ts';
import { guessMapping, mapColumns } from './csv-mapping.ts';

describe('a mapping of columns', () => {
  it('maps the named columns, and uses the headers of the other columns', () => {
    const mapping = {
      'E-Mail': 'email',
      Plan: 'data.plan',
      Zip: { field: 'data.zip', type: 'string' as const },
      Notes: null,
    };
    expect(mapColumns(['E-Mail', 'Plan', 'Zip', 'Notes', 'city', 'Subscribed'], mapping)).toEqual({
      columns: ['email', 'plan', 'zip', '', 'city', 'subscribed'],
      textColumns: [2],
      refusalColumns: [],
      sms: { consent: [], refusal: [] },
      errors: [],
    });
  });

  it.each([
    [{ Nope: 'email' }, 'mapping.Nope'],
    [{ A: 'plan' }, 'mapping.A'],
    [{ A: 'data.' }, 'mapping.A'],
    [{ A: 'data.id' }, 'mapping.A'],
    [{ A: 'data.__proto__' }, 'mapping.A'],
    [{ A: `data.${'x'.repeat(101)}` }, 'mapping.A'],
    [{ A: null }, undefined],
  ])('reports the error of %j at %s', (mapping, field) => {
    expect(mapColumns(['email', 'A'], mapping).errors[0]?.field).toBe(field);
  });

  it('is refused if two columns have the same field, or no column has the address', () => {
    const file = Buffer.from('email,a,b\nx@x.com,1,2\n');
    expect(() => readCsvLayout(file, { a: 'data.b' })).toThrow(/./);
    expect(() => readCsvLayout(file, { email: null })).toThrow(/./);
    expect(readCsvLayout(file, { email: null, a: 'email' }).columns).toEqual(['', 'email', 'b']);
  });

  it.each([
    'E-Mail',
    'e-mail',
    'Email Address',
    'EMAIL_ADDRESS',
    'Mail',
    'E-Mail-Adresse',
    'Adresse e-mail',
    'Correo electrónico',
    'Endereço de e-mail',
    'Indirizzo e-mail',
    'E-mailadres',
    'Sähköposti',
    'Электронная почта',
    'メールアドレス',
    '이메일',
    '电子邮箱',
    'E-mail 1 - Value',
    'Customer Email',
    'Email (required)',
    'EMAIL ADDRESS 1',
  ])('finds the address below %s without a mapping', (header) => {
    expect(readCsvLayout(Buffer.from(`Name;${header}\nAnn;ann@example.org\n`)).columns).toEqual(['Name', 'email']);
  });

  it('reads the address from one column only, and prefers a column that is named email or mapped to it', () => {
    expect(mapColumns(['Mail', 'email'], {}).columns).toEqual(['Mail', 'email']);
    expect(mapColumns(['E-Mail', 'Work'], { Work: 'email' }).columns).toEqual(['E-Mail', 'email']);
    expect(mapColumns(['E-Mail', 'Email Address'], {}).columns).toEqual(['email', 'Email Address']);
    expect(mapColumns(['E-Mail', 'Mail'], { 'E-Mail': null }).columns).toEqual(['', 'email']);
  });

  it('recognizes the column of consent by the usual names, so that no refusal becomes a subscription', () => {
    expect(mapColumns(['Email Address', 'Opt-In'], {}).columns).toEqual(['email', 'subscribed']);
    expect(mapColumns(['Email Address', 'Opt-In', 'Subscribed'], {}).columns).toEqual([
      'email',
      'Opt-In',
      'subscribed',
    ]);
    expect(mapColumns(['Email Address', 'Opt-In'], { 'Opt-In': 'data.optIn' }).columns).toEqual(['email', 'optIn']);
    expect(mapColumns(['email', 'Opt-In'], {}).columns).toEqual(['email', 'subscribed']);
    expect(mapColumns(['email', 'Opt-In'], { 'Opt-In': null }).columns).toEqual(['email', '']);
  });

  it.each([
    'Newsletter',
    'Accepts Email Marketing',
    'Email Marketing Consent',
    'Abonné',
    'Einwilligung',
    'Suscrito',
    'Nieuwsbrief',
    'Zgoda',
    'Подписан',
    'メルマガ',
    'subscribe',
    'Email Marketing: Subscribed',
    'Is Opted In',
    'Receives Newsletter?',
    'Email Subscription',
    'Has consented to marketing emails',
    'Email subscriber status',
  ])('reads a column %s as consent, and says so', (header) => {
    const layout = readCsvLayout(Buffer.from(`email;${header}\na@example.com;yes\nb@example.com;no\n`));
    expect(layout.columns).toEqual(['email', 'subscribed']);
    expect(layout.notes).toEqual([expect.stringContaining(`"${header}" is read as consent`)]);
  });

  it.each([
    'Unsub',
    'Marketing Opt-Out',
    'Is Unsubscribed',
    'Unsubscribe reason',
    'Opted out of newsletters',
    'Do not contact',
  ])('reads a value in a column %s as a refusal, and says so', (header) => {
    const { columns, refusalColumns, notes } = readCsvLayout(Buffer.from(`email;${header}\na@example.com;yes\n`));
    expect({ columns, refusalColumns }).toEqual({ columns: ['email', header], refusalColumns: [1] });
    expect(notes).toEqual([expect.stringContaining('are imported as unsubscribed')]);
  });

  it.each([
    'Unsubscribe link',
    'unsubscribe_url',
    'Subscription',
    'Allowed',
    'Agreed price',
    'Email permission level 2',
  ])('stores a column %s only as data', (header) => {
    const { columns, refusalColumns } = readCsvLayout(Buffer.from(`email;${header}\na@example.com;yes\n`));
    expect({ columns, refusalColumns }).toEqual({ columns: ['email', header], refusalColumns: undefined });
  });

  it('stores a column only as data if none of its values is a word for consent, and says so', () => {
    const file = Buffer.from('email,Opt-In\na@example.com,2024-01-02\nb@example.com,\n');
    const { columns, notes } = readCsvLayout(file);
    expect({ columns, notes }).toEqual({
      columns: ['email', 'Opt-In'],
      notes: [expect.stringContaining('"Opt-In" is not read as consent')],
    });
    expect(guessMapping(['email', 'Opt-In'], [], () => false)).toMatchObject({ 'Opt-In': 'data.optIn' });
  });

  it('reads a column `Status` as consent only if it is the state of a subscription', () => {
    const mapStatusColumn = (...words: string[]) =>
      readCsvLayout(Buffer.from(`email,Status\n${words.map((word, n) => `a${n}@example.com,${word}\n`).join('')}`))
        .columns;
    expect(mapStatusColumn('Active', 'Unsubscribed')).toEqual(['email', 'subscribed']);
    expect(mapStatusColumn('active', 'inactive')).toEqual(['email', 'Status']);
    expect(guessMapping(['email', 'Status'], [], () => false)).toMatchObject({ Status: 'data.Status' });
  });

  it.each([
    ['Accepts SMS Marketing', 'no', 'is read as consent to SMS'],
    ['SMS: subscribed', 'no', 'is read as consent to SMS'],
    ['Receives text messages', 'no', 'is read as consent to SMS'],
    ['Opted out of texts', 'yes', 'stops marketing SMS'],
    ['Unsubscribed (SMS)', 'yes', 'stops marketing SMS'],
    ['SMS Opt-Out', '2026-01-02', 'stops marketing SMS'],
    ['SMS Consent', '2026-01-02', 'is not read as consent'],
  ])('reads a column %s about SMS, keeps its values as data, and says so', (header, cell, note) => {
    const file = Buffer.from(`email,${header}\na@example.com,${cell}\n`);
    const { columns, notes } = readCsvLayout(file);
    expect({ columns, notes }).toEqual({ columns: ['email', header], notes: [expect.stringContaining(note)] });
    expect(readCsvLayout(file, { [header]: null }).notes).toBeUndefined();
  });

  it('reads a column about email and SMS as consent to both', () => {
    const layout = readCsvLayout(Buffer.from('email;Email & SMS opt-in\na@example.com;no\n'));
    expect([layout.columns, layout.smsColumns]).toEqual([['email', 'subscribed'], { consent: [1], refusal: [] }]);
    const refusal = readCsvLayout(Buffer.from('email;Opted out of email and SMS\na@example.com;yes\n'));
    expect([refusal.refusalColumns, refusal.smsColumns]).toEqual([[1], { consent: [], refusal: [1] }]);
  });

  it('reads a phone number from columns with the usual names', () => {
    expect(guessMapping(['email', 'Mobile Phone', 'Phone'], [])).toMatchObject({
      'Mobile Phone': 'data.phone',
      Phone: 'data.Phone',
    });
    expect(guessMapping(['email', 'Phone'], ['Phone'])).toMatchObject({ Phone: 'data.Phone' });
  });

  it('ignores the note columns of an error file', () => {
    expect(readCsvLayout(Buffer.from('import_row,import_error,email\n')).columns).toEqual(['', '', 'email']);
    // An error file that was made from an export: the export can have data with these names too.
    const own = 'import_row,import_error,email,subscribed,import_row';
    expect(readCsvLayout(Buffer.from(`${own}\n`)).columns).toEqual(['', '', 'email', 'subscribed', 'import_row']);
  });

  it('reads other spellings of email as data only if the file has email and subscribed in exactly this form', () => {
    const map = (headers: string) => readCsvLayout(Buffer.from(`${headers}\n`)).columns;
    expect(map('Email,email,subscribed')).toEqual(['Email', 'email', 'subscribed']);
    expect(map('EMAIL,Subscribed," plan "')).toEqual(['email', 'subscribed', 'plan']);
    expect(() => map('email,Email,Subscribed')).toThrow(/./);
    expect(() => map('email,subscribed,email')).toThrow(/./);
    const mapping = { email: null, Email: 'email' };
    expect(mapColumns(['email', 'subscribed', 'Email'], mapping).columns).toEqual(['', 'subscribed', 'email']);
  });
});

describe('a guessed mapping', () => {
  it('recognizes other names for address and consent, recognizes existing fields, and makes other names usable in templates', () => {
    const headers = ['Id', 'E-Mail Address', 'First name', 'PLAN', 'Accepts Email Marketing', 'Straße', 'zip_code', ''];
    expect(guessMapping(headers, ['plan', 'firstName'])).toEqual({
      Id: 'data.Id',
      'E-Mail Address': 'email',
      'First name': 'data.firstName',
      PLAN: 'data.plan',
      'Accepts Email Marketing': 'subscribed',
      Straße: 'data.straße',
      zip_code: 'data.zip_code',
    });
  });

  it('keeps every column, also if its name is the field of another column', () => {
    expect(guessMapping(['email', 'city', 'city'], [])).toMatchObject({ city: 'data.city' });
    expect(guessMapping(['email', 'First Name', 'firstName'], [])).toMatchObject({
      'First Name': 'data.First Name',
      firstName: 'data.firstName',
    });
  });

  it('prefers the exact name to similar names, and uses each field once', () => {
    expect(guessMapping(['Mail', 'email', 'Name', 'name!', 'id', 'import_row'], [])).toEqual({
      Mail: 'data.Mail',
      email: 'email',
      Name: 'data.Name',
      'name!': 'data.name',
      id: null,
      import_row: null,
    });
    expect(guessMapping(['plan', 'Plan'], ['plan'])).toEqual({ plan: 'data.plan', Plan: 'data.Plan' });
    expect(guessMapping(['email', 'plan'], ['plan', 'PLAN'])).toMatchObject({ plan: 'data.plan' });
  });
});

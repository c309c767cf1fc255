import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLayoutContent } from '../../dashboard/parts/email-editor/layouts.ts';
import {
  chooseMenuAction,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  holdRequests,
  openDashboard,
  openWindow,
  type Page,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** A realistic newsletter that requests nothing from other hosts. */
const NEWSLETTER = readFileSync(
  join(ROOT, 'dashboard', 'parts', 'email-editor', 'visual', 'newsletters', 'outlook-buttons.html'),
  'utf8',
);
const GIF = Buffer.from('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==', 'base64');
/** Drops another image onto the code, like a file from a folder. */
const DROP_GIF = `(() => {
  const bytes = Uint8Array.from(atob('${Buffer.concat([GIF, Buffer.from('2')]).toString('base64')}'), (c) => c.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], 'dropped.gif', { type: 'image/gif' }));
  const place = document.querySelector('.cm-content');
  const { left, top } = place.getBoundingClientRect();
  place.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true, clientX: left + 5, clientY: top + 5 }));
})()`;
/** Puts an image of 4 by 5 pixels into the clipboard, like a screenshot. */
const COPY_PNG = `(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 4, height: 5 });
  const png = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
})()`;
/** Drops an image before the second text of the visual editor, in its frame. */
const DROP_INTO_TEXT = `(() => {
  const bytes = Uint8Array.from(atob('${Buffer.concat([GIF, Buffer.from('3')]).toString('base64')}'), (c) => c.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], 'dropped-in-place.gif', { type: 'image/gif' }));
  const place = document.querySelectorAll('[contenteditable]')[1];
  const { left, top, height } = place.getBoundingClientRect();
  const at = { clientX: left + 1, clientY: top + height / 2 };
  place.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true, ...at }));
})()`;
/** An email of two table rows. The second row is a footer. */
const FRAMED =
  '<table width="600"><tr><td style="padding:24px">First row</td></tr>' +
  '<tr><td style="font-size:12px"><a href="{{unsubscribeUrl}}">Unsubscribe</a></td></tr></table>';
/** A test service does not know its own port, so the images in its emails cannot be loaded. */
const PICTURES_OF_MAILS = /(foreign|request): GET http:\/\/127\.0\.0\.1:0\/assets\//;

describeInBrowser('the templates of the dashboard', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    await sql`
      INSERT INTO domains (project_id, domain, status, dkim_selector, dkim_private_key, dkim_public_key)
      VALUES (${service.one.id}, 'shop.example', 'VERIFIED', 's', 'x', 'x')`.execute(service.db);
    await service.call('POST', '/v1/contacts', {
      body: { email: 'ada@example.com', subscribed: true, data: { firstName: 'Ada', plan: 'pro' } },
    });
  });
  afterAll(() => service?.close());

  const readSaved = async (id: string) => (await service.call('GET', `/v1/templates/${id}`)).body;
  const createTemplate = async (fields: object) => {
    const email = { name: 'A', type: 'TRANSACTIONAL', subject: 'Hi', from: 'hi@shop.example', body: '<p>Hi</p>' };
    return (await service.call('POST', '/v1/templates', { body: { ...email, ...fields } })).body.id as string;
  };
  const CODE = { name: 'HTML and Liquid' } as const;
  const showCode = async (page: Page) => {
    await page.getByText('Code', { exact: true }).click();
    await page.getByRole('textbox', CODE).waitFor();
  };
  const findPreview = (page: Page) => page.frameLocator('iframe[title="Email preview"]').last();

  it('are written as code with errors at their position, previewed for a contact, and saved', async () => {
    const { page, open, settled, mayFail } = await openDashboard({ service, project: service.two, path: '/templates' });
    await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Create template' }).first().click();
    await page.getByLabel('Name').fill('Welcome');
    await page.getByRole('dialog').getByRole('button', { name: 'Create template' }).click();
    const code = page.getByRole('textbox', CODE);
    await showCode(page);
    await findPreview(page).getByText('Hello there,').waitFor();
    await expectNoSeriousAxeViolations(page);

    mayFail(/response: 422 to POST .*\/templates\/preview/);
    await code.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('<p>Hello</p>\n<p>{% if plan %}</p>');
    await page.getByText('Rendering failed: line 2').waitFor();
    await page.locator('.cm-lintRange-error').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('<p>Hello {{ nickname }}, welcome</p>');
    await findPreview(page).getByText('welcome').waitFor();
    await page.getByText('Missing values').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByText('Changed').waitFor();

    await open('/templates');
    await settled();
    await page.getByRole('link', { name: 'Welcome' }).waitFor();
    await page.frameLocator('iframe').getByText('Hello …, welcome').waitFor({ state: 'attached' });
    await expectNoSeriousAxeViolations(page);
  });

  it('have code and preview side by side with room for both, and show details on request', async () => {
    const id = await createTemplate({ name: 'Wide code', body: NEWSLETTER });
    const { page } = await openDashboard({ service, path: `/templates/${id}` });
    const details = page.getByRole('complementary', { name: 'Details' });
    await details.waitFor();
    await showCode(page);
    await findPreview(page).getByText('Köln').first().waitFor();
    const code = await page.locator('.cm-editor').boundingBox();
    const preview = await page.locator('iframe[title="Email preview"]').last().boundingBox();
    expect(Math.min(code?.width ?? 0, preview?.width ?? 0)).toBeGreaterThan(560);
    expect(preview?.x).toBeGreaterThan((code?.x ?? 0) + (code?.width ?? 0));
    expect(await details.count()).toBe(0);
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Details' }).click();
    await details.getByLabel('Reply-to').fill('me@shop.example');
    await page.getByText('Visual', { exact: true }).click();
    await details.waitFor();
  });

  it('show the rendered preheader, and report an error in it', async () => {
    const id = await createTemplate({ name: 'With a preheader', preheader: 'For {{firstName ?? you}} & more' });
    const { page, mayFail } = await openDashboard({ service, path: `/templates/${id}` });
    await showCode(page);
    await page.getByText('Preview text: For you & more').waitFor();
    mayFail(/response: 422 to POST .*\/templates\/preview/);
    await page.getByLabel('Preview text').fill('For {{ firstName');
    await page.getByRole('alert').getByText('In the preview text.').waitFor();
    expect(await page.locator('.cm-lintRange-error').count()).toBe(0);
  });

  it('keep unsaved text over a reload, report that, and discard it on request', async () => {
    const id = await createTemplate({ name: 'Kept' });
    const { page, open } = await openDashboard({ service, path: `/templates/${id}` });
    await page.getByLabel('Subject').fill('Hi {{firstName}}');
    await page.getByText('Unsaved changes, kept in this browser').waitFor();
    await open('/templates');
    await page.getByText('not saved', { exact: true }).waitFor();
    await open(`/templates/${id}`);
    await page.getByText('Showing your unsaved changes').waitFor();
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hi {{firstName}}');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hi');
    expect((await readSaved(id)).subject).toBe('Hi');
  });

  it('are edited in the visual editor, and all other text stays byte for byte', async () => {
    const id = await createTemplate({ name: 'Newsletter', body: NEWSLETTER });
    const { page } = await openDashboard({ service, path: `/templates/${id}` });
    const email = page.frameLocator('iframe[title="Email, editable in place"]');
    const words = email.locator('[contenteditable]', { hasText: 'Grüße aus Köln' });
    await words.click();
    // Moves to the end of the text, not of the line.
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' Bis <bald> & {{ plan }}');
    await page.getByRole('button', { name: 'Duplicate block' }).click();
    await email.getByText('Grüße aus Köln').nth(1).waitFor();
    // One place offers undo, and undoes the duplicate without the words typed just before.
    await page.getByRole('button', { name: 'Undo' }).click();
    await email.getByText('Grüße aus Köln').nth(1).waitFor({ state: 'detached' });
    await email.getByRole('link', { name: 'Jetzt lesen' }).click();
    // The form for the link is in the panel, so the canvas does not move.
    await page.getByRole('complementary', { name: 'Details' }).getByRole('region', { name: 'Link' }).waitFor();
    await page.getByLabel('Link URL').fill('https://example.de/neu?a={{ id }}&b="x"');
    await page.getByLabel('Link URL').press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();

    const link = '<a href="https://example.de/?a=1&amp;b={{ id }}" style';
    const now = '<a href="https://example.de/neu?a={{ id }}&amp;b=&quot;x&quot;" style';
    const expected = NEWSLETTER.replace("'überall' }}!", "'überall' }}! Bis &lt;bald&gt; &amp; {{ plan }}").replace(
      link,
      now,
    );
    const body: string = (await readSaved(id)).body;
    expect(body).toBe(expected);
    await expectNoSeriousAxeViolations(page);
  });

  it('show variables as chips while their text is not edited, and keep the source byte for byte', async () => {
    const body = '<p>Hello {{ firstName ??  you }}, on {{plan}}.</p><p>{{ plan | upcase }}</p>';
    const subject = 'For {{ data.firstName | default: "you" }}';
    const id = await createTemplate({ name: 'Chips', subject, body });
    const { page } = await openDashboard({ service, path: `/templates/${id}` });
    const field = page.getByRole('textbox', { name: 'Subject' });
    const chip = page.getByText('First name, or “you”');
    await chip.waitFor();
    expect(await field.inputValue()).toBe(subject);
    await expectNoSeriousAxeViolations(page);
    await field.click();
    await chip.waitFor({ state: 'hidden' });
    await page.keyboard.press('End');
    await page.keyboard.type('!');

    const email = page.frameLocator('iframe[title="Email, editable in place"]');
    const closed = email.locator('[data-tidings-variable]:not([data-tidings-open])');
    const labels = async () =>
      Promise.all((await closed.all()).map((one) => one.getAttribute('data-tidings-variable')));
    expect(await labels()).toEqual(['First name, or “you”', 'Plan']);
    // A click shows the source of a variable, selected.
    await email.locator('[data-tidings-variable="Plan"]').click();
    await expect.poll(labels).toEqual(['First name, or “you”']);
    await chip.waitFor();
    await page.keyboard.type('the {{ plan ?? free }} plan');
    await email.locator('[contenteditable]', { hasText: 'upcase' }).click();
    await expect.poll(labels).toEqual(['First name, or “you”', 'Plan, or “free”']);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const saved = await readSaved(id);
    expect(saved.subject).toBe(`${subject}!`);
    expect(saved.body).toBe(body.replace('{{plan}}', 'the {{ plan ?? free }} plan'));
  });

  it('accept uploaded images, show where each image is used, and delete unused ones', async () => {
    const id = await createTemplate({ name: 'With a picture', body: '<p>Hi</p>\n' });
    const { page, open } = await openDashboard({ service, path: `/templates/${id}`, mayFail: [PICTURES_OF_MAILS] });
    const code = page.getByRole('textbox', CODE);
    await showCode(page);
    await code.click();
    await page.keyboard.press('Control+End');
    const file = { name: 'spring-sale.gif', mimeType: 'image/gif', buffer: GIF };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('Image added').waitFor();
    await page.evaluate(DROP_GIF);
    await until(async () => ((await code.textContent()) ?? '').includes('dropped'), 'the dropped picture');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const assets: { url: string; filename: string }[] = (await service.call('GET', '/assets')).body.data;
    expect(assets.map(({ filename }) => filename)).toEqual(['dropped.gif', 'spring-sale.gif']);
    const { body } = await readSaved(id);
    expect(body).toContain(`<img src="${assets[1]?.url}" width="2" height="3" alt="spring sale"`);
    expect(body).toContain(`<img src="${assets[0]?.url}" width="2" height="3" alt="dropped"`);

    await open('/templates/pictures');
    await page.getByText('1 template').first().waitFor();
    await expectNoSeriousAxeViolations(page);
    await service.call('PATCH', `/v1/templates/${id}`, { body: { body: '<p>Hi</p>' } });
    await open('/templates/pictures?used=false');
    for (const left of [1, 0]) {
      await chooseMenuAction(page, 'Delete');
      await page.getByRole('dialog').getByRole('textbox').fill('delete');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await until(async () => (await service.call('GET', '/assets')).body.data.length === left, 'the deletion');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
    await page.getByText('All images are in use.').waitFor();
  });

  it('accept images pasted into the code, at the cursor, while the user keeps typing', async () => {
    const id = await createTemplate({ name: 'Pasted', body: '<p>One</p>\n<p>Two</p>\n' });
    const { page } = await openDashboard({ service, path: `/templates/${id}`, mayFail: [PICTURES_OF_MAILS] });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await showCode(page);
    await page.getByRole('textbox', CODE).click();
    await page.evaluate(COPY_PNG);
    const release = await holdRequests(page, '**/assets');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+V');
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('<p>Zero</p>\n');
    release();
    await page.getByText('Image added').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await readSaved(id);
    expect(body).toMatch(
      /^<p>Zero<\/p>\n<p>One<\/p>\n<img src="[^"]+\/assets\/[0-9a-f]{64}" width="4" height="5" alt="" style="[^"]+">\n<p>Two<\/p>\n$/,
    );
  });

  it('accept images pasted or dropped in the visual editor, at the cursor or where they are dropped', async () => {
    const id = await createTemplate({ name: 'In place', body: '<p>One</p><p>Two</p>' });
    const { page } = await openDashboard({ service, path: `/templates/${id}`, mayFail: [PICTURES_OF_MAILS] });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('textbox', { name: 'Subject' }).click();
    await page.evaluate(COPY_PNG);
    const email = page.frameLocator('iframe[title="Email, editable in place"]');
    await email.locator('[contenteditable]', { hasText: 'One' }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Control+V');
    await email.locator('img[width="4"]').waitFor({ state: 'attached' });
    // The email is drawn again. Its text can be edited once the script in the email's frame runs.
    await email.locator('[contenteditable]', { hasText: 'Two' }).waitFor();
    const frame = await page.locator('iframe[title="Email, editable in place"]').elementHandle();
    await (await frame?.contentFrame())?.evaluate(DROP_INTO_TEXT);
    await email.locator('img[width="2"]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await readSaved(id);
    expect(body.replaceAll(/src="[^"]+\/assets\/[0-9a-f]{64}"/g, 'src').replaceAll(/ style="[^"]*"/g, '')).toBe(
      '<p>One<img src width="4" height="5" alt=""></p><p><img src width="2" height="3" alt="dropped in place">Two</p>',
    );
  });

  it('are built of blocks by clicks, each after the selected block and above the footer, without code', async () => {
    const id = await createTemplate({ name: 'Built', body: FRAMED });
    const { page } = await openDashboard({ service, path: `/templates/${id}`, mayFail: [PICTURES_OF_MAILS] });
    const mail = page.frameLocator('iframe[title="Email, editable in place"]');
    await mail.getByText('First row').waitFor();
    const blocks = page.getByRole('complementary', { name: 'Blocks' });
    await blocks.getByRole('button', { name: 'Heading' }).click();
    await mail.getByText('Heading', { exact: true }).waitFor();
    // The new text is selected, so typing replaces it.
    await page.getByRole('group', { name: 'Block' }).waitFor();
    await page.keyboard.type('Spring teas');
    for (const block of ['Text', 'Divider', 'Button', 'Columns']) {
      await blocks.getByRole('button', { name: block }).click();
    }
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      blocks.getByRole('button', { name: 'Image' }).click(),
    ]);
    // An image with the same bytes would be the image of another test.
    const bytes = Buffer.concat([GIF, Buffer.from('4')]);
    await chooser.setFiles({ name: 'tea.gif', mimeType: 'image/gif', buffer: bytes });
    await mail.locator('img').waitFor({ state: 'attached' });
    await mail.locator('hr').click();
    await page.getByRole('button', { name: 'Remove block' }).click();
    await mail.locator('hr').waitFor({ state: 'detached' });
    await mail.getByRole('link', { name: 'Read more' }).click();
    await page.getByRole('textbox', { name: 'Button color' }).fill('#aa3300');
    await page.getByRole('textbox', { name: 'Button color' }).press('Tab');
    await mail.locator('td[bgcolor="#aa3300"]').waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await readSaved(id);
    const shown = ['First row', 'Spring teas', 'Write your text', 'Read more', 'Left column', '<img', 'Unsubscribe'];
    const places = shown.map((words) => body.indexOf(words));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    // The first block is a row of the same table.
    expect(body.match(/<tr><td style="padding:24px">/g)).toHaveLength(2);
    expect(body.startsWith(FRAMED.slice(0, FRAMED.indexOf('First row')))).toBe(true);
  });

  it('change the alignment, size and color of the selected block, and the height of a spacer, without code', async () => {
    const id = await createTemplate({ name: 'Styled', body: `<h2 style="margin:0">Teas</h2>\n<p class=a>Other</p>` });
    const { page } = await openDashboard({ service, path: `/templates/${id}` });
    const mail = page.frameLocator('iframe[title="Email, editable in place"]');
    await mail.getByText('Teas').click();
    const heading = page.getByRole('region', { name: 'Heading' });
    await heading
      .locator('label')
      .filter({ has: page.getByLabel('Center') })
      .click();
    await mail.locator('h2[style*="text-align:center"]').waitFor();
    // The block stays selected, so the user can change several properties.
    await heading.getByRole('textbox', { name: 'Text size' }).fill('40');
    await heading.getByRole('textbox', { name: 'Text size' }).press('Enter');
    await mail.locator('h2[style*="font-size:40px"]').waitFor();
    await heading.getByRole('textbox', { name: 'Text color' }).fill('#aa3300');
    await heading.getByRole('textbox', { name: 'Text color' }).press('Tab');
    await mail.locator('h2[style*="color:#aa3300"]').waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('complementary', { name: 'Blocks' }).getByRole('button', { name: 'Spacer' }).click();
    await mail.locator('hr').click();
    await page.getByRole('textbox', { name: 'Height' }).fill('64');
    await page.getByRole('textbox', { name: 'Height' }).press('Enter');
    await mail.locator('hr[style*="height:64px"]').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await readSaved(id);
    expect(body).toContain(
      '<h2 style="margin:0;text-align:center;font-size:40px;line-height:56px;color:#aa3300">Teas</h2>',
    );
    expect(body).toContain('<p class=a>Other</p>');
    expect(body).toContain('line-height:64px');
  });

  it('change the properties of a block and the target of a link on a phone, in a sheet below the email', async () => {
    const body = `<h2 style="margin:0">Teas</h2>\n<p class=a><a href="https://example.com/a">Shop</a></p>`;
    const id = await createTemplate({ name: 'On a phone', body });
    const { page } = await openDashboard({ service, path: `/templates/${id}`, viewport: 'phone' });
    const mail = page.frameLocator('iframe[title="Email, editable in place"]');
    const sheet = page.getByRole('region', { name: 'Block properties' });
    await mail.getByText('Teas').click();
    const properties = page.getByRole('button', { name: 'Block properties' });
    await properties.click();
    await sheet.getByRole('textbox', { name: 'Text size' }).fill('40');
    await sheet.getByRole('textbox', { name: 'Text size' }).press('Enter');
    await mail.locator('h2[style*="font-size:40px"]').waitFor();
    expect(await properties.getAttribute('aria-expanded')).toBe('true');
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
    await sheet.getByRole('button', { name: 'Close' }).click();
    await sheet.waitFor({ state: 'detached' });
    // A selected link opens the sheet, because the email does not show the link's address.
    await mail.getByRole('link', { name: 'Shop' }).click();
    await sheet.getByRole('textbox', { name: 'Link URL' }).fill('https://example.com/b');
    await sheet.getByRole('textbox', { name: 'Link URL' }).press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readSaved(id)).body).toBe(
      '<h2 style="margin:0;font-size:40px;line-height:56px">Teas</h2>\n<p class=a><a href="https://example.com/b">Shop</a></p>',
    );
  });

  it('have columns and products side by side in a wide email and stacked on a phone, also without media queries', async () => {
    const id = await createTemplate({ name: 'Columns', body: createLayoutContent('letter').body });
    const { page } = await openDashboard({ service, path: `/templates/${id}`, mayFail: [PICTURES_OF_MAILS] });
    const mail = page.frameLocator('iframe[title="Email, editable in place"]');
    await mail.getByText('Kind regards').waitFor();
    const blocks = page.getByRole('complementary', { name: 'Blocks' });
    for (const block of ['Columns', 'Spacer', 'Social']) await blocks.getByRole('button', { name: block }).click();
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      blocks.getByRole('button', { name: 'Product' }).click(),
    ]);
    await chooser.setFiles({ name: 'tin.gif', mimeType: 'image/gif', buffer: Buffer.concat([GIF, Buffer.from('5')]) });
    await mail.getByText('Buy now').waitFor();
    await mail.getByText('Product name').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { body } = await readSaved(id);
    expect(body).not.toContain('@media');
    // The body of the letter is unchanged, byte for byte.
    const letter = createLayoutContent('letter').body;
    const at = letter.indexOf('Kind regards</p>') + 'Kind regards</p>'.length;
    expect(body.startsWith(letter.slice(0, at))).toBe(true);
    expect(body.endsWith(letter.slice(at))).toBe(true);

    for (const viewport of ['desktop', 'phone'] as const) {
      const { page: reader } = await openWindow({ viewport });
      await reader.setContent(body);
      await expectNoSidewaysScroll(reader);
      for (const [first, second] of [
        [reader.getByText('Left column'), reader.getByText('Right column')],
        [reader.locator('img'), reader.getByText('Product name')],
      ] as const) {
        const [left, right] = [await first.boundingBox(), await second.boundingBox()];
        if (!left || !right) throw new Error('a column is not shown');
        const isStacked = right.y >= left.y + left.height;
        expect(isStacked, `${viewport}: ${JSON.stringify({ left, right })}`).toBe(viewport === 'phone');
        if (isStacked) expect(right.x).toBe(left.x);
        else expect(right.x).toBeGreaterThan(left.x + 200);
      }
    }
  });

  it('are MARKETING if they start as a newsletter, so unsubscribed contacts do not get them', async () => {
    const { page } = await openDashboard({ service, path: '/templates' });
    await page.getByRole('button', { name: 'Create template' }).first().click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('radio', { name: 'Transactional' }).isChecked()).toBe(true);
    await dialog.getByRole('radio', { name: 'Newsletter' }).check();
    expect(await dialog.getByRole('radio', { name: 'Marketing' }).isChecked()).toBe(true);
    await expectNoSeriousAxeViolations(page);
  });

  it('send a test of the current text, saved or not', async () => {
    const id = await createTemplate({ name: 'Tested' });
    const { page } = await openDashboard({ service, path: `/templates/${id}` });
    await page.getByLabel('Subject').fill('Not saved yet');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('ada@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Sending a test email to ada@example.com.').waitFor();
    await until(async () => {
      const { data } = (await service.call('GET', '/v1/emails')).body;
      return data.some((email: { subject: string }) => email.subject === '[TEST] Not saved yet');
    }, 'the test email');
    expect((await readSaved(id)).subject).toBe('Hi');
  });

  it('fit on a phone with a long name and a long text', async () => {
    const name = `<img src=x onerror=alert(1)>${'W'.repeat(150)}`;
    const body =
      '<script>alert(1)</script><img src="data:," onerror="alert(2)"><svg onload="alert(3)"></svg><p>{{firstName}}</p>';
    const id = await createTemplate({
      name,
      description: '"><script>alert(4)</script>',
      subject: name.slice(0, 150),
      body,
    });
    const { page, open } = await openDashboard({ service, path: '/templates', viewport: 'phone', dark: true });
    await page.getByRole('link', { name: name.slice(0, 40) }).waitFor();
    await expectNoSidewaysScroll(page);
    await open(`/templates/${id}`);
    const email = page.frameLocator('iframe[title="Email, editable in place"]');
    await email.locator('[data-tidings-variable="First name"]').waitFor();
    await expectNoSidewaysScroll(page);
    await expectNoSeriousAxeViolations(page);
  });
});

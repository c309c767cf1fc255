import { NEW_BLOCKS } from './new-blocks.ts';

export const TEMPLATE_LAYOUTS = ['newsletter', 'announcement', 'promotion', 'invitation', 'letter', 'blank'] as const;
export type TemplateLayout = (typeof TEMPLATE_LAYOUTS)[number];

/** Tells whether a choice of content is a built-in layout, and not the id of a template. */
export function isTemplateLayout(choice: string | null): choice is TemplateLayout {
  return TEMPLATE_LAYOUTS.includes(choice as TemplateLayout);
}

interface LayoutContent {
  subject: string;
  body: string;
}

/**
 * Returns the initial content of a new template or campaign. All layouts except `blank` are built of tables, because
 * Outlook needs them, and are readable in dark mode.
 */
export function createLayoutContent(start: TemplateLayout): LayoutContent {
  return { subject: SUBJECTS[start], body: BODIES[start]() };
}

const SUBJECTS: Record<TemplateLayout, string> = {
  newsletter: 'News for {{firstName ?? you}}',
  announcement: 'Something new for you',
  promotion: 'An offer for {{firstName ?? you}}',
  invitation: 'You are invited',
  letter: 'Hello {{firstName ?? there}}',
  blank: 'Hello {{firstName ?? there}}',
};

const FONT = 'font-family:Helvetica,Arial,sans-serif';
const HELLO = '<p style="margin:0 0 16px">Hello {{firstName ?? there}},</p>';

const FOOTER = `
          <tr>
            <td style="padding:16px 32px 32px;${FONT};font-size:12px;line-height:18px;color:#565c68">
              You get this because you signed up. <a href="{{unsubscribeUrl}}" style="color:#565c68">Unsubscribe</a>
            </td>
          </tr>`;

const BODIES: Record<TemplateLayout, () => string> = {
  newsletter: () =>
    wrapInPage(
      buildTitle('What is new') +
        buildRow(`${HELLO}<p style="margin:0">here is what happened this month.</p>`) +
        buildButton('Read more') +
        buildRow(NEW_BLOCKS.divider, '0 32px') +
        buildRow(
          NEW_BLOCKS.columns
            .replace('Left column', '<strong>First story</strong><br>Tell it in two or three sentences.')
            .replace('Right column', '<strong>Second story</strong><br>Tell it in two or three sentences.'),
          '0 32px',
        ) +
        FOOTER,
    ),
  announcement: () =>
    wrapInPage(
      buildBand('New today', 'Your announcement in a few words') +
        buildRow(
          `${HELLO}<p style="margin:0">say what is new, and why it matters to your readers.</p>`,
          '24px 32px 16px',
        ) +
        buildButton('See what is new') +
        FOOTER,
    ),
  promotion: () =>
    wrapInPage(
      buildBand('This week only', '20% off') +
        buildRow(
          `${HELLO}<p style="margin:0">say what the offer is for, and until when it lasts.</p>`,
          '24px 32px 16px',
        ) +
        buildButton('Shop now') +
        buildRow(
          '<p style="margin:0;font-size:14px;line-height:20px;color:#565c68">Conditions of the offer.</p>',
          '0 32px 16px',
        ) +
        FOOTER,
    ),
  invitation: () =>
    wrapInPage(
      buildTitle('You are invited') +
        buildRow(`${HELLO}<p style="margin:0">say what people can expect, and who is there.</p>`) +
        buildRow(
          '<p style="margin:0"><strong>When:</strong> day and time<br><strong>Where:</strong> place or link</p>',
          '16px 32px',
          '#eef6f7',
        ) +
        buildButton('Save your seat', '24px 32px 32px') +
        FOOTER,
    ),
  letter: () => wrapInPage(LETTER),
  blank: () => '<p>Hello {{firstName ?? there}},</p>\n<p></p>\n',
};

const LETTER = `
          <tr>
            <td style="padding:32px;${FONT};font-size:16px;line-height:24px;color:#16181d">
              <p style="margin:0 0 16px">Hello {{firstName ?? there}},</p>
              <p style="margin:0 0 16px">write here what you want to say.</p>
              <p style="margin:0">Kind regards</p>
            </td>
          </tr>`;

/** A row of the email. */
function buildRow(content: string, padding = '16px 32px', color?: string): string {
  return `
          <tr>
            <td${color ? ` bgcolor="${color}"` : ''} style="padding:${padding};${FONT};font-size:16px;line-height:24px;color:#16181d">
              ${content}
            </td>
          </tr>`;
}

function buildTitle(words: string): string {
  return `
          <tr>
            <td style="padding:32px 32px 0;${FONT};font-size:26px;line-height:34px;font-weight:bold;color:#16181d">
              ${words}
            </td>
          </tr>`;
}

/** A colored head with a short line above the title. */
function buildBand(above: string, words: string): string {
  return `
          <tr>
            <td align="center" bgcolor="#0c6673" style="padding:48px 32px;${FONT};color:#ffffff">
              <p style="margin:0 0 8px;font-size:14px;line-height:20px">${above}</p>
              <h1 style="margin:0;font-size:34px;line-height:42px">${words}</h1>
            </td>
          </tr>`;
}

function buildButton(words: string, padding = '0 32px 32px'): string {
  return `
          <tr>
            <td style="padding:${padding}">
              <table role="presentation" cellpadding="0" cellspacing="0" border="0">
                <tr>
                  <td bgcolor="#0c6673" style="border-radius:6px">
                    <a href="https://example.com" style="display:inline-block;padding:12px 24px;${FONT};font-size:16px;color:#ffffff;text-decoration:none">${words}</a>
                  </td>
                </tr>
              </table>
            </td>
          </tr>`;
}

function wrapInPage(rows: string): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light">
</head>
<body style="margin:0;padding:0;background:#f4f5f7">
  <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f4f5f7">
    <tr>
      <td align="center" style="padding:24px 12px">
        <!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
        <table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#ffffff" style="max-width:600px">${rows}
        </table>
        <!--[if mso]></td></tr></table><![endif]-->
      </td>
    </tr>
  </table>
</body>
</html>
`;
}

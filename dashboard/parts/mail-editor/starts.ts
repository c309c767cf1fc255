export const TEMPLATE_STARTS = ['letter', 'newsletter', 'blank'] as const;
export type TemplateStart = (typeof TEMPLATE_STARTS)[number];

/** Tells whether a choice of content is a built-in layout, and not the id of a template. */
export function isTemplateStart(choice: string | null): choice is TemplateStart {
  return TEMPLATE_STARTS.includes(choice as TemplateStart);
}

interface Said {
  subject: string;
  body: string;
}

/** Initial content of a new template or campaign. Its layout uses tables, as Outlook needs, and it is readable in dark mode. */
export function startOf(start: TemplateStart): Said {
  if (start === 'blank')
    return { subject: 'Hello {{firstName ?? there}}', body: '<p>Hello {{firstName ?? there}},</p>\n<p></p>\n' };
  if (start === 'letter') return { subject: 'Hello {{firstName ?? there}}', body: pageOf(LETTER) };
  return { subject: 'News for {{firstName ?? you}}', body: pageOf(NEWSLETTER) };
}

const FONT = 'font-family:Helvetica,Arial,sans-serif';

const LETTER = `
          <tr>
            <td style="padding:32px;${FONT};font-size:16px;line-height:24px;color:#16181d">
              <p style="margin:0 0 16px">Hello {{firstName ?? there}},</p>
              <p style="margin:0 0 16px">write here what you want to say.</p>
              <p style="margin:0">Kind regards</p>
            </td>
          </tr>`;

const NEWSLETTER = `
          <tr>
            <td style="padding:32px 32px 0;${FONT};font-size:26px;line-height:34px;font-weight:bold;color:#16181d">
              What is new
            </td>
          </tr>
          <tr>
            <td style="padding:16px 32px;${FONT};font-size:16px;line-height:24px;color:#16181d">
              <p style="margin:0 0 16px">Hello {{firstName ?? there}},</p>
              <p style="margin:0">here is what happened this month.</p>
            </td>
          </tr>
          <tr>
            <td style="padding:0 32px 32px">
              <table role="presentation" cellpadding="0" cellspacing="0" border="0">
                <tr>
                  <td bgcolor="#0c6673" style="border-radius:6px">
                    <a href="https://example.com" style="display:inline-block;padding:12px 24px;${FONT};font-size:16px;color:#ffffff;text-decoration:none">Read more</a>
                  </td>
                </tr>
              </table>
            </td>
          </tr>
          <tr>
            <td style="padding:16px 32px 32px;${FONT};font-size:12px;line-height:18px;color:#565c68">
              You get this because you signed up. <a href="{{unsubscribeUrl}}" style="color:#565c68">Unsubscribe</a>
            </td>
          </tr>`;

function pageOf(rows: string): string {
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

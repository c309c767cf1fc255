import { createHash } from 'node:crypto';
import { escapeHtml } from '../rules/content/plain-value.ts';

const DEFAULT_COLOR = '#2563eb';
const COLOR = /^#[0-9a-f]{6}$/i;

/** A page: its HTML, and a content security policy that allows only its own style. */
export interface HtmlPage {
  html: string;
  contentSecurityPolicy: string;
}

/**
 * Returns a page for recipients of email: no script, one column, the project's name and color. `body` is HTML that is
 * already escaped. Buttons are at least 44 px high, and their text contrasts with any color (WCAG 2.2 §1.4.3,
 * §2.5.5).
 */
export function documentOf(p: { title: string; body: string; projectName?: string; color?: string | null }): HtmlPage {
  const style = styleOf(p.color && COLOR.test(p.color) ? p.color.toLowerCase() : DEFAULT_COLOR);
  const name = p.projectName ? `<header>${escapeHtml(p.projectName)}</header>\n` : '';
  const title = p.projectName ? `${p.title} · ${p.projectName}` : p.title;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${name}<main>${p.body}</main>
</body>
</html>
`;
  const hash = createHash('sha256').update(style).digest('base64');
  return {
    html,
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  };
}

function styleOf(color: string): string {
  return `:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--text:#16181d;--soft:#565c68;--line:#8a919e;--accent:${color};--on:${textOn(color)}}
@media(prefers-color-scheme:dark){:root{--page:#111318;--card:#1b1e25;--text:#eef0f4;--soft:#a9b0bd;--line:#6b7280}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;padding:1.5rem 1rem;background:var(--page);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{width:100%;max-width:30rem;margin:4vh 0 1rem;font-weight:650;font-size:1.05rem;overflow-wrap:anywhere}
header::before{content:"";display:inline-block;width:.75rem;height:.75rem;margin-right:.5rem;border-radius:50%;background:var(--accent)}
main{width:100%;max-width:30rem;padding:1.75rem 1.5rem;border-radius:14px;border-top:5px solid var(--accent);background:var(--card);box-shadow:0 1px 3px #0002,0 8px 24px #0001}
h1{margin:0 0 .75rem;font-size:1.4rem;line-height:1.25;overflow-wrap:anywhere}
p{margin:0 0 1rem;overflow-wrap:anywhere}
main>:last-child{margin-bottom:0}
.soft{color:var(--soft);font-size:.92rem}
form{margin:0 0 1rem}
button{width:100%;min-height:48px;padding:.7rem 1.25rem;border:1px solid var(--line);border-radius:10px;background:var(--accent);color:var(--on);font:inherit;font-weight:600;cursor:pointer}
button:hover{filter:brightness(1.08)}
a{color:inherit;text-underline-offset:.15em}
fieldset{margin:0 0 1.25rem;padding:0;border:0}
legend{padding:0;margin-bottom:.5rem;font-weight:600}
label{display:flex;gap:.75rem;align-items:center;min-height:48px;padding:.6rem .9rem;margin-bottom:.5rem;border:1px solid var(--line);border-radius:10px;cursor:pointer}
label>span{min-width:0;overflow-wrap:anywhere}
input{width:1.25rem;height:1.25rem;margin:0;flex:none;accent-color:var(--accent)}
:focus-visible{outline:3px solid var(--text);outline-offset:2px}`;
}

/** Returns black or white, whichever has the higher contrast (relative luminance, WCAG 2.2). */
function textOn(color: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  // At a luminance of 0.179, both contrasts are equal.
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff';
}

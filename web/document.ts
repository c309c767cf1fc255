import { createHash } from 'node:crypto';
import { escapeHtml } from '../rules/content/plain-value.ts';
import { INTER_FACE, SANS } from './fonts.ts';

/** The color of a project that has chosen no color, on light pages. */
const DEFAULT_COLOR = '#0c6673';
/** The lighter shade that replaces the default color on dark pages. */
const DEFAULT_COLOR_DARK = '#4dbac6';
/** The background color of the card that contains the page's text, on light and on dark pages. */
const CARDS = { light: '#ffffff', dark: '#131617' };
/** The minimum contrast between a button and the card (WCAG 2.2 §1.4.11). */
const BUTTON_CONTRAST = 3;
const COLOR = /^#[0-9a-f]{6}$/i;

/**
 * A page: its HTML, and a content security policy that allows only the style of this page, and the fonts and forms of
 * this service.
 */
export interface HtmlPage {
  html: string;
  contentSecurityPolicy: string;
}

/**
 * Returns a page for recipients of email: no script, one column, the project's name and color. `body` is HTML that is
 * already escaped. Buttons are at least 48 px high, and their text is readable on any project color (WCAG 2.2 §1.4.3,
 * §2.5.5).
 */
export function renderHtmlPage(p: {
  title: string;
  body: string;
  projectName?: string;
  color?: string | null;
}): HtmlPage {
  const style = renderStyle(p.color && COLOR.test(p.color) ? p.color.toLowerCase() : DEFAULT_COLOR);
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
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${hash}'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  };
}

function renderStyle(color: string): string {
  const dark = color === DEFAULT_COLOR ? DEFAULT_COLOR_DARK : color;
  return `${INTER_FACE}
:root{color-scheme:light dark;--page:#f9f9f6;--card:${CARDS.light};--text:#16191a;--soft:#545a5e;--border:#d6d7d0;--line:#8b8f89;${renderButtonColors(color, CARDS.light)}}
@media(prefers-color-scheme:dark){:root{--page:#0d0f10;--card:${CARDS.dark};--text:#eceeed;--soft:#a9afb1;--border:#363b3e;--line:#6d7477;${renderButtonColors(dark, CARDS.dark)}}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;padding:24px 16px;background:var(--page);color:var(--text);font:400 15px/24px ${SANS};-webkit-font-smoothing:antialiased}
header{display:flex;gap:8px;align-items:center;width:100%;max-width:480px;margin:6vh 0 16px;font-weight:600;letter-spacing:-.006em;overflow-wrap:anywhere}
header::before{content:"";flex:none;width:12px;height:12px;border-radius:4px;background:var(--accent)}
main{width:100%;max-width:480px;padding:32px;border:1px solid var(--border);border-radius:10px;background:var(--card)}
h1{margin:0 0 12px;font-size:28px;line-height:36px;font-weight:600;letter-spacing:-.02em;overflow-wrap:anywhere}
p{margin:0 0 16px;overflow-wrap:anywhere}
main>:last-child{margin-bottom:0}
.soft,small{color:var(--soft);font-size:14px;line-height:20px}
form{margin:0 0 16px}
button{width:100%;min-height:48px;padding:10px 16px;border:1px solid var(--edge);border-radius:6px;background:var(--accent);color:var(--on);font:inherit;font-weight:500;cursor:pointer}
button:hover{filter:brightness(1.08)}
a{color:inherit;text-underline-offset:.15em}
fieldset{margin:0 0 24px;padding:0;border:0}
legend{padding:0;margin-bottom:8px;font-size:14px;line-height:20px;font-weight:600}
label{display:flex;gap:12px;align-items:center;min-height:48px;padding:10px 14px;margin-bottom:8px;border:1px solid var(--border);border-radius:6px;cursor:pointer}
label:has(:checked){border-color:var(--edge)}
label:hover{border-color:var(--line)}
label>span{min-width:0;overflow-wrap:anywhere}
label small{display:block}
input{width:20px;height:20px;margin:0;flex:none;accent-color:var(--accent)}
@media(max-width:479px){main{padding:24px 20px}h1{font-size:24px;line-height:32px}}
@media(prefers-reduced-motion:no-preference){button,label{transition:border-color .1s,filter .1s}}
:focus-visible{outline:2px solid var(--text);outline-offset:2px}`;
}

/**
 * Returns the CSS variables for a button: the colors of its background, its text and its border. The border is gray if
 * the background has too little contrast with the card. Otherwise the border has the color of the background.
 */
function renderButtonColors(color: string, card: string): string {
  const [lower = 0, higher = 0] = [computeLuminance(color), computeLuminance(card)].sort((a, b) => a - b);
  const isVisible = (higher + 0.05) / (lower + 0.05) >= BUTTON_CONTRAST;
  return `--accent:${color};--on:${chooseTextColor(color)};--edge:${isVisible ? color : 'var(--line)'}`;
}

/** Returns black or white, whichever has the higher contrast. Both have the same contrast at a luminance of 0.179. */
function chooseTextColor(color: string): string {
  return computeLuminance(color) > 0.179 ? '#000' : '#fff';
}

/** Returns the relative luminance of a color, 0 to 1 (WCAG 2.2). */
function computeLuminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

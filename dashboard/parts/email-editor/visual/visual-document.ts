import { text } from '../../../text/text.ts';
import { splitAtVariables } from '../text-pieces.ts';
import type { SourceEdit } from './source-edits.ts';
import type { SourceModel } from './source-model.ts';
import { getShownText, type SourcePart, type TextPart } from './source-parts.ts';

/** The attribute that marks the element of each part, for the frame's script. */
const MARK = 'data-tidings';

const STYLE = `
[${MARK}-text]{outline:none;border-radius:2px;cursor:text}
[${MARK}-text]:hover{box-shadow:0 0 0 1px #8fc4ca}
[${MARK}-text]:focus{box-shadow:0 0 0 2px #0c6673}
[${MARK}-logic]{font:11px/1.4 ui-monospace,monospace;color:#5b2a86;background:#f1e7fb;border-radius:3px;padding:0 3px}
[${MARK}-variable]{background:#e4f1f2;border-radius:4px;box-decoration-break:clone;-webkit-box-decoration-break:clone}
[${MARK}-variable]:not([${MARK}-open]){padding:2px 6px;white-space:nowrap}
[${MARK}-variable]:not([${MARK}-open])::before{content:attr(${MARK}-variable);content:attr(${MARK}-variable) / "";font:500 .85em/1 system-ui,sans-serif;letter-spacing:0;text-transform:none;color:#0b5e6a}
[${MARK}-variable]:not([${MARK}-open])>span{font-size:0;line-height:0;letter-spacing:0}
[${MARK}-open]{color:#0b5e6a}
:is(img,hr)[${MARK}]:hover,:is(img,hr)[${MARK}-picked]{outline:2px solid #0c6673;cursor:pointer}
[${MARK}-block]{outline:2px dashed #0c6673;outline-offset:1px}
a[${MARK}-picked]{outline:2px dashed #0c6673;outline-offset:2px}`;

/**
 * Renders the email for display, with each editable part marked with its number. This HTML is only displayed; a save
 * sends the source. `script` is the only script that runs in it: the content security policy blocks other scripts,
 * frames, and requests for anything except images and fonts.
 */
export function renderVisualDocument(model: SourceModel, p: { script: string; isReadOnly: boolean }): string {
  const { source } = model;
  const policy =
    `default-src 'none'; script-src ${p.script}; style-src 'unsafe-inline'; img-src * data:; font-src *; ` +
    `form-action 'none'; base-uri 'none'`;
  const head =
    `<meta http-equiv="Content-Security-Policy" content="${escapeText(policy)}"><meta charset="utf-8"><style>${STYLE}</style>` +
    `<script src="${escapeText(p.script)}" data-read-only="${p.isReadOnly}" defer></script>`;
  const doctype = /^\s*<!doctype[^>]*>/i.exec(source)?.[0] ?? '';
  return doctype + head + markElements(model, doctype.length);
}

/** Returns the source from this offset, with marks at its parts and without its hidden parts. */
function markElements({ source, parts, hidden }: SourceModel, from: number): string {
  const pieces: SourceEdit[] = [
    ...hidden.map(({ start, end }) => ({ start, end, replacement: '' })),
    ...parts.flatMap((part) => markPart(part)),
  ].sort((a, b) => a.start - b.start);
  let at = from;
  let html = '';
  for (const piece of pieces) {
    // The piece is inside a hidden part.
    if (piece.start < at) continue;
    html += source.slice(at, piece.start) + piece.replacement;
    at = piece.end;
  }
  return html + source.slice(at);
}

function markPart(part: SourcePart): SourceEdit[] {
  if (part.kind !== 'text') {
    return [{ start: part.nameEnd, end: part.nameEnd, replacement: ` ${MARK}="${part.id}"` }];
  }
  if (part.role === 'locked') return [];
  return [{ start: part.start, end: part.end, replacement: createTextMark(part) }];
}

function createTextMark(part: TextPart): string {
  if (part.role === 'logic') return `<span ${MARK}-logic>${toHtml(getShownText(part)).trim()}</span>`;
  return `<span ${MARK}="${part.id}" ${MARK}-text>${renderChips(part)}</span>`;
}

/**
 * Renders the text of a part with its simple variables as chips. Each chip contains the variable's source, which CSS
 * hides until the cursor is in it, so the text that the frame reports is the same.
 */
export function renderChips(part: TextPart): string {
  return splitAtVariables(getShownText(part))
    .map(({ source, variable }) => {
      const html = toHtml(source);
      if (!variable) return html;
      const label = text.emailEditor.variable(variable.name, variable.fallback);
      return `<span ${MARK}-variable="${escapeText(label)}"><span>${html}</span></span>`;
    })
    .join('');
}

function toHtml(shown: string): string {
  return escapeText(shown).replaceAll('\n', '<br>');
}

function escapeText(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

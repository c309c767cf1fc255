/** A link of the campaign's body, with the text that is shown beside it. */
export interface MarkedLink {
  url: string;
  label: string;
}

const MARK = 'data-tidings-link';

/**
 * Adds an attribute to each link of a body: the index of its URL in `links`, because rendering replaces the URL. Only
 * quoted `href` attributes are found; everything else stays unchanged.
 */
export function markLinks(body: string, links: readonly MarkedLink[]): string {
  const indexes = new Map(links.map(({ url }, n) => [normalizeUrl(url), n]));
  return body.replaceAll(/\bhref\s*=\s*(["'])(.*?)\1/gis, (written, _quote: string, url: string) => {
    const n = indexes.get(normalizeUrl(url));
    return n === undefined ? written : `${MARK}="${n}" ${written}`;
  });
}

/**
 * Normalizes a link's URL to the form of the list of links, which has no entities, and spaces around the names of
 * variables.
 */
function normalizeUrl(url: string): string {
  return url
    .trim()
    .replaceAll('&amp;', '&')
    .replaceAll(/\{\{\s*(.*?)\s*\}\}/g, '{{$1}}');
}

/**
 * Returns the rendered email with a label after each marked link, for a frame that runs no script. The code does not
 * use the browser's parser, because the parser would check the content of the email against the content security policy
 * of our page.
 */
export function showMarks(html: string, links: readonly MarkedLink[]): string {
  return html.replaceAll(MARKED_LINK, (anchor, n: string) => {
    const link = links[Number(n)];
    return link ? `${anchor}<span style="${BADGE}">${escapeHtml(link.label)}</span>` : anchor;
  });
}

const MARKED_LINK = new RegExp(`<a\\b[^>]*\\b${MARK}="(\\d+)"[^>]*>.*?</a\\s*>`, 'gis');

function escapeHtml(label: string): string {
  return label.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const BADGE =
  'display:inline-block;margin:0 4px;padding:1px 7px;border-radius:9px;background:#0c6673;color:#fff;' +
  'font:600 11px/16px system-ui,sans-serif;text-decoration:none;white-space:nowrap';

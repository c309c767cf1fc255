const DARK_RULE = /\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi;
const LIGHT_RULE = /\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi;

/** Mailboxes change an email that says nothing about dark mode: they swap light and dark, and keep images. */
const TURNED =
  '<style>html{background:#fff;filter:invert(1) hue-rotate(180deg)}img{filter:invert(1) hue-rotate(180deg)}</style>';

/** Whether a mail says itself how it looks in dark mode. */
export function hasDarkRules(html: string): boolean {
  return html.search(DARK_RULE) >= 0;
}

/** A mail as a mailbox in dark mode shows it, whatever mode the viewer's own machine is in. */
export function inDarkMode(html: string): string {
  if (!hasDarkRules(html)) return `${html}${TURNED}`;
  return html.replaceAll(DARK_RULE, '(min-width:0px)').replaceAll(LIGHT_RULE, '(max-width:0px)');
}

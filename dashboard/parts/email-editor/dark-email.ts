const DARK_RULE = /\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi;
const LIGHT_RULE = /\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi;

/**
 * The rules by which email clients in dark mode show an email without rules of its own: they invert its colors, except
 * in images.
 */
const INVERTED =
  '<style>html{background:#fff;filter:invert(1) hue-rotate(180deg)}img{filter:invert(1) hue-rotate(180deg)}</style>';

/** Returns whether an email has its own rules for dark mode. */
export function hasDarkRules(html: string): boolean {
  return html.search(DARK_RULE) >= 0;
}

/**
 * Returns the HTML of an email as an email client in dark mode shows it, whatever the color scheme of the viewer's
 * system is.
 */
export function toDarkMode(html: string): string {
  if (!hasDarkRules(html)) return `${html}${INVERTED}`;
  return html.replaceAll(DARK_RULE, '(min-width:0px)').replaceAll(LIGHT_RULE, '(max-width:0px)');
}

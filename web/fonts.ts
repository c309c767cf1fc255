/**
 * The font files for pages that are not part of the dashboard. The fonts are the same as in the dashboard. The key is
 * the name in the URL (`/fonts/inter.woff2`), and the value is the file in the npm package.
 */
export const FONT_FILES = {
  'inter.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  'jetbrains-mono.woff2': '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
} as const;

/**
 * The characters that the font files contain (`unicode-range`). Without this range, a browser would load the files also
 * for text in other scripts, such as Greek.
 */
const LATIN = 'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC,U+2122,U+2212';

/** The CSS rule `@font-face` that loads the font Inter, for text. */
export const INTER_FACE = renderFontFace('Inter', 'inter.woff2', '100 900');
/** The CSS rule `@font-face` that loads the font JetBrains Mono, for code. */
export const MONO_FACE = renderFontFace('JetBrains Mono', 'jetbrains-mono.woff2', '100 800');

export const SANS = 'Inter,system-ui,-apple-system,"Segoe UI",sans-serif';
export const MONO = '"JetBrains Mono",ui-monospace,Menlo,Consolas,monospace';

function renderFontFace(family: string, file: keyof typeof FONT_FILES, weights: string): string {
  return `@font-face{font-family:"${family}";font-weight:${weights};font-display:swap;src:url(/fonts/${file}) format("woff2");unicode-range:${LATIN}}`;
}

/** The fonts of the dashboard for the pages outside of it: the name in an address, and the file of the package. */
export const FONT_FILES = {
  'inter.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  'jetbrains-mono.woff2': '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
} as const;

/** Without a limit of its range, a browser would load the Latin file for text in any other script too. */
const LATIN = 'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC,U+2122,U+2212';

/** Style of text in Inter. */
export const INTER_FACE = faceOf('Inter', 'inter.woff2', '100 900');
/** Style of code in JetBrains Mono. */
export const MONO_FACE = faceOf('JetBrains Mono', 'jetbrains-mono.woff2', '100 800');

export const SANS = 'Inter,system-ui,-apple-system,"Segoe UI",sans-serif';
export const MONO = '"JetBrains Mono",ui-monospace,Menlo,Consolas,monospace';

function faceOf(family: string, file: keyof typeof FONT_FILES, weights: string): string {
  return `@font-face{font-family:"${family}";font-weight:${weights};font-display:swap;src:url(/fonts/${file}) format("woff2");unicode-range:${LATIN}}`;
}

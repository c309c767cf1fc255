import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

/** The colour of Tidings, from light to dark; 6 is the one of buttons (contrast 5.2 with white). */
const tidings: MantineColorsTuple = [
  '#eff4ff',
  '#dbe6fe',
  '#bfd3fe',
  '#93b4fd',
  '#6090fa',
  '#3b74f6',
  '#2563eb',
  '#1d4fd8',
  '#1e41af',
  '#1e3a8a',
];

/** Tokens only: no component is styled here beyond its defaults. */
export const theme = createTheme({
  colors: { tidings },
  primaryColor: 'tidings',
  primaryShade: 6,
  autoContrast: true,
  // Up to this luminance white has 4.5 to 1; Mantine's own 0.3 leaves it on red and orange, where it has 3.3.
  luminanceThreshold: 0.18,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  respectReducedMotion: true,
  // With the radius of everything else they would be taken for radio buttons.
  components: { Checkbox: { defaultProps: { radius: 'sm' } } },
});

/**
 * Where Mantine's own shades are too faint for text (WCAG 2.2 AA, 4.5 to 1): dimmed text, errors, placeholders, and
 * words on their light ground.
 */
export const variables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    ...Object.fromEntries(
      Object.keys(colors).flatMap((color) => {
        const dark = `color-mix(in srgb, var(--mantine-color-${color}-9), black 25%)`;
        return [
          [`--mantine-color-${color}-light-color`, dark],
          [`--mantine-color-${color}-text`, dark],
        ];
      }),
    ),
  },
  dark: {
    '--mantine-color-anchor': 'var(--mantine-color-tidings-3)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});

/**
 * Colors of text that carries a meaning by its color. The contrast of each color is at least 4.5:1 on the backgrounds
 * of both schemes.
 */
export const ERROR_TEXT = 'var(--mantine-color-error)';
export const NUMBER_TEXT = 'light-dark(var(--mantine-color-blue-9), var(--mantine-color-blue-3))';

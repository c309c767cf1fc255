/** Colors of text that carries a meaning by its color. Their contrast is at least 4.5 on both backgrounds. */
export const ERROR_TEXT = 'var(--mantine-color-error)';
export const NUMBER_TEXT = 'light-dark(var(--mantine-color-blue-9), var(--mantine-color-blue-3))';

/** Colours of text that says something beyond its words, with a contrast of 4.5 and more on both grounds. */
export const BAD_TEXT = 'var(--mantine-color-error)';
export const NUMBER_TEXT = 'light-dark(var(--mantine-color-blue-9), var(--mantine-color-blue-3))';

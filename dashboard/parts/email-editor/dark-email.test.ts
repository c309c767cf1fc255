import { expect, it } from 'vitest';
import { hasDarkRules, toDarkMode } from './dark-email.ts';

it('an email with rules for dark mode is shown with these rules', () => {
  const email =
    '<style>@media (prefers-color-scheme: dark){p{color:#fff}} @media screen and (prefers-color-scheme:light){p{color:#000}}</style>';
  expect(hasDarkRules(email)).toBe(true);
  expect(toDarkMode(email)).toBe(
    '<style>@media (min-width:0px){p{color:#fff}} @media screen and (max-width:0px){p{color:#000}}</style>',
  );
});

it('an email without such rules is shown approximately as mailboxes convert it', () => {
  expect(hasDarkRules('<p>prefers-color-scheme</p>')).toBe(false);
  expect(toDarkMode('<p>a</p>')).toMatch(/^<p>a<\/p><style>.*invert/);
});

import { expect, it } from 'vitest';
import { withHeldLinks } from './email-document.ts';

it.each([
  ['<!doctype html><p>a</p>', '<!doctype html><base target="_blank"><p>a</p>'],
  ['\n<!DOCTYPE html PUBLIC "x">\n<html>', '\n<!DOCTYPE html PUBLIC "x"><base target="_blank">\n<html>'],
  ['<!-- a --><!doctype html><p>a</p>', '<!-- a --><!doctype html><base target="_blank"><p>a</p>'],
  ['<p>a</p>', '<base target="_blank"><p>a</p>'],
])('links of %s stay out of the frame, and its doctype stays first', (html, framed) => {
  expect(withHeldLinks(html)).toBe(framed);
});

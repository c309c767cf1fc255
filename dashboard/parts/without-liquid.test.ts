import { expect, it } from 'vitest';
import { withoutLiquid } from './without-liquid.ts';

it.each([
  ['<p>Hi {{ firstName ?? there }}</p>', '<p>Hi there</p>'],
  ["<p>Hi {{ firstName | default: 'you' | upcase }}</p>", '<p>Hi you</p>'],
  ['{% if plan == "pro" %}<b>{{plan}}</b>{% endif %}', '<b>plan</b>'],
  ['{% comment %}{{x}} secret{% endcomment %}a', 'a'],
  ['<a href="{{ url | append: \'"x\' }}">a</a>', '<a href="url">a</a>'],
])('%s looks like %s', (body, shown) => {
  expect(withoutLiquid(body)).toBe(shown);
});

import { expect, it } from 'vitest';
import { withoutLiquid } from './without-liquid.ts';

it.each([
  ['<p>Hi {{ firstName ?? there }}</p>', '<p>Hi Maren</p>'],
  ["<p>Hi {{ data.first_name | default: 'you' | upcase }}</p>", '<p>Hi Maren</p>'],
  ['Hi {{ nickname ?? there }}', 'Hi there'],
  ["Hi {{ nickname | default: 'you' }}", 'Hi you'],
  ['Autumn teas for {{firstName}}', 'Autumn teas for Maren'],
  ['{{ score }} points', '… points'],
  ["{{ 'Tea' }} time", 'Tea time'],
  ['{% if plan == "pro" %}<b>{{plan}}</b>{% endif %}', '<b>Pro</b>'],
  ['{% comment %}{{x}} secret{% endcomment %}a', 'a'],
  ['<a href="{{ cartUrl | append: \'"x\' }}">a</a>', '<a href="#">a</a>'],
  ['{{ constructor }}', '…'],
])('%s looks like %s', (body, shown) => {
  expect(withoutLiquid(body)).toBe(shown);
});

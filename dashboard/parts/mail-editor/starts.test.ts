import { expect, it } from 'vitest';
import { startOf, TEMPLATE_STARTS } from './starts.ts';
import { blocksOf, isWhole } from './visual/source-blocks.ts';
import { modelOf } from './visual/source-model.ts';

it.each(TEMPLATE_STARTS)('the layout %s is whole, can be edited in place, and links only to a placeholder', (start) => {
  const { subject, body } = startOf(start);
  expect(subject).not.toBe('');
  expect(blocksOf(body).filter((block) => !isWhole(body, block))).toEqual([]);
  const { parts } = modelOf(body);
  expect(parts.some((part) => part.kind === 'text' && part.role === 'words')).toBe(true);
  for (const [, address] of body.matchAll(/href="([^"]*)"/g)) {
    expect(address).toMatch(/^(https:\/\/example\.com|\{\{unsubscribeUrl\}\})$/);
  }
});

it.each(['newsletter', 'announcement', 'promotion', 'invitation'] as const)('the layout %s can be left', (start) => {
  expect(startOf(start).body).toContain('{{unsubscribeUrl}}');
});

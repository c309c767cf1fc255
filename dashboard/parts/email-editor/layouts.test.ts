import { expect, it } from 'vitest';
import { createLayoutContent, TEMPLATE_LAYOUTS } from './layouts.ts';
import { findBlocks, isCompleteBlock } from './visual/source-blocks.ts';
import { parseSource } from './visual/source-model.ts';

it.each(TEMPLATE_LAYOUTS)(
  'the layout %s is complete, can be edited in place, and links only to a placeholder',
  (start) => {
    const { subject, body } = createLayoutContent(start);
    expect(subject).not.toBe('');
    expect(findBlocks(body).filter((block) => !isCompleteBlock(body, block))).toEqual([]);
    const { parts } = parseSource(body);
    expect(parts.some((part) => part.kind === 'text' && part.role === 'words')).toBe(true);
    for (const [, address] of body.matchAll(/href="([^"]*)"/g)) {
      expect(address).toMatch(/^(https:\/\/example\.com|\{\{unsubscribeUrl\}\})$/);
    }
  },
);

it.each(['newsletter', 'announcement', 'promotion', 'invitation'] as const)(
  'the layout %s has a link to unsubscribe',
  (start) => {
    expect(createLayoutContent(start).body).toContain('{{unsubscribeUrl}}');
  },
);

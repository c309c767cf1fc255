import { expect, it } from 'vitest';
import { computePublicContactId } from './public-contact-id.ts';

const key = Buffer.from('a key');
const createId = (email: string, projectId = 'p1', under = key) => computePublicContactId(under, { projectId, email });

it('is a UUID of version 8, and is the same for all spellings of an address', () => {
  expect(createId('ada@example.com')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(createId(' Ada@Example.com ')).toBe(createId('ada@example.com'));
});

it('differs for every address, project and key', () => {
  const ids = [
    createId('a@x.com'),
    createId('b@x.com'),
    createId('a@x.com', 'p2'),
    createId('a@x.com', 'p1', Buffer.from('another')),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

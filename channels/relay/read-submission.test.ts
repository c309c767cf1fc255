import { expect, it } from 'vitest';
import { readSubmission } from './read-submission.ts';

it.each([
  ['Shop <shop@example.com>', { email: 'shop@example.com', name: 'Shop' }],
  ['Shop, Inc. <shop@example.com>', { email: 'shop@example.com', name: 'Shop, Inc.' }],
  ['Shop,\r\n Inc. <shop@example.com>', { email: 'shop@example.com', name: 'Shop, Inc.' }],
  ['"Ann" <"ann lee"@example.com>', { email: '"ann lee"@example.com', name: 'Ann' }],
  ['shop@example.com', { email: 'shop@example.com', name: null }],
])('the author of the From %j is the address that the recipient sees', async (from, author) => {
  const submission = await readSubmission(Buffer.from(`From: ${from}\r\nSubject: Hi\r\n\r\nText\r\n`));
  expect(submission.from).toEqual(author);
});

import { expect, it, vi } from 'vitest';
import { createSesProvider } from './provider.ts';

const MESSAGE = {
  id: '0190a000-0000-7000-8000-000000000001',
  projectId: '0190a000-0000-7000-8000-000000000002',
  from: 'news@example.com',
  to: 'ada@example.com',
  raw: 'Subject: Hello\r\n\r\nHello',
};

it('a message is unsent, and not in doubt, if the SDK cannot be loaded', async () => {
  vi.doMock('@aws-sdk/client-sesv2', () => {
    throw new Error('EMFILE: too many open files');
  });
  const provider = createSesProvider({ region: 'eu-west-1' });
  expect(await provider.send(MESSAGE)).toMatchObject({ outcome: 'unsent', error: expect.stringMatching(/SDK of SES/) });
  await provider.close();
});

import type { CurlRequest } from '../../parts/curl.tsx';

/** What somebody sends first, to see that it works. */
export const FIRST_MAIL: CurlRequest = {
  method: 'POST',
  path: '/v1/send',
  body: { to: 'ada@example.com', from: 'hello@your-domain.com', subject: 'Hello', body: '<p>Hello Ada</p>' },
};

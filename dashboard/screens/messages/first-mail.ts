import type { CurlRequest } from '../../parts/curl.tsx';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';

/** What somebody sends first, to see that it works: from a verified domain of the project, where there is one. */
export function useFirstMail(p: { enabled?: boolean } = {}): CurlRequest {
  const [domain = 'your-domain.com'] = useVerifiedDomains(p);
  return {
    method: 'POST',
    path: '/v1/send',
    body: { to: 'ada@example.com', from: `hello@${domain}`, subject: 'Hello', body: '<p>Hello Ada</p>' },
  };
}

import type { CurlRequest } from '../../parts/curl.tsx';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';

/**
 * What somebody sends first, to see that it works: from a verified domain of the project, where there is one.
 * Undefined until it is known whether there is.
 */
export function useFirstMail(p: { enabled?: boolean } = {}): CurlRequest | undefined {
  const domains = useVerifiedDomains(p);
  if (!domains) return undefined;
  const [domain = 'your-domain.com'] = domains;
  return {
    method: 'POST',
    path: '/v1/send',
    body: { to: 'ada@example.com', from: `hello@${domain}`, subject: 'Hello', body: '<p>Hello Ada</p>' },
  };
}

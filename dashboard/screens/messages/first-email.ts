import type { CurlRequest } from '../../parts/curl-request.ts';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';

/**
 * Returns an API request that sends a first email, from a verified domain of the project. Without one, the domain is a
 * placeholder. Undefined until the domains are known.
 */
export function useFirstEmail(p: { enabled?: boolean } = {}): CurlRequest | undefined {
  const domains = useVerifiedDomains(p);
  if (!domains) return undefined;
  const [domain = 'your-domain.com'] = domains;
  return {
    method: 'POST',
    path: '/v1/send',
    body: { to: 'ada@example.com', from: `hello@${domain}`, subject: 'Hello', body: '<p>Hello Ada</p>' },
  };
}

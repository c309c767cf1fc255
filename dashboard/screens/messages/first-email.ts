import type { CurlRequest } from '../../parts/curl-request.ts';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';

/**
 * Returns a first email to send, from a verified domain of the project if it has one. Undefined until that is known.
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

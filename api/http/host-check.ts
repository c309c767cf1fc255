import type { MiddlewareHandler } from 'hono';
import { isLoopbackAuthority, parseHost } from '../../rules/access/loopback.ts';
import type { Config } from '../../rules/config.ts';
import { AppError } from '../../rules/errors.ts';
import type { AppEnv } from './env.ts';

/**
 * On a loopback HOST, accepts only requests whose `Host` is a loopback name or the host of PUBLIC_URL. This prevents
 * DNS rebinding, because on loopback some requests from this machine need no credentials.
 *
 * In such an attack, the host name of the attacker's web page resolves to 127.0.0.1. A browser on this machine then
 * sends the requests of that page to this service, but still sends the host name of the page in `Host`.
 *
 * On a public HOST, any host name may belong to the service, so nothing is checked. A request without `Host` does not
 * come from a browser. Node refuses such a request if it uses HTTP/1.1, which requires the header.
 */
export function createHostCheck(config: Pick<Config, 'publicHost' | 'publicUrl'>): MiddlewareHandler<AppEnv> {
  const own = parseHost(new URL(config.publicUrl).host);
  return (c, next) => {
    const host = c.req.header('host');
    if (config.publicHost || host === undefined || isLoopbackAuthority(host) || parseHost(host) === own) return next();
    throw new AppError('FORBIDDEN', {
      message:
        'This service listens on loopback, and the requested host is neither a loopback name nor the host of PUBLIC_URL.',
      suggestion: 'Use 127.0.0.1 or localhost. Behind a proxy, set PUBLIC_URL to the public address of the service.',
    });
  };
}

import type { MiddlewareHandler } from 'hono';
import { hostOf, isLoopbackAuthority } from '../../rules/access/loopback.ts';
import type { Config } from '../../rules/config.ts';
import { AppError } from '../../rules/errors.ts';
import type { AppEnv } from './env.ts';

/**
 * On a loopback HOST, accepts only requests whose `Host` is a loopback name or the host of PUBLIC_URL. This prevents
 * DNS rebinding. On loopback, some requests from this machine need no credentials. An attacker can let the host name of
 * a web page resolve to 127.0.0.1. A browser on this machine then sends requests of that page to this service, because
 * it considers the service to be the page's server. It still sends the host name of the page in `Host`. On a public
 * HOST, any host name may belong to the service, so nothing is checked. A request without `Host` does not come from a
 * browser; Node refuses it if HTTP/1.1 requires the header.
 */
export function hostCheck(config: Pick<Config, 'publicHost' | 'publicUrl'>): MiddlewareHandler<AppEnv> {
  const own = hostOf(new URL(config.publicUrl).host);
  return (c, next) => {
    const host = c.req.header('host');
    if (config.publicHost || host === undefined || isLoopbackAuthority(host) || hostOf(host) === own) return next();
    throw new AppError('FORBIDDEN', {
      message:
        'This service listens on loopback, and the requested host is neither a loopback name nor the host of PUBLIC_URL.',
      suggestion: 'Use 127.0.0.1 or localhost. Behind a proxy, set PUBLIC_URL to the public address of the service.',
    });
  };
}

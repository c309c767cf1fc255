import type { MiddlewareHandler } from 'hono';
import { hostOf, isLoopbackAuthority } from '../../rules/access/loopback.ts';
import type { Config } from '../../rules/config.ts';
import { AppError } from '../../rules/errors.ts';
import type { AppEnv } from './env.ts';

/**
 * On a loopback HOST, accepts only requests whose `Host` is a loopback name or the host of PUBLIC_URL. Requests from
 * this machine need no credentials there, and any web page can reach them through a local browser once its name
 * resolves to 127.0.0.1 (DNS rebinding). The browser then takes this service for that page's server, but still sends
 * the page's name in `Host`. On a public HOST any name may be ours. A request without `Host` does not come from a
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

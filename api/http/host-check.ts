import type { MiddlewareHandler } from 'hono';
import { hostOf, isLoopbackAuthority } from '../../rules/access/loopback.ts';
import type { Config } from '../../rules/config.ts';
import { AppError } from '../../rules/errors.ts';
import type { AppEnv } from './env.ts';

/**
 * On a loopback HOST answers only requests whose `Host` is a loopback name or that of PUBLIC_URL. Nothing there asks
 * this machine for credentials, and a page of anybody reaches it through a browser here once its name is led to
 * 127.0.0.1 (DNS rebinding): the browser then takes us for that page's own server, but it still says in `Host` whom it
 * asks. On a public HOST any name may be ours. A request without `Host` is of no browser; Node refuses it where
 * HTTP/1.1 asks for one.
 */
export function hostCheck(config: Pick<Config, 'publicHost' | 'publicUrl'>): MiddlewareHandler<AppEnv> {
  const own = hostOf(new URL(config.publicUrl).host);
  return (c, next) => {
    const host = c.req.header('host');
    if (config.publicHost || host === undefined || isLoopbackAuthority(host) || hostOf(host) === own) return next();
    throw new AppError('FORBIDDEN', {
      message:
        'This service listens on loopback, and the host that was asked for is neither a loopback name nor that of PUBLIC_URL.',
      suggestion:
        'Ask by 127.0.0.1 or localhost, or set PUBLIC_URL to the address that the service has behind a proxy.',
    });
  };
}

import type { Db } from '../db/connection.ts';
import { takeFromWindow } from '../db/rate-windows.ts';
import { callerNetwork, isLoopbackAddress } from '../domain/caller-address.ts';
import { AppError } from '../domain/errors.ts';

/** Sign-ups of one caller; more from this machine, where development and tests are. */
const SIGN_UPS = { limit: 20, windowSeconds: 3600, words: 'an hour' };
const SIGN_UPS_FROM_HERE = { limit: 50, windowSeconds: 60, words: 'a minute' };

/** Limits of callers who need no credentials, by their address: of IPv6 by its /64. */
export interface CallerLimits {
  /** One sign-up, counted over all processes. @throws AppError RATE_LIMIT_EXCEEDED */
  takeForSignUp(address: string): Promise<void>;
}

/** @param deps.hidden what an address is stored as */
export function createCallerLimits({ db, hidden }: { db: Db; hidden: (text: string) => string }): CallerLimits {
  return {
    async takeForSignUp(address) {
      const { limit, windowSeconds, words } = isLoopbackAddress(address) ? SIGN_UPS_FROM_HERE : SIGN_UPS;
      const subject = `sign-up ${hidden(callerNetwork(address))}`;
      const { granted, resetMs } = await takeFromWindow(db, { subject, want: 1, limit, windowSeconds });
      if (granted > 0) return;
      throw tooMany(`${limit} sign-ups ${words} from one address`, { limit, retryMs: resetMs });
    },
  };
}

function tooMany(what: string, { limit, retryMs }: { limit: number; retryMs: number }): AppError {
  const seconds = Math.max(1, Math.ceil(retryMs / 1000));
  return new AppError('RATE_LIMIT_EXCEEDED', {
    message: `There may be ${what}, and they are used up.`,
    details: { limit, retryAfterSeconds: seconds },
    headers: { 'Retry-After': String(seconds) },
  });
}

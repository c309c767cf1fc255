import { createHmac } from 'node:crypto';
import type { Db } from '../../../db/connection.ts';
import { type AttemptLimit, type LoginAttempt, takeAttempt, undoAttempt } from '../../../db/projects/login-attempts.ts';
import type { KnownDevice } from './device-cookie.ts';

/** Failures in 15 minutes per caller and account, and per known device. */
const FAILURES_PER_ACCOUNT = 10;
/**
 * Failures at one account by all unknown callers together. It slows down callers that guess together, and does not
 * affect known devices.
 */
const UNKNOWN_DEVICES_PER_ACCOUNT = 50;
/** Failures of one caller over all accounts. */
const FAILURES_PER_ADDRESS = 50;

export interface Throttled {
  /** Removes the attempt from the count, because it succeeded. */
  forgive(): Promise<void>;
}

/**
 * Limits attempts to enter a password. Each attempt counts as a failure until `forgive` is called for it.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export interface LoginThrottle {
  /**
   * Counts an attempt by a caller without a known device for the account. `network` is the caller's network, see
   * `clientNetwork`.
   */
  takeForUnknownDevice(email: string, network: string): Promise<Throttled>;
  /** Counts an attempt from a known device. Only the device's own failures count. */
  takeForDevice(device: KnownDevice): Promise<Throttled>;
  /** Counts a sign-up. With the right password it opens an existing account, so it is a guess at that password. */
  takeForSignUp(email: string, network: string): Promise<Throttled>;
  /** Counts an attempt of a signed-in user to confirm their password. */
  takeForPerson(userId: string): Promise<Throttled>;
}

/** @param deps.key key under which subjects are hashed, so that the table does not list who attempted to sign in */
export function createLoginThrottle({ db, key }: { db: Db; key: Buffer }): LoginThrottle {
  const subject = (...words: string[]) => createHmac('sha256', key).update(words.join(' ')).digest('base64url');
  const take = async (...limits: AttemptLimit[]): Promise<Throttled> => {
    const attempt: LoginAttempt = await takeAttempt(db, limits);
    return { forgive: () => undoAttempt(db, attempt) };
  };
  const ofAccount = (kind: string, email: string, network: string): AttemptLimit[] => [
    { subject: subject(`${kind} account address`, network, email), limit: FAILURES_PER_ACCOUNT },
    { subject: subject(`${kind} account`, email), limit: UNKNOWN_DEVICES_PER_ACCOUNT },
  ];
  return {
    takeForUnknownDevice: (email, network) =>
      take(...ofAccount('login', email, network), {
        subject: subject('login address', network),
        limit: FAILURES_PER_ADDRESS,
      }),
    takeForDevice: ({ id }) => take({ subject: subject('login device', id), limit: FAILURES_PER_ACCOUNT }),
    takeForSignUp: (email, network) => take(...ofAccount('sign-up', email, network)),
    takeForPerson: (userId) => take({ subject: subject('password', userId), limit: FAILURES_PER_ACCOUNT }),
  };
}

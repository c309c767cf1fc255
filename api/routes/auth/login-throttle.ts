import { createHmac } from 'node:crypto';
import type { Db } from '../../../db/connection.ts';
import { type AttemptLimit, type LoginAttempt, takeAttempt, undoAttempt } from '../../../db/projects/login-attempts.ts';
import type { KnownDevice } from './device-cookie.ts';

/**
 * Failures that one network may have at one account in 15 minutes. A known device has a separate count with this limit.
 */
const FAILURES_PER_ACCOUNT = 10;
/**
 * Failures at one account by all callers without a known device together. It slows down attackers that use many
 * addresses, and does not affect known devices.
 */
const UNKNOWN_DEVICES_PER_ACCOUNT = 50;
/** Failures of one network over all accounts. */
const FAILURES_PER_ADDRESS = 50;

export interface CountedAttempt {
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
  takeForUnknownDevice(email: string, network: string): Promise<CountedAttempt>;
  /** Counts an attempt from a known device. Only failures of this device count. */
  takeForDevice(device: KnownDevice): Promise<CountedAttempt>;
  /**
   * Counts a sign-up. A sign-up with the address and password of an existing account signs in to it, so it could be used
   * to guess the password.
   */
  takeForSignUp(email: string, network: string): Promise<CountedAttempt>;
  /** Counts an attempt of a signed-in user to confirm their password. */
  takeForPerson(userId: string): Promise<CountedAttempt>;
}

/** @param deps.key key under which subjects are hashed, so that the table does not list who attempted to sign in */
export function createLoginThrottle({ db, key }: { db: Db; key: Buffer }): LoginThrottle {
  const subject = (...words: string[]) => createHmac('sha256', key).update(words.join(' ')).digest('base64url');
  const take = async (...limits: AttemptLimit[]): Promise<CountedAttempt> => {
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

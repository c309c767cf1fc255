import { createHmac } from 'node:crypto';
import type { Db } from '../../../db/connection.ts';
import {
  type AttemptLimit,
  type LoginAttempt,
  recordLoginAttempt,
  undoLoginAttempt,
} from '../../../db/projects/login-attempts.ts';
import type { KnownDevice } from './device-cookie.ts';

/**
 * Maximum number of failed attempts from one network at one account in 15 minutes. The failures of a known device, and
 * of a signed-in user who changes the password, are counted separately, with the same maximum.
 */
const FAILURES_PER_ACCOUNT = 10;
/**
 * Maximum number of failed attempts at one account in 15 minutes, of all callers without a known device together. This
 * limit slows down attackers that use many IP addresses, and does not affect known devices.
 */
const UNKNOWN_DEVICES_PER_ACCOUNT = 50;
/**
 * Maximum number of failed sign-ins from one network without a known device, at all accounts together, in 15 minutes.
 */
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
   * `readClientNetwork`.
   */
  takeForUnknownDevice(email: string, network: string): Promise<CountedAttempt>;
  /** Counts an attempt from a known device. Only failures of this device count. */
  takeForDevice(device: KnownDevice): Promise<CountedAttempt>;
  /**
   * Counts a sign-up. A sign-up with the address and password of an existing account signs in to this account, so
   * sign-ups could be used to guess the password.
   */
  takeForSignUp(email: string, network: string): Promise<CountedAttempt>;
  /** Counts an attempt of a signed-in user to enter the current password, which is required to change it. */
  takeForUser(userId: string): Promise<CountedAttempt>;
}

/** @param deps.key key for the hashes of addresses, so that the table does not reveal who has tried to sign in */
export function createLoginThrottle({ db, key }: { db: Db; key: Buffer }): LoginThrottle {
  const subject = (...parts: string[]) => createHmac('sha256', key).update(parts.join(' ')).digest('base64url');
  const take = async (...limits: AttemptLimit[]): Promise<CountedAttempt> => {
    const attempt: LoginAttempt = await recordLoginAttempt(db, limits);
    return { forgive: () => undoLoginAttempt(db, attempt) };
  };
  const listAccountLimits = (kind: string, email: string, network: string): AttemptLimit[] => [
    { subject: subject(`${kind} account address`, network, email), limit: FAILURES_PER_ACCOUNT },
    { subject: subject(`${kind} account`, email), limit: UNKNOWN_DEVICES_PER_ACCOUNT },
  ];
  return {
    takeForUnknownDevice: (email, network) =>
      take(...listAccountLimits('login', email, network), {
        subject: subject('login address', network),
        limit: FAILURES_PER_ADDRESS,
      }),
    takeForDevice: ({ id }) => take({ subject: subject('login device', id), limit: FAILURES_PER_ACCOUNT }),
    takeForSignUp: (email, network) => take(...listAccountLimits('sign-up', email, network)),
    takeForUser: (userId) => take({ subject: subject('password', userId), limit: FAILURES_PER_ACCOUNT }),
  };
}

import { createHmac } from 'node:crypto';
import type { Db } from '../../../db/connection.ts';
import {
  type AttemptLimit,
  forgiveAttempt,
  type LoginAttempt,
  takeAttempt,
} from '../../../db/projects/login-attempts.ts';
import type { KnownDevice } from './device-cookie.ts';

/** Failures in 15 minutes that one caller may have with one account, and a browser that was signed in to it. */
const FAILURES_PER_ACCOUNT = 10;
/**
 * Failures at one account by all new callers together: slow for many callers that guess together, and without effect
 * on known devices.
 */
const STRANGERS_PER_ACCOUNT = 50;
/** Failures of one caller, at all accounts. */
const FAILURES_PER_ADDRESS = 50;

export interface Throttled {
  /** Takes the attempt back after a success. */
  forgive(): Promise<void>;
}

/** Each of these counts a failure, until it is forgiven. @throws AppError RATE_LIMIT_EXCEEDED */
export interface LoginThrottle {
  /** Counts an attempt of a caller that is new to the account. `network` is the caller's, see `clientNetwork`. */
  takeForStranger(email: string, network: string): Promise<Throttled>;
  /** Counts an attempt of a known device: only its own failures count. */
  takeForDevice(device: KnownDevice): Promise<Throttled>;
  /** A sign-up, which opens the account that has its address and its password: one guess more at that password. */
  takeForSignUp(email: string, network: string): Promise<Throttled>;
  /** A signed-in person who gives their password again. */
  takeForPerson(userId: string): Promise<Throttled>;
}

/** @param deps.key key under which subjects are hashed, so that the table does not list who attempted to sign in */
export function createLoginThrottle({ db, key }: { db: Db; key: Buffer }): LoginThrottle {
  const subject = (...words: string[]) => createHmac('sha256', key).update(words.join(' ')).digest('base64url');
  const take = async (...limits: AttemptLimit[]): Promise<Throttled> => {
    const attempt: LoginAttempt = await takeAttempt(db, limits);
    return { forgive: () => forgiveAttempt(db, attempt) };
  };
  const ofAccount = (kind: string, email: string, network: string): AttemptLimit[] => [
    { subject: subject(`${kind} account address`, network, email), limit: FAILURES_PER_ACCOUNT },
    { subject: subject(`${kind} account`, email), limit: STRANGERS_PER_ACCOUNT },
  ];
  return {
    takeForStranger: (email, network) =>
      take(...ofAccount('login', email, network), {
        subject: subject('login address', network),
        limit: FAILURES_PER_ADDRESS,
      }),
    takeForDevice: ({ id }) => take({ subject: subject('login device', id), limit: FAILURES_PER_ACCOUNT }),
    takeForSignUp: (email, network) => take(...ofAccount('sign-up', email, network)),
    takeForPerson: (userId) => take({ subject: subject('password', userId), limit: FAILURES_PER_ACCOUNT }),
  };
}

import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  createWebhookHeaders,
  createWebhookSecret,
  matchesEvent,
  nextAttemptAt,
  RETRY_SECONDS,
  summarizeOutcomes,
} from './registry.ts';

describe('createWebhookHeaders', () => {
  it('creates headers that the public verifier accepts, with the old and the new secret', () => {
    const secrets = [createWebhookSecret(), createWebhookSecret()];
    const body = JSON.stringify({ type: 'signup' });
    const headers = createWebhookHeaders(secrets, { id: 'msg_1', timestamp: Math.floor(Date.now() / 1_000), body });
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual({ type: 'signup' });
    expect(() => new Webhook(createWebhookSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(secrets[0] ?? '').verify(`${body} `, headers)).toThrow();
  });
});

describe('matchesEvent', () => {
  it('accepts names, prefixes and `*`', () => {
    expect(matchesEvent(['signup', 'email.*'], 'email.open')).toBe(true);
    expect(matchesEvent(['signup', 'email.*'], 'signup')).toBe(true);
    expect(matchesEvent(['signup', 'email.*'], 'signups')).toBe(false);
    expect(matchesEvent(['*'], 'anything')).toBe(true);
  });
});

describe('nextAttemptAt', () => {
  it('is at most a minute after the first failure, and eight attempts take a day', () => {
    const now = new Date(0);
    expect(nextAttemptAt(1, now)?.getTime()).toBeLessThanOrEqual(60_000);
    expect(nextAttemptAt(7, now)).not.toBeNull();
    expect(nextAttemptAt(8, now)).toBeNull();
    const hours = RETRY_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3_600;
    expect(Math.round(hours)).toBe(24);
  });
});

describe('summarizeOutcomes', () => {
  it('counts the failures since the last success', () => {
    expect(summarizeOutcomes(['failure', 'failure'])).toEqual({ succeeded: false, failures: 2, gone: false });
    expect(summarizeOutcomes(['failure', 'success', 'failure'])).toEqual({ succeeded: true, failures: 1, gone: false });
    expect(summarizeOutcomes(['success', 'gone'])).toEqual({ succeeded: true, failures: 1, gone: true });
    expect(summarizeOutcomes(['failure', 'success'])).toEqual({ succeeded: true, failures: 0, gone: false });
  });
});

import { describe, expect, it } from 'vitest';
import { classifyRefusal } from './refusal.ts';
import { REFUSED_RECIPIENTS, RouteRefusals, refusalFingerprint, toReplyLine } from './route-refusals.ts';

const DENIED = by('rcpt', 554, '5.7.1', '<a1@to.test>: Recipient address rejected: Access denied');
const SUSPENDED = by('message', 550, '5.7.1', 'Your account has been suspended');
const LOGIN = by('auth', 535, '5.7.8', 'authentication failed');

function by(stage: 'auth' | 'rcpt' | 'message', code: number, enhanced: string, words: string) {
  return { stage, code, enhanced, text: `${enhanced} ${words}` };
}

/** Records refusals for this many recipients of a project. */
function refuse(route: RouteRefusals, reply: typeof DENIED, p: { project?: string; n: number; from?: number }) {
  const { project = 'one', n, from = 0 } = p;
  const found = Array.from({ length: n }, (_, at) => {
    const to = `${project}-${from + at}@to.test`;
    return route.refused({ refusal: classifyRefusal(reply), by: reply, projectId: project, to });
  });
  return found.find((projectIds) => projectIds !== undefined);
}

describe('refusals of the sending service', () => {
  it('for ten recipients pause the route for their project', () => {
    const route = new RouteRefusals();
    expect(refuse(route, DENIED, { n: REFUSED_RECIPIENTS - 1 })).toBeUndefined();
    expect(refuse(route, DENIED, { n: 1, from: 9 })).toEqual(['one']);
  });

  it('for a single recipient never pause the route', () => {
    const route = new RouteRefusals();
    const again = Array.from({ length: 30 }, () => refuse(route, DENIED, { n: 1 }));
    expect(again.filter(Boolean)).toEqual([]);
  });

  it('in two projects pause the route for both', () => {
    const route = new RouteRefusals();
    expect(refuse(route, DENIED, { n: 5 })).toBeUndefined();
    expect(refuse(route, DENIED, { n: 5, project: 'two' })).toEqual(['one', 'two']);
  });

  it('in two projects pause only these projects if the route accepts email of a third', () => {
    const route = new RouteRefusals();
    expect(refuse(route, SUSPENDED, { n: 5 })).toBeUndefined();
    route.accepted('three');
    expect(refuse(route, SUSPENDED, { n: 5, project: 'two' })).toBeUndefined();
    expect(refuse(route, SUSPENDED, { n: 5, from: 5 })).toEqual(['one']);
  });

  it('are counted from zero after an accepted email', () => {
    const route = new RouteRefusals();
    refuse(route, SUSPENDED, { n: 9 });
    route.accepted('one');
    expect(refuse(route, SUSPENDED, { n: 9, from: 9 })).toBeUndefined();
  });

  it('with different replies are counted separately', () => {
    const route = new RouteRefusals();
    refuse(route, DENIED, { n: 9 });
    expect(refuse(route, SUSPENDED, { n: 9 })).toBeUndefined();
  });

  it('by policy count only until the route has accepted an email, but refusals of the account always count', () => {
    const route = new RouteRefusals();
    route.accepted('one');
    expect(refuse(route, DENIED, { n: 50 })).toBeUndefined();
    expect(refuse(route, SUSPENDED, { n: 10 })).toEqual(['one']);
  });

  it('about the login pause the route for all projects at once, if no login has succeeded yet', () => {
    expect(refuse(new RouteRefusals(), LOGIN, { n: 1 })).toEqual([]);
    const proven = new RouteRefusals();
    proven.accepted('one');
    expect(refuse(proven, LOGIN, { n: 9 })).toBeUndefined();
    expect(refuse(proven, LOGIN, { n: 1, from: 9 })).toEqual(['one']);
  });

  it('with a 4xx, about the message or about the recipient never count', () => {
    const route = new RouteRefusals();
    for (const reply of [
      by('rcpt', 451, '4.7.1', 'later'),
      by('message', 554, '5.6.0', 'spam'),
      by('rcpt', 550, '5.1.1', 'user unknown'),
    ])
      expect(refuse(route, reply, { n: 50 })).toBeUndefined();
  });
});

describe('an email that was refused because of the sending service', () => {
  it('waits for a second attempt if the route has not accepted any email', () => {
    const route = new RouteRefusals();
    expect([route.shouldWait(1), route.shouldWait(2)]).toEqual([true, false]);
  });

  it('ends immediately if the route has accepted email', () => {
    const route = new RouteRefusals();
    route.accepted('one');
    expect(route.shouldWait(1)).toBe(false);
  });

  it('waits after a pause, after any number of attempts, until the route accepts email', () => {
    const route = new RouteRefusals();
    route.paused();
    expect(route.shouldWait(9)).toBe(true);
    route.accepted('one');
    expect(route.shouldWait(9)).toBe(false);
  });
});

it('refusals that differ only in recipients, numbers and ids are equal', () => {
  const one = by('rcpt', 554, '5.7.1', '<ann@a.example>: Client host rejected: Access denied 4F2A1C0B7');
  const other = by('rcpt', 554, '5.7.1', '<bob@b.example>: Client host rejected: Access denied 9B00C1D2E');
  expect(refusalFingerprint(one)).toBe(refusalFingerprint(other));
  expect(refusalFingerprint(one)).not.toBe(refusalFingerprint(SUSPENDED));
});

it('a reply for the operator is one line without addresses', () => {
  expect(toReplyLine({ code: 554, text: '5.7.1 <ann@a.example>: Access\ndenied for ann@a.example' })).toBe(
    '554 5.7.1 <[address]>: Access denied for [address]',
  );
});

import { describe, expect, it } from 'vitest';
import { classifyRefusal } from './refusal.ts';
import { fingerprintRefusal, PAUSE_AFTER_RECIPIENTS, RouteRefusals, toReplyLine } from './route-refusals.ts';

const DENIED = createReply('rcpt', 554, '5.7.1', '<a1@to.test>: Recipient address rejected: Access denied');
const SUSPENDED = createReply('message', 550, '5.7.1', 'Your account has been suspended');
const LOGIN = createReply('auth', 535, '5.7.8', 'authentication failed');

function createReply(stage: 'auth' | 'rcpt' | 'message', code: number, enhanced: string, words: string) {
  return { stage, code, enhanced, text: `${enhanced} ${words}` };
}

/** Records refusals for this many recipients of a project. */
function refuseRecipients(
  route: RouteRefusals,
  reply: typeof DENIED,
  p: { project?: string; n: number; from?: number },
) {
  const { project = 'one', n, from = 0 } = p;
  const found = Array.from({ length: n }, (_, at) => {
    const to = `${project}-${from + at}@to.test`;
    return route.recordRefused({ refusal: classifyRefusal(reply), by: reply, projectId: project, to });
  });
  return found.find((projectIds) => projectIds !== undefined);
}

describe('refusals of the sending service', () => {
  it('for ten recipients pause the route for their project', () => {
    const route = new RouteRefusals();
    expect(refuseRecipients(route, DENIED, { n: PAUSE_AFTER_RECIPIENTS - 1 })).toBeUndefined();
    expect(refuseRecipients(route, DENIED, { n: 1, from: 9 })).toEqual(['one']);
  });

  it('for a single recipient never pause the route', () => {
    const route = new RouteRefusals();
    const again = Array.from({ length: 30 }, () => refuseRecipients(route, DENIED, { n: 1 }));
    expect(again.filter(Boolean)).toEqual([]);
  });

  it('in two projects pause the route for both', () => {
    const route = new RouteRefusals();
    expect(refuseRecipients(route, DENIED, { n: 5 })).toBeUndefined();
    expect(refuseRecipients(route, DENIED, { n: 5, project: 'two' })).toEqual(['one', 'two']);
  });

  it('in two projects pause only these projects if the route accepts email of a third', () => {
    const route = new RouteRefusals();
    expect(refuseRecipients(route, SUSPENDED, { n: 5 })).toBeUndefined();
    route.recordAccepted('three');
    expect(refuseRecipients(route, SUSPENDED, { n: 5, project: 'two' })).toBeUndefined();
    expect(refuseRecipients(route, SUSPENDED, { n: 5, from: 5 })).toEqual(['one']);
  });

  it('are counted from zero after an accepted email', () => {
    const route = new RouteRefusals();
    refuseRecipients(route, SUSPENDED, { n: 9 });
    route.recordAccepted('one');
    expect(refuseRecipients(route, SUSPENDED, { n: 9, from: 9 })).toBeUndefined();
  });

  it('with different replies are counted separately', () => {
    const route = new RouteRefusals();
    refuseRecipients(route, DENIED, { n: 9 });
    expect(refuseRecipients(route, SUSPENDED, { n: 9 })).toBeUndefined();
  });

  it('by policy count only until the route has accepted an email, but refusals of the account always count', () => {
    const route = new RouteRefusals();
    route.recordAccepted('one');
    expect(refuseRecipients(route, DENIED, { n: 50 })).toBeUndefined();
    expect(refuseRecipients(route, SUSPENDED, { n: 10 })).toEqual(['one']);
  });

  it('about the login pause the route for all projects at once, if no login has succeeded yet', () => {
    expect(refuseRecipients(new RouteRefusals(), LOGIN, { n: 1 })).toEqual([]);
    const proven = new RouteRefusals();
    proven.recordAccepted('one');
    expect(refuseRecipients(proven, LOGIN, { n: 9 })).toBeUndefined();
    expect(refuseRecipients(proven, LOGIN, { n: 1, from: 9 })).toEqual(['one']);
  });

  it('with a 4xx, about the message or about the recipient never count', () => {
    const route = new RouteRefusals();
    for (const reply of [
      createReply('rcpt', 451, '4.7.1', 'later'),
      createReply('message', 554, '5.6.0', 'spam'),
      createReply('rcpt', 550, '5.1.1', 'user unknown'),
    ])
      expect(refuseRecipients(route, reply, { n: 50 })).toBeUndefined();
  });
});

describe('an email that was refused because of the sending service', () => {
  it('waits for a second attempt if the route has not accepted any email', () => {
    const route = new RouteRefusals();
    expect([route.shouldWait(1), route.shouldWait(2)]).toEqual([true, false]);
  });

  it('ends immediately if the route has accepted email', () => {
    const route = new RouteRefusals();
    route.recordAccepted('one');
    expect(route.shouldWait(1)).toBe(false);
  });

  it('waits after a pause, after any number of attempts, until the route accepts email', () => {
    const route = new RouteRefusals();
    route.resetAfterPause();
    expect(route.shouldWait(9)).toBe(true);
    route.recordAccepted('one');
    expect(route.shouldWait(9)).toBe(false);
  });
});

it('refusals that differ only in recipients, numbers and ids are equal', () => {
  const one = createReply('rcpt', 554, '5.7.1', '<ann@a.example>: Client host rejected: Access denied 4F2A1C0B7');
  const other = createReply('rcpt', 554, '5.7.1', '<bob@b.example>: Client host rejected: Access denied 9B00C1D2E');
  expect(fingerprintRefusal(one)).toBe(fingerprintRefusal(other));
  expect(fingerprintRefusal(one)).not.toBe(fingerprintRefusal(SUSPENDED));
});

it('a reply for the operator is one line without addresses', () => {
  expect(toReplyLine({ code: 554, text: '5.7.1 <ann@a.example>: Access\ndenied for ann@a.example' })).toBe(
    '554 5.7.1 <[address]>: Access denied for [address]',
  );
});
